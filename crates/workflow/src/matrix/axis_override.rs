//! Axis overrides from the command line: `look=noir,pastel` adds an axis, or replaces the values of one.

use super::value::{Values, value as axis_value};
use crate::diagnostic::{Diagnostic, Problems};
use crate::source::{Source, Span};
use crate::syntax::identifier;
use crate::syntax::keys::matrix::MATRIX;
use crate::yaml::{self, Yaml, YamlValue};

/// An axis with its values from the command line.
#[derive(Clone, Debug)]
pub(crate) struct AxisOverride {
    pub(crate) axis: String,
    pub(crate) values: Values,
}

/// Parses axis overrides; the last one for an axis wins. `span` is used in diagnostics, because an override is not in the file.
pub(crate) fn read(axes: &[(String, String)], span: Span, problems: &mut Problems) -> Vec<AxisOverride> {
    let mut overrides: Vec<AxisOverride> = Vec::new();
    for (axis, text) in axes {
        let values = match name(axis).and_then(|()| values(text)) {
            Ok(values) => values,
            Err(why) => {
                let message = format!("the axis `{axis}`, which was given as `{text}`: {why}");
                problems.push(
                    Diagnostic::error("bad-axis", span, message)
                        .help("write NAME=VALUE,VALUE; a value with a comma or a colon in it needs quotes"),
                );
                continue;
            }
        };
        let values = values.iter().map(|value| axis_value(value.to_json(), span)).collect();
        overrides.retain(|earlier| earlier.axis != *axis);
        overrides.push(AxisOverride { axis: axis.clone(), values });
    }
    overrides
}

fn name(axis: &str) -> Result<(), String> {
    if MATRIX.has(axis) {
        return Err(format!("`{axis}` is a key of a matrix"));
    }
    identifier(axis)
}

/// Comma-separated values, parsed as the items of a YAML list: numbers, booleans, else strings.
fn values(text: &str) -> Result<Vec<Yaml>, String> {
    let source = Source::new("axis", format!("[{text}]"));
    let (tree, failures) = yaml::parse(&source);
    let Some(mut tree) = tree.filter(|_| failures.is_empty()) else {
        return Err("this cannot be read as a list of values".to_owned());
    };
    yaml::keep_written(&mut tree, &source);
    let YamlValue::List(items) = tree.value else {
        return Err("this cannot be read as a list of values".to_owned());
    };
    if items.is_empty() {
        return Err("it has no value".to_owned());
    }
    let is_scalar =
        |item: &&Yaml| matches!(item.value, YamlValue::Text(_) | YamlValue::Number(_) | YamlValue::Bool(_));
    match items.iter().find(|item| !is_scalar(item)) {
        Some(item) => Err(format!("one of its values is {}", item.kind())),
        None => Ok(items),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn values(text: &str) -> Result<Vec<Value>, String> {
        super::values(text).map(|items| items.iter().map(crate::yaml::Yaml::to_json).collect())
    }

    #[test]
    fn override_values_parse_as_numbers_booleans_or_text() {
        assert_eq!(values("noir,pastel").unwrap(), [json!("noir"), json!("pastel")]);
        assert_eq!(values("1, 2.5,true,24mm").unwrap(), [json!(1), json!(2.5), json!(true), json!("24mm")]);
        assert_eq!(
            values("1.10,1.1,1e3,0x10").unwrap(),
            [json!("1.10"), json!(1.1), json!("1e3"), json!("0x10")]
        );
        assert_eq!(values("\"a, b\",push in").unwrap(), [json!("a, b"), json!("push in")]);
        for wrong in ["", "[1]", "a: b", "{{ x }}", "], [", "a,,b", "\"a", "~", "*a"] {
            assert!(values(wrong).is_err(), "{wrong}");
        }
    }
}
