//! Requests: checked against the generated type, sent as given.
//!
//! A request has to fit the generated type, so that nothing is sent that the contract does not define. What is sent is the JSON
//! as given, not the type's serialization, so that no number is reformatted and no member is dropped.

use bytes::Bytes;
use contract::Contract;
use serde::Deserialize;
use serde_json::Value;

use crate::{CallError, types};

/// A request that fits the generated type.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) typed: types::CreateVideoRequest,
    pub(crate) json: Bytes,
}

pub(crate) fn prepare(request: &Value) -> Result<Prepared, CallError> {
    let typed = types::CreateVideoRequest::deserialize(request).map_err(|error| misfit(request, &error))?;
    // The type must have kept every member that the contract defines.
    let reserialized = serde_json::to_value(&typed).map_err(|error| misfit(request, &error))?;
    if let Some(dropped) = first_difference(request, &reserialized, "") {
        return Err(CallError::not_sent(format!(
            "the client's types have no member for the request's {dropped}"
        )));
    }
    Ok(Prepared { typed, json: Bytes::from(request.to_string()) })
}

fn misfit(request: &Value, error: &serde_json::Error) -> CallError {
    let first = Contract::embedded().check_request(request).into_iter().next();
    let reason = first.map_or_else(|| error.to_string(), |violation| violation.message);
    CallError::not_sent(format!("this is not a request that the contract knows: {reason}"))
}

/// The pointer of the first value in `given` that is missing in `kept` or differs there.
fn first_difference(given: &Value, kept: &Value, pointer: &str) -> Option<String> {
    let here = || Some(format!("`{}`", if pointer.is_empty() { "/" } else { pointer }));
    match (given, kept) {
        (Value::Object(given), Value::Object(kept)) => given.iter().find_map(|(key, value)| {
            let pointer = format!("{pointer}/{key}");
            match kept.get(key) {
                Some(other) => first_difference(value, other, &pointer),
                // The generated type omits an empty list; the request that is sent keeps it.
                None if value.as_array().is_some_and(Vec::is_empty) => None,
                None => Some(format!("`{pointer}`")),
            }
        }),
        (Value::Array(given), Value::Array(kept)) if given.len() == kept.len() => {
            given.iter().zip(kept).enumerate().find_map(|(index, (given, kept))| {
                first_difference(given, kept, &format!("{pointer}/{index}"))
            })
        }
        (Value::Number(given), Value::Number(kept)) if given.as_f64() == kept.as_f64() => None,
        _ if given == kept => None,
        _ => here(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::prepare;
    use crate::CallError;

    #[test]
    fn prepare_leaves_the_json_unchanged() {
        let request = json!({
            "seed": 9_007_199_254_740_993_i64, "prompt": "x", "duration": 5, "ref_images": [],
            "model": "modela-video-2-0-260128", "metadata": { "mine": { "deep": [1, null] }, "content": [] },
        });
        let prepared = prepare(&request).expect("acceptable");
        assert_eq!(prepared.json, request.to_string());
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
            let Err(CallError::NotSent { reason }) = prepare(&request) else { panic!("{request} is taken") };
            assert!(reason.contains(named), "{reason}");
        }
    }

    #[test]
    fn prepare_misfit_is_explained_by_the_contract() {
        let request = json!({ "model": "modelb-video-480p", "prompt": "x", "seconds": 5 });
        let Err(CallError::NotSent { reason }) = prepare(&request) else { panic!("taken") };
        assert!(reason.contains("`seconds` has to be a string"), "{reason}");
    }
}
