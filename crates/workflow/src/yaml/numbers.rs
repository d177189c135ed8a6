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
