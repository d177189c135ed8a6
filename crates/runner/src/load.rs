//! Loads a workflow file: reads, validates and compiles it to a plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::Contract;
use contract::diff::Diff;
use engine::ledger::LedgerReader;
use workflow::plan::Plan;
use workflow::{AskedRenders, CheckOutcome, DirFiles, Impact, MediaGate, Options, ParamFile, Picks};

use crate::args::OverrideArgs;
use crate::ffmpeg;
use crate::input_file::{LoadError, MAX_FILE_BYTES, read};
use crate::picks::PickStore;
use crate::project_paths::{ProjectPaths, display_path};
use crate::services;
use crate::tracked_files::TrackedFiles;

/// Loads a workflow file; warnings are printed to standard error.
pub(crate) fn load(file: &Path, overrides: &OverrideArgs) -> Result<Plan, LoadError> {
    let CheckOutcome { plan, report } = check(file, overrides)?;
    let invalid = |report| LoadError::Report(Box::new(report));
    match plan {
        None => Err(invalid(report)),
        Some(plan) => {
            if report.warnings() > 0 {
                invalid(report).print();
            }
            Ok(plan)
        }
    }
}

/// As [`load`], without its warnings, with other renders asked for of the workflow of this name than the recorded ones.
pub(crate) fn load_asked(
    file: &Path,
    overrides: &OverrideArgs,
    workflow: &str,
    asked: BTreeMap<String, AskedRenders>,
) -> Result<Plan, LoadError> {
    let options = Options { asked: [(workflow.to_owned(), asked)].into(), ..options(file, overrides)? };
    let CheckOutcome { plan, report } = check_with(&read(file).map_err(unreadable)?, file, &options)?;
    plan.ok_or_else(|| LoadError::Report(Box::new(report)))
}

/// A plan with what was asked for on a cluster, in place of what the ledger of this folder has of its workflow.
#[cfg(feature = "cluster")]
pub(crate) fn with_asked(
    plan: &Arc<Plan>,
    file: &Path,
    overrides: &OverrideArgs,
    asked: BTreeMap<String, AskedRenders>,
) -> Result<Arc<Plan>, LoadError> {
    let paths = ProjectPaths::for_workflow(file).map_err(unreadable)?;
    let here = asked_renders(&paths).remove(plan.name()).unwrap_or_default();
    if here == asked {
        return Ok(Arc::clone(plan));
    }
    load_asked(file, overrides, plan.name(), asked).map(Arc::new)
}

/// Validates a workflow file: its plan, if it is valid, and all diagnostics.
pub(crate) fn check(file: &Path, overrides: &OverrideArgs) -> Result<CheckOutcome, LoadError> {
    check_with(&read(file).map_err(unreadable)?, file, &options(file, overrides)?)
}

/// Validates the text of a workflow file, which may not be written yet.
pub(crate) fn check_text(
    text: &[u8],
    file: &Path,
    overrides: &OverrideArgs,
) -> Result<CheckOutcome, LoadError> {
    check_with(text, file, &options(file, overrides)?)
}

/// Validates a workflow file with other picks than the recorded ones.
pub(crate) fn check_with_picks(
    file: &Path,
    overrides: &OverrideArgs,
    picks: Picks,
) -> Result<CheckOutcome, LoadError> {
    let options = Options { picks, ..options(file, overrides)? };
    check_with(&read(file).map_err(unreadable)?, file, &options)
}

/// Validates a workflow file, and returns the other files that it depends on, up to a bound: included ones, tables, media, parameters.
pub(crate) fn check_with_files(
    file: &Path,
    overrides: &OverrideArgs,
) -> (Result<CheckOutcome, LoadError>, Vec<PathBuf>) {
    let mut files = overrides.param_files.clone();
    let checked = ProjectPaths::for_workflow(file).map_err(unreadable).and_then(|paths| {
        let tracked = TrackedFiles::new(&paths.folder, media_gate());
        let text = read(file).map_err(unreadable)?;
        let options = options(file, overrides)?;
        let name = file.display().to_string();
        let checked = workflow::check(&text, &name, &tracked, &options, Contract::embedded());
        files.extend(tracked.into_paths());
        Ok(checked)
    });
    (checked, files)
}

/// What a change of a description does to a workflow.
pub(crate) fn impact(file: &Path, contracts: [&Arc<Contract>; 2], diff: &Diff) -> Result<Impact, LoadError> {
    let text = read(file).map_err(unreadable)?;
    let paths = ProjectPaths::for_workflow(file).map_err(unreadable)?;
    let files = DirFiles::new(&paths.folder, media_gate());
    let options = options(file, &OverrideArgs::default())?;
    Ok(workflow::impact(&text, &file.display().to_string(), &files, &options, contracts, diff))
}

/// The media gate on this machine.
fn media_gate() -> MediaGate {
    MediaGate { has_ffmpeg: ffmpeg::find().ffmpeg.is_some(), ..engine::MEDIA_GATE }
}

fn check_with(text: &[u8], file: &Path, options: &Options) -> Result<CheckOutcome, LoadError> {
    let paths = ProjectPaths::for_workflow(file).map_err(unreadable)?;
    let name = file.display().to_string();
    Ok(workflow::check(
        text,
        &name,
        &DirFiles::new(&paths.folder, media_gate()),
        options,
        Contract::embedded(),
    ))
}

/// The compiler's inputs besides the file: overrides from the command line, and picks.
fn options(file: &Path, overrides: &OverrideArgs) -> Result<Options, LoadError> {
    let paths = ProjectPaths::for_workflow(file).map_err(unreadable)?;
    let picks = PickStore::new(file, &paths).read().map_err(LoadError::Unreadable)?;
    let param_file = |path: &PathBuf| {
        let invalid = |reason: String| LoadError::Unreadable(format!("cannot read the parameters: {reason}"));
        let bytes = read(path).map_err(|error| invalid(error.to_string()))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(invalid(format!(
                "{} is larger than {} MiB",
                display_path(path),
                MAX_FILE_BYTES / 1024 / 1024
            )));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| invalid(format!("{} is not UTF-8 text", display_path(path))))?;
        Ok(ParamFile { name: path.display().to_string(), text })
    };
    Ok(Options {
        params: overrides.params.clone(),
        param_files: overrides.param_files.iter().map(param_file).collect::<Result<_, _>>()?,
        axes: overrides.axes.clone(),
        allow: overrides.allow.clone(),
        picks,
        asked: asked_renders(&paths),
        services: services::load(&paths.folder)?,
        service: overrides.service.clone(),
        rehearse: overrides.rehearse,
    })
}

/// What was asked for with `--rerun`. A ledger that cannot be read is reported by whoever needs it.
pub(crate) fn asked_renders(paths: &ProjectPaths) -> BTreeMap<String, BTreeMap<String, AskedRenders>> {
    let reader = LedgerReader::open(&paths.ledger()).ok().flatten();
    reader.and_then(|reader| reader.asked_renders().ok()).unwrap_or_default()
}

#[expect(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn unreadable(error: std::io::Error) -> LoadError {
    LoadError::Unreadable(format!("cannot read the workflow: {error}"))
}
