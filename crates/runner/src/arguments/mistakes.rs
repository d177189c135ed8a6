//! Mistakes on the command line that would be understood as something else.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Command, Error};

/// A long flag that was written with one dash: clap would read `-only=a` as `-o nly=a`, and render everything.
pub(super) fn single_dash(command: &mut Command, arguments: &[OsString]) -> Option<Error> {
    let globals: Vec<String> =
        command.get_arguments().filter_map(|argument| argument.get_long().map(str::to_owned)).collect();
    let words: Vec<&str> = arguments.iter().skip(1).map_while(|word| word.to_str()).collect();
    let mut subcommand = command;
    for word in words.iter().take_while(|word| **word != "--") {
        let flag = word.strip_prefix('-').filter(|flag| !flag.starts_with('-')).unwrap_or_default();
        let name = flag.split_once('=').map_or(flag, |(name, _)| name);
        let is_long = subcommand.get_arguments().any(|argument| argument.get_long() == Some(name))
            || globals.iter().any(|global| global == name);
        if name.len() > 1 && is_long {
            let short: String = flag.chars().take(1).collect();
            let message =
                format!("`-{flag}` would be read as `-{short} {}`: write `--{flag}`", &flag[short.len()..]);
            return Some(subcommand.error(ErrorKind::UnknownArgument, message));
        }
        if flag.is_empty() && subcommand.find_subcommand(word).is_some() {
            let name = format!("{} {word}", subcommand.get_bin_name().unwrap_or("runner"));
            subcommand = subcommand.find_subcommand_mut(word)?;
            subcommand.set_bin_name(name);
        }
    }
    None
}
