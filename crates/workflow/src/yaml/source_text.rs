//! What the parser drops and the author meant: numbers that are names, and tags.

use serde_json::Number;

use super::{Yaml, YamlValue};
use crate::diagnostic::{Diagnostic, Problems};
use crate::source::{Source, Span};
use crate::syntax::is_name_or_text;
use crate::syntax::keys::{matrix, shot, workflow};

/// The tags of YAML's own types.
const CORE_TAGS: [&str; 7] = ["!!str", "!!int", "!!float", "!!bool", "!!null", "!!seq", "!!map"];

/// What a value stands for, as far as its keys tell.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Anything.
    Value,
    /// A name or a text, or a list of them.
    Name,
    /// A value of an axis, or what has some in it.
    Axis,
    /// What is in `metadata`: sent as it is, under names of the author's.
    Metadata,
    /// A parameter: rendered as it is, so that one with the name of a text is one.
    Param,
}

impl Role {
    /// The role of the value of a key.
    fn for_member(self, key: &str, value: &Yaml) -> Self {
        if self == Self::Metadata {
            return if key == SEED { Self::Value } else { self };
        }
        let is_bounded = match self {
            Self::Param => key == SEED,
            _ => matrix::RANGE.has(key) || key == shot::PICK_TAKE_MEMBER.name,
        };
        if is_bounded {
            return Self::Value;
        }
        let is_picked_instance = || key == shot::PICK.name && matches!(value.value, YamlValue::Map(_));
        if self == Self::Axis || key == shot::MATRIX.name || is_picked_instance() {
            Self::Axis
        } else if key == METADATA {
            Self::Metadata
        } else if is_name_or_text(key) {
            Self::Name
        } else if key == workflow::PARAMS.name || self == Self::Param {
            Self::Param
        } else {
            Self::Value
        }
    }
}

/// The field of a request that bounds are checked of wherever it is.
const SEED: &str = "seed";
/// The field of a request whose members are sent as they are.
const METADATA: &str = "metadata";

/// Keeps numbers as they are written where the number would be another text: with leading zeros everywhere (`001` is a name, not the
/// number 1.0), in any form in names and values of axes (`1_1`, `0x10`, `1.10`). Reports tags, which the parser drops.
pub(super) fn restore(tree: &mut Yaml, source: &Source, problems: &mut Problems) {
    restore_in(tree, Role::Value, source, problems);
}

/// Keeps all numbers of a tree as they are written where the number would be another text.
pub(crate) fn keep_written(tree: &mut Yaml, source: &Source) {
    match &mut tree.value {
        YamlValue::Number(number) => {
            let written = source.slice(tree.span);
            if number.to_string() != written && !written.is_empty() {
                tree.value = YamlValue::Text(written.to_owned());
            }
        }
        YamlValue::List(items) => items.iter_mut().for_each(|item| keep_written(item, source)),
        YamlValue::Map(entries) => entries.iter_mut().for_each(|(_, value)| keep_written(value, source)),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Text(_) => {}
    }
}

/// The first whole number of a tree that was rounded, because no integer type has it.
pub(crate) fn rounded_integer(tree: &Yaml, source: &Source) -> Option<Span> {
    match &tree.value {
        YamlValue::Number(number) => is_beyond_64_bits(number, source.slice(tree.span)).then_some(tree.span),
        YamlValue::List(items) => items.iter().find_map(|item| rounded_integer(item, source)),
        YamlValue::Map(entries) => entries.iter().find_map(|(_, value)| rounded_integer(value, source)),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Text(_) => None,
    }
}

/// The number that a text is in YAML; `None` for those that are kept as they are written everywhere.
pub(crate) fn number_in(text: &str) -> Option<Number> {
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    if !begins || text.len() > MAX_NUMBER_LEN {
        return None;
    }
    match super::read(&Source::new("number", text), &mut Problems::default())?.value {
        YamlValue::Number(number) => Some(number),
        _ => None,
    }
}

/// The longest text that is read as a number, in bytes.
const MAX_NUMBER_LEN: usize = 40;

fn restore_in(tree: &mut Yaml, role: Role, source: &Source, problems: &mut Problems) {
    if let Some(tag) = tag_before(source.text(), tree.span) {
        report_tag(tag, source, problems);
    }
    match &mut tree.value {
        YamlValue::Number(number) => {
            let number = number.clone();
            if matches!(role, Role::Name | Role::Axis) {
                keep_written(tree, source);
            } else if has_leading_zero(source.slice(tree.span)) {
                tree.value = YamlValue::Text(source.slice(tree.span).to_owned());
            } else if let Some(read) = read_as_another(&number, source.slice(tree.span)) {
                let message =
                    format!("this number would be read as {read}, because it has a `.` or an `e` in it");
                let diagnostic = Diagnostic::error("yaml-syntax", tree.span, message);
                problems.push(diagnostic.help("write a whole number above 2^53 with all its digits"));
            } else if matches!(role, Role::Metadata | Role::Param)
                && is_beyond_64_bits(&number, source.slice(tree.span))
            {
                let message = "this whole number needs more than 64 bits, and would be rounded";
                let diagnostic = Diagnostic::error("yaml-syntax", tree.span, message);
                problems
                    .push(diagnostic.help("put an id in quotes: then it is a text, and is sent as it is"));
            }
        }
        YamlValue::List(items) => {
            for item in items {
                restore_in(item, role, source, problems);
            }
        }
        YamlValue::Map(entries) => {
            for (key, value) in entries {
                if let Some(tag) = tag_before_key(source.text(), key.span) {
                    report_tag(tag, source, problems);
                }
                let role = role.for_member(&key.value, value);
                restore_in(value, role, source, problems);
            }
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Text(_) => {}
    }
}

/// The whole number that a number with a fraction or an exponent is read as, where it is another one: from 2^53 on, floating point has not
/// all of them. Larger ones than any integer are not meant as one.
fn read_as_another(number: &Number, written: &str) -> Option<String> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    let may_be_inexact = float.abs() >= EXACT_INTEGERS && float.abs() < u64::MAX as f64;
    if !may_be_inexact || !written.contains(['.', 'e', 'E']) {
        return None;
    }
    let read = format!("{:.0}", float.abs());
    (whole_digits(written).as_deref() != Some(&read)).then_some(read)
}

/// Whether a whole number was read as floating point because no integer type has it.
fn is_beyond_64_bits(number: &Number, written: &str) -> bool {
    number.is_f64() && written.trim_start_matches(['-', '+']).bytes().all(|c| c.is_ascii_digit() || c == b'_')
}

/// Up to here, floating point has all whole numbers: 2^53.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;

/// The digits of a number such as `1.5e3`; `None` if it is not whole.
fn whole_digits(written: &str) -> Option<String> {
    let unsigned = written.trim_start_matches(['-', '+']).to_ascii_lowercase();
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((&unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let zeros = usize::try_from(exponent.parse::<i64>().ok()?).ok()?.checked_sub(fraction.len())?;
    // Above 2^53 and below 2^64, there are no more.
    let zeros = "0".repeat(zeros.min(20));
    Some(format!("{whole}{fraction}{zeros}").trim_start_matches('0').to_owned())
}

fn has_leading_zero(written: &str) -> bool {
    let digits = written.strip_prefix(['-', '+']).unwrap_or(written).as_bytes();
    matches!(digits, [b'0', second, ..] if second.is_ascii_digit())
}

fn report_tag(tag: Span, source: &Source, problems: &mut Problems) {
    let text = source.slice(tag);
    if !CORE_TAGS.contains(&text) && !problems.full() {
        problems.push(
            Diagnostic::error("yaml-syntax", tag, format!("the tag `{text}` is not supported"))
                .help("remove it; text that begins with `!` needs quotes"),
        );
    }
}

/// The tag that stands before a key in its line, if there is one.
fn tag_before_key(text: &str, key: Span) -> Option<Span> {
    let tag = tag_before(text, key)?;
    let between = text.get(tag.end()..key.start())?;
    (!between.contains(['\n', '\r'])).then_some(tag)
}

/// The tag that stands right before a value, or before its anchor or the sign of its block, if there is one.
fn tag_before(text: &str, span: Span) -> Option<Span> {
    let start = span.start();
    let starts_like_tag = text.get(span.range()).is_some_and(|written| written.starts_with('!'));
    if starts_like_tag && !is_block_text(text, start) {
        let length = text[start..].find(|c: char| c.is_whitespace() || ",]}".contains(c));
        return Some(Span::new(start, start + length.unwrap_or(text.len() - start)));
    }
    properties_before(text, span).find(|word| text[word.range()].starts_with('!'))
}

/// The words right before a value that belong to it: its anchor, its tag and the sign of its block, the last one first.
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
            word.starts_with('!') || word.starts_with('&') && !word.ends_with(':') || is_block_sign(word);
        let property = Span::new(begin, before.len());
        before = before[..begin].trim_end();
        is_property.then_some(property)
    })
}

/// Whether a word is what begins a block scalar, such as `|` or `>-`.
fn is_block_sign(word: &str) -> bool {
    let rest = word.strip_prefix(['|', '>']);
    rest.is_some_and(|rest| rest.chars().all(|c| matches!(c, '+' | '-' | '0'..='9')))
}

/// Whether a block scalar begins here, in which `!` is text: the line before ends with `|` or `>`.
pub(super) fn is_block_text(text: &str, start: usize) -> bool {
    let Some(before) = text.get(..start) else { return false };
    let header = before.trim_end();
    // Most values are in the line of what is before them, which may be long.
    let is_on_next_line = before[header.len()..].contains('\n');
    is_on_next_line && is_block_sign(header.rsplit(char::is_whitespace).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{has_leading_zero, is_block_text};
    use crate::diagnostic::Problems;
    use crate::source::Source;

    #[test]
    fn numbers_are_texts_where_the_format_has_names_and_texts_and_nowhere_in_metadata() {
        for (text, read) in [
            (
                "{id: 1_1, at: 1_1, description: 1.10, cast: [1_1]}",
                r#"{"id":"1_1","at":"1_1","description":"1.10","cast":["1_1"]}"#,
            ),
            ("{metadata: {id: 1.10, at: 1.10}, seed: 1_1}", r#"{"metadata":{"id":1.1,"at":1.1},"seed":11}"#),
            (
                "{params: {title: 1.10, n: 1.10, id: 1_1, seed: 1_1}}",
                r#"{"params":{"title":"1.10","n":1.1,"id":"1_1","seed":11}}"#,
            ),
            (
                "{matrix: {n: [1.10], range: {from: 1_0, to: 2_0}}}",
                r#"{"matrix":{"n":["1.10"],"range":{"from":10,"to":20}}}"#,
            ),
        ] {
            let mut problems = Problems::default();
            let tree = crate::yaml::read(&Source::new("test.yaml", text), &mut problems).expect("a tree");
            assert_eq!(tree.to_json().to_string(), read);
            assert!(!problems.any(), "{text}");
        }
    }

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
