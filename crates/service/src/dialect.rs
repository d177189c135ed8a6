//! Requests of other services' APIs, read by their descriptions: the same video is made of the same words, wherever a request has them.

use contract::{Contract, Model, ResolutionSource, Word};
use serde_json::Value;

use crate::{
    api_error::ApiError,
    render_spec::MediaRole,
    request::{AspectRatio, DEFAULT_RESOLUTION, DEFAULT_SECONDS, MediaRef, VideoRequest},
    size::{Ratio, Resolution},
};

const MEDIA: [(Word, MediaRole); 5] = [
    (Word::FirstFrame, MediaRole::FirstFrame),
    (Word::LastFrame, MediaRole::LastFrame),
    (Word::ReferenceImage, MediaRole::ReferenceImage),
    (Word::ReferenceVideo, MediaRole::ReferenceVideo),
    (Word::ReferenceAudio, MediaRole::ReferenceAudio),
];

/// Checks a request to a model against the description, and reads its words.
pub(crate) fn read(contract: &Contract, model: &Model, request: &Value) -> Result<VideoRequest, ApiError> {
    if let Some(violation) = contract.check_request_of(&model.family, request).into_iter().next() {
        let error = ApiError::invalid(violation.code, violation.message);
        return Err(ApiError { param: violation.param, ..error });
    }
    let said = |word: Word| -> Option<&Value> {
        let own = model.inputs.get(word)?.said(request).into_iter().next().map(|(_, value)| value);
        own.or_else(|| contract.default_of(model, word))
    };
    let text = |word| said(word).and_then(Value::as_str);
    let flag = |word| said(word).and_then(Value::as_bool);
    let seconds = said(Word::Seconds).and_then(number).filter(|seconds| *seconds > 0.0);
    let resolution = match &model.resolution {
        ResolutionSource::Fixed(resolution) => Some(resolution.as_str()),
        ResolutionSource::Request { .. } | ResolutionSource::Unknown => text(Word::Resolution),
    };
    let media = MEDIA.into_iter().flat_map(|(word, role)| {
        let said = model.inputs.get(word).map(|placement| placement.said(request)).unwrap_or_default();
        said.into_iter().filter_map(move |(at, source)| {
            Some(MediaRef { param: at, role, source: source.as_str()?.to_owned() })
        })
    });
    Ok(VideoRequest {
        model: model.id.clone(),
        prompt: text(Word::Prompt).unwrap_or_default().to_owned(),
        seconds: seconds.unwrap_or(DEFAULT_SECONDS).min(MAX_SECONDS),
        // What is larger is drawn as large as it gets here.
        resolution: resolution
            .and_then(|text| Resolution::parse(&text.to_lowercase()))
            .unwrap_or(DEFAULT_RESOLUTION)
            .min(Resolution::P1080),
        aspect_ratio: text(Word::Ratio)
            .and_then(Ratio::parse)
            .map_or(AspectRatio::FollowInput, AspectRatio::Fixed),
        fast: model.tier == "fast",
        generate_audio: flag(Word::Audio)
            .unwrap_or_else(|| model.inputs.get(Word::Audio).is_none() && model.can("audio")),
        watermark: false,
        camera_fixed: false,
        // Services that give it back do so, asked or not.
        return_last_frame: contract.gives_last_frame(),
        seed: said(Word::Seed).and_then(Value::as_i64),
        user: None,
        media: media.collect(),
    })
}

/// The longest video that is drawn.
const MAX_SECONDS: f64 = 60.0;

/// A number of seconds, also as text such as `5s`.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim_end_matches(|last: char| last.is_ascii_alphabetic()).parse().ok(),
        value => value.as_f64(),
    }
}
