//! Small rooms: each source file opens with what it is for and stays readable in one sitting; no file speaks of where it was written.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines of one file besides its tests. DESIGN says about 400.
const MOST_LINES: usize = 430;
/// Names that say nothing of what a thing is.
const EMPTY_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "manager", "common", "misc", "data"];

pub(super) fn problems(root: &Path) -> Result<(usize, Vec<String>), String> {
    let told = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    if !told.status.success() {
        return Err(format!("git ls-files failed: {}", String::from_utf8_lossy(&told.stderr)));
    }
    let mut problems = Vec::new();
    let mut files = 0;
    for name in told.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = String::from_utf8_lossy(name).into_owned();
        let path = root.join(&name);
        if !path.is_file() {
            continue;
        }
        files += 1;
        if let Ok(text) = std::fs::read_to_string(&path) {
            problems.extend(check(&PathBuf::from(&name), &text));
        }
    }
    Ok((files, problems))
}

fn check(name: &Path, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let shown = name.display();
    for (number, line) in text.lines().enumerate() {
        if speaks_of_a_machine(line) {
            problems.push(format!("{shown}:{}: names a place on somebody's machine", number + 1));
        }
    }
    if name.extension().is_none_or(|extension| extension != "rs") {
        return problems;
    }
    if !text.starts_with("//!") {
        problems.push(format!("{shown}:1: does not open with //! and what it is for"));
    }
    let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count();
    let is_test = name.components().any(|part| part.as_os_str() == "tests");
    if lines > MOST_LINES && !is_test {
        problems
            .push(format!("{shown}: {lines} lines besides tests; at most {MOST_LINES}: is it one purpose?"));
    }
    if name.file_stem().is_some_and(|stem| EMPTY_NAMES.iter().any(|empty| stem == *empty)) {
        problems.push(format!("{shown}: the name says nothing of what is inside"));
    }
    problems
}

fn speaks_of_a_machine(line: &str) -> bool {
    // Without their first slash, so that this list is not its own first find.
    ["root/", "home/", "work/", "tmp/"].iter().any(|place| {
        line.match_indices(place).any(|(at, _)| {
            let mut before = line[..at].chars().rev();
            // Part of a longer path or of an address is something else.
            before.next() == Some('/')
                && before.next().is_none_or(|before| before.is_whitespace() || "\"'`(=".contains(before))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_finds_its_breach() {
        let long = format!("//! Long.\n{}", "fn f() {}\n".repeat(MOST_LINES));
        let tested = format!("//! Long tests.\n#[cfg(test)]\n{}", "fn f() {}\n".repeat(MOST_LINES));
        assert_eq!(check(Path::new("src/a.rs"), &long).len(), 1);
        assert_eq!(check(Path::new("src/a.rs"), &tested).len(), 0);
        assert_eq!(check(Path::new("src/a.rs"), "fn f() {}\n").len(), 1);
        assert_eq!(check(Path::new("src/utils.rs"), "//! Things.\n").len(), 1);
        assert_eq!(check(Path::new("notes.md"), &format!("see /{}x\n", "root/")).len(), 1);
        assert_eq!(check(Path::new("notes.md"), &format!("see https://example.com/{}x\n", "root/")).len(), 0);
    }
}
