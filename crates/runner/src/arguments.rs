//! Parses the command line. Flags that take several shots would swallow a workflow file after them: where the file is missing, it is looked
//! for there.

mod mistakes;

use std::ffi::OsString;
use std::path::Path;
use std::sync::LazyLock;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _};
use contract::Contract;

use crate::args::{Arguments, examples};

/// The version of the program, and that of the contract that it implements.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    format!("{} (video service contract {})", env!("CARGO_PKG_VERSION"), Contract::embedded().version())
});

/// The definition of the command line, with examples in its help.
pub(crate) fn command() -> clap::Command {
    examples::add_to(Arguments::command()).version(VERSION.as_str())
}

fn try_parse(arguments: &[OsString]) -> Result<Arguments, clap::Error> {
    let mut command = command();
    if let Some(error) = mistakes::single_dash(&mut command, arguments) {
        return Err(error);
    }
    let matches = command.try_get_matches_from_mut(arguments)?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Parses arguments, the program's name first.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let error = match try_parse(&arguments) {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return Err(error);
    }
    // `runner run --only a1 six.yaml` is `runner run six.yaml --only a1`.
    let is_flag = |word: &OsString| word.to_string_lossy().starts_with('-');
    let Some(command) = arguments.iter().skip(1).position(|word| !is_flag(word)) else { return Err(error) };
    let first = command + 2;
    let Some(index) = arguments.iter().rposition(is_workflow_file).filter(|index| *index > first) else {
        return Err(error);
    };
    let mut reordered = arguments;
    let file = reordered.remove(index);
    reordered.insert(first, file);
    try_parse(&reordered).map_err(|_| error)
}

fn is_workflow_file(word: &OsString) -> bool {
    let path = Path::new(word);
    let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    is_yaml && path.is_file()
}
