//! The keys of a line of dialogue.

use super::{KeySpec, ObjectSpec, Shape};

pub(crate) const TEXT: KeySpec =
    KeySpec::new("text", Shape::Prose, "what is said", "text: Who is there?").required().templated();
pub(crate) const SPEAKER: KeySpec =
    KeySpec::new("speaker", Shape::Text, "who says it", "speaker: Keeper").templated();
pub(crate) const AT: KeySpec = KeySpec::new(
    "at",
    Shape::EditLength,
    "when it begins, counted from the beginning of the shot's video; default: after the line before it",
    "at: 0.5s",
);
pub(crate) const LENGTH: KeySpec = KeySpec::new(
    "length",
    Shape::EditLength,
    "how long it takes; default: until the next line, or the video's end",
    "length: 2s",
);

/// A line of dialogue.
pub(crate) const LINE: ObjectSpec = ObjectSpec {
    noun: "line of dialogue",
    keys: &[&TEXT, &SPEAKER, &AT, &LENGTH],
    help: "write the text, or `{speaker: Keeper, text: Who is there?, at: 0.5s}`",
    is_open: false,
};
