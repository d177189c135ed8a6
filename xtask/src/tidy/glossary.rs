//! Checks the tables of docs/glossary.md: four cells in a row, one row for a term, and names of code that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::names::Name;

const PAGE: &str = "docs/glossary.md";
/// Cells of a row: term, meaning, code, other tools' terms.
const CELLS: usize = 4;
/// The cell with the names of code.
const CODE_CELL: usize = 2;

pub(super) fn problems(root: &Path, declared: &[Name]) -> Result<Vec<String>, String> {
    let page = fs_err::read_to_string(root.join(PAGE)).map_err(|error| error.to_string())?;
    let crates = fs_err::read_dir(root.join("crates")).map_err(|error| error.to_string())?;
    let crates = crates.filter_map(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let others = ["xtask", "tests"].map(str::to_owned);
    let names: BTreeSet<String> =
        declared.iter().map(|name| name.text.clone()).chain(crates).chain(others).collect();
    Ok(check(&page, &names))
}

fn check(page: &str, names: &BTreeSet<String>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut lines_by_term: BTreeMap<String, usize> = BTreeMap::new();
    let tables = page.split("\n## Retired words").next().unwrap_or_default();
    for (index, line) in tables.lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
        let number = index + 1;
        let cells = cells(line);
        if cells.len() != CELLS {
            problems.push(format!("{PAGE}:{number}: {} cells instead of {CELLS}", cells.len()));
            continue;
        }
        if ["Term", "---"].contains(&cells[0].as_str()) {
            continue;
        }
        if let Some(first) = lines_by_term.insert(cells[0].clone(), number) {
            problems.push(format!("{PAGE}:{number}: `{}` is also in line {first}", cells[0]));
        }
        let unknown = code_names(&cells[CODE_CELL]).filter(|name| !names.contains(*name));
        problems.extend(unknown.map(|name| format!("{PAGE}:{number}: nothing is called `{name}`")));
    }
    problems
}

/// The cells of a row; `\|` is a character of its cell.
fn cells(line: &str) -> Vec<String> {
    let row = line.trim().trim_start_matches('|');
    let row = row.strip_suffix('|').unwrap_or(row).replace("\\|", "\u{0}");
    row.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

/// The segments of each Rust path, and each type, between backticks.
fn code_names(cell: &str) -> impl Iterator<Item = &str> {
    let quoted = cell.split('`').skip(1).step_by(2);
    let paths = quoted.map(|text| text.trim_end_matches("()")).filter(|text| {
        let is_identifier =
            |segment: &str| !segment.is_empty() && segment.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_type = text.starts_with(char::is_uppercase) && text.contains(char::is_lowercase);
        text.split("::").all(is_identifier) && (text.contains("::") || is_type)
    });
    paths.flat_map(|path| path.split("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_rows_repeated_terms_and_names_that_do_not_exist_are_reported() {
        let page = "\
| Term | Meaning | In the code | Elsewhere |
|---|---|---|---|
| node | one video | `plan::Node`, table `attempts`, `--jobs` | vertex |
| key | `a\\|b` | `NodeKey` | |
| node | again | | |
| cell | a | b | c | d |
| fragment |

## Retired words
| a | b |
";
        let names = ["plan", "Node"].map(str::to_owned).into();
        assert_eq!(
            check(page, &names),
            [
                "docs/glossary.md:4: nothing is called `NodeKey`",
                "docs/glossary.md:5: `node` is also in line 3",
                "docs/glossary.md:6: 5 cells instead of 4",
                "docs/glossary.md:7: 1 cells instead of 4",
            ]
        );
    }
}
