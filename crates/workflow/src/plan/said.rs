//! What a request says, and where.

use std::borrow::Cow;
use std::sync::Arc;

use contract::Word;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// A word of the runner's, or a field of the service's own, and where a request has it.
///
/// By-products, such as the last frame that is returned, are not said: they do not change the video.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// Which word it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<Word>,
    /// JSON pointer into the request.
    pub at: Arc<str>,
    /// Whether its value identifies a person, so that it is not stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_private: bool,
}

impl Said {
    /// The word, or the path of the field: no field is taken for a word.
    pub fn name(&self) -> Cow<'static, str> {
        match self.word {
            Some(word) => word.as_str().into(),
            None => format!("request.{}", self.path()).into(),
        }
    }

    /// For people: the word, or the path of the field as it is written.
    pub fn path(&self) -> String {
        self.word.map_or_else(
            || self.at.trim_start_matches('/').replace('/', "."),
            |word| word.as_str().to_owned(),
        )
    }

    /// A value without what is a matter of spelling: `"5"`, `"5s"` and `5` are one length, `720P` and `720p` one resolution.
    pub fn meaning<'v>(&self, value: &'v Value) -> Cow<'v, Value> {
        match (self.word, value) {
            (Some(Word::Seconds | Word::Seed), Value::String(text)) => {
                let number = text.strip_suffix('s').unwrap_or(text).parse().ok().and_then(whole);
                number.map_or(Cow::Borrowed(value), |number| Cow::Owned(Value::Number(number)))
            }
            (Some(Word::Seconds | Word::Seed), Value::Number(number)) => {
                let number = number.as_f64().filter(|_| number.is_f64()).and_then(whole);
                number.map_or(Cow::Borrowed(value), |number| Cow::Owned(Value::Number(number)))
            }
            (Some(Word::Resolution | Word::Ratio), Value::String(text)) => {
                Cow::Owned(Value::String(text.to_ascii_lowercase()))
            }
            _ => Cow::Borrowed(value),
        }
    }
}

/// A number, without `.0` where it is a whole one.
fn whole(number: f64) -> Option<Number> {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return Some(Number::from(number as i64));
    }
    Number::from_f64(number)
}
