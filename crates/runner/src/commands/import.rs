//! `runner import`: a workflow made of a shot list.

use std::io::Read as _;
use std::path::Path;

use contract::Contract;
use workflow::import::{Imported, Options};
use workflow::scaffold;

use super::atomic_write::{atomic_write, shell_quoted};
use super::init::picture;
use crate::args::ImportArgs;
use crate::commands::print_error;
use crate::exit::Exit;
use crate::load::MAX_FILE_BYTES;
use crate::terminal;

pub(crate) fn import(args: &ImportArgs) -> Exit {
    match imported(args) {
        Ok(exit) => exit,
        Err(why) => {
            print_error(why);
            Exit::InvalidInput
        }
    }
}

fn imported(args: &ImportArgs) -> Result<Exit, String> {
    let mut bytes = Vec::new();
    fs_err::File::open(&args.list)
        .and_then(|open| open.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| format!("cannot read the shot list: {error}"))?;
    let output = args.output.clone().unwrap_or_else(|| args.list.with_extension("yaml"));
    let to_screen = output == Path::new("-");
    let named = if to_screen { &args.list } else { &output };
    let options = Options {
        name: scaffold::name_for(&named.file_stem().unwrap_or_default().to_string_lossy()),
        picture: picture(&args.model),
        chain_scenes: args.chain.is_some(),
    };
    let list = args.list.display().to_string();
    let Imported { workflow, shots, report } =
        workflow::import::import(&bytes, &list, &options, Contract::embedded())
            .map_err(|error| error.to_string())?;
    if !report.diagnostics.is_empty() {
        err!("{}", report.render(terminal::has_color()));
    }
    let Some(text) = workflow else { return Ok(Exit::InvalidInput) };
    if to_screen {
        out!("{text}");
        return Ok(Exit::Done);
    }
    if output == args.list {
        return Err(format!("{} is the shot list itself; name another file with --output", output.display()));
    }
    atomic_write(&output, &text, args.force)?;
    let file = shell_quoted(&output);
    outln!("wrote {file}: {shots} {}\n\nnow: runner plan {file}", if shots == 1 { "shot" } else { "shots" });
    Ok(Exit::Done)
}
