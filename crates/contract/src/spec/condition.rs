//! Conditions on an answer, as `x-tasks` writes them.

use std::collections::BTreeMap;

use glob::Pattern;
use serde::Deserialize;
use serde_json::Value;

use super::Pointer;

/// What has to hold of an answer, all of it: its HTTP status, the parts of its error, and values at JSON pointers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    pub(crate) http: Vec<u16>,
    /// Places, and the patterns of which one has to match the text there; without any, there has to be one.
    pub(crate) texts: Vec<(Place, Vec<Pattern>)>,
}

/// Where a text stands.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Code,
    Message,
    Kind,
    At(Pointer),
}

/// What an answer is, if one of these conditions holds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case<T> {
    pub(crate) is: T,
    pub(crate) when: Vec<Condition>,
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = BTreeMap::<String, Vec<Value>>::deserialize(deserializer)?;
        let mut condition = Self::default();
        if members.is_empty() {
            return Err(serde::de::Error::custom("a condition without members holds of every answer"));
        }
        for (name, values) in members {
            let place = match name.as_str() {
                "http" => {
                    let statuses = values.iter().map(|value| value.as_u64()?.try_into().ok());
                    condition.http = statuses.collect::<Option<_>>().ok_or_else(|| {
                        serde::de::Error::custom("`http` lists statuses, such as [400, 422]")
                    })?;
                    continue;
                }
                "code" => Place::Code,
                "message" => Place::Message,
                "type" => Place::Kind,
                pointer => Place::At(Pointer::try_from(pointer.to_owned()).map_err(|_| {
                    serde::de::Error::custom(format!(
                        "`{pointer}` is neither http, code, message or type, nor a JSON pointer"
                    ))
                })?),
            };
            let patterns = values.iter().map(|value| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                Pattern::new(&text)
                    .map_err(|error| serde::de::Error::custom(format!("`{text}` is no pattern: {error}")))
            });
            condition.texts.push((place, patterns.collect::<Result<_, D::Error>>()?));
        }
        Ok(condition)
    }
}
