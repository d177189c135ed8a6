//! What the parser drops and the author meant: leading zeros, and tags.

use super::{Yaml, YamlValue};
use crate::diagnostic::{Diagnostic, Problems};
use crate::source::{Source, Span};

/// The tags of YAML's own types.
const CORE_TAGS: [&str; 7] = ["!!str", "!!int", "!!float", "!!bool", "!!null", "!!seq", "!!map"];

/// Keeps numbers with leading zeros as they are written (`001` is a name, not the number 1.0), and reports tags, which the parser drops.
pub(super) fn restore(tree: &mut Yaml, source: &Source, problems: &mut Problems) {
    if let Some(tag) = tag_before(source.text(), tree.span) {
        let text = source.slice(tag);
        if !CORE_TAGS.contains(&text) && !problems.full() {
            problems.push(
                Diagnostic::error("yaml-syntax", tag, format!("the tag `{text}` is not supported"))
                    .help("remove it; text that begins with `!` needs quotes"),
            );
        }
    }
    match &mut tree.value {
        YamlValue::Number(_) => {
            let written = source.slice(tree.span);
            if has_leading_zero(written) {
                tree.value = YamlValue::Text(written.to_owned());
            }
        }
        YamlValue::List(items) => {
            for item in items {
                restore(item, source, problems);
            }
        }
        YamlValue::Map(entries) => {
            for (_, value) in entries {
                restore(value, source, problems);
            }
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Text(_) => {}
    }
}

fn has_leading_zero(written: &str) -> bool {
    let digits = written.strip_prefix(['-', '+']).unwrap_or(written).as_bytes();
    matches!(digits, [b'0', second, ..] if second.is_ascii_digit())
}

/// The tag that stands right before a value, if there is one.
fn tag_before(text: &str, span: Span) -> Option<Span> {
    // A value without text has no place that a tag could be before.
    let start = span.start();
    if span.is_empty() && start == 0 {
        return None;
    }
    let starts_like_tag = text.get(span.range()).is_some_and(|written| written.starts_with('!'));
    if starts_like_tag && !is_block_text(text, start) {
        let length = text[start..].find(|c: char| c.is_whitespace() || ",]}".contains(c));
        return Some(Span::new(start, start + length.unwrap_or(text.len() - start)));
    }
    let before = text.get(..start)?.trim_end();
    // A tag is short; what is before it is not looked at.
    let from = before.len().saturating_sub(200);
    let from = (from..before.len()).find(|index| before.is_char_boundary(*index))?;
    let begin = before[from..]
        .rfind(|c: char| c.is_whitespace() || "[{,".contains(c))
        .map_or(from, |at| from + at + 1);
    before[begin..].starts_with('!').then(|| Span::new(begin, before.len()))
}

/// Whether a block scalar begins here, in which `!` is text: the line before ends with `|` or `>`.
pub(super) fn is_block_text(text: &str, start: usize) -> bool {
    let Some(before) = text.get(..start) else { return false };
    let header = before.trim_end();
    let is_on_next_line = before[header.len()..].contains('\n');
    let indicator = header.rsplit(char::is_whitespace).next().unwrap_or_default();
    let rest = indicator.strip_prefix(['|', '>']);
    is_on_next_line && rest.is_some_and(|rest| rest.chars().all(|c| matches!(c, '+' | '-' | '0'..='9')))
}

#[cfg(test)]
mod tests {
    use super::{has_leading_zero, is_block_text};

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

    #[test]
    fn leading_zeros_are_recognized() {
        for yes in ["001", "007", "-01", "00", "01.5", "+07"] {
            assert!(has_leading_zero(yes), "{yes}");
        }
        for no in ["0", "0.5", "-0", "10", "0x1f", "0o7", "1e3"] {
            assert!(!has_leading_zero(no), "{no}");
        }
    }
}
