//! The keys of a group of shots.

use super::{KeySpec, ObjectSpec, Shape};

pub(crate) const NOTE: KeySpec =
    KeySpec::new("note", Shape::Prose, "a note for people; no effect", "note: the night before the storm");
pub(crate) const PARAMS: KeySpec = KeySpec::new(
    "params",
    Shape::Params,
    "parameters for the templates of its shots, in place of the file's of the same name; a parameter may use those above it and the file's",
    "params: {weather: heavy rain}",
);
pub(crate) const DEFAULTS: KeySpec = KeySpec::new(
    "defaults",
    Shape::Fields,
    "what the file's `defaults` hold, for its shots only; it overrides them, and `null` removes one",
    "defaults: {seconds: 8}",
);

/// A group of shots.
pub(crate) const GROUP: ObjectSpec = ObjectSpec {
    noun: "group",
    keys: &[&NOTE, &PARAMS, &DEFAULTS],
    help: "write `{params: {weather: heavy rain}, defaults: {seconds: 8}}`",
    is_open: false,
};
