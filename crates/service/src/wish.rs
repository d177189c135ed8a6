//! What a request asks for, read once out of its JSON: the two families' fields become one shape here, and
//! nothing after this knows which family spoke.
//!
//! The contract has accepted the request by then. What it says nothing about (assets of unknown form, numbers that
//! do not fit) is refused here.

use contract::{Contract, Model, ResolutionSource};
use serde_json::{Map, Value};

use crate::{
    order::Part,
    refusal::Refusal,
    size::{Ratio, Resolution, Size},
};

/// Used when a request gives no duration (spec 2.2: "not shown").
const DEFAULT_SECONDS: f64 = 5.0;

/// Used when a request of family A gives neither `resolution` nor `size` (spec 2.2: "not shown").
const DEFAULT_RESOLUTION: Resolution = Resolution::P720;

/// A request, family aside.
#[expect(clippy::struct_excessive_bools, reason = "the wire has that many switches")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wish {
    pub(crate) model: String,
    pub(crate) prompt: String,
    pub(crate) seconds: f64,
    pub(crate) resolution: Resolution,
    pub(crate) shape: Shape,
    pub(crate) fast: bool,
    pub(crate) generate_audio: bool,
    pub(crate) watermark: bool,
    pub(crate) camera_fixed: bool,
    pub(crate) return_last_frame: bool,
    pub(crate) seed: Option<i64>,
    pub(crate) user: Option<String>,
    pub(crate) media: Vec<MediaWish>,
}

/// The shape of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    /// This one.
    Given(Ratio),
    /// That of the input; 16:9 when there is none.
    FollowInput,
}

/// An asset, still as the request names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MediaWish {
    /// Where in the request it stands, for errors.
    pub(crate) param: String,
    pub(crate) part: Part,
    /// A URL, a data URI or bare Base64.
    pub(crate) source: String,
}

impl Wish {
    /// Reads a request that the contract has accepted.
    pub(crate) fn read(contract: &Contract, request: &Value) -> Result<Self, Refusal> {
        let id = request.get("model").and_then(Value::as_str).unwrap_or_default();
        let model = contract
            .model(id)
            .ok_or_else(|| Refusal::invalid("unknown_model", format!("no model `{id}`")).about("model"))?;
        let fields = Fields::of(contract, model, request);
        let resolution = resolution(model, &fields)?;
        Ok(Self {
            model: model.id.clone(),
            prompt: fields.text("prompt").unwrap_or_default().to_owned(),
            seconds: seconds(&fields)?,
            resolution,
            shape: shape(&fields)?,
            fast: model.tier == "fast",
            // A family that is described as "with audio" and has no switch for it always has it.
            generate_audio: if fields.known("generate_audio") {
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

/// The fields of a request that its family has; others have no effect.
struct Fields<'a> {
    names: Vec<&'a str>,
    top: Option<&'a Map<String, Value>>,
    metadata: Option<&'a Map<String, Value>>,
}

impl<'a> Fields<'a> {
    fn of(contract: &'a Contract, model: &Model, request: &'a Value) -> Self {
        let names: Vec<&str> =
            contract.fields(&model.family).iter().map(|field| field.name.as_str()).collect();
        let metadata = names.contains(&"metadata").then(|| request.get("metadata")?.as_object()).flatten();
        Self { names, top: request.as_object(), metadata }
    }

    fn known(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// The top-level value; failing that, the one that older clients put into `metadata` (spec 2.2 rule 2).
    fn get(&self, name: &str) -> Option<&'a Value> {
        if !self.known(name) {
            return None;
        }
        let present = |map: Option<&'a Map<String, Value>>| map?.get(name).filter(|value| !value.is_null());
        present(self.top).or_else(|| present(self.metadata))
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name)?.as_str()
    }

    fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }
}

fn seconds(fields: &Fields<'_>) -> Result<f64, Refusal> {
    let wrong = || {
        Refusal::invalid("invalid_duration", "the duration is not a number of seconds that can be rendered")
            .about("seconds")
    };
    let seconds = match (fields.get("seconds"), fields.get("duration")) {
        (Some(seconds), _) => match seconds {
            Value::String(text) => text.parse().map_err(|_| wrong())?,
            other => other.as_f64().ok_or_else(wrong)?,
        },
        (None, Some(duration)) => duration.as_f64().ok_or_else(wrong)?,
        (None, None) => DEFAULT_SECONDS,
    };
    // The contract holds the families' own bounds; these keep a mistaken contract from renting the machine.
    if seconds > 0.0 && seconds <= 60.0 { Ok(seconds) } else { Err(wrong()) }
}

fn resolution(model: &Model, fields: &Fields<'_>) -> Result<Resolution, Refusal> {
    let text = match &model.resolution {
        ResolutionSource::Fixed(text) => Some(text.as_str()),
        ResolutionSource::Request { field, .. } => fields.text(field),
    };
    if let Some(text) = text {
        return Resolution::parse(text).ok_or_else(|| {
            Refusal::invalid("invalid_resolution", format!("`{text}` is no resolution")).about("resolution")
        });
    }
    Ok(size(fields)?.map_or(DEFAULT_RESOLUTION, Resolution::nearest))
}

fn shape(fields: &Fields<'_>) -> Result<Shape, Refusal> {
    match fields.text("ratio") {
        Some("adaptive" | "auto") => Ok(Shape::FollowInput),
        Some(text) => Ratio::parse(text).map(Shape::Given).ok_or_else(|| {
            Refusal::invalid("invalid_ratio", format!("`{text}` is no aspect ratio")).about("ratio")
        }),
        None => Ok(size(fields)?.map_or(Shape::FollowInput, |size| Shape::Given(Ratio::nearest_named(size)))),
    }
}

fn size(fields: &Fields<'_>) -> Result<Option<Size>, Refusal> {
    fields
        .text("size")
        .map(|text| {
            Size::parse(text).ok_or_else(|| {
                let message =
                    format!("`{text}` is no size: both sides have 1 to 16384 pixels, as in 1280x720");
                Refusal::invalid("invalid_size", message).about("size")
            })
        })
        .transpose()
}

fn seed(fields: &Fields<'_>) -> Result<Option<i64>, Refusal> {
    let Some(value) = fields.get("seed") else { return Ok(None) };
    // JSON allows 7.0 where the contract wants an integer; numbers beyond 64 bits are refused.
    let whole = value.as_i64().or_else(|| {
        let float = value.as_f64()?;
        (float.fract() == 0.0 && float.abs() < 9.0e15).then_some(float as i64)
    });
    whole.map(Some).ok_or_else(|| {
        Refusal::invalid("invalid_seed", "the seed is a whole number that fits into 64 bits, with sign")
            .about("seed")
    })
}

/// The assets of a request, with the part that each plays.
///
/// Without a role, one picture is where the video starts, and several are references. `image` is where the video
/// starts unless an item of `metadata.content` is; then it is a reference.
fn media(fields: &Fields<'_>) -> Result<Vec<MediaWish>, Refusal> {
    let mut media = Vec::new();
    let content = content(fields)?;
    let starts_elsewhere = content.iter().any(|item| item.part == Part::FirstFrame);
    for name in ["image", "input_reference"] {
        if let Some(source) = fields.text(name) {
            let part = if starts_elsewhere { Part::ReferenceImage } else { Part::FirstFrame };
            media.push(MediaWish { param: name.to_owned(), part, source: source.to_owned() });
        }
    }
    for name in ["images", "ref_images"] {
        let items = fields.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (place, source) in items.iter().enumerate() {
            let param = format!("{name}[{place}]");
            let Some(source) = source.as_str() else {
                return Err(Refusal::invalid("invalid_type", "a picture is a URL or Base64").about(param));
            };
            media.push(MediaWish { param, part: Part::ReferenceImage, source: source.to_owned() });
        }
    }
    media.extend(content);
    Ok(media)
}

fn content(fields: &Fields<'_>) -> Result<Vec<MediaWish>, Refusal> {
    let items = fields.metadata.and_then(|metadata| metadata.get("content")).and_then(Value::as_array);
    let items = items.map_or(&[][..], Vec::as_slice);
    let is_picture = |item: &&Value| item.get("type").and_then(Value::as_str) == Some("image_url");
    let one_picture = items.iter().filter(is_picture).count() == 1;
    let mut media: Vec<MediaWish> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
        let param = format!("metadata.content[{place}].{kind}.url");
        let source = item.get(kind).and_then(|holder| holder.get("url")).and_then(Value::as_str);
        let Some(source) = source else {
            let message = format!("an item of type `{kind}` needs a URL in `{kind}.url`");
            return Err(Refusal::invalid("missing_media", message).about(param));
        };
        let part = match (kind, item.get("role").and_then(Value::as_str)) {
            ("image_url", Some("first_frame")) => Part::FirstFrame,
            ("image_url", Some("last_frame")) => Part::LastFrame,
            ("image_url", None) if one_picture => Part::FirstFrame,
            ("image_url", Some("reference_image") | None) => Part::ReferenceImage,
            ("video_url", Some("reference_video") | None) => Part::ReferenceVideo,
            ("audio_url", Some("reference_audio") | None) => Part::ReferenceAudio,
            (_, role) => {
                let message =
                    format!("an item of type `{kind}` cannot be `{}`", role.unwrap_or("without a role"));
                let param = format!("metadata.content[{place}].role");
                return Err(Refusal::invalid("conflicting_content", message).about(param));
            }
        };
        let single = matches!(part, Part::FirstFrame | Part::LastFrame);
        if single && media.iter().any(|earlier| earlier.part == part) {
            let message = "a video has one first frame and one last frame at most";
            let param = format!("metadata.content[{place}].role");
            return Err(Refusal::invalid("conflicting_content", message).about(param));
        }
        media.push(MediaWish { param, part, source: source.to_owned() });
    }
    Ok(media)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const A: &str = "modela-video-2-0-260128";

    fn read(request: &Value) -> Result<Wish, Refusal> {
        Wish::read(Contract::embedded(), request)
    }

    fn parts(request: &Value) -> Vec<(String, Part)> {
        read(request).unwrap().media.into_iter().map(|media| (media.param, media.part)).collect()
    }

    #[test]
    fn what_is_not_said_has_a_default() {
        let wish = read(&json!({"model": A, "prompt": "sea"})).unwrap();
        assert_eq!((wish.seconds, wish.resolution, wish.shape), (5.0, Resolution::P720, Shape::FollowInput));
        assert!(!wish.fast && !wish.generate_audio && !wish.return_last_frame && wish.seed.is_none());
        let fast = read(&json!({"model": "modela-video-2-0-fast-260128", "prompt": "sea"})).unwrap();
        assert!(fast.fast);
    }

    #[test]
    fn family_b_has_its_resolution_from_the_model_and_always_sound() {
        let wish = read(&json!({
            "model": "modelb-video-480p", "prompt": "sea", "size": "720x1280", "resolution": "1080p",
            "generate_audio": false, "seed": 3, "metadata": {"duration": 9}, "seconds": "1",
        }))
        .unwrap();
        assert_eq!(wish.resolution, Resolution::P480);
        assert_eq!(wish.shape, Shape::Given(Ratio::parse("9:16").unwrap()));
        // Fields of the other family have no effect.
        assert!(wish.generate_audio && wish.seed.is_none());
        assert!((wish.seconds - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn family_a_reads_older_clients_metadata() {
        let wish = read(&json!({"model": A, "prompt": "sea", "metadata": {
            "duration": 7, "resolution": "480p", "ratio": "1:1", "generate_audio": true, "watermark": true,
            "camera_fixed": true, "return_last_frame": true, "seed": -5, "mood": "calm",
        }}))
        .unwrap();
        assert!((wish.seconds - 7.0).abs() < f64::EPSILON);
        assert_eq!(wish.resolution, Resolution::P480);
        assert_eq!(wish.seed, Some(-5));
        assert!(wish.generate_audio && wish.watermark && wish.camera_fixed && wish.return_last_frame);
    }

    #[test]
    fn a_size_alone_sets_tier_and_shape_on_family_a() {
        let wish = read(&json!({"model": A, "prompt": "sea", "size": "1080x1920"})).unwrap();
        assert_eq!(wish.resolution, Resolution::P1080);
        assert_eq!(wish.shape, Shape::Given(Ratio::parse("9:16").unwrap()));
        let both =
            json!({"model": A, "prompt": "sea", "size": "1080x1920", "resolution": "480p", "ratio": "4:3"});
        assert_eq!(read(&both).unwrap().resolution, Resolution::P480);
        let refusal = read(&json!({"model": A, "prompt": "sea", "size": "0x5"})).unwrap_err();
        assert_eq!((refusal.code.as_ref(), refusal.param.as_deref()), ("invalid_size", Some("size")));
    }

    #[test]
    fn each_asset_has_a_part() {
        let item = |role: Option<&str>, kind: &str| {
            let mut item = json!({"type": kind, kind: {"url": "https://example.com/x"}});
            if let Some(role) = role {
                item["role"] = role.into();
            }
            item
        };
        let with = |content: Vec<Value>| json!({"model": A, "prompt": "p", "metadata": {"content": content}});
        let only = |content: Vec<Value>| -> Vec<Part> {
            parts(&with(content)).into_iter().map(|(_, part)| part).collect()
        };
        assert_eq!(only(vec![item(None, "image_url")]), [Part::FirstFrame]);
        assert_eq!(only(vec![item(None, "image_url"), item(None, "image_url")]), [Part::ReferenceImage; 2]);
        assert_eq!(
            only(vec![item(Some("last_frame"), "image_url"), item(Some("first_frame"), "image_url")]),
            [Part::LastFrame, Part::FirstFrame]
        );
        assert_eq!(
            only(vec![item(None, "video_url"), item(None, "audio_url")]),
            [Part::ReferenceVideo, Part::ReferenceAudio]
        );
        let mut starts = with(vec![item(Some("first_frame"), "image_url")]);
        starts["image"] = "https://example.com/y".into();
        assert_eq!(
            parts(&starts),
            [
                ("image".to_owned(), Part::ReferenceImage),
                ("metadata.content[0].image_url.url".to_owned(), Part::FirstFrame)
            ]
        );
        let twice =
            with(vec![item(Some("first_frame"), "image_url"), item(Some("first_frame"), "image_url")]);
        assert_eq!(read(&twice).unwrap_err().code, "conflicting_content");
    }

    #[test]
    fn a_seed_beyond_64_bits_is_refused() {
        let wide: Value = serde_json::from_str("18446744073709551615").unwrap();
        let refusal = read(&json!({"model": A, "prompt": "p", "seed": wide})).unwrap_err();
        assert_eq!(refusal.code, "invalid_seed");
    }
}
