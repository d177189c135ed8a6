//! Models that a description does not list: a user's own endpoints, or what came out since.

use serde_json::Value;

use crate::{Contract, SpecError};

/// Why a description has no such models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelError {
    /// It has no model of this name, which another was said to be like.
    Unknown(String),
    /// It does not hold together with them.
    Spec(SpecError),
}

impl Contract {
    /// The same service with further models, each with the request and the abilities of one that the document has: `(id, like)`.
    ///
    /// # Errors
    /// There is no model to be like.
    pub fn with_models(&self, models: &[(String, String)]) -> Result<Self, ModelError> {
        let mut document = self.document().clone();
        for (id, like) in models {
            if self.model(like).is_none() {
                return Err(ModelError::Unknown(like.clone()));
            }
            let Some(Value::Array(entries)) = document.get_mut("x-models") else { continue };
            let listed = |entry: &&Value| entry["id"].as_str() == Some(like);
            let matches = |entry: &&Value| {
                let pattern = entry["match"].as_str().and_then(|text| glob::Pattern::new(text).ok());
                pattern.is_some_and(|pattern| pattern.matches(like))
            };
            let Some(entry) = entries.iter().find(listed).or_else(|| entries.iter().find(matches)) else {
                continue;
            };
            let mut entry = entry.clone();
            if let Some(members) = entry.as_object_mut() {
                members.remove("match");
                members.insert("id".to_owned(), Value::from(id.as_str()));
            }
            entries.retain(|entry| entry["id"].as_str() != Some(id));
            entries.push(entry);
        }
        Self::read(document).map_err(ModelError::Spec)
    }
}
