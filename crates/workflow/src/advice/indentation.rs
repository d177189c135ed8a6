//! Lines that are indented too deep or not deep enough.

use super::lines::{Line, Lines, MAX_LINES, spaces};
use crate::diagnostic::Diagnostic;

/// A key or an item above a line that the line could be beside.
struct Level<'l> {
    index: usize,
    /// The column of the key, or of the dash, from 0.
    column: usize,
    /// The key; `None` for a dash.
    key: Option<&'l str>,
}

/// A key that is indented deeper than the one above it, which has a value: it is read as more of that one's text.
pub(super) fn too_deep(lines: &Lines<'_>) -> Option<Diagnostic> {
    let (index, line) = (lines.index, lines.own());
    let key = line.key.filter(|_| !line.is_item())?;
    if lines.span.start() != lines.offset(index) + line.column + key.len() {
        return None;
    }
    let level = levels(lines, index).into_iter().find(|level| level.key.is_some())?;
    let name = level.key.filter(|_| level.column < line.column)?;
    let message =
        format!("`{key}` is indented deeper than `{name}` above it, and is read as more of its text");
    let help = format!("indent `{key}` like `{name}`: by {}", spaces(level.column));
    Some(lines.error(index, line.column..line.column + key.len(), message, help))
}

/// A key without a space after its colon, in the line that the parser points at, or above it.
pub(super) fn key_without_space(lines: &Lines<'_>) -> Option<Diagnostic> {
    let mut near = [Some(lines.index), lines.above(lines.index)].into_iter().flatten();
    near.find_map(|index| {
        let line = lines.all[index].trim_end();
        let text = line.trim_start_matches(' ').trim_start_matches("- ");
        let (key, value) = text.split_once(':')?;
        let is_name = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_close = !value.is_empty() && !value.starts_with([' ', '/', '\t']);
        (is_name && is_close).then(|| {
            let part = line.len() - text.len()..line.len();
            let help = format!("write `{key}: {value}`");
            lines.error(index, part, "a key has a space after its colon", help)
        })
    })
}

/// A line that is beside nothing above it.
pub(super) fn mistake(lines: &Lines<'_>) -> Option<Diagnostic> {
    let (index, line) = (lines.index, lines.own());
    let levels = levels(lines, index);
    if !line.is_item() && line.key.is_none() {
        return more_text(lines, line, &levels);
    }
    // Of two that are equally near, the inner one.
    let fits = |level: &&Level<'_>| level.key.is_none() == line.is_item() && level.column != line.indent;
    if let Some(key) = line.key.filter(|_| !line.is_item()) {
        let item = levels.iter().find(|level| level.key.is_none() && level.column == line.indent);
        if item.is_some_and(|item| lines.line(item.index).key == Some(key)) {
            let end = lines.all[index].trim_end().len();
            let help = format!("write `- {}`", lines.all[index].trim());
            return Some(lines.error(index, line.indent..end, "this item of the list has no dash", help));
        }
    }
    let level = levels.iter().filter(fits).min_by_key(|level| level.column.abs_diff(line.indent))?;
    let name = level.key.map_or_else(|| "the item".to_owned(), |key| format!("`{key}`"));
    let length = line.key.filter(|_| !line.is_item()).map_or(1, str::len);
    let message = format!(
        "this line is indented by {}, like nothing above that it could belong to",
        spaces(line.indent)
    );
    let help = format!("indent it like {name} in line {}: by {}", level.index + 1, spaces(level.column));
    Some(lines.error(index, line.indent..line.indent + length, message, help))
}

/// A line of text that is probably more of the text of a key above it.
fn more_text(lines: &Lines<'_>, line: Line<'_>, levels: &[Level<'_>]) -> Option<Diagnostic> {
    let level = levels.iter().find(|level| level.key.is_some())?;
    let key = level.key.filter(|_| level.column >= line.indent)?;
    let message =
        format!("this line is no part of `{key}` above it: more of a text is indented deeper than its key");
    let help = format!("if it is text of `{key}`, indent it by {} or more", spaces(level.column + 2));
    let end = lines.all[lines.index].trim_end().len();
    Some(lines.error(lines.index, line.indent..end, message, help))
}

/// The keys and items above a line that it could be beside, the nearest first: each is indented less than those after it.
fn levels<'l>(lines: &Lines<'l>, index: usize) -> Vec<Level<'l>> {
    let mut levels: Vec<Level<'l>> = Vec::new();
    let mut outermost = usize::MAX;
    for index in (index.saturating_sub(MAX_LINES)..index).rev() {
        let line = lines.line(index);
        if line.key.is_some() && line.column < outermost {
            levels.push(Level { index, column: line.column, key: line.key });
            outermost = line.column;
        }
        if line.is_item() && line.indent < outermost {
            levels.push(Level { index, column: line.indent, key: None });
            outermost = line.indent;
        }
    }
    levels
}
