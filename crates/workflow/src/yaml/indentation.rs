//! Lines that are indented too deep or not deep enough, once the parser has refused them.

use super::mistakes::is_key;
use super::parse_failure::{ParseFailure, indentation};
use crate::diagnostic::Diagnostic;
use crate::syntax::{is_key_of_format, is_prose};

/// Lines above a mistake that are looked at.
const MAX_LINES: usize = 1_000;

/// A line that begins a key or an item of a list.
pub(super) struct Level<'l> {
    /// Its index.
    pub(super) line: usize,
    /// The column of the key, or of the dash, from 0.
    pub(super) column: usize,
    /// The key; `None` for a dash.
    pub(super) key: Option<&'l str>,
}

/// The mistake in the indentation of a line that led to a message of the parser, with where the line belongs.
pub(super) fn mistake(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let ParseFailure { message, number, lines, span, .. } = *failure;
    let index = number - 1;
    let line = lines.get(index)?;
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let start = failure.offset(index) + indent;
    let error = |length: usize, message: String, help: String| {
        Some(failure.error(index, indent..indent + length, message, help))
    };
    if let Some((dash, help)) = below_bare_dash(index, lines) {
        let message = format!("this line is not indented deeper than the dash in line {}", dash + 1);
        return error(text.trim_end().len(), message, help);
    }
    if message.contains("mapping values are not allowed")
        && let Some((item, id_key)) = item_without_key(index, lines)
    {
        let message = format!("`{item}` above is text, to which no key can belong");
        return error(text.trim_end().len(), message, format!("write `- {id_key}: {item}`"));
    }
    let above = levels_above(index, lines);
    if message.contains("mapping values are not allowed") {
        // The parser takes a key that is deeper than the one above for more of that one's text.
        let key = line.get(indent..span.start().checked_sub(start - indent)?).filter(|key| is_key(key))?;
        let sibling = above.iter().find(|level| level.key.is_some())?;
        let name = sibling.key.filter(|_| sibling.column < indent)?;
        let is_next = lines[sibling.line + 1..index].iter().all(|between| between.trim().is_empty());
        let indent_key = format!("indent `{key}` like `{name}`: by {}", blanks(sibling.column));
        // Text may have words before a colon.
        if !is_key_of_format(key) && (!is_next || is_prose(name)) {
            let message = format!("`{key}: ` begins a mapping within the text of `{name}`");
            let help =
                format!("write `{name}: >-`, and the whole text below it; if `{key}` is a key, {indent_key}");
            return error(key.len(), message, help);
        }
        return error(
            key.len(),
            format!("`{key}` is indented deeper than `{name}` above it, and is read as more of its text"),
            indent_key,
        );
    }
    let is_item = text.starts_with("- ");
    let key = text.split_once(':').map(|(key, _)| key).filter(|key| is_key(key));
    if message.contains("did not find expected") && (is_item || key.is_some()) {
        let fits = |level: &&Level<'_>| level.key.is_none() == is_item && level.column != indent;
        // Of two that are equally near, the inner one.
        let level = above.iter().filter(fits).min_by_key(|level| level.column.abs_diff(indent))?;
        let name = level.key.map_or_else(|| "the item".to_owned(), |key| format!("`{key}`"));
        return error(
            key.map_or(1, str::len),
            format!(
                "this line is indented by {}, like nothing above that it could belong to",
                blanks(indent)
            ),
            format!("indent it like {name} in line {}: by {}", level.line + 1, blanks(level.column)),
        );
    }
    let is_refused = message.contains("simple key expected") || message.contains("did not find expected");
    if is_refused && key.is_none() && text.starts_with(char::is_alphanumeric) {
        let level = above.iter().find(|level| level.key.is_some())?;
        return (level.column >= indent).then(|| continuation(level, index, failure));
    }
    None
}

/// The dash without anything behind it in the line above a key that is not indented deeper, with what was meant.
fn below_bare_dash(index: usize, lines: &[&str]) -> Option<(usize, String)> {
    let line = lines.get(index)?;
    let text = line.trim_start_matches(' ');
    let (key, _) = text.split_once(':').filter(|(key, _)| is_key(key))?;
    let above = (0..index).rev().find(|index| !lines[*index].trim().is_empty())?;
    let column = lines[above].find(|c: char| c != ' ')?;
    let is_bare = lines[above].trim() == "-" && line.len() - text.len() <= column;
    is_bare.then(|| {
        let below = blanks(column + 2);
        (above, format!("indent `{key}` and the lines below it by {below}, or write `- {}`", text.trim_end()))
    })
}

/// An item that is a name in the line above a key that is indented deeper, with the key that the name was probably meant for.
fn item_without_key<'l>(index: usize, lines: &[&'l str]) -> Option<(&'l str, &'static str)> {
    let line = lines.get(index)?;
    let text = line.trim_start_matches(' ');
    text.split_once(':').filter(|(key, _)| is_key(key))?;
    let above = (0..index).rev().find(|index| !lines[*index].trim().is_empty())?;
    let column = lines[above].find(|c: char| c != ' ')?;
    let item = lines[above].trim().strip_prefix("- ")?.trim();
    let is_name = item.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    if !is_name || line.len() - text.len() <= column {
        return None;
    }
    let levels = levels_above(above, lines);
    let is_list = |level: &&Level<'_>| level.column <= column && level.key.is_some();
    levels.iter().find(is_list).filter(|list| list.key == Some("shots"))?;
    // The list of a film is in one.
    let in_film = levels.iter().any(|level| matches!(level.key, Some("film" | "films")));
    Some((item, if in_film { "shot" } else { "id" }))
}

/// The key above a line (an index) whose text the line may be more of, and how far it is to be indented then.
pub(super) fn text_above<'l>(index: usize, failure: &ParseFailure<'l>) -> Option<(&'l str, String)> {
    let indent = indentation(failure.lines[index]);
    let level = levels_above(index, failure.lines).into_iter().find(|level| level.key.is_some())?;
    let key = level.key.filter(|_| level.column >= indent)?;
    Some((key, text_indent(&level)))
}

/// The mistake of a text in quotes that goes on in the line below its key (an index) without being indented deeper.
pub(super) fn quoted_continuation(index: usize, failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let below = failure.lines.get(index + 1)?;
    let text = below.trim_start_matches(' ');
    let levels = levels_above(index + 1, failure.lines);
    let level = levels.iter().find(|level| level.line == index && level.key.is_some())?;
    let is_other = text.starts_with("- ") || text.split_once(':').is_some_and(|(key, _)| is_key(key));
    (!text.is_empty() && !is_other && indentation(below) <= level.column)
        .then(|| continuation(level, index + 1, failure))
}

/// A line (an index) that is probably more of the text of a key.
fn continuation(level: &Level<'_>, index: usize, failure: &ParseFailure<'_>) -> Diagnostic {
    let key = level.key.unwrap_or_default();
    let message =
        format!("this line is no part of `{key}` above it: more of a text is indented deeper than its key");
    let help = format!("if it is text of `{key}`, indent it by {}", text_indent(level));
    failure.error_at_line(index, message, help)
}

fn text_indent(level: &Level<'_>) -> String {
    format!("{} or more", blanks(level.column + 2))
}

/// The keys and items above a line that it could be beside, the nearest first: each is indented less than those after it.
pub(super) fn levels_above<'l>(index: usize, lines: &[&'l str]) -> Vec<Level<'l>> {
    let mut levels: Vec<Level<'l>> = Vec::new();
    let mut outermost = usize::MAX;
    for line in (index.saturating_sub(MAX_LINES)..index).rev() {
        let text = lines[line].trim_start_matches(' ');
        let mut column = lines[line].len() - text.len();
        let inner = text.trim_start_matches("- ");
        let key = inner.split_once(':').map(|(key, _)| key).filter(|key| is_key(key));
        let key_column = column + (text.len() - inner.len());
        if let Some(key) = key.filter(|_| key_column < outermost) {
            levels.push(Level { line, column: key_column, key: Some(key) });
            outermost = key_column;
        }
        while text.starts_with("- ") && column < outermost {
            levels.push(Level { line, column, key: None });
            outermost = column;
            column = usize::MAX;
        }
    }
    levels
}

pub(super) fn blanks(count: usize) -> String {
    match count {
        0 => "no blanks".to_owned(),
        1 => "1 blank".to_owned(),
        count => format!("{count} blanks"),
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Problems;
    use crate::source::Source;

    #[test]
    fn misplaced_lines_are_named_with_where_they_belong() {
        for (text, expected_line, help) in [
            ("shots:\n  - id: a\n      prompt: x\n", 3, "indent `prompt` like `id`: by 4 blanks"),
            ("defaults:\n  model: x\n   seconds: 5\n", 3, "indent `seconds` like `model`: by 2 blanks"),
            ("version: 1\n name: x\n", 2, "indent `name` like `version`: by no blanks"),
            ("shots:\n  - id: a\n   prompt: x\n", 3, "indent it like `id` in line 2: by 4 blanks"),
            ("shots:\n  - id: a\n  prompt: x\n", 3, "indent it like `id` in line 2: by 4 blanks"),
            ("shots:\n- id: a\n prompt: x\n", 3, "indent it like `id` in line 2: by 2 blanks"),
            ("a:\n  b: 1\n  c:\n    d: 2\n   e: 3\n", 5, "indent it like `d` in line 4: by 4 blanks"),
            ("a:\n    b: x\n  c: 5\n", 3, "indent it like `b` in line 2: by 4 blanks"),
            (
                "shots:\n  - id: a\n    prompt: x\n - id: b\n",
                4,
                "indent it like the item in line 2: by 2 blanks",
            ),
            (
                "shots:\n  - id: a\n    prompt: x\n   - id: b\n",
                4,
                "indent it like the item in line 2: by 2 blanks",
            ),
            (
                "shots:\n  - id: a\n    prompt: a pier,\n    with a keeper\n    seconds: 5\n",
                4,
                "if it is text of `prompt`, indent it by 6 blanks or more",
            ),
            (
                "a:\n  prompt: a pier,\nwith a keeper\n",
                3,
                "if it is text of `prompt`, indent it by 4 blanks or more",
            ),
            (
                "a:\n  prompt: |\n    a pier\n  with a keeper\n  b: 1\n",
                4,
                "if it is text of `prompt`, indent it by 4 blanks or more",
            ),
            (
                "a:\n  prompt: \"a pier,\n  with a keeper\"\n  b: 1\n",
                3,
                "if it is text of `prompt`, indent it by 4 blanks or more",
            ),
            (
                "shots:\n  -\n  id: a\n  prompt: x\n",
                3,
                "indent `id` and the lines below it by 4 blanks, or write `- id: a`",
            ),
            ("shots:\n  - pier\n    prompt: x\n", 3, "write `- id: pier`"),
            ("film:\n  shots:\n    - pier\n      in: 1s\n", 4, "write `- shot: pier`"),
            ("a:\n  b: \"x\n  c: 1\n", 2, "write `b: \"x\"`"),
            (
                "a:\n  prompt: x\n    wide: y\n",
                3,
                "write `prompt: >-`, and the whole text below it; if `wide` is a key, indent `wide` like `prompt`: by 2 blanks",
            ),
            ("a:\n  prompt: x\n    y\n    seconds: 5\n", 4, "indent `seconds` like `prompt`: by 2 blanks"),
            (
                "shots:\n  - id: a\n    prompt: a pier,\n   with a keeper\n",
                4,
                "if it is text of `prompt`, indent it by 6 blanks or more",
            ),
            ("a:\n  prompt: wide: x\n", 2, "put the text in quotes: `prompt: \"wide: x\"`"),
        ] {
            let source = Source::new("a.yaml", text);
            let mut problems = Problems::default();
            let _tree = crate::yaml::read(&source, &mut problems);
            let (diagnostics, _) = problems.into_sorted();
            let line =
                diagnostics.first().map(|diagnostic| source.position(diagnostic.primary.span.start()).line);
            let actual_help = diagnostics.first().and_then(|diagnostic| diagnostic.help.as_deref());
            assert_eq!((line, actual_help), (Some(expected_line), Some(help)), "{text}");
        }
    }
}
