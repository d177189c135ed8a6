//! From a request as a workflow makes it to the generated type.
//!
//! The generated type has to take it, so that nothing is sent that the contract has no place for; but what goes onto the
//! wire is the JSON that was given, so that no number is written otherwise and no key is lost on the way.

use bytes::Bytes;
use contract::Contract;
use serde::Deserialize;
use serde_json::Value;

use crate::{CallError, types};

/// A request, checked for its shape.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) typed: types::CreateVideoRequest,
    pub(crate) json: Bytes,
}

pub(crate) fn prepare(request: &Value) -> Result<Prepared, CallError> {
    let typed = types::CreateVideoRequest::deserialize(request).map_err(|error| misfit(request, &error))?;
    // Of what the contract knows, the type must have taken everything in.
    let again = serde_json::to_value(&typed).map_err(|error| misfit(request, &error))?;
    if let Some(lost) = lost(request, &again, "") {
        return Err(CallError::not_sent(format!(
            "the client's types have no place for the request's {lost}"
        )));
    }
    Ok(Prepared { typed, json: Bytes::from(request.to_string()) })
}

fn misfit(request: &Value, error: &serde_json::Error) -> CallError {
    let first = Contract::embedded().check_request(request).into_iter().next();
    let reason = first.map_or_else(|| error.to_string(), |violation| violation.message);
    CallError::not_sent(format!("this is not a request that the contract knows: {reason}"))
}

/// The first place where something of the one value is missing from the other or differs.
fn lost(given: &Value, taken: &Value, place: &str) -> Option<String> {
    let here = || Some(format!("`{}`", if place.is_empty() { "/" } else { place }));
    match (given, taken) {
        (Value::Object(given), Value::Object(taken)) => given.iter().find_map(|(key, value)| {
            let place = format!("{place}/{key}");
            match taken.get(key) {
                Some(other) => lost(value, other, &place),
                // A type leaves an empty list out; the request on the wire keeps it.
                None if value.as_array().is_some_and(Vec::is_empty) => None,
                None => Some(format!("`{place}`")),
            }
        }),
        (Value::Array(given), Value::Array(taken)) if given.len() == taken.len() => given
            .iter()
            .zip(taken)
            .enumerate()
            .find_map(|(index, (given, taken))| lost(given, taken, &format!("{place}/{index}"))),
        (Value::Number(given), Value::Number(taken)) if given.as_f64() == taken.as_f64() => None,
        _ if given == taken => None,
        _ => here(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::prepare;
    use crate::CallError;

    #[test]
    fn the_json_is_sent_as_it_was_given() {
        let request = json!({
            "seed": 9_007_199_254_740_993_i64, "prompt": "x", "duration": 5, "ref_images": [],
            "model": "modela-video-2-0-260128", "metadata": { "mine": { "deep": [1, null] }, "content": [] },
        });
        let prepared = prepare(&request).expect("acceptable");
        assert_eq!(prepared.json, request.to_string());
    }

    #[test]
    fn what_the_types_would_drop_is_refused_by_name() {
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
    fn what_does_not_fit_is_explained_by_the_contract() {
        let request = json!({ "model": "modelb-video-480p", "prompt": "x", "seconds": 5 });
        let Err(CallError::NotSent { reason }) = prepare(&request) else { panic!("taken") };
        assert!(reason.contains("`seconds` has to be a string"), "{reason}");
    }
}
