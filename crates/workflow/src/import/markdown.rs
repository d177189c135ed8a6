//! Tables of Markdown (GitHub Flavored Markdown 4.10), as rows.

use super::columns::{ColumnChoice, has_head};
use crate::csv::CsvCell;
use crate::source::Span;

/// The rows of the first table that names columns of a shot list, and of those below it with the same names; of the first table where
/// none does. `None` without a table.
pub(super) fn rows(text: &str, choices: &[ColumnChoice]) -> Option<Vec<Vec<CsvCell>>> {
    let mut tables: Vec<Vec<Vec<CsvCell>>> = Vec::new();
    let (mut start, mut is_table) = (0, false);
    let mut before: Option<Vec<CsvCell>> = None;
    for line in text.split_inclusive('\n') {
        let row = line.contains('|').then(|| cells(line, start));
        start += line.len();
        match (row, before.take()) {
            (Some(row), _) if is_table => tables.last_mut()?.push(row),
            (Some(row), Some(head)) if is_delimiter(&row) => {
                tables.push(vec![head]);
                is_table = true;
            }
            (row, _) => (before, is_table) = (row, false),
        }
    }
    let chosen = tables.iter().position(|table| has_head(&table[..1], choices)).unwrap_or_default();
    let names = |table: &[Vec<CsvCell>]| table[0].iter().map(|cell| cell.text.clone()).collect::<Vec<_>>();
    let chosen_names = names(tables.get(chosen)?);
    let mut tables = tables.into_iter().skip(chosen).filter(|table| names(table) == chosen_names);
    let mut rows = tables.next()?;
    rows.extend(tables.flat_map(|table| table.into_iter().skip(1)));
    Some(rows)
}

/// Whether a row stands below the names of the columns: `|---|:-:|`.
fn is_delimiter(row: &[CsvCell]) -> bool {
    let is_rule = |text: &str| text.contains('-') && text.trim_matches(':').bytes().all(|byte| byte == b'-');
    !row.is_empty() && row.iter().all(|cell| is_rule(&cell.text))
}

/// The cells of a line that begins at `start`. `\|` is text.
fn cells(line: &str, start: usize) -> Vec<CsvCell> {
    let inner = line.trim();
    let mut from = start + (line.len() - line.trim_start().len());
    let mut cells = Vec::new();
    let mut is_escaped = false;
    let parts = inner.split(|c| {
        let ends = c == '|' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    for part in parts {
        let text = part.trim();
        let at = from + (part.len() - part.trim_start().len());
        from += part.len() + 1;
        let plain = text.replace("\\|", "|").replace("**", "");
        let plain = ["<br>", "<br/>", "<br />"].iter().fold(plain, |text, tag| text.replace(tag, "\n"));
        cells.push(CsvCell::new(plain, Span::new(at, at + text.len())));
    }
    // What is outside of the outer pipes.
    if inner.starts_with('|') {
        cells.remove(0);
    }
    if cells.last().is_some_and(|cell| cell.text.is_empty()) && inner.ends_with('|') {
        cells.pop();
    }
    cells
}
