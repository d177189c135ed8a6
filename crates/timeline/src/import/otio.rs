//! The reader of `OpenTimelineIO` documents. What it reads is untrusted: sizes, counts and numbers are bounded, and nothing is opened.

use serde_json::{Map, Value};
use workflow::plan::TransitionKind;
use workflow::units::{FrameRate, Speed};

use super::{
    IgnoredElement, ImportedEdit, ImportedItem, ImportedMedia, ImportedRange, ImportedTransition, bounded,
};
use crate::export::{file_name, kind_name};

/// The largest document that is read, in bytes.
const MAX_DOCUMENT_LEN: usize = 64 << 20;
/// The most children of a track that are read.
const MAX_CHILDREN: usize = 100_000;
/// The largest number of frames of a range or a transition.
const MAX_FRAMES: f64 = 1e12;
const DEFAULT_MEDIA: &str = "DEFAULT_MEDIA";
/// What is reported of effects that are left out; their clip stays.
const EFFECTS: &str = "effects of a clip";

/// A document that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The document is too large.
    #[error("the document has more than {} MiB", MAX_DOCUMENT_LEN >> 20)]
    TooLarge,
    /// The document is not JSON, or is nested too deeply.
    #[error("the document is not JSON: {0}")]
    Json(String),
    /// An object has another schema than one that can be read where it is.
    #[error("{at} is `{schema}`, expected {expected}")]
    Schema {
        /// Where it is in the document.
        at: String,
        /// Its schema; empty without one.
        schema: String,
        /// What could be read.
        expected: &'static str,
    },
    /// There is no video track.
    #[error("the document has no video track")]
    NoVideoTrack,
    /// The track has too many children.
    #[error("the video track has more than {MAX_CHILDREN} clips and transitions")]
    TooMany,
    /// A time is no number of frames in use, or its rate none from 1 to 1000.
    #[error("{at} is no time: expected a RationalTime with a value from 0 and a rate from 1 to 1000")]
    Time {
        /// Where it is in the document.
        at: String,
    },
}

/// Reads the first video track of a document of `OpenTimelineIO`.
///
/// `Timeline.1` with `Clip.1` or `Clip.2`, `Gap.1` and `Transition.1` are read, and `LinearTimeWarp.1` as the speed of a clip. Gaps, nested stacks
/// and tracks, other effects and transitions without a
/// clip before them are listed in [`ImportedEdit::ignored`]; a transition of an unknown kind becomes a dissolve and is listed, too. Other schemas are
/// refused, as the library of `OpenTimelineIO` does.
///
/// # Errors
/// The document is not JSON, not a timeline, too large, or has times that are none.
pub fn read_otio(text: &str) -> Result<ImportedEdit, ReadError> {
    if text.len() > MAX_DOCUMENT_LEN {
        return Err(ReadError::TooLarge);
    }
    // Its depth is bounded by serde_json.
    let document: Value = serde_json::from_str(text).map_err(|error| ReadError::Json(error.to_string()))?;
    expect(&document, "the document", &["Timeline.1"], "a Timeline.1")?;
    let stack = document.get("tracks").unwrap_or(&Value::Null);
    expect(stack, "tracks", &["Stack.1"], "a Stack.1")?;
    let track = children(stack)
        .iter()
        .find(|child| {
            schema(child) == "Track.1" && child.get("kind").and_then(Value::as_str) == Some("Video")
        })
        .ok_or(ReadError::NoVideoTrack)?;
    let children = children(track);
    if children.len() > MAX_CHILDREN {
        return Err(ReadError::TooMany);
    }
    let name = document.get("name").and_then(Value::as_str).map(bounded).unwrap_or_default();
    let mut edit = ImportedEdit { name, items: Vec::new(), ignored: Vec::new() };
    for (index, child) in children.iter().enumerate() {
        edit.child(index, child)?;
    }
    Ok(edit)
}

impl ImportedEdit {
    fn child(&mut self, index: usize, child: &Value) -> Result<(), ReadError> {
        let location = format!("child {index} of the video track");
        match schema(child) {
            "Clip.1" | "Clip.2" => {
                let (speed, has_others) = speed(child);
                if has_others {
                    self.ignore(index, EFFECTS);
                }
                self.items.push(ImportedItem { speed, ..item(child, &location)? });
            }
            "Transition.1" => self.transition(index, child, &location)?,
            "Gap.1" => self.ignore(index, "a gap"),
            "Stack.1" | "Track.1" => self.ignore(index, "a nested stack or track"),
            _ => {
                let expected = "a Clip.1, Clip.2, Gap.1, Stack.1, Track.1 or Transition.1";
                expect(child, &location, &[], expected)?;
            }
        }
        Ok(())
    }

    fn transition(&mut self, index: usize, child: &Value, location: &str) -> Result<(), ReadError> {
        let offset = |name: &str| match child.get(name) {
            None => Ok((0.0, None)),
            Some(offset) => time(offset, location).map(|(value, rate)| (value, Some(rate))),
        };
        let ((before, rate), (after, after_rate)) = (offset("in_offset")?, offset("out_offset")?);
        let Some(rate) = rate.or(after_rate) else { return Err(ReadError::Time { at: location.to_owned() }) };
        let after = after * rate.as_f64() / after_rate.unwrap_or(rate).as_f64();
        let supported = kind(child);
        if supported.is_none() {
            self.ignore(index, "the kind of a transition, which becomes a dissolve");
        }
        let kind = supported.unwrap_or(TransitionKind::Dissolve);
        // A transition follows its clip directly.
        let follows_clip = index.checked_sub(1).is_some_and(|before| {
            !self.ignored.iter().any(|ignored| ignored.child == before && ignored.what != EFFECTS)
        });
        match self.items.last_mut().filter(|item| follows_clip && item.transition.is_none()) {
            Some(item) => {
                let frames = (before + after).round() as u64;
                item.transition = (frames > 0).then_some(ImportedTransition { kind, frames, rate });
            }
            None => self.ignore(index, "a transition without a clip before it"),
        }
        Ok(())
    }

    fn ignore(&mut self, child: usize, element: &str) {
        self.ignored.push(IgnoredElement { child, what: element.to_owned() });
    }
}

/// The speed of a clip, and whether it has effects that are none, or a speed that a film cannot have.
fn speed(clip: &Value) -> (Speed, bool) {
    let effects = clip.get("effects").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let scalar = |effect: &Value| {
        let scalar = effect.get("time_scalar").filter(|_| schema(effect) == "LinearTimeWarp.1")?;
        scalar.as_f64().and_then(Speed::from_f64)
    };
    match effects {
        [] => (Speed::NORMAL, false),
        [effect] => scalar(effect).map_or((Speed::NORMAL, true), |speed| (speed, false)),
        several => (several.iter().find_map(scalar).unwrap_or_default(), true),
    }
}

fn item(clip: &Value, location: &str) -> Result<ImportedItem, ReadError> {
    let key = clip.get("active_media_reference_key").and_then(Value::as_str).unwrap_or(DEFAULT_MEDIA);
    // Version 1 had a single reference.
    let reference =
        clip.get("media_references").and_then(|all| all.get(key)).or_else(|| clip.get("media_reference"));
    let range = clip.get("source_range").or_else(|| reference.and_then(|media| media.get("available_range")));
    let metadata =
        clip.get("metadata").and_then(|metadata| metadata.get("runner")).and_then(Value::as_object);
    let text = |name: &str| {
        metadata
            .and_then(|members: &Map<String, Value>| members.get(name))
            .and_then(Value::as_str)
            .map(bounded)
    };
    let url = reference.and_then(|media| media.get("target_url")).and_then(Value::as_str);
    Ok(ImportedItem {
        media: ImportedMedia {
            name: clip.get("name").and_then(Value::as_str).map(bounded).unwrap_or_default(),
            instance: text("instance"),
            shot: text("shot"),
            key: text("key"),
            file: url.map(file_of_url).filter(|name| !name.is_empty()),
            is_alternative: key != DEFAULT_MEDIA,
        },
        speed: Speed::NORMAL,
        range: range.filter(|range| !range.is_null()).map(|value| range_of(value, location)).transpose()?,
        transition: None,
        is_enabled: clip.get("enabled").and_then(Value::as_bool).unwrap_or(true),
    })
}

/// The kind that was exported; without one, that of the transition's type.
fn kind(transition: &Value) -> Option<TransitionKind> {
    let exported = transition.pointer("/metadata/runner/kind").and_then(Value::as_str);
    let all = [
        TransitionKind::Dissolve,
        TransitionKind::FadeBlack,
        TransitionKind::FadeWhite,
        TransitionKind::WipeLeft,
        TransitionKind::WipeRight,
    ];
    match exported.and_then(|name| all.into_iter().find(|kind| kind_name(*kind) == name)) {
        Some(kind) => Some(kind),
        None => (transition.get("transition_type").and_then(Value::as_str) == Some("SMPTE_Dissolve"))
            .then_some(TransitionKind::Dissolve),
    }
}

fn range_of(value: &Value, location: &str) -> Result<ImportedRange, ReadError> {
    let location = format!("the range of {location}");
    expect(value, &location, &["TimeRange.1"], "a TimeRange.1")?;
    let (start, rate) = time(value.get("start_time").unwrap_or(&Value::Null), &location)?;
    let (duration, duration_rate) = time(value.get("duration").unwrap_or(&Value::Null), &location)?;
    let frames = (duration * rate.as_f64() / duration_rate.as_f64()).round();
    Ok(ImportedRange { start: start.round() as u64, frames: frames as u64, rate })
}

/// A value in frames, at least 0, and its rate.
fn time(value: &Value, location: &str) -> Result<(f64, FrameRate), ReadError> {
    let wrong = || ReadError::Time { at: location.to_owned() };
    expect(value, location, &["RationalTime.1"], "a RationalTime.1")?;
    let number = |name: &str| value.get(name).and_then(Value::as_f64);
    let frames = number("value").filter(|frames| (0.0..=MAX_FRAMES).contains(frames)).ok_or_else(wrong)?;
    Ok((frames, number("rate").and_then(frame_rate).ok_or_else(wrong)?))
}

/// The frame rate that a decimal number from 1 to 1000 means: a whole number, one of the NTSC family (23.976, 29.97), or thousandths.
fn frame_rate(number: f64) -> Option<FrameRate> {
    if !(1.0..=1_000.0).contains(&number) {
        return None;
    }
    let nominal = number.round();
    if (number - nominal).abs() < 1e-4 {
        return FrameRate::new(nominal as u32, 1);
    }
    let nominal = (number * 1.001).round();
    if (number * 1.001 - nominal).abs() < 5e-3 {
        return FrameRate::new(nominal as u32 * 1_000, 1_001);
    }
    FrameRate::new((number * 1_000.0).round() as u32, 1_000)
}

fn schema(value: &Value) -> &str {
    value.get("OTIO_SCHEMA").and_then(Value::as_str).unwrap_or_default()
}

fn expect(value: &Value, location: &str, schemas: &[&str], expected: &'static str) -> Result<(), ReadError> {
    let actual = schema(value);
    if schemas.contains(&actual) {
        return Ok(());
    }
    Err(ReadError::Schema { at: location.to_owned(), schema: bounded(actual), expected })
}

fn children(value: &Value) -> &[Value] {
    value.get("children").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The decoded last step of a URL or path.
fn file_of_url(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    bounded(file_name(&String::from_utf8_lossy(&bytes)))
}
