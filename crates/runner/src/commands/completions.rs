//! `runner completions` and `runner man`: what shells and `man` need, from the definition of the arguments.

use crate::args::{CompletionsArgs, ManArgs};
use crate::arguments;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::terminal;

pub(crate) fn completions(args: &CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut arguments::command(), "runner", &mut script);
    terminal::out(&String::from_utf8_lossy(&script));
    Exit::Done
}

/// Writes `runner.1`, and a page for each subcommand.
pub(crate) fn man(args: &ManArgs) -> Result<Exit, CommandError> {
    fs_err::create_dir_all(&args.folder)?;
    clap_mangen::generate_to(arguments::command(), &args.folder)?;
    Ok(Exit::Done)
}
