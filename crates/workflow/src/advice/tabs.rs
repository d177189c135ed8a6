//! Tabs in indentation.

use super::lines::Lines;
use crate::diagnostic::Diagnostic;

/// The tab in the line that the parser points at, or in the one below: it may stop at the end of a line.
pub(super) fn mistake(lines: &Lines<'_>) -> Option<Diagnostic> {
    let mut near = [Some(lines.index), lines.below(lines.index)].into_iter().flatten();
    let (index, tab) = near.find_map(|index| Some((index, tab_in(lines.all[index])?)))?;
    let help = "replace each tab with two spaces";
    Some(lines.error(index, tab..tab + 1, "YAML does not allow tabs in indentation", help))
}

/// The tab in the indentation of a line.
fn tab_in(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    (line[indent..].starts_with('\t') && !line.trim().is_empty()).then_some(indent)
}
