//! Numbers as they are written: the parser drops that.

use serde_json::Number;

use super::{Yaml, YamlValue};
use crate::source::{Source, Span};

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
    match super::parse(&Source::new("number", text)).0?.value {
        YamlValue::Number(number) => Some(number),
        _ => None,
    }
}

/// The longest text that is read as a number, in bytes.
const MAX_NUMBER_LEN: usize = 40;

/// The whole number that a number with a fraction or an exponent is read as, where it is another one: from 2^53 on, floating point has not
/// all of them. Larger ones than any integer are not meant as one.
pub(crate) fn read_as_another(number: &Number, written: &str) -> Option<String> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    let may_be_inexact = float.abs() >= EXACT_INTEGERS && float.abs() < u64::MAX as f64;
    if !may_be_inexact || !written.contains(['.', 'e', 'E']) {
        return None;
    }
    let read = format!("{:.0}", float.abs());
    (whole_digits(written).as_deref() != Some(&read)).then_some(read)
}

/// Whether a whole number was read as floating point because no integer type has it.
pub(crate) fn is_beyond_64_bits(number: &Number, written: &str) -> bool {
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
