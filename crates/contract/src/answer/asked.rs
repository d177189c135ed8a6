//! Whether the conditions of a description hold of an answer.

use glob::{MatchOptions, Pattern};
use serde_json::Value;

use crate::spec::{Case, Condition, ErrorPlaces, Place};

/// An answer that conditions are asked of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) http: u16,
    /// `None` where the body is not JSON.
    pub(super) body: Option<&'a Value>,
    /// Where its error stands.
    pub(super) error: &'a ErrorPlaces,
}

impl Asked<'_> {
    /// What the first of these cases says that holds.
    pub(super) fn first<T: Copy>(self, cases: &[Case<T>]) -> Option<T> {
        cases.iter().find(|case| case.when.iter().any(|condition| self.holds(condition))).map(|case| case.is)
    }

    fn holds(self, condition: &Condition) -> bool {
        (condition.http.is_empty() || condition.http.contains(&self.http))
            && condition.texts.iter().all(|(place, patterns)| matches(place, patterns, self))
    }
}

/// Whether a value is one of these; without any, whether there is one. What is missing is an empty text.
fn matches(place: &Place, patterns: &[Pattern], asked: Asked<'_>) -> bool {
    let error = || asked.body.map(|body| asked.error.read(body)).unwrap_or_default();
    let text: Option<String> = match place {
        Place::Code => Some(error().code.unwrap_or_default()),
        Place::Message => Some(error().message),
        Place::Kind => Some(error().kind.unwrap_or_default()),
        Place::At(pointer) => match asked.body.and_then(|body| pointer.get(body)) {
            None | Some(Value::Null) => Some(String::new()),
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Array(items)) if items.is_empty() => Some(String::new()),
            Some(Value::Object(members)) if members.is_empty() => Some(String::new()),
            Some(Value::Array(_) | Value::Object(_)) => None,
            Some(scalar) => Some(scalar.to_string()),
        },
    };
    let options = MatchOptions { case_sensitive: false, ..MatchOptions::new() };
    match text {
        Some(text) if patterns.is_empty() => !text.is_empty(),
        Some(text) => patterns.iter().any(|pattern| pattern.matches_with(&text, options)),
        None => patterns.is_empty(),
    }
}
