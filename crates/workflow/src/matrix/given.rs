//! Axes that the caller gives: `-s look=noir,pastel` adds an axis, or gives one other values.

use serde_json::Value;

use super::{Values, WORDS};
use crate::diagnostic::{Diagnostic, Problems};
use crate::source::{Source, Span, Spanned};
use crate::syntax::identifier;
use crate::yaml::{self, YamlValue};

/// An axis that the caller gives.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) axis: String,
    pub(crate) values: Values,
}

/// Reads what the caller gives; of several for one axis the last counts. `place` is where the file is pointed at: what is given
/// stands in no file.
pub(crate) fn read(axes: &[(String, String)], place: Span, problems: &mut Problems) -> Vec<Given> {
    let mut found: Vec<Given> = Vec::new();
    for (axis, text) in axes {
        let values = match name(axis).and_then(|()| values(text)) {
            Ok(values) => values,
            Err(why) => {
                let message = format!("the axis `{axis}`, which was given as `{text}`: {why}");
                problems.push(
                    Diagnostic::error("bad-axis", place, message)
                        .help("write NAME=VALUE,VALUE; a value with a comma or a colon in it needs quotes"),
                );
                continue;
            }
        };
        let values = values.into_iter().map(|value| Spanned::new(value, place)).collect();
        found.retain(|given| given.axis != *axis);
        found.push(Given { axis: axis.clone(), values });
    }
    found
}

fn name(axis: &str) -> Result<(), String> {
    if WORDS.contains(&axis) {
        return Err(format!("`{axis}` is a word of a matrix"));
    }
    identifier(axis)
}

/// The values between commas, as a YAML list has them: numbers, true and false where they read so, else text.
fn values(text: &str) -> Result<Vec<Value>, String> {
    let mut problems = Problems::default();
    let tree = yaml::read(&Source::new("axis", format!("[{text}]")), &mut problems);
    let Some(YamlValue::List(items)) = tree.map(|tree| tree.value) else {
        return Err("this cannot be read as a list of values".to_owned());
    };
    if problems.any() {
        return Err("this cannot be read as a list of values".to_owned());
    }
    if items.is_empty() {
        return Err("it has no value".to_owned());
    }
    items
        .iter()
        .map(|item| match &item.value {
            YamlValue::Text(_) | YamlValue::Number(_) | YamlValue::Bool(_) => Ok(item.to_json()),
            _ => Err(format!("one of its values is {}", item.kind())),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::values;

    #[test]
    fn values_are_numbers_truths_or_text() {
        assert_eq!(values("noir,pastel").unwrap(), [json!("noir"), json!("pastel")]);
        assert_eq!(values("1, 2.5,true,24mm").unwrap(), [json!(1), json!(2.5), json!(true), json!("24mm")]);
        assert_eq!(values("\"a, b\",push in").unwrap(), [json!("a, b"), json!("push in")]);
        for wrong in ["", "[1]", "a: b", "{{ x }}", "], [", "a,,b", "\"a", "~", "*a"] {
            assert!(values(wrong).is_err(), "{wrong}");
        }
    }
}
