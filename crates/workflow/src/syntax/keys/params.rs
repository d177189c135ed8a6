//! The keys of a parameter's declaration.

use super::{KeySpec, ObjectSpec, Shape};
use crate::syntax::ParamKind;

pub(crate) const TYPE: KeySpec = KeySpec::new(
    "type",
    Shape::Choice(|| ParamKind::ALL.map(ParamKind::as_str).into()),
    "the type of its values; default: any",
    "type: integer",
);
pub(crate) const DEFAULT: KeySpec =
    KeySpec::new("default", Shape::Any, "its value unless another is given", "default: noir");
pub(crate) const REQUIRED: KeySpec = KeySpec::new(
    "required",
    Shape::Flag,
    "whether a value must be given; instead of `default`",
    "required: true",
);
pub(crate) const ONE_OF: KeySpec =
    KeySpec::new("one_of", Shape::Values, "the values that it may have", "one_of: [noir, pastel]");
pub(crate) const MIN: KeySpec =
    KeySpec::new("min", Shape::Number, "the smallest number that it may be", "min: 1");
pub(crate) const MAX: KeySpec =
    KeySpec::new("max", Shape::Number, "the largest number that it may be", "max: 6");
pub(crate) const NOTE: KeySpec =
    KeySpec::new("note", Shape::Prose, "a note for people; no effect", "note: who the film is about");

/// A declaration of a parameter. A mapping with none of [`DECLARATION_KEYS`] is the parameter's value.
pub(crate) const PARAM: ObjectSpec = ObjectSpec {
    noun: "parameter",
    keys: &[&TYPE, &DEFAULT, &REQUIRED, &ONE_OF, &MIN, &MAX, &NOTE],
    help: "write `{type: text, default: noir}`",
    is_open: false,
};

/// A mapping with one of these keys is a declaration; a mapping without them is a value.
pub(crate) const DECLARATION_KEYS: [&KeySpec; 4] = [&TYPE, &DEFAULT, &REQUIRED, &ONE_OF];
