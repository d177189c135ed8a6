//! `runner init`: a workflow to begin with. It asks nothing: flags choose.

use contract::Contract;
use workflow::scaffold;

use super::atomic_write::{atomic_write, shell_quoted};
use crate::args::{InitArgs, ModelArgs, TemplateKind};
use crate::commands::print_error;
use crate::exit::Exit;

pub(crate) fn init(args: &InitArgs) -> Exit {
    let kind = match args.kind {
        TemplateKind::Storyboard => scaffold::WorkflowKind::Storyboard,
        TemplateKind::Chain => scaffold::WorkflowKind::Chain,
        TemplateKind::Sweep => scaffold::WorkflowKind::Sweep,
    };
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let name = scaffold::name_for(&stem);
    let written = scaffold::scaffold(kind, &name, args.shots, &picture(&args.model), Contract::embedded())
        .map_err(|error| error.to_string())
        .and_then(|text| atomic_write(&args.file, &text, args.force));
    match written {
        Ok(()) => {
            let file = shell_quoted(&args.file);
            outln!(
                "wrote {file}\n\nnow: runner check {file}\n     runner plan {file}\n     runner run {file}"
            );
            Exit::Done
        }
        Err(why) => {
            print_error(why);
            Exit::InvalidInput
        }
    }
}

/// The flags that all new workflows share.
pub(crate) fn picture(args: &ModelArgs) -> scaffold::PictureOptions {
    scaffold::PictureOptions {
        family: args.family.clone(),
        model: args.model.clone(),
        aspect: args.aspect.clone(),
    }
}
