//! Parses the command line. Flags that take several shots would swallow a workflow file behind them: where the file is missing, it is looked
//! for there.

use std::ffi::OsString;
use std::path::Path;

use clap::Parser as _;
use clap::error::ErrorKind;

use crate::args::Arguments;

/// Parses arguments, the program's name first.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let error = match Arguments::try_parse_from(&arguments) {
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
    let Some(at) = arguments.iter().rposition(is_workflow_file).filter(|at| *at > first) else {
        return Err(error);
    };
    let mut reordered = arguments;
    let file = reordered.remove(at);
    reordered.insert(first, file);
    Arguments::try_parse_from(reordered).map_err(|_| error)
}

fn is_workflow_file(word: &OsString) -> bool {
    let path = Path::new(word);
    let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    is_yaml && path.is_file()
}
