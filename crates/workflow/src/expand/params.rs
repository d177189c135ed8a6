//! Parameters: the values of the file and of its groups, replaced by the caller's, each of the type that is declared.

use std::collections::{HashMap, HashSet};

use serde_json::{Number, Value};

use super::ExpandCx;
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list, shortened};
use crate::limits;
use crate::source::{Source, Span};
use crate::syntax::{Entry, Param, ParamKind, Shot, Workflow};
use crate::template::Scope;
use crate::yaml::{self, Yaml, YamlValue};

/// The values of all parameters.
#[derive(Debug)]
pub(super) struct Params {
    /// Those of the file.
    pub(super) file: Scope,
    /// Those of each group, over the file's.
    groups: Vec<Scope>,
}

impl Params {
    /// Those that the templates of a shot see.
    pub(super) fn for_shot(&self, shot: &Shot) -> &Scope {
        self.of_group(shot.group)
    }

    /// Those of a group, by its index; without one, those of the file.
    pub(super) fn of_group(&self, group: Option<usize>) -> &Scope {
        group.and_then(|group| self.groups.get(group)).unwrap_or(&self.file)
    }
}

/// The values of all parameters. A default may be a template over the parameters above it; a value from the caller is never a template, and
/// replaces those of the file and of all groups.
pub(super) fn resolve<'w>(workflow: &'w Workflow, cx: &ExpandCx<'w>, problems: &mut Problems) -> Params {
    report_unknown(workflow, cx, problems);
    let overrides: HashMap<&str, &Entry> =
        workflow.param_overrides.iter().map(|entry| (entry.key.value.as_str(), entry)).collect();
    let mut set = |params: &'w [Param], mut scope: Scope| {
        for param in params {
            let name = &param.key.value;
            match value(param, &overrides, cx, &scope, problems) {
                Some((value, span)) if is_allowed(param, &value, span, problems) => scope.set(name, &value),
                _ => scope.set_broken(name),
            }
        }
        scope
    };
    let file = set(&workflow.params, Scope::default());
    let groups = workflow.groups.iter().map(|group| match group.params.as_slice() {
        [] => file.clone(),
        params => set(params, file.with([])),
    });
    let groups = groups.collect();
    Params { file, groups }
}

/// Reports values for parameters that are not declared.
fn report_unknown(workflow: &Workflow, cx: &ExpandCx<'_>, problems: &mut Problems) {
    let mut names: HashSet<&str> = HashSet::new();
    let params = workflow.all_params().map(|param| param.key.value.as_str());
    // Groups may have parameters of the same name.
    let declared: Vec<&str> = params.filter(|name| names.insert(name)).collect();
    let in_files = workflow.param_overrides.iter().map(|entry| (entry.key.value.as_str(), entry.key.span));
    let on_command_line = cx.options.params.iter().map(|(name, _)| (name.as_str(), workflow.params_span));
    for (name, span) in in_files.chain(on_command_line) {
        if !names.contains(name) && !problems.full() {
            let message = format!("the workflow has no parameter `{name}`, which was given a value");
            problems.push(Diagnostic::error("unknown-param", span, message).help(
                did_you_mean(name, declared.iter().copied()).unwrap_or_else(|| match declared.as_slice() {
                    [] => "the workflow declares no parameters".to_owned(),
                    declared => format!("its parameters are {}", quoted_list(declared.iter().copied(), 12)),
                }),
            ));
        }
    }
}

/// The value of a parameter and the span it comes from; `None` if it has none, which is reported.
fn value<'w>(
    param: &'w Param,
    overrides: &HashMap<&str, &Entry>,
    cx: &ExpandCx<'w>,
    scope: &Scope,
    problems: &mut Problems,
) -> Option<(Value, Span)> {
    let name = &param.key.value;
    if let Some((_, text)) = cx.options.params.iter().rev().find(|(key, _)| key == name) {
        if text.len() > limits::MAX_RENDERED_BYTES {
            let message = format!("the value given for `{name}` is too long");
            problems.error("template-limit", param.key.span, message);
            return None;
        }
        return Some((parse_override(text, declared_kind(param)), param.key.span));
    }
    if let Some(entry) = overrides.get(name.as_str()) {
        let mut value = entry.value.clone();
        if is_text(declared_kind(param)) {
            yaml::keep_written(&mut value, cx.source);
        }
        return Some((value.to_json(), entry.span()));
    }
    let Some(default) = &param.default else {
        if param.lacks_value {
            return None;
        }
        let message = format!("`{name}` has to be given a value");
        problems.push(
            Diagnostic::error("missing-param", param.key.span, message)
                .help(format!("set it with `--param {name}=…` or `--param-file FILE`")),
        );
        return None;
    };
    let span = match &default.value {
        YamlValue::List(_) | YamlValue::Map(_) => param.key.span,
        _ => default.span.or(param.key.span),
    };
    Some((cx.templates.render(default, scope, problems)?.to_json(), span))
}

/// Whether numbers that are given for a parameter of this kind stay as they are written.
fn is_text(kind: Option<ParamKind>) -> bool {
    matches!(kind, None | Some(ParamKind::Text))
}

/// Whether a value satisfies the declaration; reported if it does not.
pub(super) fn is_allowed(param: &Param, value: &Value, span: Span, problems: &mut Problems) -> bool {
    let name = &param.key.value;
    let shown = shortened(&value.to_string());
    let wrong = |message: String| {
        let diagnostic = Diagnostic::error("bad-param", span, message).label(format!("it is {shown}"));
        if span == param.key.span { diagnostic } else { diagnostic.other(param.key.span, "declared here") }
    };
    if let Some(kind) = param.kind
        && !has_kind(value, kind)
    {
        let wrong = wrong(format!("`{name}` is {}", kind.described()));
        problems.push(match (kind, value.as_str()) {
            (ParamKind::List, Some(text)) if span == param.key.span => {
                let items: Vec<&str> = text.split(',').map(str::trim).collect();
                wrong.help(format!("write `-p '{name}=[{}]'`", items.join(", ")))
            }
            _ => wrong,
        });
        return false;
    }
    if !param.one_of.is_empty() && !param.one_of.iter().any(|choice| same(&choice.value, value)) {
        let all: Vec<String> = param
            .one_of
            .iter()
            .map(|choice| choice.value.as_str().map_or_else(|| choice.value.to_string(), str::to_owned))
            .collect();
        let all = || all.iter().map(String::as_str);
        let near = value.as_str().and_then(|text| did_you_mean(text, all()));
        problems.push(
            wrong(format!("`{name}` is one of {}", quoted_list(all(), 12)))
                .help(near.unwrap_or_else(|| "give one of these, or add yours to `one_of`".to_owned())),
        );
        return false;
    }
    let number = value.as_f64();
    let too_small = param.min.as_ref().filter(|min| beyond(number, &min.value, |number, min| number < min));
    let too_large = param.max.as_ref().filter(|max| beyond(number, &max.value, |number, max| number > max));
    let help = |bound: &str, limit: &Number| match number {
        Some(_) => format!("give {limit}, or change `{bound}`"),
        None => format!("`{bound}` is for numbers: remove it, or give a number"),
    };
    if let Some(bound) = too_small {
        let message = format!("`{name}` is at least {}", bound.value);
        problems.push(wrong(message).help(help("min", &bound.value)));
    } else if let Some(bound) = too_large {
        let message = format!("`{name}` is at most {}", bound.value);
        problems.push(wrong(message).help(help("max", &bound.value)));
    }
    too_small.is_none() && too_large.is_none()
}

fn beyond(number: Option<f64>, bound: &Number, is_beyond: impl Fn(f64, f64) -> bool) -> bool {
    match (number, bound.as_f64()) {
        (Some(number), Some(bound)) => is_beyond(number, bound),
        // What is not a number is out of every range.
        _ => number.is_none(),
    }
}

fn has_kind(value: &Value, kind: ParamKind) -> bool {
    match kind {
        ParamKind::Text => value.is_string(),
        ParamKind::Integer => value.is_i64() || value.is_u64(),
        ParamKind::Number => value.is_number(),
        ParamKind::Boolean => value.is_boolean(),
        ParamKind::List => value.is_array(),
        ParamKind::Map => value.is_object(),
    }
}

fn same(a: &Value, b: &Value) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if a.total_cmp(&b).is_eq())
}

/// The declared kind of a parameter. One whose default is a number takes numbers without saying so.
fn declared_kind(param: &Param) -> Option<ParamKind> {
    let is_number =
        || matches!(param.default.as_ref()?.value, YamlValue::Number(_)).then_some(ParamKind::Number);
    param.kind.or_else(is_number)
}

/// A value from the command line, parsed as the declared type. Text that does not parse is returned as a string.
fn parse_override(text: &str, kind: Option<ParamKind>) -> Value {
    match kind {
        None => match tree(text) {
            Some(mut number @ Yaml { value: YamlValue::Number(_), .. }) => {
                yaml::keep_written(&mut number, &Source::new("parameter", text));
                number.to_json()
            }
            _ => scalar(text),
        },
        Some(ParamKind::Text) => Value::String(text.to_owned()),
        Some(ParamKind::Integer | ParamKind::Number | ParamKind::Boolean) => match scalar(text) {
            value @ (Value::Number(_) | Value::Bool(_)) => value,
            _ => Value::String(text.to_owned()),
        },
        Some(ParamKind::List | ParamKind::Map) => {
            tree(text).map_or_else(|| Value::String(text.to_owned()), |tree| tree.to_json())
        }
    }
}

/// A value without a declared type: a number or boolean if it parses as one, else a string.
fn scalar(text: &str) -> Value {
    match tree(text).map(|tree| tree.value) {
        Some(YamlValue::Number(number)) => Value::Number(number),
        Some(YamlValue::Bool(truth)) => Value::Bool(truth),
        Some(YamlValue::Text(quoted)) if text.trim_start().starts_with(['"', '\'']) => Value::String(quoted),
        _ => Value::String(text.to_owned()),
    }
}

fn tree(text: &str) -> Option<Yaml> {
    let (tree, failures) = yaml::parse(&Source::new("parameter", text));
    tree.filter(|_| failures.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn untyped_param_value_parses_as_scalar() {
        assert_eq!(scalar("5"), json!(5));
        assert_eq!(scalar("true"), json!(true));
        assert_eq!(scalar("\"5\""), json!("5"));
        for text in ["a: b", "", "~", "[1", "- x", "{{ seed }}", "yes", "*a", "two\nlines", "5 # five"] {
            let expected = if text == "5 # five" { json!(5) } else { json!(text) };
            assert_eq!(scalar(text), expected, "{text}");
        }
    }

    #[test]
    fn typed_param_value_parses_as_declared() {
        assert_eq!(parse_override("5", Some(ParamKind::Text)), json!("5"));
        assert_eq!(parse_override("1.10", None), json!("1.10"));
        assert_eq!(parse_override("12e03 # a reel", None), json!("12e03"));
        assert_eq!(parse_override("1e3", Some(ParamKind::Number)), json!(1e3));
        assert_eq!(parse_override("1.5", None), json!(1.5));
        assert_eq!(parse_override("[a, 2]", Some(ParamKind::List)), json!(["a", 2]));
        assert_eq!(parse_override("{a: 1}", Some(ParamKind::Map)), json!({"a": 1}));
        assert_eq!(parse_override("five", Some(ParamKind::Integer)), json!("five"));
        assert_eq!(parse_override("[a", Some(ParamKind::List)), json!("[a"));
    }
}
