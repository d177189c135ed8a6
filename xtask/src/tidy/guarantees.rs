//! docs/guarantees.md names the tests that prove its promises: each must be there.

use std::collections::BTreeMap;
use std::path::Path;

/// The document.
const PAGE: &str = "docs/guarantees.md";

pub(super) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let page = fs_err::read_to_string(root.join(PAGE)).map_err(|error| error.to_string())?;
    let mut files: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (file, _) in named(&page) {
        files.entry(file.to_owned()).or_insert_with(|| fs_err::read_to_string(root.join(file)).ok());
    }
    Ok(check(&page, &files))
}

fn check(page: &str, files: &BTreeMap<String, Option<String>>) -> Vec<String> {
    let mut problems = Vec::new();
    if named(page).next().is_none() {
        problems.push(format!("{PAGE}: names no test"));
    }
    for (file, test) in named(page) {
        match files.get(file) {
            Some(Some(text)) if is_test(text, test) => {}
            Some(Some(_)) => problems.push(format!("{PAGE}: there is no test {test} in {file}")),
            Some(None) | None => problems.push(format!("{PAGE}: there is no file {file}")),
        }
    }
    problems
}

/// Every `path/to/file.rs::function` between backticks.
fn named(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split('`').skip(1).step_by(2).filter_map(|code| {
        let (file, test) = code.split_once(".rs::")?;
        Some((&code[..file.len() + 3], test))
    })
}

/// Whether the function is there, and marked as a test.
fn is_test(text: &str, name: &str) -> bool {
    let declared = format!("fn {name}(");
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().enumerate().any(|(at, line)| {
        line.contains(&declared)
            && lines[..at]
                .iter()
                .rev()
                .take_while(|line| line.trim_start().starts_with("#["))
                .any(|line| line.contains("test"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_are_gone_are_found() {
        let text = "#[test]\nfn here() {}\n#[tokio::test(start_paused = true)]\nasync fn later() {}\nfn no_test() {}\n";
        let files = BTreeMap::from([("a.rs".to_owned(), Some(text.to_owned())), ("b.rs".to_owned(), None)]);
        assert!(check("`a.rs::here`, `a.rs::later`", &files).is_empty());
        for page in ["`a.rs::gone`", "`a.rs::no_test`", "`b.rs::here`", "nothing"] {
            assert_eq!(check(page, &files).len(), 1, "{page}");
        }
    }
}
