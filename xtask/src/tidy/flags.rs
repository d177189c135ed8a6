//! Checks that the flags that documents and code examples name exist: in this program, in `cargo xtask`, or in another program; and that the
//! commands of `cargo xtask` do. Those of the program are run by `tests/cli/book.rs`.

use std::collections::BTreeSet;
use std::path::Path;

use clap::CommandFactory as _;

use crate::{Arguments, repository};

/// The reference of this program's flags; it is generated from its arguments.
const COMMANDS: &str = "docs/commands.md";
/// The same for `worker`, which builds without the feature `cluster` lack.
const WORKER: &str = "tests/cli/snapshots/cli__cluster__help_worker.snap";
/// Flags of other programs.
const OTHERS: &[(&str, &[&str])] = &[
    ("cargo", &["all-targets", "bins", "features", "locked", "path", "release", "workspace"]),
    ("runner with the feature cluster", &["attach", "run"]),
    ("the arguments of code examples", &["pick"]),
    ("gh", &["repo"]),
];
/// Flags that clap adds.
const BUILT_IN: [&str; 2] = ["help", "version"];

pub(super) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let read = |file: &str| fs_err::read_to_string(root.join(file)).map_err(|error| error.to_string());
    let xtask = Arguments::command();
    let mut flag_names: BTreeSet<String> = BUILT_IN.map(str::to_owned).into();
    for page in [read(COMMANDS)?, read(WORKER)?] {
        flag_names.extend(flags(&page).map(|(_, flag)| flag.to_owned()));
    }
    add_flags(&xtask, &mut flag_names);
    let mut documents = Vec::new();
    for file in repository::files(root)? {
        if is_document(&file) {
            documents.push((file.clone(), read(&file)?));
        }
    }
    Ok([check(&documents, &flag_names), check_commands(&documents, &xtask)].concat())
}

fn add_flags(command: &clap::Command, names: &mut BTreeSet<String>) {
    names.extend(command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned));
    command.get_subcommands().for_each(|command| add_flags(command, names));
}

/// Whether `cargo xtask` has the commands that the documents name.
fn check_commands(documents: &[(String, String)], xtask: &clap::Command) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, text) in documents {
        for rest in text.split("cargo xtask ").skip(1) {
            let mut command = xtask;
            let words = rest.split('`').next().unwrap_or_default().lines().next().unwrap_or_default();
            for word in words.split(' ').take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
            {
                let Some(subcommand) = command.find_subcommand(word) else {
                    if command.has_subcommands() {
                        problems.push(format!("{file}: there is no `cargo xtask {words}`"));
                    }
                    break;
                };
                command = subcommand;
            }
        }
    }
    problems
}

fn is_document(file: &str) -> bool {
    let is_markdown = Path::new(file).extension().is_some_and(|extension| extension == "md");
    let is_page = is_markdown && (file.starts_with("docs/") || !file.contains('/'));
    // The changelog names flags of earlier versions.
    (is_page && file != "CHANGELOG.md") || file == "crates/workflow/src/diagnostic/codes.txt"
}

fn check(documents: &[(String, String)], declared: &BTreeSet<String>) -> Vec<String> {
    let (mut problems, mut used) = (Vec::new(), BTreeSet::new());
    for (file, text) in documents {
        for (line, flag) in flags(text).filter(|(_, flag)| !declared.contains(*flag)) {
            if OTHERS.iter().any(|(_, flags)| flags.contains(&flag)) {
                used.insert(flag);
            } else {
                problems.push(format!("{file}:{line}: no program has a flag `--{flag}`"));
            }
        }
    }
    for (program, flags) in OTHERS {
        for flag in flags.iter().filter(|flag| !used.contains(*flag)) {
            problems.push(format!("xtask/src/tidy/flags.rs: no document names `{program} --{flag}`"));
        }
    }
    problems
}

/// The flags in a text, without the dashes, with their lines.
fn flags(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(index, line)| {
        line.match_indices("--").filter_map(move |(start, dashes)| {
            let before = line[..start].chars().next_back();
            let after = &line[start + dashes.len()..];
            let len = after
                .find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '-')
                .unwrap_or(after.len());
            let flag = after[..len].trim_end_matches('-');
            let is_flag = before.is_none_or(|c| !c.is_alphanumeric() && !"-<!/".contains(c))
                && flag.starts_with(|c: char| c.is_ascii_lowercase());
            is_flag.then_some((index + 1, flag))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_lists_flags_and_not_dashes() {
        let text =
            "Run `runner run --only a --max-cost=3`.\n<!-- no --> a--b ---\n| --- |\n[x](#a--b) (`--from`)\n";
        assert_eq!(flags(text).collect::<Vec<_>>(), [(1, "only"), (1, "max-cost"), (4, "from")]);
    }

    #[test]
    fn flags_that_no_program_has_are_reported() {
        let declared = ["only".to_owned()].into();
        let text = "`--only`, `cargo build --release`,\n`--allow-outside`".to_owned();
        let problems = check(&[("docs/a.md".to_owned(), text)], &declared);
        assert_eq!(problems[0], "docs/a.md:2: no program has a flag `--allow-outside`");
        assert!(problems.contains(&"xtask/src/tidy/flags.rs: no document names `cargo --locked`".to_owned()));
        assert!(!problems.iter().any(|problem| problem.contains("--release")));
    }

    #[test]
    fn commands_that_xtask_lacks_are_reported() {
        let of =
            |text: &str| check_commands(&[("docs/a.md".to_owned(), text.to_owned())], &Arguments::command());
        let text =
            "`cargo xtask tidy` and `cargo xtask bench ledger`\n    cargo xtask generate --check  # x\n";
        assert_eq!(of(text), Vec::<String>::new());
        assert_eq!(of("`cargo xtask clean`"), ["docs/a.md: there is no `cargo xtask clean`"]);
        assert_eq!(of("`cargo xtask bench all`").len(), 1);
    }

    #[test]
    fn changelog_and_sources_are_no_documents() {
        assert!(is_document("docs/run.md") && is_document("README.md"));
        assert!(!is_document("CHANGELOG.md") && !is_document("crates/runner/src/args.rs"));
    }
}
