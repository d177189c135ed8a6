//! Blanks and colons of other scripts, which YAML takes for text: editors and input methods insert them.

use super::mistakes::is_key;
use super::parse_failure::ParseFailure;
use super::{Yaml, YamlValue};
use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};

/// The sign that led to an error of the parser.
pub(super) fn mistake(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    failure.near_lines().find_map(|index| in_text(failure.lines[index], failure.offset(index)))
}

/// The first key of a tree that begins with such a blank: the parser has taken the indentation for a part of it.
pub(super) fn in_keys(tree: &Yaml, source: &Source) -> Option<Diagnostic> {
    match &tree.value {
        YamlValue::List(items) => items.iter().find_map(|item| in_keys(item, source)),
        YamlValue::Map(entries) => entries.iter().find_map(|(key, value)| {
            let is_quoted = source.slice(key.span).starts_with(['"', '\'']);
            let in_key = if is_quoted { None } else { in_text(&format!("{}:", key.value), key.span.start()) };
            in_key.or_else(|| in_keys(value, source))
        }),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_) => None,
    }
}

/// The sign in a line, or in the beginning of one, that begins at an offset.
fn in_text(line: &str, start: usize) -> Option<Diagnostic> {
    let text = line.trim_start();
    let item = text.trim_start_matches("- ");
    let after_dash = item.strip_prefix('-').filter(|rest| rest.starts_with(is_foreign_blank));
    let entry = after_dash.unwrap_or(item).trim_start();
    let colon = entry.find([':', FULL_WIDTH_COLON]);
    let key = colon.map(|colon| &entry[..colon]).filter(|key| is_key(key));
    if key.is_none() && after_dash.is_none() && !text.starts_with("- ") {
        return None;
    }
    let offset_of = |rest: &str| line.len() - rest.len();
    let error = |offset: usize, position: &str, help: String| {
        let sign = line.get(offset..)?.chars().next()?;
        let span = Span::new(start + offset, start + offset + sign.len_utf8());
        let message = format!("there is {} {position}, which YAML takes for text", name(sign));
        Some(Diagnostic::error("yaml-syntax", span, message).help(help))
    };
    let blank = || "replace it with an ordinary blank".to_owned();
    let indentation = &line[..offset_of(text)];
    if let Some(position) = indentation.find(is_foreign_blank) {
        return error(position, "in the indentation", blank());
    }
    if let Some(rest) = after_dash {
        return error(offset_of(rest), "after the dash", blank());
    }
    let (key, after) = (key?, &entry[colon?..]);
    if let Some(value) = after.strip_prefix(FULL_WIDTH_COLON) {
        let suggestion = format!("{key}: {}", value.trim());
        return error(
            offset_of(after),
            &format!("after `{key}`"),
            format!("write `{}`", suggestion.trim_end()),
        );
    }
    let value = after.strip_prefix(':').filter(|value| value.starts_with(is_foreign_blank))?;
    error(offset_of(value), &format!("after `{key}:`"), blank())
}

const FULL_WIDTH_COLON: char = '\u{ff1a}';

fn is_foreign_blank(c: char) -> bool {
    c.is_whitespace() && !c.is_ascii()
}

fn name(sign: char) -> String {
    let name = match sign {
        FULL_WIDTH_COLON => "a full-width colon",
        '\u{a0}' => "a no-break space",
        '\u{202f}' => "a narrow no-break space",
        '\u{3000}' => "an ideographic space",
        _ => "a space of another kind",
    };
    format!("{name} (U+{:04X})", u32::from(sign))
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Problems;
    use crate::source::Source;

    fn first(text: &str) -> Option<(usize, usize, String)> {
        let source = Source::new("a.yaml", text);
        let mut problems = Problems::default();
        let _tree = crate::yaml::read(&source, &mut problems);
        let (diagnostics, _) = problems.into_sorted();
        let diagnostic = diagnostics.first()?;
        let position = source.position(diagnostic.primary.span.start());
        Some((
            position.line,
            position.column,
            format!("{}; {}", diagnostic.message, diagnostic.help.as_deref().unwrap_or_default()),
        ))
    }

    #[test]
    fn blanks_and_colons_of_other_scripts_are_named() {
        let blank = |sign, position| {
            format!(
                "there is {sign} {position}, which YAML takes for text; replace it with an ordinary blank"
            )
        };
        let (no_break, ideographic) = ("a no-break space (U+00A0)", "an ideographic space (U+3000)");
        let colon = |key, suggestion| {
            format!(
                "there is a full-width colon (U+FF1A) after `{key}`, which YAML takes for text; write `{suggestion}`"
            )
        };
        for (text, expected, message) in [
            ("shots:\n  - id\u{ff1a} one\n    prompt: x\n", (2, 7), colon("id", "id: one")),
            ("shots:\n  - id: one\n    prompt\u{ff1a}x\n", (3, 11), colon("prompt", "prompt: x")),
            ("version: 1\nshots\u{ff1a}\n  - id: one\n", (2, 6), colon("shots", "shots:")),
            ("shots:\n\u{a0}\u{a0}- id: a\n    prompt: x\n", (2, 1), blank(no_break, "in the indentation")),
            ("shots:\n  -\u{a0}id: a\n    prompt: x\n", (2, 4), blank(no_break, "after the dash")),
            (
                "shots:\n  - id: a\n\u{3000}\u{3000}prompt: x\n",
                (3, 1),
                blank(ideographic, "in the indentation"),
            ),
            ("shots:\n  - id: a\n    \u{a0}prompt: x\n", (3, 5), blank(no_break, "in the indentation")),
            ("shots:\n  - id:\u{3000}a\n    prompt: x\n", (2, 8), blank(ideographic, "after `id:`")),
        ] {
            assert_eq!(first(text), Some((expected.0, expected.1, message)), "{text}");
        }
    }

    #[test]
    fn paragraphs_of_text_are_left_alone() {
        assert_eq!(first("a:\n  prompt: |\n    \u{3000}海。\n    \u{3000}灯台: 夜\n  b: x\n"), None);
        assert_eq!(first("a: \"x\n  \u{3000}b: c\"\n\"\u{a0}key\": 1\n"), None);
    }
}
