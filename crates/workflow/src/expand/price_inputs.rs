//! Price inputs: what a request says that determines its price.

use contract::{Contract, Model, ResolutionSource, Word};
use serde_json::Value;

use crate::plan::{PriceInputs, Request};
use crate::units::{Interval, VideoDuration};

/// The price inputs of a request to a model.
pub(super) fn price_inputs(request: &Request, model: &Model, contract: &Contract) -> PriceInputs {
    let said = |word| request.word(&model.inputs, word).or_else(|| contract.default_of(model, word));
    let resolutions = match &model.resolution {
        ResolutionSource::Fixed(resolution) => vec![resolution.clone()],
        ResolutionSource::Request { values, .. } => {
            let chosen = said(Word::Resolution).and_then(Value::as_str);
            chosen.map_or_else(|| values.clone(), |chosen| vec![chosen.to_owned()])
        }
        ResolutionSource::Unknown => Vec::new(),
    };
    // Where a request cannot say it, a model that can always makes sound.
    let sound = match model.inputs.get(Word::Audio) {
        Some(_) => said(Word::Audio).and_then(Value::as_bool) == Some(true),
        None => model.can("audio"),
    };
    let length = said(Word::Seconds).and_then(VideoDuration::of_value);
    let (shortest, longest) = (model.durations.start(), model.durations.end());
    let seconds = length.map_or_else(
        || Interval {
            min: VideoDuration::from_secs(u64::from(*shortest)),
            max: VideoDuration::from_secs(u64::from(*longest)),
        },
        Interval::exactly,
    );
    let video_input = model.inputs.get(Word::ReferenceVideo).is_some_and(|placement| {
        let items = placement.list().and_then(|list| request.pointer(list)?.as_array());
        items.into_iter().flatten().any(|item| placement.is_made(item))
    });
    PriceInputs { service: None, model: model.id.clone(), resolutions, sound, video_input, seconds }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn inputs(request: &Value) -> PriceInputs {
        let request = Request::from(request.as_object().unwrap().clone());
        let contract = Contract::embedded();
        let model = contract.model(request["model"].as_str().unwrap()).unwrap();
        price_inputs(&request, &model, contract)
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
        let item = |kind: &str| {
            let role = kind.replace("_url", "");
            json!({ "type": kind, "role": format!("reference_{role}"), kind: { "url": "https://x.example/a" } })
        };
        let with = |kind: &str| {
            inputs(&json!({ "model": "modela-video-2-0-260128", "metadata": { "content": [item(kind)] } }))
        };
        assert!(with("video_url").video_input && !with("image_url").video_input);
    }
}
