//! Checks that the flags that documents and code examples name exist: in this program, in `cargo xtask`, or in another program.

use std::collections::BTreeSet;
use std::path::Path;

use super::names::{Name, NameKind};
use crate::repository;

/// The reference of this program's flags; it is generated from its arguments.
const COMMANDS: &str = "docs/commands.md";
/// Flags of other programs.
const OTHERS: &[(&str, &[&str])] = &[
    (
        "cargo",
        &["all-targets", "bench", "bins", "features", "locked", "path", "release", "timings", "workspace"],
    ),
    ("the arguments of code examples", &["pick"]),
    ("docker", &["rm", "user"]),
    ("gh", &["repo"]),
];
/// Flags that clap adds.
const BUILT_IN: [&str; 2] = ["help", "version"];

pub(super) fn problems(root: &Path, declared: &[Name]) -> Result<Vec<String>, String> {
    let read = |file: &str| fs_err::read_to_string(root.join(file)).map_err(|error| error.to_string());
    let mut flag_names: BTreeSet<String> = flags(&read(COMMANDS)?).map(|(_, flag)| flag.to_owned()).collect();
    let source_flags = declared.iter().filter(|name| {
        name.kind == NameKind::Flag
            && ["crates/runner/", "xtask/"].iter().any(|dir| name.file.starts_with(dir))
    });
    flag_names.extend(source_flags.map(|name| name.text.replace('_', "-")));
    flag_names.extend(BUILT_IN.map(str::to_owned));
    let mut documents = Vec::new();
    for file in repository::files(root)? {
        if is_document(&file) {
            documents.push((file.clone(), read(&file)?));
        }
    }
    Ok(check(&documents, &flag_names))
}

fn is_document(file: &str) -> bool {
    let is_markdown = Path::new(file).extension().is_some_and(|extension| extension == "md");
    let is_page = is_markdown && (file.starts_with("docs/") || !file.contains('/'));
    // The changelog names flags of earlier versions.
    (is_page && file != "CHANGELOG.md") || file.starts_with("crates/workflow/src/diagnostic/examples/")
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
        assert!(problems.contains(&"xtask/src/tidy/flags.rs: no document names `docker --rm`".to_owned()));
        assert!(!problems.iter().any(|problem| problem.contains("--release")));
    }

    #[test]
    fn changelog_and_sources_are_no_documents() {
        assert!(is_document("docs/run.md") && is_document("README.md"));
        assert!(!is_document("CHANGELOG.md") && !is_document("crates/runner/src/args.rs"));
    }
}
