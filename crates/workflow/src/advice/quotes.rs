//! Texts that need quotes, or other ones.

use super::lines::Lines;
use crate::diagnostic::Diagnostic;

/// A text as a YAML scalar in quotes: single ones where it has double ones or a `\` in it.
pub(super) fn as_quoted(text: &str) -> String {
    if text.contains(['"', '\\']) { format!("'{}'", text.replace('\'', "''")) } else { format!("\"{text}\"") }
}

/// A plain text in the line that the parser points at, or above it, that begins like something else.
pub(super) fn missing(lines: &Lines<'_>) -> Option<Diagnostic> {
    let mut near = [Some(lines.index), lines.above(lines.index)].into_iter().flatten();
    near.find_map(|index| {
        let line = lines.line(index);
        let what = beginning(line.value)?;
        let end = lines.all[index].trim_end().len();
        let help = format!("put the text in quotes: `{}`", line.with_value(&as_quoted(line.value)));
        Some(lines.error(index, end - line.value.len()..end, format!("{what} needs quotes"), help))
    })
}

/// What a value begins with, if that is no text without quotes.
fn beginning(value: &str) -> Option<String> {
    if value.starts_with("{{") {
        return Some("a value that begins with `{{`".to_owned());
    }
    let first = value.chars().next()?;
    if matches!(first, '[' | '{') {
        let close = if first == '[' { ']' } else { '}' };
        let (_, after) = value.rsplit_once(close)?;
        let after = after.trim_start();
        let is_text = !after.is_empty() && !after.starts_with(['#', ',', ']', '}']);
        return is_text.then(|| format!("text that begins with `{first}`"));
    }
    let is_special = match first {
        '@' | '`' | '%' | ',' | ']' | '}' => true,
        '&' | '*' | '?' | '-' => value[1..].starts_with(' ') || value[1..].starts_with(first),
        '|' | '>' => value[1..].starts_with(' ') && !value[1..].trim_start().starts_with('#'),
        _ => false,
    };
    is_special.then(|| format!("text that begins with `{first}`"))
}

/// A `: ` in the text of the line that the parser points at.
pub(super) fn colon_in_text(lines: &Lines<'_>) -> Option<Diagnostic> {
    let line = lines.own();
    let is_after_key = lines.span.start() > lines.offset(lines.index) + line.column + line.key?.len();
    (is_after_key && line.value.contains(": ")).then(|| {
        let help = format!("put the text in quotes: `{}`", line.with_value(&as_quoted(line.value)));
        Diagnostic::error("yaml-syntax", lines.span, "a second `: ` in a line begins a mapping").help(help)
    })
}

/// A text in quotes that ends before its line, or that has a `\` before a character that needs none.
pub(super) fn ended_early(lines: &Lines<'_>) -> Option<Diagnostic> {
    let line = lines.own();
    let quote = line.value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let inner = line.value.strip_prefix(quote)?.strip_suffix(quote);
    let message = match (inner, quote) {
        (Some(_), '\'') => "an apostrophe ends this text: within single quotes it is written twice",
        (Some(inner), _) if !inner.contains('"') => {
            "within double quotes, `\\` begins an escape such as `\\n`"
        }
        (Some(_), _) => "a quote ends this text: within double quotes it is written `\\\"`",
        (None, _) => "text after a closing quote",
    };
    let text = inner.unwrap_or(line.value);
    let help = format!("put the text in quotes: `{}`", line.with_value(&as_quoted(text)));
    Some(Diagnostic::error("yaml-syntax", lines.span, message).help(help))
}
