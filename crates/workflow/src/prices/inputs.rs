//! Price inputs: what determines the price of a request (spec 2.1, 2.2, 2.4).

use contract::{Contract, InputForm, ResolutionSource};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Interval;
use crate::plan::{Node, Request};
use crate::units::VideoDuration;

/// What determines the price of a request. Requests with equal inputs cost the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceInputs {
    pub model: String,
    /// The resolution; all resolutions of the model where the request leaves it to the service.
    pub resolutions: Vec<String>,
    /// Whether the video has audio.
    pub sound: bool,
    /// Whether there is a reference video: such tasks are charged differently (spec 2.2 rule 4).
    pub video_input: bool,
    /// Seconds of video; the range of the model where the request leaves it to the service.
    pub seconds: Interval<VideoDuration>,
}

/// The member of a request that holds older and further parameters (spec 2.3).
const METADATA: &str = "metadata";
/// The field that requests audio; models of a family without it always render audio if they can (spec 2.1, 2.2).
pub(crate) const SOUND: &str = "generate_audio";
/// The fields that state a length, and that of `metadata` (spec 2.2, 2.3, 2.4).
const LENGTHS: [&str; 2] = ["seconds", "duration"];

impl PriceInputs {
    /// The price inputs of a node's request.
    #[must_use]
    pub fn from_node(node: &Node, contract: &Contract) -> Self {
        Self::from_request(&node.model, &node.request, contract)
    }

    /// The resolution, where it is known.
    #[must_use]
    pub fn resolution(&self) -> Option<&str> {
        if let [only] = self.resolutions.as_slice() { Some(only) } else { None }
    }

    fn from_request(model_id: &str, request: &Request, contract: &Contract) -> Self {
        let Some(model) = contract.model(model_id) else {
            // A plan is checked against its contract; another contract knows nothing of this model.
            return Self {
                model: model_id.to_owned(),
                resolutions: Vec::new(),
                sound: false,
                video_input: false,
                seconds: Interval {
                    min: VideoDuration::default(),
                    max: VideoDuration::from_millis(u64::MAX),
                },
            };
        };
        let default = |name: &str| contract.field(&model.family, name)?.default.as_ref();
        let resolutions = match &model.resolution {
            ResolutionSource::Fixed(resolution) => vec![resolution.clone()],
            ResolutionSource::Request { field, values } => {
                let chosen = stated(request, field).or_else(|| default(field)).and_then(Value::as_str);
                chosen.map_or_else(|| values.clone(), |chosen| vec![chosen.to_owned()])
            }
        };
        let sound = match contract.field(&model.family, SOUND) {
            Some(_) => {
                stated(request, SOUND).or_else(|| default(SOUND)).and_then(Value::as_bool) == Some(true)
            }
            None => model.can("audio"),
        };
        let length = LENGTHS
            .iter()
            .find_map(|name| stated(request, name))
            .or_else(|| LENGTHS.iter().find_map(|name| default(name)))
            .and_then(length);
        let (shortest, longest) = (model.durations.start(), model.durations.end());
        let seconds = length.map_or_else(
            || Interval {
                min: VideoDuration::from_secs(u64::from(*shortest)),
                max: VideoDuration::from_secs(u64::from(*longest)),
            },
            Interval::exactly,
        );
        let video_item = match &contract.inputs(model).reference_video {
            Some(InputForm::ContentItem { item_type, .. }) => Some(item_type.as_str()),
            _ => None,
        };
        let video_input = video_item.is_some_and(|expected| {
            let content = request.get(METADATA).and_then(|metadata| metadata.get("content"));
            let items = content.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            items.iter().any(|item| item.get("type").and_then(Value::as_str) == Some(expected))
        });
        Self { model: model_id.to_owned(), resolutions, sound, video_input, seconds }
    }
}

/// A field at the top level, else its older form in `metadata`.
fn stated<'a>(request: &'a Request, name: &str) -> Option<&'a Value> {
    request.get(name).or_else(|| request.get(METADATA)?.get(name)).filter(|value| !value.is_null())
}

/// A length as the wire writes it: digits as text, or a number.
fn length(value: &Value) -> Option<VideoDuration> {
    match value {
        Value::String(digits) => digits.parse().ok().map(VideoDuration::from_secs),
        value => value.as_f64().map(VideoDuration::from_secs_f64),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn inputs(request: &Value) -> PriceInputs {
        let request = Request::from(request.as_object().unwrap().clone());
        PriceInputs::from_request(request["model"].as_str().unwrap(), &request, Contract::embedded())
    }

    #[test]
    fn unstated_inputs_are_intervals() {
        let stated =
            inputs(&json!({ "model": "modela-video-2-0-260128", "seconds": "5", "resolution": "720p",
            "generate_audio": true }));
        assert_eq!((stated.resolution(), stated.sound, stated.video_input), (Some("720p"), true, false));
        assert_eq!(stated.seconds, Interval::exactly(VideoDuration::from_secs(5)));

        let left_open = inputs(&json!({ "model": "modela-video-2-0-260128" }));
        assert_eq!((left_open.resolutions.len(), left_open.sound), (3, false));
        assert_eq!(
            left_open.seconds,
            Interval { min: VideoDuration::from_secs(4), max: VideoDuration::from_secs(15) }
        );

        let older = inputs(&json!({ "model": "modela-video-2-0-260128",
            "metadata": { "duration": 6, "resolution": "480p", "generate_audio": true } }));
        assert_eq!((older.resolution(), older.sound), (Some("480p"), true));
        assert_eq!(older.seconds, Interval::exactly(VideoDuration::from_secs(6)));
    }

    #[test]
    fn family_b_resolution_from_model_and_audio_always() {
        let inputs = inputs(&json!({ "model": "modelb-video-720p", "duration": 2.5, "resolution": "480p" }));
        assert_eq!((inputs.resolution(), inputs.sound), (Some("720p"), true));
        assert_eq!(inputs.seconds, Interval::exactly(VideoDuration::from_millis(2_500)));
    }

    #[test]
    fn reference_video_sets_video_input() {
        let item = |kind: &str| json!({ "type": kind, kind: { "url": "https://x.example/a" } });
        let with = |kind: &str| {
            inputs(&json!({ "model": "modela-video-2-0-260128", "metadata": { "content": [item(kind)] } }))
        };
        assert!(with("video_url").video_input && !with("image_url").video_input);
    }
}
