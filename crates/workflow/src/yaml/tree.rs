//! The tree: every key and value with its span.

use serde_json::{Number, Value};

use crate::source::{Span, Spanned};

/// A key of a map.
pub type Key = Spanned<String>;

/// A value with its span.
#[derive(Clone, Debug, PartialEq)]
pub struct Yaml {
    pub value: YamlValue,
    /// The whole scalar with its quotes; of lists and maps, their beginning. Empty where a key has no value.
    pub span: Span,
}

/// The value of a [`Yaml`] node.
#[derive(Clone, Debug, PartialEq)]
pub enum YamlValue {
    /// `null`, `~`, or an empty value.
    Null,
    /// `true` or `false`; `yes` and `no` are text.
    Bool(bool),
    /// A finite number.
    Number(Number),
    Text(String),
    List(Vec<Yaml>),
    /// A mapping, in the order of the file.
    Map(Vec<(Key, Yaml)>),
}

impl Yaml {
    /// A value with its span.
    pub(crate) fn new(value: YamlValue, span: Span) -> Self {
        Self { value, span }
    }

    /// The tree with its spans offset, for a file that is one of several in a source.
    pub(crate) fn offset_by(self, by: usize) -> Self {
        let value = match self.value {
            YamlValue::List(items) => {
                YamlValue::List(items.into_iter().map(|item| item.offset_by(by)).collect())
            }
            YamlValue::Map(entries) => YamlValue::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| (Key::new(key.value, key.span.offset_by(by)), value.offset_by(by)))
                    .collect(),
            ),
            scalar => scalar,
        };
        Self { value, span: self.span.offset_by(by) }
    }

    /// A JSON value as a tree; every part has the same span.
    pub(crate) fn from_json(value: &Value, span: Span) -> Self {
        let value = match value {
            Value::Null => YamlValue::Null,
            Value::Bool(truth) => YamlValue::Bool(*truth),
            Value::Number(number) => YamlValue::Number(number.clone()),
            Value::String(text) => YamlValue::Text(text.clone()),
            Value::Array(items) => {
                YamlValue::List(items.iter().map(|item| Self::from_json(item, span)).collect())
            }
            Value::Object(members) => YamlValue::Map(
                members
                    .iter()
                    .map(|(name, value)| (Key::new(name.clone(), span), Self::from_json(value, span)))
                    .collect(),
            ),
        };
        Self { value, span }
    }

    /// The value without its spans.
    pub(crate) fn to_json(&self) -> Value {
        match &self.value {
            YamlValue::Null => Value::Null,
            YamlValue::Bool(truth) => Value::Bool(*truth),
            YamlValue::Number(number) => Value::Number(number.clone()),
            YamlValue::Text(text) => Value::String(text.clone()),
            YamlValue::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            YamlValue::Map(entries) => Value::Object(
                entries.iter().map(|(key, value)| (key.value.clone(), value.to_json())).collect(),
            ),
        }
    }

    /// The kind of value, with its article: `a list`.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            YamlValue::Null => "empty",
            YamlValue::Bool(_) => "true or false",
            YamlValue::Number(_) => "a number",
            YamlValue::Text(_) => "text",
            YamlValue::List(_) => "a list",
            YamlValue::Map(_) => "a mapping",
        }
    }

    /// Whether it is `null`, `~` or empty.
    pub fn is_null(&self) -> bool {
        self.value == YamlValue::Null
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let YamlValue::Text(text) = &self.value { Some(text) } else { None }
    }

    /// A key of the mapping and its value; `None` if this is not a mapping, or has no such key.
    pub(crate) fn get(&self, key: &str) -> Option<(&Key, &Self)> {
        let YamlValue::Map(entries) = &self.value else { return None };
        entries.iter().find(|(name, _)| name.value == key).map(|(key, value)| (key, value))
    }

    /// The value at a JSON pointer's tokens, or the deepest one on the way there, with the span that shows it in a message.
    pub(crate) fn descend<'a>(&self, tokens: impl Iterator<Item = &'a str>) -> (&Self, Span) {
        let mut node = self;
        let mut span = self.span;
        for token in tokens {
            let next = match &node.value {
                YamlValue::List(items) => {
                    token.parse::<usize>().ok().and_then(|ix| items.get(ix)).map(|item| (item, item.span))
                }
                YamlValue::Map(_) => node.get(token).map(|(key, value)| {
                    let scalar = !matches!(value.value, YamlValue::List(_) | YamlValue::Map(_));
                    (value, if scalar { value.span.or(key.span) } else { key.span })
                }),
                _ => None,
            };
            let Some((value, value_span)) = next else { break };
            (node, span) = (value, value_span);
        }
        (node, span)
    }
}
