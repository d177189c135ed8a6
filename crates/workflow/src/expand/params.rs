//! Parameters: the file's values, overridden by the caller's.

use serde_json::Value;

use super::Cx;
use crate::bounds;
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list};
use crate::source::Source;
use crate::syntax::Workflow;
use crate::template::Scope;
use crate::yaml::{self, YamlValue};

/// The values of all parameters, as a scope. A parameter may be a template over those above it; what the caller gives is
/// never a template.
pub(super) fn resolve<'w>(workflow: &'w Workflow, cx: &Cx<'w>, problems: &mut Problems) -> Scope {
    let known = || workflow.params.iter().map(|param| param.key.value.as_str());
    for (name, _) in &cx.options.params {
        if !known().any(|param| param == name) {
            let diagnostic = Diagnostic::error(
                "unknown-param",
                workflow.params_place,
                format!("the workflow has no parameter `{name}`, which was given a value"),
            );
            problems.push(
                diagnostic.help(
                    did_you_mean(name, known())
                        .unwrap_or_else(|| format!("its parameters are {}", quoted_list(known(), 12))),
                ),
            );
        }
    }
    let mut scope = Scope::default();
    for param in &workflow.params {
        let name = &param.key.value;
        let given = cx.options.params.iter().rev().find(|(given, _)| given == name);
        let value = match given {
            Some((_, text)) if text.len() > bounds::RENDERED_BYTES => {
                problems.error(
                    "template-limit",
                    param.key.span,
                    format!("the value given for `{name}` is too long"),
                );
                Value::Null
            }
            Some((_, text)) => scalar(text),
            None => {
                let Some(value) = cx.templates.render(&param.value, &scope, problems) else {
                    scope.set_broken(name);
                    continue;
                };
                value.to_json()
            }
        };
        scope.set(name, &value);
    }
    scope
}

/// A value given on the command line: a number, true or false where it reads so, else text as it stands.
fn scalar(text: &str) -> Value {
    let mut ignored = Problems::default();
    let tree = yaml::read(&Source::new("parameter", text), &mut ignored);
    match tree.map(|tree| tree.value) {
        Some(YamlValue::Number(number)) => Value::Number(number),
        Some(YamlValue::Bool(truth)) => Value::Bool(truth),
        Some(YamlValue::Text(quoted)) if text.trim_start().starts_with(['"', '\'']) => Value::String(quoted),
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::scalar;

    #[test]
    fn given_values_are_scalars() {
        assert_eq!(scalar("5"), json!(5));
        assert_eq!(scalar("true"), json!(true));
        assert_eq!(scalar("\"5\""), json!("5"));
        for text in ["a: b", "", "~", "[1", "- x", "{{ seed }}", "yes", "*a", "two\nlines", "5 # five"] {
            let expected = if text == "5 # five" { json!(5) } else { json!(text) };
            assert_eq!(scalar(text), expected, "{text}");
        }
    }
}
