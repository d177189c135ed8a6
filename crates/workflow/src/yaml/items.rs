//! Items of lists without a dash, with another sign for it, or without a blank behind it.

use super::brackets::key_of;
use super::missing_colons;
use super::mistakes::is_key;
use super::parse_failure::{ParseFailure, entry_of, is_in_text};
use super::{Key, Yaml, YamlValue, indentation};
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::syntax::is_key_of_format;

/// Signs that other programs write in place of a dash.
const MARKS: [char; 11] = ['–', '—', '−', '‐', '‑', '•', '·', '◦', '▪', '*', '+'];

/// The item that led to a message of the parser.
pub(super) fn mistake(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let mut lines = failure.near_lines().filter(|index| !is_in_text(*index, failure.lines));
    lines.find_map(|index| marked(index, failure).or_else(|| without_dash(index, failure)))
}

/// The first key of a tree that begins with such a sign: it is no key, but an item.
pub(super) fn in_keys(tree: &Yaml, source: &Source) -> Option<Diagnostic> {
    match &tree.value {
        YamlValue::List(items) => items.iter().find_map(|item| in_keys(item, source)),
        YamlValue::Map(entries) => entries
            .iter()
            .find_map(|(key, value)| key_as_item(key, source).or_else(|| in_keys(value, source))),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_) => None,
    }
}

fn key_as_item(key: &Key, source: &Source) -> Option<Diagnostic> {
    let written = source.text().get(key.span.start()..)?.lines().next()?;
    let (mark, item) = mark_of(written).filter(|_| written.starts_with(key.value.as_str()))?;
    let is_known = key_of(item).is_some_and(|(name, _)| is_key_of_format(name));
    is_known.then(|| {
        Diagnostic::error("yaml-syntax", key.span, message(mark))
            .help(format!("write `- {}`", item.trim_end()))
    })
}

/// An item behind another sign than a dash and a blank.
fn marked(index: usize, failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let line = failure.lines[index].trim_end();
    let (mark, item) = mark_of(line.trim_start_matches(' '))?;
    let is_entry =
        item.starts_with(['{', '[']) || key_of(item).is_some() || missing_colons::split(item).is_some();
    // What is beside an item is one, too.
    let column = super::parse_failure::indentation(line);
    let is_beside_item = || {
        let levels = indentation::levels_above(index, failure.lines);
        mark != "-" && levels.iter().any(|level| level.key.is_none() && level.column == column)
    };
    (is_entry || is_beside_item())
        .then(|| failure.error_at_line(index, message(mark), format!("write `- {item}`")))
}

/// The sign in place of a dash that a text begins with, and what is behind it.
fn mark_of(text: &str) -> Option<(&str, &str)> {
    let first = text.chars().next()?;
    if let Some(item) = text.strip_prefix('-') {
        return item.starts_with(|c: char| c.is_ascii_alphabetic() || c == '{').then_some(("-", item));
    }
    if MARKS.contains(&first) {
        let (mark, rest) = text.split_at(first.len_utf8());
        // `*name` is an alias.
        return (first != '*' || rest.starts_with(' ')).then(|| (mark, rest.trim_start()));
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0)?;
    let rest = text[digits..].strip_prefix(['.', ')'])?;
    rest.starts_with(' ').then(|| (&text[..=digits], rest.trim_start()))
}

fn message(mark: &str) -> String {
    match mark {
        "-" => "an item of a list has a blank after its dash".to_owned(),
        _ => format!("an item of a list begins with a dash and a blank, not with `{mark}`"),
    }
}

/// A line at the place of a dash that begins like the item above, as in `id: b` below `- id: a`.
fn without_dash(index: usize, failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let is_own = index + 1 == failure.number;
    if !failure.message.contains(if is_own { "did not find expected" } else { "mapping values" }) {
        return None;
    }
    let line = failure.lines[index].trim_end();
    let (key, _) = key_of(line.trim_start_matches(' '))?;
    let column = super::parse_failure::indentation(line);
    let levels = indentation::levels_above(index, failure.lines);
    let item = levels.iter().find(|level| level.key.is_none() && level.column == column)?;
    let is_same = key_of(entry_of(failure.lines[item.line])).is_some_and(|(first, _)| first == key);
    (is_same && is_key(key)).then(|| {
        let help = format!("write `- {}`", line.trim_start());
        failure.error_at_line(index, "this item of the list has no dash", help)
    })
}

#[cfg(test)]
mod tests {
    use crate::yaml::check_fix::check_fix;

    #[test]
    fn items_behind_other_signs_are_written_with_a_dash() {
        for mark in ["–", "—", "•", "·", "*", "+", "1.", "12)"] {
            let item = format!("{mark} id: a");
            check_fix(
                &format!("shots:\n  {item}\n    prompt: x\n"),
                (2, 3),
                (&item, "- id: a"),
                r#"{"shots":[{"id":"a","prompt":"x"}]}"#,
            );
            check_fix(
                &format!("shots:\n  - id: z\n    prompt: y\n  {item}\n    prompt: x\n"),
                (4, 3),
                (&item, "- id: a"),
                r#"{"shots":[{"id":"z","prompt":"y"},{"id":"a","prompt":"x"}]}"#,
            );
            check_fix(
                &format!("shots:\n  - z\n  {mark} y\n"),
                (3, 3),
                (&format!("{mark} y"), "- y"),
                r#"{"shots":["z","y"]}"#,
            );
            check_fix(
                &format!("shots:\n  {mark} {{id: a, prompt: x}}\n"),
                (2, 3),
                (&format!("{mark} {{id: a, prompt: x}}"), "- {id: a, prompt: x}"),
                r#"{"shots":[{"id":"a","prompt":"x"}]}"#,
            );
        }
        for mark in ["–", "•", "1."] {
            let item = format!("{mark} id: a");
            check_fix(
                &format!("shots:\n  {item}\n"),
                (2, 3),
                (&item, "- id: a"),
                r#"{"shots":[{"id":"a"}]}"#,
            );
        }
    }

    #[test]
    fn items_get_their_dash_and_its_blank() {
        for (text, place, fix, expected) in [
            (
                "shots:\n  - id: a\n    prompt: x\n  -id: b\n    prompt: y\n",
                (4, 3),
                ("-id: b", "- id: b"),
                r#"{"shots":[{"id":"a","prompt":"x"},{"id":"b","prompt":"y"}]}"#,
            ),
            (
                "shots:\n  - {id: a}\n  -{id: b}\n",
                (3, 3),
                ("-{id: b}", "- {id: b}"),
                r#"{"shots":[{"id":"a"},{"id":"b"}]}"#,
            ),
            ("shots:\n  -id: a\n", (2, 3), ("-id: a", "- id: a"), r#"{"shots":[{"id":"a"}]}"#),
            (
                "shots:\n  - id: a\n    prompt: x\n  id: b\n    prompt: y\n",
                (4, 3),
                ("id: b", "- id: b"),
                r#"{"shots":[{"id":"a","prompt":"x"},{"id":"b","prompt":"y"}]}"#,
            ),
            (
                "shots:\n- id: a\n  prompt: x\nid: b\n  prompt: y\n",
                (4, 1),
                ("id: b", "- id: b"),
                r#"{"shots":[{"id":"a","prompt":"x"},{"id":"b","prompt":"y"}]}"#,
            ),
        ] {
            check_fix(text, place, fix, expected);
        }
    }
}
