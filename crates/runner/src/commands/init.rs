//! `runner init`: a workflow to begin with. It asks nothing: flags choose.

use contract::Contract;
use workflow::draft;

use super::write::{typed, write};
use crate::args::{Init, Kind, Look};
use crate::commands::complain;
use crate::exit::Exit;

pub(crate) fn init(args: &Init) -> Exit {
    let kind = match args.kind {
        Kind::Storyboard => draft::Kind::Storyboard,
        Kind::Chain => draft::Kind::Chain,
        Kind::Sweep => draft::Kind::Sweep,
    };
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let name = draft::name_for(&stem);
    let written = draft::draft(kind, &name, args.shots, &look(&args.look), Contract::embedded())
        .map_err(|error| error.to_string())
        .and_then(|text| write(&args.file, &text, args.force));
    match written {
        Ok(()) => {
            let file = typed(&args.file);
            outln!(
                "wrote {file}\n\nnow: runner check {file}\n     runner plan {file}\n     runner run {file}"
            );
            Exit::Done
        }
        Err(why) => {
            complain(why);
            Exit::InvalidInput
        }
    }
}

/// The flags that all new workflows share.
pub(crate) fn look(args: &Look) -> draft::Look {
    draft::Look { family: args.family.clone(), model: args.model.clone(), aspect: args.aspect.clone() }
}
