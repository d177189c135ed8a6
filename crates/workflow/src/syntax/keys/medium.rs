//! The keys of an image, video or sound.

use super::{Shape, names_of, object};
use crate::media_gate::MediaKind;
use crate::plan::Frame;

/// The values of [`FRAME`].
pub(crate) const FRAMES: [(&str, Frame); 2] = [("first", Frame::First), ("last", Frame::Last)];

/// The values of [`TYPE`].
pub(crate) const TYPES: [(&str, MediaKind); 3] = [
    (MediaKind::Image.as_str(), MediaKind::Image),
    (MediaKind::Video.as_str(), MediaKind::Video),
    (MediaKind::Audio.as_str(), MediaKind::Audio),
];

// An image, video or sound as a mapping: one of `shot`, `file` and `url`.
object! { MEDIUM = "medium":
    SHOT = "shot": Shape::ShotRef,
    FRAME = "frame": Shape::Choice(|| names_of(&FRAMES)),
    FILE = "file": Shape::FileName,
    URL = "url": Shape::Url,
    TYPE = "type": Shape::Choice(|| names_of(&TYPES)),
}
