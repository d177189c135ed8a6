//! Reads `params`: a value, or a declaration of what values there may be.

use serde_json::{Number, Value};

use super::{identifier, value};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list};
use crate::source::Spanned;
use crate::yaml::{Key, Yaml, YamlValue};

/// A parameter: what it is unless the caller gives another value, and what it may be.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name, with its place.
    pub key: Key,
    /// Its value unless the caller gives another, which may hold templates. Without one a value has to be given.
    pub default: Option<Yaml>,
    /// What kind of value it takes; any, where the file does not say.
    pub kind: Option<ParamKind>,
    /// The values that it may have; any, where none is listed.
    pub one_of: Vec<Spanned<Value>>,
    /// The least number that it may be.
    pub min: Option<Spanned<Number>>,
    /// The greatest number that it may be.
    pub max: Option<Spanned<Number>>,
    /// Whether it comes from an included file.
    pub included: bool,
}

/// What kind of value a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A list.
    List,
    /// A map.
    Map,
}

impl ParamKind {
    const ALL: [Self; 6] = [Self::Text, Self::Integer, Self::Number, Self::Boolean, Self::List, Self::Map];

    /// The name of the kind in a file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::List => "list",
            Self::Map => "map",
        }
    }

    /// With its article: `a whole number`.
    pub(crate) fn described(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::List => "a list",
            Self::Map => "a map",
        }
    }
}

/// The keys of a declaration.
const KEYS: [&str; 7] = ["type", "default", "required", "one_of", "min", "max", "note"];
/// A map with one of these keys is a declaration; a map without them is a value.
const DECLARATION_KEYS: [&str; 4] = ["type", "default", "required", "one_of"];

/// One parameter; nothing where it has no usable name.
pub(super) fn read(key: &Key, value: &Yaml, included: bool, problems: &mut Problems) -> Option<Param> {
    if let Err(message) = identifier(&key.value) {
        problems.error("bad-name", key.span, message);
        return None;
    }
    let plain = Param {
        key: key.clone(),
        default: Some(value.clone()),
        kind: None,
        one_of: Vec::new(),
        min: None,
        max: None,
        included,
    };
    match &value.value {
        YamlValue::Map(entries)
            if entries.iter().any(|(word, _)| DECLARATION_KEYS.contains(&word.value.as_str())) =>
        {
            Some(declaration(entries, Param { default: None, ..plain }, problems))
        }
        _ => Some(plain),
    }
}

fn declaration(entries: &[(Key, Yaml)], mut param: Param, problems: &mut Problems) -> Param {
    let name = param.key.value.clone();
    let mut required = None;
    let as_value =
        format!("a map that is the value itself goes under `default`: `{name}: {{default: {{…}}}}`");
    for (key, value) in entries {
        match key.value.as_str() {
            "type" => {
                let text = value::expect_text(value, "type", key.span, problems);
                param.kind = text.and_then(|text| kind(&text, &as_value, problems));
            }
            "default" => param.default = Some(value.clone()),
            "required" => match value.value {
                YamlValue::Bool(truth) => required = truth.then_some(key.span),
                _ => problems.push(
                    Diagnostic::error("wrong-type", value.span.or(key.span), "`required` is true or false")
                        .label(format!("this is {}", value.kind())),
                ),
            },
            "one_of" => match &value.value {
                YamlValue::List(items) if !items.is_empty() => {
                    param.one_of = items
                        .iter()
                        .map(|item| Spanned::new(item.to_json(), item.span.or(key.span)))
                        .collect();
                }
                _ => problems.push(
                    Diagnostic::error("wrong-type", value.span.or(key.span), "`one_of` is a list of values")
                        .label(format!("this is {}", value.kind())),
                ),
            },
            "min" => param.min = number(key, value, problems),
            "max" => param.max = number(key, value, problems),
            "note" => drop(value::expect_text(value, "note", key.span, problems)),
            other => {
                let message = format!("`{other}` is not a key of a parameter");
                problems.push(
                    Diagnostic::error("unknown-key", key.span, message)
                        .help(did_you_mean(other, KEYS).unwrap_or(as_value.clone())),
                );
            }
        }
    }
    match (&param.default, required) {
        (Some(default), Some(required)) => problems.push(
            Diagnostic::error("bad-param", required, format!("`{name}` is required and has a default"))
                .other(default.span.or(param.key.span), "the default")
                .help("keep one of the two"),
        ),
        (None, None) => problems.push(
            Diagnostic::error("bad-param", param.key.span, format!("`{name}` has no value"))
                .help("give it a `default`, or say `required: true`: then the caller has to give a value"),
        ),
        _ => {}
    }
    param
}

fn kind(text: &Spanned<String>, as_value: &str, problems: &mut Problems) -> Option<ParamKind> {
    let found = ParamKind::ALL.into_iter().find(|kind| kind.as_str() == text.value);
    if found.is_none() {
        let words = || ParamKind::ALL.into_iter().map(ParamKind::as_str);
        let help = did_you_mean(&text.value, words())
            .unwrap_or_else(|| format!("the types are {}; {as_value}", quoted_list(words(), 6)));
        let message = format!("`{}` is not a type of a parameter", text.value);
        problems.push(Diagnostic::error("bad-param", text.span, message).help(help));
    }
    found
}

fn number(key: &Key, value: &Yaml, problems: &mut Problems) -> Option<Spanned<Number>> {
    if let YamlValue::Number(number) = &value.value {
        return Some(Spanned::new(number.clone(), value.span));
    }
    problems.push(
        Diagnostic::error("wrong-type", value.span.or(key.span), format!("`{}` is a number", key.value))
            .label(format!("this is {}", value.kind())),
    );
    None
}
