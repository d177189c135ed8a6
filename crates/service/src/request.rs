//! [`VideoRequest`]: a request parsed from JSON that the contract has accepted. The fields of both model families become
//! one form; nothing downstream depends on the family.
//!
//! What the contract does not cover (media items of unknown form, numbers out of range) is rejected here.

use contract::{Contract, Model, ResolutionSource};
use serde_json::{Map, Value};

use crate::{
    api_error::ApiError,
    render_spec::MediaRole,
    size::{Ratio, Resolution, Size},
};

/// Used when a request gives no duration (spec 2.2: "unspecified").
pub(crate) const DEFAULT_SECONDS: f64 = 5.0;

/// Used when a request of family A gives neither `resolution` nor `size` (spec 2.2: "unspecified").
pub(crate) const DEFAULT_RESOLUTION: Resolution = Resolution::P720;

/// A request, independent of the model family.
#[expect(clippy::struct_excessive_bools, reason = "the API has that many switches")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VideoRequest {
    pub(crate) model: String,
    pub(crate) prompt: String,
    pub(crate) seconds: f64,
    pub(crate) resolution: Resolution,
    pub(crate) aspect_ratio: AspectRatio,
    pub(crate) fast: bool,
    pub(crate) generate_audio: bool,
    pub(crate) watermark: bool,
    pub(crate) camera_fixed: bool,
    pub(crate) return_last_frame: bool,
    pub(crate) seed: Option<i64>,
    pub(crate) user: Option<String>,
    pub(crate) media: Vec<MediaRef>,
}

/// The aspect ratio of the video.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum AspectRatio {
    /// The ratio that the request names.
    Fixed(Ratio),
    /// The ratio of the leading input; 16:9 without inputs.
    FollowInput,
}

/// A media item as the request names it, not fetched yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MediaRef {
    /// The JSON path of its field, for errors.
    pub(crate) param: String,
    pub(crate) role: MediaRole,
    /// A URL, a data URI or bare Base64.
    pub(crate) source: String,
}

impl VideoRequest {
    /// Parses a request that the contract has accepted.
    pub(crate) fn parse(contract: &Contract, request: &Value) -> Result<Self, ApiError> {
        let id = request.get("model").and_then(Value::as_str).unwrap_or_default();
        let model = contract.model(id).ok_or_else(|| {
            ApiError::invalid("unknown_model", format!("no model `{id}`")).with_param("model")
        })?;
        let fields = Fields::new(contract, &model, request);
        let resolution = resolution(&model, &fields)?;
        Ok(Self {
            model: model.id.clone(),
            prompt: fields.text("prompt").unwrap_or_default().to_owned(),
            seconds: seconds(&fields)?,
            resolution,
            aspect_ratio: aspect_ratio(&fields)?,
            fast: model.tier == "fast",
            // A family described as "with audio" that has no switch always renders audio.
            generate_audio: if fields.has("generate_audio") {
                fields.flag("generate_audio")
            } else {
                model.can("audio")
            },
            watermark: fields.flag("watermark"),
            camera_fixed: fields.flag("camera_fixed"),
            return_last_frame: fields.flag("return_last_frame"),
            seed: seed(&fields)?,
            user: fields.text("user").map(str::to_owned),
            media: media(&fields)?,
        })
    }
}

/// Access to the fields that the model family knows; others have no effect.
struct Fields<'a> {
    names: Vec<&'a str>,
    top: Option<&'a Map<String, Value>>,
    metadata: Option<&'a Map<String, Value>>,
}

impl<'a> Fields<'a> {
    fn new(contract: &'a Contract, model: &Model, request: &'a Value) -> Self {
        let names: Vec<&str> =
            contract.fields(&model.family).iter().map(|field| field.name.as_str()).collect();
        let metadata = names.contains(&"metadata").then(|| request.get("metadata")?.as_object()).flatten();
        Self { names, top: request.as_object(), metadata }
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// The top-level value; failing that, the one that older clients put into `metadata` (spec 2.2 rule 2).
    fn get(&self, name: &str) -> Option<&'a Value> {
        if !self.has(name) {
            return None;
        }
        let present = |map: Option<&'a Map<String, Value>>| map?.get(name).filter(|value| !value.is_null());
        present(self.top).or_else(|| present(self.metadata))
    }

    fn get_list(&self, name: &str) -> &'a [Value] {
        self.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_str()
    }

    fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }
}

fn seconds(fields: &Fields<'_>) -> Result<f64, ApiError> {
    let wrong = || {
        ApiError::invalid("invalid_duration", "the duration is not a number of seconds that can be rendered")
            .with_param("seconds")
    };
    let seconds = match (fields.get("seconds"), fields.get("duration")) {
        (Some(seconds), _) => match seconds {
            Value::String(text) => text.parse().map_err(|_| wrong())?,
            number => number.as_f64().ok_or_else(wrong)?,
        },
        (None, Some(duration)) => duration.as_f64().ok_or_else(wrong)?,
        (None, None) => DEFAULT_SECONDS,
    };
    // The contract has the tighter bounds of each family; this one limits the damage of an error in the contract.
    if seconds > 0.0 && seconds <= 60.0 { Ok(seconds) } else { Err(wrong()) }
}

fn resolution(model: &Model, fields: &Fields<'_>) -> Result<Resolution, ApiError> {
    let text = match &model.resolution {
        ResolutionSource::Fixed(text) => Some(text.as_str()),
        ResolutionSource::Request { field, .. } => fields.text(field),
        ResolutionSource::Unknown => None,
    };
    if let Some(text) = text {
        return Resolution::parse(text).ok_or_else(|| {
            ApiError::invalid("invalid_resolution", format!("`{text}` is no resolution"))
                .with_param("resolution")
        });
    }
    Ok(size(fields)?.map_or(DEFAULT_RESOLUTION, Resolution::nearest))
}

fn aspect_ratio(fields: &Fields<'_>) -> Result<AspectRatio, ApiError> {
    match fields.text("ratio") {
        Some("adaptive" | "auto") => Ok(AspectRatio::FollowInput),
        Some(text) => Ratio::parse(text).map(AspectRatio::Fixed).ok_or_else(|| {
            ApiError::invalid("invalid_ratio", format!("`{text}` is no aspect ratio")).with_param("ratio")
        }),
        None => Ok(size(fields)?
            .map_or(AspectRatio::FollowInput, |size| AspectRatio::Fixed(Ratio::nearest_named(size)))),
    }
}

fn size(fields: &Fields<'_>) -> Result<Option<Size>, ApiError> {
    fields
        .text("size")
        .map(|text| {
            Size::parse(text).ok_or_else(|| {
                let message =
                    format!("`{text}` is no size: both sides have 1 to 16384 pixels, as in 1280x720");
                ApiError::invalid("invalid_size", message).with_param("size")
            })
        })
        .transpose()
}

fn seed(fields: &Fields<'_>) -> Result<Option<i64>, ApiError> {
    let Some(value) = fields.get("seed") else { return Ok(None) };
    // JSON Schema takes 7.0 for an integer; numbers beyond 64 bits are rejected.
    let integer = value.as_i64().or_else(|| {
        let float = value.as_f64()?;
        (float.fract() == 0.0 && float.abs() < 9.0e15).then_some(float as i64)
    });
    integer.map(Some).ok_or_else(|| {
        ApiError::invalid("invalid_seed", "the seed is a whole number that fits into 64 bits, with sign")
            .with_param("seed")
    })
}

/// The media items of a request with their roles.
///
/// Explicit roles hold. `image` is the first frame unless an item has that role; then it is a reference. An item without a role: an image
/// is the first frame if it is the only image of the request besides a last frame, and a reference otherwise; video and audio are
/// references. Frames and references may come together.
fn media(fields: &Fields<'_>) -> Result<Vec<MediaRef>, ApiError> {
    let mut media = Vec::new();
    let items = fields.get_list("images").iter().chain(fields.get_list("ref_images")).count();
    let single = ["image", "input_reference"].iter().filter(|name| fields.text(name).is_some()).count();
    let content = content(fields, items + single)?;
    let has_first_frame = content.iter().any(|item| item.role == MediaRole::FirstFrame);
    for name in ["image", "input_reference"] {
        if let Some(source) = fields.text(name) {
            let role = if has_first_frame { MediaRole::ReferenceImage } else { MediaRole::FirstFrame };
            media.push(MediaRef { param: name.to_owned(), role, source: source.to_owned() });
        }
    }
    for name in ["images", "ref_images"] {
        for (index, source) in fields.get_list(name).iter().enumerate() {
            let param = format!("{name}[{index}]");
            let Some(source) = source.as_str() else {
                return Err(
                    ApiError::invalid("invalid_type", "an image is a URL or Base64").with_param(param)
                );
            };
            media.push(MediaRef { param, role: MediaRole::ReferenceImage, source: source.to_owned() });
        }
    }
    media.extend(content);
    Ok(media)
}

/// The items of `metadata.content`; `images` are those of the other fields.
fn content(fields: &Fields<'_>, images: usize) -> Result<Vec<MediaRef>, ApiError> {
    let items = fields.metadata.and_then(|metadata| metadata.get("content")).and_then(Value::as_array);
    let items = items.map_or(&[][..], Vec::as_slice);
    let text = |item: &Value, name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
    let may_lead = |item: &&Value| {
        text(item, "type").as_deref() == Some("image_url")
            && text(item, "role").as_deref() != Some("last_frame")
    };
    let one_image = images + items.iter().filter(may_lead).count() == 1;
    let mut media: Vec<MediaRef> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
        let param = format!("metadata.content[{index}].{kind}.url");
        let source = item.get(kind).and_then(|holder| holder.get("url")).and_then(Value::as_str);
        let Some(source) = source else {
            let message = format!("an item of type `{kind}` needs a URL in `{kind}.url`");
            return Err(ApiError::invalid("missing_media", message).with_param(param));
        };
        let role = match (kind, item.get("role").and_then(Value::as_str)) {
            ("image_url", Some("first_frame")) => MediaRole::FirstFrame,
            ("image_url", Some("last_frame")) => MediaRole::LastFrame,
            ("image_url", None) if one_image => MediaRole::FirstFrame,
            ("image_url", Some("reference_image") | None) => MediaRole::ReferenceImage,
            ("video_url", Some("reference_video") | None) => MediaRole::ReferenceVideo,
            ("audio_url", Some("reference_audio") | None) => MediaRole::ReferenceAudio,
            (_, role) => {
                let message =
                    format!("an item of type `{kind}` cannot be `{}`", role.unwrap_or("without a role"));
                let param = format!("metadata.content[{index}].role");
                return Err(ApiError::invalid("conflicting_content", message).with_param(param));
            }
        };
        let single = matches!(role, MediaRole::FirstFrame | MediaRole::LastFrame);
        if single && media.iter().any(|earlier| earlier.role == role) {
            let message = "a video has one first frame and one last frame at most";
            let param = format!("metadata.content[{index}].role");
            return Err(ApiError::invalid("conflicting_content", message).with_param(param));
        }
        media.push(MediaRef { param, role, source: source.to_owned() });
    }
    Ok(media)
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
