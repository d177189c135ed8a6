//! Comments that were probably meant as text: in `prompt: pier #1` the text is `pier`.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::yaml::{Yaml, YamlValue, is_block_text};

/// Warnings of comments right after plain text, in order. One that is meant as a comment has a space after its `#`, or two before it.
pub(super) fn warnings(tree: &Yaml, text: &str) -> impl Iterator<Item = Diagnostic> {
    let mut spans = Vec::new();
    collect(tree, text, &mut spans);
    // What an anchor names is in the tree once for each alias.
    spans.sort_unstable();
    spans.dedup();
    spans.into_iter().map(|comment| {
        Diagnostic::warning(
            "comment-in-text",
            comment,
            "this is a YAML comment, and no part of the text before it",
        )
        .help("put the whole text in quotes; a comment that is meant has a space after its `#`")
    })
}

fn collect(value: &Yaml, text: &str, spans: &mut Vec<Span>) {
    match &value.value {
        YamlValue::Text(_) => spans.extend(comment_after(value.span, text)),
        YamlValue::List(items) => items.iter().for_each(|item| collect(item, text, spans)),
        YamlValue::Map(entries) => {
            for (key, value) in entries {
                if value.is_null() {
                    spans.extend(comment_as_value(key.span, text));
                }
                collect(value, text, spans);
            }
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => {}
    }
}

/// The comment right after the colon of a key without a value, if it looks like text.
fn comment_as_value(key: Span, text: &str) -> Option<Span> {
    let rest = text.get(key.end()..)?;
    let after_colon = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
    let comment = after_colon.trim_start_matches([' ', '\t']);
    let line = comment.split(['\n', '\r']).next()?.trim_end();
    let begin = key.end() + (rest.len() - comment.len());
    is_text(line).then(|| Span::new(begin, begin + line.len()))
}

fn comment_after(span: Span, text: &str) -> Option<Span> {
    let written = text.get(span.range())?;
    if written.is_empty() || written.starts_with(['"', '\'', '|', '>']) || is_block_text(text, span.start()) {
        return None;
    }
    let end = span.start() + written.trim_end().len();
    let rest = text.get(end..)?;
    let following = rest.trim_start_matches(|c: char| c.is_whitespace() && !matches!(c, '\n' | '\r'));
    let begin = end + (rest.len() - following.len());
    if following.is_empty() || following.starts_with(['\n', '\r']) {
        return comment_on_next_line(span.start(), begin, text);
    }
    // The line is not read where no comment begins: it may be long, and have many values.
    if begin != end + 1 || !is_text(following) {
        return None;
    }
    let comment = following.split(['\n', '\r']).next()?;
    Some(Span::new(begin, begin + comment.trim_end().len()))
}

/// A comment on the line below, where a further line of the text would be.
fn comment_on_next_line(start: usize, line_end: usize, text: &str) -> Option<Span> {
    let rest = text.get(line_end..)?;
    let below = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix(['\n', '\r']))?;
    let line = below.split(['\n', '\r']).next()?;
    let comment = line.trim_start();
    let column = line.len() - comment.len();
    let line_start = text.get(..start)?.rfind(['\n', '\r']).map_or(0, |position| position + 1);
    let before = text.get(line_start..start)?;
    let indent = before.len() - before.trim_start_matches([' ', '\t', '-']).len();
    // Text below its key is indented further than the key; text that begins its line goes on below itself.
    let is_inside = if indent == before.len() { column >= indent } else { column > indent };
    let begin = line_end + (rest.len() - below.len()) + column;
    let is_key = comment.contains(": ") || comment.trim_end().ends_with(':');
    (is_inside && !is_key && is_text(comment)).then(|| Span::new(begin, begin + comment.trim_end().len()))
}

/// Whether what a `#` begins looks like text.
fn is_text(comment: &str) -> bool {
    let after = comment.strip_prefix('#').and_then(|rest| rest.chars().next());
    after.is_some_and(|first| first.is_alphanumeric() || first == '{')
}
