//! Keys without a colon: `seed 7` is text in YAML.

use super::mistakes::MERGE_KEY;
use super::parse_failure::{ParseFailure, entry_of, is_in_text};
use super::{as_quoted, indentation};
use crate::diagnostic::Diagnostic;
use crate::syntax::{is_key_of_format, is_key_of_shot, is_prose};

/// The key without a colon that led to a message of the parser.
pub(super) fn mistake(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    failure.near_lines().find_map(|index| in_line(index, failure))
}

fn in_line(index: usize, failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let line = failure.lines[index].trim_end();
    let entry = entry_of(line);
    let (key, value) = split(entry)?;
    if is_in_text(index, failure.lines) {
        return None;
    }
    let dash = if line.trim_start().len() > entry.len() { "- " } else { "" };
    let help = format!("write `{dash}{}`", with_colon(key, value));
    // Words may be the rest of a text that is not indented.
    let text = indentation::text_above(index, failure).filter(|(above, _)| {
        dash.is_empty()
            && is_prose(above)
            && failure.message.contains("simple key")
            && value.starts_with(char::is_alphabetic)
    });
    let help = match text {
        Some(_) if !is_key_of_shot(key) => return None,
        Some((above, indent)) => {
            format!("{help}; if it is more of the text of `{above}`, indent it by {indent}")
        }
        None => help,
    };
    let column = line.len() - entry.len();
    let message = format!("`{key}` has no colon behind it, and is read as text");
    Some(failure.error(index, column..column + key.len(), message, help))
}

/// A key of the file format at the beginning of a text that no colon follows, and what is behind it.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let end = text.find(' ').unwrap_or(text.len());
    let (key, rest) = text.split_at(end);
    let value = rest.trim();
    let is_merge = key == MERGE_KEY && value.starts_with(['*', '[']);
    ((is_key_of_format(key) || is_merge) && !value.starts_with([':', '='])).then_some((key, value))
}

/// A key with its value, as YAML.
pub(super) fn with_colon(key: &str, value: &str) -> String {
    let needs_quotes = !value.starts_with(['"', '\'', '[', '{', '|', '>'])
        && (value.contains(": ") || value.contains(" #") || value.ends_with(':'));
    match value {
        "" => format!("{key}:"),
        _ if needs_quotes => format!("{key}: {}", as_quoted(value)),
        _ => format!("{key}: {value}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::yaml::check_fix::{check_fix, first_problem};

    #[test]
    fn keys_without_a_colon_get_one() {
        for (text, place, fix, expected) in [
            (
                "shots:\n  - id: a\n    prompt: x\n    seed 7\n",
                (4, 5),
                ("    seed 7", "    seed: 7"),
                r#"{"shots":[{"id":"a","prompt":"x","seed":7}]}"#,
            ),
            (
                "shots:\n  - id: a\n    prompt a harbor\n    seed: 7\n",
                (3, 5),
                ("    prompt a harbor", "    prompt: a harbor"),
                r#"{"shots":[{"id":"a","prompt":"a harbor","seed":7}]}"#,
            ),
            (
                "version: 1\nshots\n  - id: a\n",
                (2, 1),
                ("shots", "shots:"),
                r#"{"version":1,"shots":[{"id":"a"}]}"#,
            ),
            ("version 1\nname: t\n", (1, 1), ("version 1", "version: 1"), r#"{"version":1,"name":"t"}"#),
            (
                "shots:\n  - id a\n    prompt: x\n",
                (2, 5),
                ("- id a", "- id: a"),
                r#"{"shots":[{"id":"a","prompt":"x"}]}"#,
            ),
            (
                "shots:\n  - id: a\n    matrix {look: [b]}\n",
                (3, 5),
                ("    matrix {look: [b]}", "    matrix: {look: [b]}"),
                r#"{"shots":[{"id":"a","matrix":{"look":["b"]}}]}"#,
            ),
            (
                "shots:\n  - id: a\n    prompt\n      x\n",
                (3, 5),
                ("    prompt", "    prompt:"),
                r#"{"shots":[{"id":"a","prompt":"x"}]}"#,
            ),
            (
                "shots:\n  - id: a\n    note rain #3\n    seed: 7\n",
                (3, 5),
                ("    note rain #3", "    note: \"rain #3\""),
                r#"{"shots":[{"id":"a","note":"rain #3","seed":7}]}"#,
            ),
            (
                "x: &n {seed: 1}\nshots:\n  - id: a\n    <<:*n\n    prompt: x\n",
                (4, 5),
                ("    <<:*n", "    <<: *n"),
                r#"{"x":{"seed":1},"shots":[{"id":"a","prompt":"x","seed":1}]}"#,
            ),
            (
                "x: &n {seed: 1}\nshots:\n  - id: a\n    << *n\n",
                (4, 5),
                ("    << *n", "    <<: *n"),
                r#"{"x":{"seed":1},"shots":[{"id":"a","seed":1}]}"#,
            ),
        ] {
            check_fix(text, place, fix, expected);
        }
    }

    #[test]
    fn rest_of_a_text_is_hardly_a_key() {
        let text = "shots:\n  - id: a\n    prompt: a pier\n    when the rain begins\n    seed: 7\n";
        let (_, _, message) = first_problem(text).unwrap_or_default();
        assert_eq!(
            message,
            "`when` has no colon behind it, and is read as text; write `when: the rain begins`; if it is more of the text of `prompt`, \
             indent it by 6 blanks or more"
        );
        for words in ["at dawn", "in the rain", "to the left"] {
            let text = format!("shots:\n  - id: a\n    prompt: a pier\n    {words}\n    seed: 7\n");
            let (_, _, message) = first_problem(&text).unwrap_or_default();
            assert!(
                message.ends_with("; if it is text of `prompt`, indent it by 6 blanks or more"),
                "{message}"
            );
        }
        // In a text, `note` is a word.
        let (_, _, message) =
            first_problem("a:\n  prompt: |\n    note the rain\n   seed: 7\n").unwrap_or_default();
        assert!(!message.contains("`note`"), "{message}");
    }
}
