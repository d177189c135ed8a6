//! `runner clean`: lists and removes files that are no longer needed: partial downloads, and of a workflow file also earlier cuts, clips that it
//! does not use, and what killed processes have left. Nothing is removed without `--delete`, and nothing that was paid for without `--paid`.

use std::path::Path;
use std::sync::Arc;

use engine::Ledger;
use engine::clean::{FileUse, UnneededFile, partial_files, remove, superseded_files, temporary_files};
use engine::effects::FilmFolders;
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{CleanArgs, Format, OverrideArgs};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load;
use crate::project_paths::{ProjectPaths, display_path};
use crate::report::{Table, sanitize};
use crate::shell;

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum FileOutcome {
    Removed,
    /// It would be, with `--delete`.
    Removable,
    Retained,
}

impl FileOutcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Removable => "removable",
            Self::Retained => "retained",
        }
    }
}

/// A file with what becomes of it.
struct ListedFile {
    file: UnneededFile,
    verdict: FileOutcome,
}

/// Other workflow files of the folder whose runs had the same workflow name.
fn other_files(
    ledger: &Ledger,
    workflow: &str,
    file: &Path,
    paths: &ProjectPaths,
) -> Result<Vec<String>, CommandError> {
    let own_name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let files = ledger.files_of_workflow(workflow)?;
    Ok(files
        .into_iter()
        .filter(|name| Some(name) != own_name.as_ref() && paths.folder.join(name).is_file())
        .collect())
}

pub(crate) async fn clean(args: CleanArgs) -> Result<Exit, CommandError> {
    let paths = ProjectPaths::of_existing(&args.file)?;
    let ledger = paths.open_ledger(&args.file)?;
    let mut files = partial_files(&ledger)?;
    if args.file.is_file() {
        let plan = match load::load(&args.file, &OverrideArgs::default()) {
            Ok(plan) => Arc::new(plan),
            Err(error) => return Ok(error.report(args.format)),
        };
        let out = paths.out(plan.name());
        let others = other_files(&ledger, plan.name(), &args.file, &paths)?;
        if let Some(other) = others.first() {
            errln!(
                "{} has the same name and output folder: clips that only it uses cannot be distinguished from superseded ones, so none are listed; give it a `name` of its own",
                sanitize::line(other)
            );
        }
        let folders = FilmFolders { workflow: &paths.folder, output: &out };
        files.extend(superseded_files(&ledger, &plan, folders, !others.is_empty()).await?);
        files.extend(temporary_files(&out, std::time::SystemTime::now())?);
    }
    let mut listed = Vec::new();
    for mut file in files {
        let mut verdict = FileOutcome::Retained;
        if file.need.is_removable(args.paid) {
            verdict = FileOutcome::Removable;
            if args.delete {
                if remove(&file)? {
                    verdict = FileOutcome::Removed;
                } else {
                    (file.need, verdict) = (FileUse::Process, FileOutcome::Retained);
                }
            }
        }
        listed.push(ListedFile { file, verdict });
    }
    match args.format {
        Format::Json => outln!("{:#}", listed.iter().map(record).collect::<Value>()),
        Format::Ndjson => listed.iter().for_each(|entry| outln!("{}", record(entry))),
        Format::Text => print(&args, &listed),
    }
    Ok(Exit::Done)
}

fn record(ListedFile { file, verdict }: &ListedFile) -> Value {
    json!({
        "file": file.path,
        "bytes": file.bytes,
        "shot": file.attempt.as_ref().map(|(_, node)| node),
        "attempt": file.attempt.as_ref().map(|(attempt, _)| attempt),
        "verdict": verdict,
        "reason": reason(file.need),
    })
}

fn reason(need: FileUse) -> &'static str {
    match need {
        FileUse::Task => "a task needs it: the next download resumes it",
        FileUse::Process => "another process is using it",
        FileUse::PaidFor => "it was paid for, and may be all that is left of its video; --paid includes it",
        FileUse::Downloaded => "its video is downloaded",
        FileUse::Unknown => "no recorded task would resume it",
        FileUse::EarlierCut => "an earlier cut of the film",
        FileUse::SupersededClip => "the workflow does not use it; --paid includes its original",
        FileUse::Temporary => "a process that was killed has left it",
        FileUse::SupersededOriginal => {
            "the workflow does not use it, but it was paid for; --paid includes it"
        }
    }
}

fn print(args: &CleanArgs, listed: &[ListedFile]) {
    if listed.is_empty() {
        outln!("nothing to clean");
        return;
    }
    let mut table = Table::new(["", "shot", "size", "file", ""]);
    for ListedFile { file, verdict } in listed {
        let shot = file.attempt.as_ref().map_or("-".into(), |(_, node)| sanitize::line(node));
        table.row([
            verdict.as_str().to_owned(),
            shot.into_owned(),
            size(file.bytes),
            display_path(&file.path),
            reason(file.need).to_owned(),
        ]);
    }
    out!("{}", table.render());
    let total = |verdict: FileOutcome| {
        let files = listed.iter().filter(|entry| entry.verdict == verdict);
        let (count, bytes) =
            files.fold((0, 0), |(count, bytes), entry| (count + 1, bytes + entry.file.bytes));
        let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
        (count > 0).then(|| format!("{files}, {}", size(bytes)))
    };
    if let Some(total) = total(FileOutcome::Removed) {
        outln!("{total} removed");
    } else if let Some(total) = total(FileOutcome::Removable) {
        let paid = if args.paid { " --paid" } else { "" };
        let file = shell::path(&args.file);
        outln!(
            "{total}; nothing was removed: `runner clean {file}{paid} --delete` removes what is listed as removable"
        );
    } else {
        outln!("nothing to remove");
    }
}

/// A number of bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
