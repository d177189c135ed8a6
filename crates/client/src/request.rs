//! Requests: checked against the generated type once, and serialized once.
//!
//! A request has to fit the generated type, so that nothing is sent that the contract does not define. What is sent is the canonical JSON of
//! the request, not the type's serialization, so that no number is reformatted and no member is dropped.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use contract::{Contract, canonical_json};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{CallError, types};

/// A request that fits the contract's types, ready to be sent.
///
/// Invariant: the digest is that of the body, the bytes that [`crate::Client::create`] sends.
#[derive(Clone, PartialEq, Eq)]
pub struct PreparedRequest {
    body: Bytes,
    digest: String,
    /// The model, where the body has no place for it.
    model: Option<String>,
}

impl PreparedRequest {
    /// Checks and serializes a request.
    ///
    /// # Errors
    /// [`CallError::NotSent`] when it does not fit the contract's types.
    pub fn new(request: &Value) -> Result<Self, CallError> {
        let typed =
            types::CreateVideoRequest::deserialize(request).map_err(|error| rejection(request, &error))?;
        // The type must have every member that the contract defines.
        let reserialized = serde_json::to_value(&typed).map_err(|error| rejection(request, &error))?;
        if let Some(dropped) = first_difference(request, &reserialized, "") {
            return Err(CallError::not_sent(format!(
                "the client's types have no member for the request's {dropped}"
            )));
        }
        Ok(Self::from_body(canonical_json(request), None))
    }

    /// Serializes a request to a service of this description, which has checked it. `model` is the id of its model.
    ///
    /// # Errors
    /// As [`Self::new`], for the built-in contract.
    pub fn described(description: &Arc<Contract>, model: &str, request: &Value) -> Result<Self, CallError> {
        if Arc::ptr_eq(description, Contract::embedded()) {
            return Self::new(request);
        }
        let model = description.model_parameter().map(|_| model.to_owned());
        Ok(Self::from_body(canonical_json(request), model))
    }

    fn from_body(body: String, model: Option<String>) -> Self {
        let mut digest = Sha256::new();
        if let Some(model) = &model {
            digest.update(model);
            digest.update([0]);
        }
        digest.update(&body);
        Self { digest: hex::encode(digest.finalize()), body: Bytes::from(body), model }
    }

    /// The model, where the body has no place for it.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The body, as it is sent: canonical JSON, with members sorted and no white space.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// SHA-256 of the body, and of the model where that is not a part of it, in lower-case hex. Identifies the request in the ledger and at the embedded service.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

impl fmt::Debug for PreparedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The body may be megabytes of image.
        f.debug_struct("PreparedRequest").field("digest", &self.digest).finish_non_exhaustive()
    }
}

fn rejection(request: &Value, error: &serde_json::Error) -> CallError {
    let first = Contract::embedded().check_request(request).into_iter().next();
    let reason = first.map_or_else(|| error.to_string(), |violation| violation.message);
    CallError::not_sent(format!("this is not a request that the contract knows: {reason}"))
}

/// The pointer of the first value in `original` that is missing in `parsed` or differs there.
fn first_difference(original: &Value, parsed: &Value, pointer: &str) -> Option<String> {
    let location = || Some(format!("`{}`", if pointer.is_empty() { "/" } else { pointer }));
    match (original, parsed) {
        (Value::Object(original), Value::Object(parsed)) => original.iter().find_map(|(key, value)| {
            let pointer = format!("{pointer}/{key}");
            match parsed.get(key) {
                Some(other) => first_difference(value, other, &pointer),
                // The generated type omits an empty list; the request that is sent has it.
                None if value.as_array().is_some_and(Vec::is_empty) => None,
                None => Some(format!("`{pointer}`")),
            }
        }),
        (Value::Array(original), Value::Array(parsed)) if original.len() == parsed.len() => {
            original.iter().zip(parsed).enumerate().find_map(|(index, (original, parsed))| {
                first_difference(original, parsed, &format!("{pointer}/{index}"))
            })
        }
        (Value::Number(original), Value::Number(parsed)) if original.as_f64() == parsed.as_f64() => None,
        _ if original == parsed => None,
        _ => location(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sha2::{Digest as _, Sha256};

    use super::PreparedRequest;
    use crate::CallError;

    #[test]
    fn body_has_every_value_of_the_request_and_is_what_the_digest_identifies() {
        let request = json!({
            "seed": 9_007_199_254_740_993_i64, "prompt": "x", "duration": 5, "ref_images": [],
            "model": "modela-video-2-0-260128", "metadata": { "mine": { "deep": [1, null] }, "content": [] },
        });
        let prepared = PreparedRequest::new(&request).expect("acceptable");
        let expected = concat!(
            r#"{"duration":5,"metadata":{"content":[],"mine":{"deep":[1,null]}},"model":"modela-video-2-0-260128","#,
            r#""prompt":"x","ref_images":[],"seed":9007199254740993}"#,
        );
        assert_eq!(prepared.body(), expected);
        assert_eq!(prepared.digest(), hex::encode(Sha256::digest(expected)));
    }

    #[test]
    fn digest_ignores_the_order_of_members_only() {
        let digest = |request| PreparedRequest::new(&request).expect("acceptable").digest().to_owned();
        let original = digest(json!({ "model": "modelb-video-480p", "prompt": "x" }));
        assert_eq!(original.len(), 64);
        assert_eq!(original, digest(json!({ "prompt": "x", "model": "modelb-video-480p" })));
        assert_ne!(original, digest(json!({ "prompt": "y", "model": "modelb-video-480p" })));
    }

    #[test]
    fn prepare_member_without_field_is_refused_by_pointer() {
        for (request, named) in [
            (json!({ "model": "modelb-video-480p", "prompt": "x", "resolution": "720p" }), "`/resolution`"),
            (
                json!({ "model": "modela-video-2-0-260128", "prompt": "x", "metadata": { "content":
                    [{ "type": "image_url", "image_url": { "url": "https://a.test", "detail": "high" } }] } }),
                "`/metadata/content/0/image_url/detail`",
            ),
        ] {
            let Err(CallError::NotSent { reason }) = PreparedRequest::new(&request) else {
                panic!("{request} is taken")
            };
            assert!(reason.contains(named), "{reason}");
        }
    }

    #[test]
    fn prepare_misfit_is_explained_by_the_contract() {
        let request = json!({ "model": "modelb-video-480p", "prompt": "x", "seconds": 5 });
        let Err(CallError::NotSent { reason }) = PreparedRequest::new(&request) else { panic!("taken") };
        assert!(reason.contains("`seconds` has to be a string"), "{reason}");
    }
}
