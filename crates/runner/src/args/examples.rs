//! Examples of every command, shown at the end of its help and in its man page.

use clap::Command;

/// Blocks of a command, such as `[serve keys]`, with what its lines are for and the lines themselves.
const EXAMPLES: &str = include_str!("examples.txt");

/// The names of each command and its subcommands, with its examples.
fn examples() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXAMPLES.split("\n\n").filter_map(|block| block.trim().strip_prefix('[')?.split_once("]\n"))
}

/// The command with examples at the end of the help of each subcommand that has some.
pub(crate) fn add_to(command: Command) -> Command {
    examples().fold(command, |command, (path, lines)| {
        let path: Vec<&str> = path.split(' ').collect();
        add(command, &path, &text(lines))
    })
}

fn add(command: Command, path: &[&'static str], text: &str) -> Command {
    match path {
        [] => {
            let notes = command.get_after_help().map(|notes| format!("{notes}\n\n")).unwrap_or_default();
            command.after_help(format!("{notes}{text}"))
        }
        // A build without the cluster has fewer commands.
        [name, ..] if command.find_subcommand(name).is_none() => command,
        [name, rest @ ..] => command.mut_subcommand(*name, |subcommand| add(subcommand, rest, text)),
    }
}

fn text(lines: &str) -> String {
    let lines: Vec<String> = lines.lines().map(|line| format!("  {line}\n")).collect();
    let pairs: Vec<String> = lines.chunks(2).map(<[String]>::concat).collect();
    format!("Examples:\n{}", pairs.join("\n")).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::arguments;

    use super::*;

    /// What a shell passes to the program: without redirections.
    fn split(line: &str) -> Vec<String> {
        let words = shlex::split(line).unwrap_or_else(|| panic!("{line}"));
        words.into_iter().take_while(|word| word != ">").collect()
    }

    #[test]
    fn examples_are_valid_command_lines_of_their_command() {
        // A build without the cluster has no workers.
        let has = |command: &str| arguments::command().find_subcommand(command).is_some();
        for (command, lines) in
            examples().filter(|(command, _)| has(command.split(' ').next().unwrap_or_default()))
        {
            let lines: Vec<&str> = lines.lines().collect();
            assert_eq!(lines.len(), 4, "{command}");
            for (purpose, line) in lines.chunks(2).map(|pair| (pair[0], pair[1])) {
                let purpose = purpose.strip_prefix("# ").unwrap_or_default();
                assert!(line.starts_with(&format!("runner {command}")), "{line}");
                assert!(!purpose.is_empty() && purpose.len() + 4 <= 100 && line.len() + 2 <= 100, "{line}");
                let parsed = arguments::parse(split(line).into_iter().map(Into::into).collect());
                parsed.unwrap_or_else(|error| panic!("{line}\n{error}"));
            }
        }
    }

    #[test]
    fn every_command_has_examples() {
        let with_examples: BTreeSet<&str> = examples().map(|(command, _)| command).collect();
        let command = arguments::command();
        for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
            let name = subcommand.get_name();
            let has_some = with_examples.iter().any(|path| path.split(' ').next() == Some(name));
            assert!(has_some || name == "help", "`{name}` has no examples");
        }
    }
}
