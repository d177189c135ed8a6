//! A key with its value.

use crate::source::Span;
use crate::yaml::{Key, Yaml, YamlValue};

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: Key,
    /// The value, which may hold templates.
    pub value: Yaml,
}

impl Entry {
    /// The span that shows the entry in a message: a scalar's own, else its key's.
    pub fn span(&self) -> Span {
        match self.value.value {
            YamlValue::List(_) | YamlValue::Map(_) => self.key.span,
            _ => self.value.span.or(self.key.span),
        }
    }
}
