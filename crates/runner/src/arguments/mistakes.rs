//! Words that people write on the command line out of habit: what they are called here.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// Flags of other programs, with what to write instead.
const FLAGS: &[(&[&str], &str)] = &[
    (
        &["resume", "continue"],
        "`runner run FILE` renders what has no video yet, and adopts what is in flight",
    ),
    (
        &["retry", "retries", "max-retries"],
        "`retry: 3` in a shot repeats what failed; `--failed` renders again what failed in the last run",
    ),
    (
        &["budget", "max-price", "max-spend", "cost-limit", "limit"],
        "`--max-cost AMOUNT` limits what a run may spend",
    ),
    (
        &["parallel", "workers", "threads", "concurrency", "n"],
        "`--jobs NUMBER` is how many tasks are in flight at once",
    ),
    (
        &["shot", "shots", "select", "filter", "include", "to", "until", "skip", "exclude"],
        "`--only SHOT...` selects shots, `--from SHOT` also what follows from it",
    ),
    (
        &["set", "var", "vars", "env", "arg"],
        "`-p NAME=VALUE` sets a parameter, `-a NAME=VALUE,VALUE` an axis",
    ),
    (&["json"], "`--format json`"),
    (
        &["model", "seed", "seconds", "duration", "prompt", "ratio", "resolution", "size"],
        "fields of a request are in the workflow file, in a shot or under `defaults`",
    ),
    (&["api-key", "key", "token"], "the API key is in the variable RUNNER_API_KEY"),
    (&["url", "base-url", "endpoint", "host"], "the service's address is in the variable RUNNER_BASE_URL"),
    (&["dry", "simulate", "no-submit"], "`--dry-run` shows what would be submitted"),
    (
        &["yes", "y", "no-confirm"],
        "there is nothing to confirm; `--max-cost AMOUNT` limits what a run may spend",
    ),
];

/// Commands of other programs, with those of this one.
const COMMANDS: &[(&str, &[&str])] = &[
    ("run", &["render", "start", "build", "exec", "execute", "generate", "submit", "resume", "retry"]),
    ("check", &["validate", "lint", "test", "verify"]),
    ("init", &["new", "create"]),
    ("plan", &["preview", "dry-run", "estimate", "cost", "price", "diff"]),
    ("status", &["list", "ls", "show", "ps", "log", "logs", "history"]),
    ("view", &["open", "watch", "gallery"]),
    ("ledger fetch", &["download", "fetch", "get", "pull"]),
    ("export", &["convert"]),
    ("clean", &["rm", "remove", "delete", "gc", "prune"]),
    ("--version", &["version"]),
];

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

/// The same error with what to write instead, where that is known. The nearest name is not always it.
pub(super) fn with_tip(mut error: Error) -> Error {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => word.clone(),
        _ => String::new(),
    };
    let tip = match error.kind() {
        ErrorKind::UnknownArgument => {
            let flag = word(ContextKind::InvalidArg);
            // That the word is meant as a value, which is hardly ever so.
            if flag.starts_with('-') {
                error.remove(ContextKind::Suggested);
            }
            let name = flag.trim_start_matches('-');
            let name = name.split_once('=').map_or(name, |(name, _)| name);
            FLAGS.iter().find(|(names, _)| names.contains(&name)).map(|(_, tip)| (*tip).to_owned())
        }
        ErrorKind::InvalidSubcommand => {
            let word = word(ContextKind::InvalidSubcommand);
            let end = Path::new(&word).extension().unwrap_or_default();
            if end == "yaml" || end == "yml" {
                Some(format!("`runner run {word}` renders a workflow"))
            } else {
                let other = COMMANDS.iter().find(|(_, names)| names.contains(&word.as_str()));
                other.map(|(command, _)| format!("`runner {command}`")).or_else(|| transposed(&word))
            }
        }
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// The command with the same letters in another order, such as `run` for `rnu`: clap counts that as two mistakes.
fn transposed(word: &str) -> Option<String> {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let command = super::command();
    let mut names = command.get_subcommands().map(Command::get_name);
    names.find(|name| sorted(name) == sorted(word)).map(|name| format!("`runner {name}`"))
}
