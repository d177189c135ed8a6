//! `runner import`: creates a workflow from a shot list, a screenplay or a cut, or takes a cut back into a film.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use contract::Contract;
use workflow::import::{CutSource, ImportOptions, ImportResult, ImportedCut, SourceKind, import_cut};
use workflow::scaffold;

use super::atomic_write::atomic_write;
use super::cut_clips::cut_clips;
use super::import_cut::{CutFormat, import_cut as import_cut_into, read_cut};
use super::init::picture;
use crate::args::{ImportArgs, OverrideArgs};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load::MAX_FILE_BYTES;
use crate::project_paths::display_path;
use crate::{shell, terminal};

pub(crate) async fn import(args: ImportArgs) -> Result<Exit, CommandError> {
    if let Some(workflow) = &args.into {
        return import_cut_into(&args, workflow).await;
    }
    let source = Source::from_ending(&args.list);
    source.refuse_unused(&args)?;
    match source {
        Source::Cut(_) => import_new_cut(&args),
        Source::ShotList => import_list(&args, SourceKind::ShotList),
        Source::Screenplay => import_list(&args, SourceKind::Screenplay),
    }
}

/// What a file is, by the ending of its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    ShotList,
    Screenplay,
    Cut(CutFormat),
}

impl Source {
    fn from_ending(file: &Path) -> Self {
        let is_screenplay =
            file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("fountain"));
        match CutFormat::from_ending(file) {
            Some(format) => Self::Cut(format),
            None if is_screenplay => Self::Screenplay,
            None => Self::ShotList,
        }
    }

    /// Refuses options that would have no effect.
    fn refuse_unused(self, args: &ImportArgs) -> Result<(), CommandError> {
        let OverrideArgs { params, param_files, axes } = &args.overrides;
        let is_cut = matches!(self, Self::Cut(_));
        let unused = [
            (
                args.rate.is_some() && self != Self::Cut(CutFormat::Edl),
                "--rate",
                "for edit decision lists (.edl)",
            ),
            (!args.columns.is_empty() && self != Self::ShotList, "--column", "for shot lists"),
            (args.chain.is_some() && is_cut, "--chain", "for shot lists and screenplays"),
            (!params.is_empty(), "--param", "for use with --into"),
            (!param_files.is_empty(), "--param-file", "for use with --into"),
            (!axes.is_empty(), "--axis", "for use with --into"),
        ];
        match unused.into_iter().find(|(is_given, ..)| *is_given) {
            Some((_, option, wherefore)) => {
                let file = args.list.display();
                Err(CommandError::invalid(format!("{option} has no effect on {file}: it is {wherefore}"))
                    .hint(format!("leave {option} out")))
            }
            None => Ok(()),
        }
    }
}

fn import_list(args: &ImportArgs, kind: SourceKind) -> Result<Exit, CommandError> {
    let mut bytes = Vec::new();
    fs_err::File::open(&args.list)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| CommandError::invalid(format!("cannot read the file to import: {error}")))?;
    let output = output(args);
    let options = options(args, &output);
    let list = args.list.display().to_string();
    let ImportResult { workflow, shots, report } =
        workflow::import::import(&bytes, &list, kind, &options, Contract::embedded())
            .map_err(CommandError::invalid)?;
    if !report.diagnostics.is_empty() {
        err!("{}", report.render(terminal::has_color()));
    }
    let Some(text) = workflow else { return Ok(Exit::InvalidInput) };
    write(args, &output, &text, shots)
}

/// Makes a workflow of a cut whose clips are still to be made.
fn import_new_cut(args: &ImportArgs) -> Result<Exit, CommandError> {
    let edit = read_cut(&args.list, args.rate)?;
    let output = output(args);
    let (clips, mut notes) = cut_clips(&edit, output.parent().unwrap_or(Path::new("")));
    if clips.iter().all(|clip| clip.source != CutSource::Shot) {
        let cut = display_path(&args.list);
        return Err(CommandError::invalid(format!(
            "all clips of {cut} are there: there is no shot to be made"
        ))
        .hint("write a workflow with the shots that are to be added, and take the cut into it with --into"));
    }
    let document = args.list.display().to_string();
    let ImportedCut { workflow, shots, notes: others } =
        import_cut(&clips, &document, &options(args, &output), Contract::embedded())
            .map_err(CommandError::invalid)?;
    notes.extend(others);
    for note in notes {
        errln!("note: {note}");
    }
    write(args, &output, &workflow, shots)
}

fn output(args: &ImportArgs) -> PathBuf {
    args.output.clone().unwrap_or_else(|| args.list.with_extension("yaml"))
}

fn options(args: &ImportArgs, output: &Path) -> ImportOptions {
    let named_after = if output == Path::new("-") { &args.list } else { output };
    ImportOptions {
        name: scaffold::name_for(&named_after.file_stem().unwrap_or_default().to_string_lossy()),
        picture: picture(&args.model),
        chain_scenes: args.chain.is_some(),
        columns: args.columns.clone(),
    }
}

fn write(args: &ImportArgs, output: &Path, text: &str, shots: usize) -> Result<Exit, CommandError> {
    if output == Path::new("-") {
        out!("{text}");
        return Ok(Exit::Done);
    }
    if output == args.list {
        return Err(CommandError::invalid(format!("{} is the file to import itself", display_path(output)))
            .hint("name another file with --output"));
    }
    atomic_write(output, text, args.overwrite)?;
    let file = shell::path(output);
    outln!("wrote {file}: {shots} {}\n\nnext: runner plan {file}", if shots == 1 { "shot" } else { "shots" });
    Ok(Exit::Done)
}
