//! Numbers as they are written: the parser drops that.

use serde_json::Number;

use super::{Yaml, YamlValue};
use crate::source::Source;

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

/// Whether a text is a number that is written longer than it would be: `24.90`.
pub(crate) fn keeps_text(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.split_once('.').is_some_and(|(whole, rest)| {
        let is_whole = is_digits(whole) && (whole == "0" || !whole.starts_with('0'));
        is_whole && is_digits(rest) && rest.len() > 1 && rest.ends_with('0') && text.len() <= MAX_NUMBER_LEN
    })
}

/// The number that a text is in YAML; `None` for those that are kept as they are written everywhere.
pub(crate) fn number_in(text: &str) -> Option<Number> {
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    if !begins || text.len() > MAX_NUMBER_LEN {
        return None;
    }
    match super::parse(&Source::new("number", text)).0?.value {
        YamlValue::Number(number) => Some(number),
        _ => None,
    }
}

/// The longest text that is read as a number, in bytes.
const MAX_NUMBER_LEN: usize = 40;
