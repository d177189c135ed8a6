//! Lints of `when`: a file of which no shot is left, and comparisons with a value that never occurs. That some shots are left out is what
//! `when` is for.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::ExpandCx;
use super::instances::Expansion;
use crate::diagnostic::{Diagnostic, Problems, nearest_own, quoted_list};
use crate::limits;
use crate::plan::Node;
use crate::syntax::{Param, Workflow, one_or_many};
use crate::template::has_template;
use crate::yaml::{Yaml, YamlValue};

/// Maximum number of values that a literal is compared with for a suggestion, over all.
const MAX_COMPARED_VALUES: usize = 200_000;

/// Maximum number of values that help lists.
const MAX_LISTED_VALUES: usize = 12;

/// Warns if `when` excludes everything, and of comparisons that never hold.
pub(super) fn run(
    workflow: &Workflow,
    expansion: &Expansion<'_>,
    nodes: &[Node],
    cx: &ExpandCx<'_>,
    problems: &mut Problems,
) {
    let compared = never_equal(workflow, cx, problems);
    let excluding = workflow.shots.iter().find_map(|shot| shot.when.as_ref());
    if let Some(when) = excluding.filter(|_| nodes.is_empty() && !expansion.instances.is_empty()) {
        let message = if workflow.shots.len() == 1 {
            "no shot is left to render: its `when` is false"
        } else {
            "no shot is left to render: every `when` is false"
        };
        let warning = Diagnostic::warning("never-true", when.span(), message);
        problems.push(if compared {
            warning
        } else {
            warning.help("`runner run` has nothing to do; change the condition, or remove it")
        });
    }
}

/// The values of a name, as far as the file lists them.
struct ListedValues<'w> {
    values: Vec<Value>,
    /// The values in the form in which they are compared.
    set: HashSet<String>,
    /// The parameter whose only value it is.
    param: Option<&'w Param>,
}

/// Reports comparisons of a name with a literal that it never has; whether there are any.
fn never_equal(workflow: &Workflow, cx: &ExpandCx<'_>, problems: &mut Problems) -> bool {
    let listed = listed_values(workflow, cx);
    let mut compared = 0;
    let mut reported = HashSet::new();
    for shot in &workflow.shots {
        let Some(when) = &shot.when else { continue };
        let YamlValue::Text(text) = &when.value.value else { continue };
        for (name, literal) in comparisons(text) {
            if reported.len() >= limits::MAX_DIAGNOSTICS {
                return true;
            }
            let Some(values) = listed.get(name).filter(|values| !values.set.contains(&comparable(&literal)))
            else {
                continue;
            };
            if !reported.insert((when.span(), name, literal.to_string())) {
                continue;
            }
            compared += values.values.len();
            let written = shown(&literal);
            let mut comparable_values = values.values.iter().filter(|_| compared <= MAX_COMPARED_VALUES);
            let same_text = comparable_values.find(|value| shown(value) == written);
            let (message, help) = match (values.param, same_text) {
                (Some(_), Some(Value::String(_))) => (
                    format!("`{name}` is the text `\"{written}\"`, which is never equal to `{written}`"),
                    format!("write `{name}: {written}` without quotes, or compare it with `'{written}'`"),
                ),
                // Other values of a parameter come from the command line.
                (Some(param), None) if param.one_of.is_empty() => continue,
                (_, Some(value)) => (
                    format!("`{name}` is never {}", described(&literal)),
                    format!("it has the value {}: write `{value}`", described(value)),
                ),
                _ => (format!("`{name}` is never `{written}`"), suggestion(values, &written, compared)),
            };
            problems.push(Diagnostic::warning("never-true", when.span(), message).help(help));
        }
    }
    !reported.is_empty()
}

fn suggestion(values: &ListedValues<'_>, written: &str, compared: usize) -> String {
    if compared > MAX_COMPARED_VALUES {
        return format!("it has {} other values", values.values.len());
    }
    let texts: Vec<String> = values.values.iter().map(shown).collect();
    let texts = || texts.iter().map(String::as_str);
    match nearest_own(written, texts()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("its values are {}", quoted_list(texts(), MAX_LISTED_VALUES)),
    }
}

/// What names can be, where the file lists it: axes that are lists, and parameters with `one_of` or a text as their value. A name with values
/// that are not listed is left out.
fn listed_values<'w>(workflow: &'w Workflow, cx: &ExpandCx<'_>) -> HashMap<&'w str, ListedValues<'w>> {
    let mut all: HashMap<&str, Option<ListedValues<'_>>> = HashMap::new();
    let mut add = |name: &'w str, values: Option<Vec<Value>>, param: Option<&'w Param>| {
        let Some(values) = values else {
            all.insert(name, None);
            return;
        };
        let empty = ListedValues { values: Vec::new(), set: HashSet::new(), param };
        let Some(listed) = all.entry(name).or_insert(Some(empty)) else { return };
        listed.set.extend(values.iter().map(comparable));
        listed.values.extend(values);
    };
    for matrix in workflow.matrix.iter().chain(workflow.shots.iter().filter_map(|shot| shot.matrix.as_ref()))
    {
        let YamlValue::Map(entries) = &matrix.value.value else { continue };
        for (key, value) in entries {
            match key.value.as_str() {
                "exclude" => {}
                // One value of an axis, or of a name that only these combinations have.
                "include" => {
                    for (key, value) in members(value) {
                        add(&key.value, plain_values(std::slice::from_ref(value)), None);
                    }
                }
                "zip" => members(value).for_each(|(key, value)| add(&key.value, axis_values(value), None)),
                name => add(name, axis_values(value), None),
            }
        }
    }
    for param in workflow.all_params() {
        let name = param.key.value.as_str();
        let is_set =
            cx.options.params.iter().any(|(set, _)| set == name) || !cx.options.param_files.is_empty();
        let values = match &param.default {
            _ if !param.one_of.is_empty() => {
                Some(param.one_of.iter().map(|value| value.value.clone()).collect())
            }
            Some(default) if !is_set && default.text().is_some() => {
                plain_values(std::slice::from_ref(default))
            }
            _ => None,
        };
        add(name, values, Some(param));
    }
    all.into_iter().filter_map(|(name, values)| Some((name, values?))).collect()
}

fn members(value: &Yaml) -> impl Iterator<Item = &(crate::yaml::Key, Yaml)> {
    one_or_many(value).iter().flat_map(|item| match &item.value {
        YamlValue::Map(entries) => entries.as_slice(),
        _ => &[],
    })
}

fn axis_values(value: &Yaml) -> Option<Vec<Value>> {
    let YamlValue::List(items) = &value.value else { return None };
    plain_values(items)
}

/// Values without templates, lists and mappings.
fn plain_values(items: &[Yaml]) -> Option<Vec<Value>> {
    let plain = |item: &Yaml| match &item.value {
        YamlValue::List(_) | YamlValue::Map(_) => None,
        YamlValue::Text(text) if has_template(text) => None,
        _ => Some(item.to_json()),
    };
    items.iter().map(plain).collect()
}

/// A scalar so that equal ones have equal texts, and those of other types have not.
fn comparable(value: &Value) -> String {
    match value {
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        // `true` is 1 in templates.
        Value::Bool(truth) => u8::from(*truth).to_string(),
        other => other.to_string(),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A scalar with its type, where that is text.
fn described(value: &Value) -> String {
    if value.is_string() { format!("the text `{value}`") } else { format!("`{value}`") }
}

/// A token of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'t> {
    Name(&'t str),
    Text(&'t str),
    Number(&'t str),
    Sign(&'t str),
}

/// Names that are compared with a literal by `==` or `!=`, alone on their side.
fn comparisons(text: &str) -> Vec<(&str, Value)> {
    let tokens = tokens(text);
    let mut comparisons = Vec::new();
    for (index, window) in tokens.windows(3).enumerate() {
        let &[left, Token::Sign("==" | "!="), right] = window else { continue };
        let before = index.checked_sub(1).map(|before| tokens[before]);
        if !is_boundary(before) || !is_boundary(tokens.get(index + 3).copied()) {
            continue;
        }
        comparisons.extend(match (left, right) {
            (Token::Name(name), other) | (other, Token::Name(name)) if truth(name).is_none() => {
                literal(other).map(|literal| (name, literal))
            }
            (Token::Name(word), Token::Name(name)) => truth(word).map(|truth| (name, Value::Bool(truth))),
            _ => None,
        });
    }
    comparisons
}

/// Whether an operand ends beside this token.
fn is_boundary(token: Option<Token<'_>>) -> bool {
    matches!(
        token,
        None | Some(
            Token::Name("and" | "or" | "not" | "if" | "else")
                | Token::Sign("(" | ")" | "{{" | "}}" | "{{-" | "-}}")
        )
    )
}

fn truth(name: &str) -> Option<bool> {
    match name {
        "true" | "True" => Some(true),
        "false" | "False" => Some(false),
        _ => None,
    }
}

fn literal(token: Token<'_>) -> Option<Value> {
    match token {
        Token::Text(text) => Some(Value::String(text.to_owned())),
        Token::Number(number) => serde_json::from_str(number).ok(),
        Token::Name(name) => truth(name).map(Value::Bool),
        Token::Sign(_) => None,
    }
}

/// The tokens of an expression. A text with an escape is no literal here.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = |is: &dyn Fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let (token, end) = if first == '\'' || first == '"' {
            let end = rest[1..].find(first).map_or(rest.len(), |end| end + 2);
            let inner = rest[1..end].trim_end_matches(first);
            (if inner.contains('\\') { Token::Sign("text") } else { Token::Text(inner) }, end)
        } else if first.is_ascii_digit() {
            let end = length(&|c| is_word(c) || c == '.');
            (Token::Number(&rest[..end]), end)
        } else if is_word(first) {
            let end = length(&is_word);
            (Token::Name(&rest[..end]), end)
        } else {
            let signs = ["{{-", "-}}", "{{", "}}", "==", "!=", "<=", ">=", "//", "**"];
            let end = signs
                .iter()
                .find(|sign| rest.starts_with(**sign))
                .map_or(first.len_utf8(), |sign| sign.len());
            (Token::Sign(&rest[..end]), end)
        };
        tokens.push(token);
        rest = rest[end..].trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::comparisons;

    #[test]
    fn comparisons_of_a_name_with_a_literal() {
        for (text, expected) in [
            ("look == 'noir'", vec![("look", json!("noir"))]),
            ("{{ 'noir' != look }}", vec![("look", json!("noir"))]),
            ("long == true and (n == 2)", vec![("long", json!(true)), ("n", json!(2))]),
            ("who.look == 'noir'", vec![]),
            ("look | upper == 'NOIR'", vec![]),
            ("look == 'a' ~ b", vec![]),
            ("n + 1 == 2", vec![]),
            ("look == other", vec![]),
            ("look == 'it\\'s'", vec![]),
        ] {
            assert_eq!(comparisons(text), expected, "{text}");
        }
    }
}
