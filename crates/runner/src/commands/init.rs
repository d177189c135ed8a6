//! `runner init`: creates a workflow file. Flags choose; it never prompts.

use contract::Contract;
use workflow::scaffold;

use super::atomic_write::{atomic_write, shell_quoted};
use crate::args::{InitArgs, ModelArgs, TemplateKind};
use crate::error::CommandError;
use crate::exit::Exit;

pub(crate) fn init(args: &InitArgs) -> Result<Exit, CommandError> {
    let kind = match args.kind {
        TemplateKind::Storyboard => scaffold::WorkflowKind::Storyboard,
        TemplateKind::Chain => scaffold::WorkflowKind::Chain,
        TemplateKind::Sweep => scaffold::WorkflowKind::Sweep,
    };
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let name = scaffold::name_for(&stem);
    let text = scaffold::scaffold(kind, &name, args.shots, &picture(&args.model), Contract::embedded())
        .map_err(CommandError::invalid)?;
    atomic_write(&args.file, &text, args.overwrite)?;
    let file = shell_quoted(&args.file);
    outln!(
        "wrote {file}\n\nnext: runner check {file}\n      runner plan {file}\n      runner run {file}\n      runner ui {file}"
    );
    Ok(Exit::Done)
}

/// The picture options of a new workflow.
pub(crate) fn picture(args: &ModelArgs) -> scaffold::PictureOptions {
    scaffold::PictureOptions {
        family: args.family.clone(),
        model: args.model.clone(),
        aspect: args.aspect.clone(),
    }
}
