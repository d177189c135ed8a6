//! Shapes of pictures as people write them (`5:4`, `16x9`, `1.78`, `square`), for the help of a ratio that is not offered.

use serde_json::Value;

use crate::diagnostic::did_you_mean;

/// Words for shapes, with the ratio that each names.
const NAMED: [(&str, f64); 14] = [
    ("ultrawide", 21.0 / 9.0),
    ("cinema", 21.0 / 9.0),
    ("scope", 21.0 / 9.0),
    ("anamorphic", 21.0 / 9.0),
    ("widescreen", 16.0 / 9.0),
    ("landscape", 16.0 / 9.0),
    ("horizontal", 16.0 / 9.0),
    ("wide", 16.0 / 9.0),
    ("fullscreen", 4.0 / 3.0),
    ("square", 1.0),
    ("portrait", 9.0 / 16.0),
    ("vertical", 9.0 / 16.0),
    ("upright", 9.0 / 16.0),
    ("tall", 9.0 / 16.0),
];
/// The ratios of pictures: other numbers mean something else.
const RATIOS: std::ops::RangeInclusive<f64> = 0.2..=5.0;

/// Whether some of the listed values are ratios such as `16:9`.
pub(crate) fn are_ratios<'a>(mut listed: impl Iterator<Item = &'a str>) -> bool {
    listed.any(|value| listed_ratio(value).is_some())
}

/// The listed value that was probably meant: the one with the shape that is written, or a misspelled word such as `auto`.
pub(crate) fn suggested_ratio<'a>(value: &Value, listed: &[&'a str]) -> Option<&'a str> {
    let words = || listed.iter().copied().filter(|value| listed_ratio(value).is_none());
    let misspelled = |text: &str| words().find(|word| did_you_mean(text.trim(), [*word]).is_some());
    match value {
        Value::String(text) if let Some(word) = misspelled(text) => Some(word),
        // `16.9` for `16:9`.
        Value::Number(number)
            if let Some(ratio) =
                listed.iter().find(|value| **value == number.to_string().replace('.', ":")) =>
        {
            Some(ratio)
        }
        value => nearest_ratio(written_ratio(value)?, listed),
    }
}

/// The listed ratio that is nearest on a logarithmic scale. A picture that is wider than high never becomes one that is higher than wide.
fn nearest_ratio<'a>(ratio: f64, listed: &[&'a str]) -> Option<&'a str> {
    let ratios = listed.iter().filter_map(|value| Some((*value, listed_ratio(value)?.ln())));
    ratios
        .filter(|(_, listed)| listed * ratio.ln() >= 0.0)
        .min_by(|(_, a), (_, b)| (a - ratio.ln()).abs().total_cmp(&(b - ratio.ln()).abs()))
        .map(|(value, _)| value)
}

/// The ratio of a listed value.
fn listed_ratio(text: &str) -> Option<f64> {
    let (width, height) = text.split_once(':')?;
    quotient(width.parse().ok()?, height.parse().ok()?)
}

/// The ratio that is written: as text, as a number, as a list of two numbers, or as `{16: 9}`.
fn written_ratio(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => ratio_in(text),
        Value::Number(number) => ratio_in_number(number.as_f64()?),
        Value::Array(sides) => match sides.as_slice() {
            [width, height] => quotient(side(width)?, side(height)?),
            _ => None,
        },
        Value::Object(members) => match members.iter().collect::<Vec<_>>().as_slice() {
            // `{16:9}` is a key without a value.
            [(text, Value::Null)] => ratio_in(text),
            [(width, height)] => quotient(width.parse().ok()?, side(height)?),
            [(_, width), (_, height)] => {
                let named = |name: &str| members.get(name).and_then(side);
                quotient(named("width").or_else(|| side(width))?, named("height").or_else(|| side(height))?)
            }
            _ => None,
        },
        Value::Null | Value::Bool(_) => None,
    }
}

/// The number of one side.
fn side(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// The ratio in a text: of two numbers whatever is between them, of one, or of a word.
fn ratio_in(text: &str) -> Option<f64> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let numbers: Option<Vec<f64>> =
        text.split(|c| !is_digit(c)).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect();
    match numbers?.as_slice() {
        [width, height] => return quotient(*width, *height),
        [number] => return ratio_in_number(*number),
        [_, ..] => return None,
        [] => {}
    }
    let folded: String = text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    NAMED.iter().find(|(name, _)| folded.contains(name)).map(|(_, ratio)| *ratio)
}

/// The ratio that a number is. `16:9` without quotes is 16 * 60 + 9 to parsers of YAML 1.1.
fn ratio_in_number(number: f64) -> Option<f64> {
    if RATIOS.contains(&number) {
        return Some(number);
    }
    (number.fract() == 0.0 && number >= 60.0).then(|| quotient((number / 60.0).floor(), number % 60.0))?
}

fn quotient(width: f64, height: f64) -> Option<f64> {
    Some(width / height).filter(|ratio| RATIOS.contains(ratio))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn suggested_ratio_has_the_shape_that_is_written() {
        let listed = ["adaptive", "auto", "21:9", "16:9", "4:3", "1:1", "3:4", "9:16"];
        for (value, expected) in [
            (json!("5:4"), "4:3"),
            (json!("3:2"), "4:3"),
            (json!("2:3"), "3:4"),
            (json!("4:5"), "3:4"),
            (json!("2:1"), "16:9"),
            (json!("2.39:1"), "21:9"),
            (json!("1920x1080"), "16:9"),
            (json!("16 × 9"), "16:9"),
            (json!("9/16"), "9:16"),
            (json!("square"), "1:1"),
            (json!("Portrait"), "9:16"),
            (json!("vertical"), "9:16"),
            (json!("landscape"), "16:9"),
            (json!("wide-screen"), "16:9"),
            (json!("ultra-wide"), "21:9"),
            (json!("cinematic"), "21:9"),
            (json!("1.78"), "16:9"),
            (json!(1.5), "4:3"),
            (json!(1.78), "16:9"),
            (json!(969), "16:9"),
            (json!(556), "9:16"),
            (json!([16, 9]), "16:9"),
            (json!({"16": 9}), "16:9"),
            (json!({"16:9": null}), "16:9"),
            (json!(16.9), "16:9"),
            (json!(4.3), "4:3"),
            (json!({"width": 9, "height": 16}), "9:16"),
            (json!("adaptiv"), "adaptive"),
            (json!("Auto"), "auto"),
        ] {
            assert_eq!(suggested_ratio(&value, &listed), Some(expected), "{value}");
        }
        for value in [json!("hd"), json!(""), json!(16), json!("1:0"), json!([16]), json!(true), json!("9:1")]
        {
            assert_eq!(suggested_ratio(&value, &listed), None, "{value}");
        }
    }

    #[test]
    fn wide_picture_never_becomes_a_high_one() {
        assert_eq!(suggested_ratio(&json!("5:4"), &["3:4", "21:9"]), Some("21:9"));
        assert_eq!(suggested_ratio(&json!("5:4"), &["3:4"]), None);
    }
}
