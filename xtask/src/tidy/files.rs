//! Rules for single files: a header comment, a maximum length, a meaningful name, no paths of the machine where it was written.

use std::path::{Path, PathBuf};

use crate::repository;

/// Maximum lines of a source file without its tests.
const MAX_LINES: usize = 400;
/// Maximum lines of a test module within a file.
const MAX_INLINE_TEST_LINES: usize = 140;
/// File names without meaning.
const VAGUE_NAMES: &[&str] = &["utils", "util", "helpers", "helper", "manager", "common", "misc", "data"];

pub(super) fn problems(root: &Path) -> Result<(usize, Vec<String>), String> {
    let mut problems = Vec::new();
    let mut files = 0;
    for name in repository::files(root)? {
        let path = root.join(&name);
        files += 1;
        if let Ok(text) = std::fs::read_to_string(&path) {
            problems.extend(check(&PathBuf::from(&name), &text));
        }
    }
    Ok((files, problems))
}

fn check(name: &Path, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let file = name.display();
    for (number, line) in text.lines().enumerate() {
        if has_machine_path(line) {
            problems.push(format!("{file}:{}: has an absolute path of a machine", number + 1));
        }
    }
    if name.extension().is_none_or(|extension| extension != "rs") {
        return problems;
    }
    for (number, line) in text.lines().enumerate() {
        if calls_time_at(line) {
            problems.push(format!("{file}:{}: a time is called `at`; use `time` or `deadline`", number + 1));
        }
    }
    if !text.starts_with("//!") {
        problems.push(format!("{file}:1: does not start with a `//!` header"));
    }
    let stem = name.file_stem().unwrap_or_default().to_string_lossy();
    let is_test = name.components().any(|part| part.as_os_str() == "tests")
        || stem == "tests"
        || stem.ends_with("_tests");
    let is_library = name.starts_with("crates") && !name.starts_with("crates/runner");
    if is_library && name.components().any(|part| part.as_os_str() == "src") && !is_test {
        let source = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
        for (number, _) in source.enumerate().filter(|(_, line)| line.contains("env::var")) {
            problems.push(format!("{file}:{}: a library reads no environment", number + 1));
        }
    }
    let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count();
    if lines > MAX_LINES && !is_test {
        problems.push(format!("{file}: {lines} lines without tests, more than {MAX_LINES}: split it"));
    }
    let tests = text.lines().skip_while(|line| !line.ends_with("mod tests {")).count();
    if tests > MAX_INLINE_TEST_LINES && !is_test {
        problems.push(format!(
            "{file}: {tests} lines of tests, more than {MAX_INLINE_TEST_LINES}: move them to `tests.rs` or `{stem}_tests.rs`"
        ));
    }
    if name.file_stem().is_some_and(|stem| VAGUE_NAMES.iter().any(|vague| stem == *vague)) {
        problems.push(format!("{file}: the name does not say what the file contains"));
    }
    problems
}

/// Whether a field or a parameter, not one of a closure, is a time and called `at`.
fn calls_time_at(line: &str) -> bool {
    line.match_indices("at: ").any(|(index, name)| {
        let before = line[..index].chars().next_back();
        let of_type = line[index + name.len()..].trim_start_matches('&');
        let of_type = of_type.strip_prefix("Option<").unwrap_or(of_type);
        let end = of_type.find(|c: char| !c.is_alphanumeric() && !"_:".contains(c)).unwrap_or(of_type.len());
        let type_name = of_type[..end].rsplit("::").next().unwrap_or_default();
        let is_type = !of_type[end..].starts_with('(');
        // Of a closure, after `|`; in text, after a quote.
        before.is_none_or(|c| c.is_whitespace() || c == '(')
            && is_type
            && matches!(type_name, "Timestamp" | "Instant" | "SystemTime")
    })
}

fn has_machine_path(line: &str) -> bool {
    // Without their first slash, so that this list does not match itself.
    ["root/", "home/", "work/", "tmp/"].iter().any(|folder| {
        line.match_indices(folder).any(|(index, _)| {
            let mut before = line[..index].chars().rev();
            // Not where it is part of a longer path or of a URL.
            before.next() == Some('/')
                && before.next().is_none_or(|before| before.is_whitespace() || "\"'`(=".contains(before))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_called_at_are_refused() {
        // In parts, so that this file does not match itself.
        for (name, rest) in [
            ("pub at", "Timestamp,"),
            ("fn f(at", "&std::time::Instant) {"),
            ("n: u8, at", "Option<Timestamp>)"),
        ] {
            assert!(calls_time_at(&format!("    {name}: {rest}")), "{name}");
        }
        for line in
            ["    created_at: Timestamp,", "at: usize", "|at: Instant| 1", "Sent { at: Timestamp(1) }"]
        {
            assert!(!calls_time_at(line), "{line}");
        }
    }

    #[test]
    fn each_rule_reports_its_violation() {
        let long = format!("//! Long.\n{}", "fn f() {}\n".repeat(MAX_LINES));
        let tested =
            |lines| format!("//! Tests.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "fn f() {}\n".repeat(lines));
        assert_eq!(check(Path::new("src/a.rs"), &long).len(), 1);
        assert_eq!(check(Path::new("src/a.rs"), &tested(MAX_INLINE_TEST_LINES - 2)).len(), 0);
        assert_eq!(check(Path::new("src/a.rs"), &tested(MAX_INLINE_TEST_LINES)).len(), 1);
        assert_eq!(check(Path::new("src/tests.rs"), &long).len(), 0);
        assert_eq!(check(Path::new("src/a_tests.rs"), &long).len(), 0);
        assert_eq!(check(Path::new("src/a.rs"), "fn f() {}\n").len(), 1);
        let reads = "//! Reads.\nlet path = std::env::var_os(\"PATH\");\n";
        assert_eq!(check(Path::new("crates/media/src/a.rs"), reads).len(), 1);
        assert_eq!(check(Path::new("crates/runner/src/a.rs"), reads).len(), 0);
        assert_eq!(check(Path::new("crates/media/tests/a.rs"), reads).len(), 0);
        let timed = format!("//! A.\nstruct S {{\n    {}: Timestamp,\n}}\n", "at");
        assert_eq!(check(Path::new("src/a.rs"), &timed).len(), 1);
        assert_eq!(check(Path::new("src/utils.rs"), "//! Things.\n").len(), 1);
        assert_eq!(check(Path::new("notes.md"), &format!("see /{}x\n", "root/")).len(), 1);
        assert_eq!(check(Path::new("notes.md"), &format!("see https://example.com/{}x\n", "root/")).len(), 0);
    }
}
