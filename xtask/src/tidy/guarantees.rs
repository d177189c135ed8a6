//! Checks that every test that docs/guarantees.md names exists.

use std::collections::BTreeMap;
use std::path::Path;

const PAGE: &str = "docs/guarantees.md";

pub(super) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let page = fs_err::read_to_string(root.join(PAGE)).map_err(|error| error.to_string())?;
    let mut files: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (file, _) in references(&page) {
        files.entry(file.to_owned()).or_insert_with(|| fs_err::read_to_string(root.join(file)).ok());
    }
    Ok(check(&page, &files))
}

fn check(page: &str, files: &BTreeMap<String, Option<String>>) -> Vec<String> {
    let mut problems = Vec::new();
    if references(page).next().is_none() {
        problems.push(format!("{PAGE}: names no test"));
    }
    for (file, test) in references(page) {
        match files.get(file) {
            Some(Some(text)) if is_test(text, test) => {}
            Some(Some(_)) => problems.push(format!("{PAGE}: no test {test} in {file}")),
            Some(None) | None => problems.push(format!("{PAGE}: no file {file}")),
        }
    }
    problems
}

/// Every `path/to/file.rs::function` in backticks.
fn references(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split('`').skip(1).step_by(2).filter_map(|code| {
        let (file, test) = code.split_once(".rs::")?;
        Some((&code[..file.len() + 3], test))
    })
}

/// Whether the function exists and has a test attribute.
fn is_test(text: &str, name: &str) -> bool {
    let declared = format!("fn {name}(");
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().enumerate().any(|(index, line)| {
        line.contains(&declared)
            && lines[..index]
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
    fn missing_tests_and_files_are_reported() {
        let text = "#[test]\nfn here() {}\n#[tokio::test(start_paused = true)]\nasync fn later() {}\nfn no_test() {}\n";
        let files = BTreeMap::from([("a.rs".to_owned(), Some(text.to_owned())), ("b.rs".to_owned(), None)]);
        assert!(check("`a.rs::here`, `a.rs::later`", &files).is_empty());
        for page in ["`a.rs::gone`", "`a.rs::no_test`", "`b.rs::here`", "nothing"] {
            assert_eq!(check(page, &files).len(), 1, "{page}");
        }
    }
}
