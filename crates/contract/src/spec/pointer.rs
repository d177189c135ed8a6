//! JSON pointers into requests and answers (RFC 6901).

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A JSON pointer. In a request, a last token `-` appends to a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pointer(String);

impl Pointer {
    /// The value that it leads to.
    pub fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.pointer(&self.0)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its tokens, unescaped.
    pub fn tokens(&self) -> impl Iterator<Item = String> {
        self.0.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
    }

    /// The pointer of a member of what it leads to.
    pub fn below(&self, name: &str) -> Self {
        Self(format!("{}/{}", self.0, super::escape(name)))
    }

    /// Whether it leads to a field at the top of a request.
    pub fn is_top(&self) -> bool {
        self.0.matches('/').count() == 1
    }

    /// The first token: the field of a request that it leads into. Empty for the whole.
    pub fn field(&self) -> &str {
        self.0.split('/').nth(1).unwrap_or_default()
    }

    /// Puts a value into a request, creating the lists and objects around it, and returns its pointer. Returns `None` and leaves the request as it
    /// is when there is a value already, or one of another type is in the way.
    pub fn insert(&self, request: &mut Map<String, Value>, value: Value) -> Option<String> {
        let tokens: Vec<String> = self.tokens().collect();
        let (first, rest) = tokens.split_first()?;
        if rest.is_empty() {
            if request.contains_key(first) {
                return None;
            }
            request.insert(first.clone(), value);
            return Some(self.0.clone());
        }
        if !request.get(first).is_none_or(|root| fits(root, rest)) {
            return None;
        }
        let mut place = request.entry(first.clone()).or_insert(Value::Null);
        let mut pointer = format!("/{}", super::escape(first));
        for token in rest {
            if place.is_null() {
                *place = if is_index(token) { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
            }
            place = match place {
                Value::Array(items) => {
                    let index = token.parse().unwrap_or(items.len());
                    pointer.extend(["/", &index.to_string()]);
                    if index >= items.len() {
                        items.push(Value::Null);
                    }
                    items.get_mut(index)?
                }
                Value::Object(members) => {
                    pointer.extend(["/", &super::escape(token)]);
                    members.entry(token.clone()).or_insert(Value::Null)
                }
                _ => return None,
            };
        }
        *place = value;
        Some(pointer)
    }
}

/// Whether a value can take another one below it, at these tokens.
fn fits(value: &Value, tokens: &[String]) -> bool {
    let Some((first, rest)) = tokens.split_first() else { return value.is_null() };
    match value {
        Value::Null => true,
        Value::Array(items) => match first.parse::<usize>() {
            Ok(index) => items.get(index).map_or(index == items.len(), |item| fits(item, rest)),
            Err(_) => first == "-",
        },
        Value::Object(members) => members.get(first).is_none_or(|member| fits(member, rest)),
        _ => false,
    }
}

/// Whether a token is a place in a list.
pub(crate) fn is_index(token: &str) -> bool {
    token == "-" || token.bytes().all(|byte| byte.is_ascii_digit()) && !token.is_empty()
}

impl TryFrom<String> for Pointer {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_pointer = text.is_empty() || text.starts_with('/');
        if is_pointer {
            Ok(Self(text))
        } else {
            Err(format!("`{text}` is no JSON pointer: it begins with `/`"))
        }
    }
}

impl From<Pointer> for String {
    fn from(pointer: Pointer) -> Self {
        pointer.0
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::Pointer;

    fn pointer(text: &str) -> Pointer {
        text.to_owned().try_into().expect("a pointer")
    }

    #[test]
    fn insert_creates_what_is_around_and_returns_the_place() {
        let mut request = Map::new();
        for (index, (at, place)) in [
            ("/content/-", "/content/0"),
            ("/content/-", "/content/1"),
            ("/instances/0/prompt", "/instances/0/prompt"),
            ("/instances/0/image", "/instances/0/image"),
            ("/a~1b/c", "/a~1b/c"),
            ("/seed", "/seed"),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(pointer(at).insert(&mut request, json!(index)).as_deref(), Some(place));
            let whole = Value::Object(request.clone());
            assert_eq!(whole.pointer(place), Some(&json!(index)), "{place}");
        }
    }

    #[test]
    fn insert_over_another_value_changes_nothing() {
        let request = json!({ "seed": 1, "metadata": "x", "list": ["a"], "deep": { "set": 1 } });
        let Value::Object(mut request) = request else { panic!("an object") };
        let before = request.clone();
        for at in ["", "/seed", "/metadata/content/-", "/list/0", "/list/x", "/list/2/a", "/deep/set"] {
            assert_eq!(pointer(at).insert(&mut request, json!(2)), None, "{at}");
            assert_eq!(request, before, "{at}");
        }
    }

    #[test]
    fn pointer_begins_with_a_slash() {
        assert!(Pointer::try_from("id".to_owned()).is_err());
    }
}
