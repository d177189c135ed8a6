//! What a text was probably meant to pick: `noir`, `look=noir`, `a@look=noir`, `first`, `#2`, `Open`.

use super::pick_key::AxisValues;
use crate::diagnostic::nearest;
use crate::syntax::keys::shot::OPEN_PICK;

/// The value of `pick` that a text was probably meant as, as YAML; `takes` is how many the shot has.
pub(super) fn pick_in_text(
    text: &str,
    takes: Option<u32>,
    values_by_axis: &AxisValues<'_>,
) -> Option<String> {
    let text = text.trim();
    if let Some(take) = takes.and_then(|takes| take_in(text, takes)) {
        return Some(take.to_string());
    }
    let cell = text.rsplit_once('@').map_or(text, |(_, cell)| cell);
    if cell.contains('=') {
        let pairs = cell.split(',').map(|pair| {
            let (axis, value) = pair.split_once('=')?;
            let (axis, values) = values_by_axis.get_key_value(axis.trim())?;
            Some(format!("{axis}: {}", as_yaml(listed(value.trim(), values)?)))
        });
        let pairs: Vec<String> = pairs.collect::<Option<_>>()?;
        return Some(format!("{{{}}}", pairs.join(", ")));
    }
    let mut axes = values_by_axis.iter().filter_map(|(axis, values)| Some((axis, listed(text, values)?)));
    match (axes.next(), axes.next()) {
        (Some((axis, value)), None) => Some(format!("{{{axis}: {}}}", as_yaml(value))),
        (None, _) if nearest(text, [OPEN_PICK]).is_some() => Some(OPEN_PICK.to_owned()),
        _ => None,
    }
}

/// A pick of the first value of an axis, as YAML.
pub(super) fn example(values_by_axis: &AxisValues<'_>) -> String {
    let first = values_by_axis.iter().find_map(|(axis, values)| Some((axis, values.first()?)));
    first.map_or_else(|| "{seed: 3}".to_owned(), |(axis, value)| format!("{{{axis}: {}}}", as_yaml(value)))
}

/// The number of a take in a text such as `first`, `last`, `#2` or `take 2`.
fn take_in(text: &str, takes: u32) -> Option<u32> {
    let folded = text.to_lowercase();
    let take = match folded.as_str() {
        "first" => 1,
        "second" => 2,
        "third" => 3,
        "last" => takes,
        text => {
            let (before, number) = text.split_at(
                text.rfind(|c: char| !c.is_ascii_digit())
                    .map_or(0, |last| last + text[last..].chars().next().map_or(0, char::len_utf8)),
            );
            number
                .parse()
                .ok()
                .filter(|_| before.is_empty() || before.ends_with('#') || before.contains("take"))?
        }
    };
    (1..=takes).contains(&take).then_some(take)
}

/// The value of an axis that a text is, in any case of its letters.
fn listed<'v>(
    text: &str,
    values: &'v std::collections::BTreeSet<std::borrow::Cow<'_, str>>,
) -> Option<&'v str> {
    let exact = values.get(text);
    exact.or_else(|| values.iter().find(|value| value.eq_ignore_ascii_case(text))).map(|value| &**value)
}

/// A value as YAML has it in brackets.
fn as_yaml(value: &str) -> String {
    let is_plain = value.starts_with(|c: char| c.is_alphanumeric() || c == '-')
        && value.chars().all(|c| c.is_alphanumeric() || " _-.".contains(c));
    if is_plain {
        value.to_owned()
    } else {
        format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
