//! `runner init`: creates a workflow file, and beside it what a project needs. Flags choose; it never prompts.

use std::path::Path;

use contract::Contract;
use workflow::scaffold;

use super::atomic_write::atomic_write;
use crate::args::{InitArgs, ModelArgs, WorkflowKindArg};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::price_table::DEFAULT_FILE;
use crate::shell;

pub(crate) fn init(args: &InitArgs) -> Result<Exit, CommandError> {
    let kind = match args.kind {
        WorkflowKindArg::Storyboard => scaffold::WorkflowKind::Storyboard,
        WorkflowKindArg::Chain => scaffold::WorkflowKind::Chain,
        WorkflowKindArg::Sweep => scaffold::WorkflowKind::Sweep,
    };
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let name = scaffold::name_for(&stem);
    let text = scaffold::scaffold(kind, &name, args.shots, &video_options(&args.model), Contract::embedded())
        .map_err(CommandError::invalid)?;
    atomic_write(&args.file, &text, args.overwrite)?;
    let file = shell::path(&args.file);
    outln!("wrote {file}");
    let folder = args.file.parent().unwrap_or(Path::new(""));
    write_gitignore(&folder.join(".gitignore"))?;
    let schema = workflow::workflow_schema(Contract::embedded());
    write_companion(&folder.join("workflow.schema.json"), &format!("{schema:#}\n"), "")?;
    write_companion(
        &folder.join(DEFAULT_FILE),
        &scaffold::price_table(Contract::embedded()),
        ": costs are unknown until it is filled in",
    )?;
    outln!(
        "\nnext: runner check {file}\n      runner plan {file}\n      runner run {file}\n      runner ui {file}"
    );
    Ok(Exit::Done)
}

/// Creates a file beside the workflow, unless it is there.
fn write_companion(file: &Path, text: &str, remark: &str) -> Result<(), CommandError> {
    if std::fs::symlink_metadata(file).is_ok() {
        outln!("kept {}", shell::path(file));
        return Ok(());
    }
    atomic_write(file, text, false)?;
    outln!("wrote {}{remark}", shell::path(file));
    Ok(())
}

/// Creates the `.gitignore`; in one that is there, the entries that it lacks are named.
fn write_gitignore(file: &Path) -> Result<(), CommandError> {
    let Ok(text) = fs_err::read_to_string(file) else {
        return write_companion(file, &scaffold::gitignore(), "");
    };
    let has = |entry: &str| {
        let entry = entry.trim_matches('/');
        text.lines().any(|line| line.trim().trim_matches('/') == entry)
    };
    let missing: Vec<String> =
        scaffold::IGNORED.into_iter().filter(|entry| !has(entry)).map(|entry| format!("`{entry}`")).collect();
    let file = shell::path(file);
    if missing.is_empty() {
        outln!("kept {file}");
    } else {
        outln!("kept {file}: add {} to it", missing.join(" and "));
    }
    Ok(())
}

/// The options of a new workflow's videos.
pub(crate) fn video_options(args: &ModelArgs) -> scaffold::VideoOptions {
    scaffold::VideoOptions {
        family: args.family.clone(),
        model: args.model.clone(),
        aspect: args.aspect.clone(),
    }
}
