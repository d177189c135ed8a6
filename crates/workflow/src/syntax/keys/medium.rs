//! The keys of an image, video or sound.

use super::{KeySpec, ObjectSpec, Shape, names_of};
use crate::media_gate::MediaKind;
use crate::plan::Frame;

pub(crate) const SHOT: KeySpec =
    KeySpec::new("shot", Shape::ShotRef, "a shot, of which a frame is taken", "shot: harbor");
pub(crate) const FRAME: KeySpec = KeySpec::new(
    "frame",
    Shape::Choice(|| names_of(&FRAMES)),
    "which frame of the shot, where the default is `last`, or of a video file",
    "frame: first",
);
pub(crate) const FILE: KeySpec = KeySpec::new(
    "file",
    Shape::FileName,
    "a file, named from the workflow's folder",
    "file: stills/harbor.png",
)
.templated();
pub(crate) const URL: KeySpec = KeySpec::new(
    "url",
    Shape::Url,
    "an address that the service can fetch, or a data URI",
    "url: \"https://media.example/harbor.png\"",
)
.templated();
pub(crate) const TYPE: KeySpec = KeySpec::new(
    "type",
    Shape::Choice(|| names_of(&TYPES)),
    "the kind of medium, if its name does not tell",
    "type: image",
);

/// The values of [`FRAME`].
pub(crate) const FRAMES: [(&str, Frame); 2] = [("first", Frame::First), ("last", Frame::Last)];

/// The values of [`TYPE`].
pub(crate) const TYPES: [(&str, MediaKind); 3] = [
    (MediaKind::Image.as_str(), MediaKind::Image),
    (MediaKind::Video.as_str(), MediaKind::Video),
    (MediaKind::Audio.as_str(), MediaKind::Audio),
];

/// An image, video or sound as a mapping: one of `shot`, `file` and `url`.
pub(crate) const MEDIUM: ObjectSpec = ObjectSpec {
    noun: "image, video or sound",
    keys: &[&SHOT, &FRAME, &FILE, &URL, &TYPE],
    help: "write a file, a URL, or `{shot: harbor, frame: last}`",
    is_open: false,
};
