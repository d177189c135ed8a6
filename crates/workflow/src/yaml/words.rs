//! What stands before a value and is no part of it: its anchor, its tag and the header of its block.

use crate::source::Span;

/// The words right before a value that belong to it: its anchor, its tag and the header of its block, the last one first.
pub(super) fn properties_before(text: &str, span: Span) -> impl Iterator<Item = Span> {
    let start = span.start();
    // A value without text has no place that something could be before.
    let has_position = !(span.is_empty() && start == 0);
    let mut before = text.get(..start).filter(|_| has_position).unwrap_or_default().trim_end();
    // A tag and an anchor are short; what is before them is not looked at.
    let from = text.floor_char_boundary(before.len().saturating_sub(200));
    std::iter::from_fn(move || {
        let rest = before.get(from..)?;
        let is_separator = |c: char| c.is_whitespace() || "[{,".contains(c);
        // A separator may be longer than a byte.
        let separator = rest.char_indices().rfind(|(_, c)| is_separator(*c));
        let begin = separator.map_or(from, |(offset, c)| from + offset + c.len_utf8());
        let word = &before[begin..];
        let is_property =
            word.starts_with('!') || word.starts_with('&') && !word.ends_with(':') || is_block_header(word);
        let property = Span::new(begin, before.len());
        before = before[..begin].trim_end();
        is_property.then_some(property)
    })
}

/// Whether a word is what begins a block scalar, such as `|` or `>-`.
fn is_block_header(word: &str) -> bool {
    let rest = word.strip_prefix(['|', '>']);
    rest.is_some_and(|rest| rest.chars().all(|c| matches!(c, '+' | '-' | '0'..='9')))
}

/// Whether a block scalar begins here, in which `!` is text: the line before ends with `|` or `>`.
pub(crate) fn is_block_text(text: &str, start: usize) -> bool {
    let Some(before) = text.get(..start) else { return false };
    let header = before.trim_end();
    // Most values are in the line of what is before them, which may be long.
    let is_on_next_line = before[header.len()..].contains('\n');
    is_on_next_line && is_block_header(header.rsplit(char::is_whitespace).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::is_block_text;

    #[test]
    fn block_scalars_are_recognized() {
        for (text, is_block) in [
            ("a: >-\n  !x", true),
            ("a: |2+\n\n  !x", true),
            ("a: !x", false),
            ("a:\n  !x", false),
            ("a: >!x", false),
        ] {
            assert_eq!(is_block_text(text, text.len() - 2), is_block, "{text}");
        }
    }
}
