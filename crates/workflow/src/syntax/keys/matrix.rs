//! The keys of a matrix that are not axes, and of an axis that is a mapping.

use super::{KeySpec, ObjectSpec, Shape};

pub(crate) const INCLUDE: KeySpec = KeySpec::new(
    "include",
    Shape::Rules,
    "adds values to the combinations that they do not contradict, or else a combination of their own",
    "include: [{look: noir, weather: rain}]",
);
pub(crate) const EXCLUDE: KeySpec = KeySpec::new(
    "exclude",
    Shape::Rules,
    "removes the combinations that have all these values",
    "exclude: [{look: noir, seed: 3}]",
);
pub(crate) const ZIP: KeySpec = KeySpec::new(
    "zip",
    Shape::Axes,
    "axes of equal length that advance together",
    "zip: {look: [noir, pastel], lens: [85mm, 35mm]}",
);

/// A matrix. Its other keys are axes.
pub(crate) const MATRIX: ObjectSpec = ObjectSpec {
    noun: "matrix",
    keys: &[&INCLUDE, &EXCLUDE, &ZIP],
    help: "write `matrix: {seed: [1, 2, 3]}`",
    is_open: true,
};

pub(crate) const FROM: KeySpec =
    KeySpec::new("from", Shape::Number, "the first number", "from: 1").required().templated();
pub(crate) const TO: KeySpec =
    KeySpec::new("to", Shape::Number, "the last number, included", "to: 9").required().templated();
pub(crate) const STEP: KeySpec =
    KeySpec::new("step", Shape::Number, "the distance between two numbers; default: 1", "step: 2")
        .templated();

/// An axis of numbers.
pub(crate) const RANGE: ObjectSpec = ObjectSpec {
    noun: "range",
    keys: &[&FROM, &TO, &STEP],
    help: "write `{from: 1, to: 9, step: 2}`",
    is_open: false,
};

pub(crate) const CSV: KeySpec = KeySpec::new(
    "csv",
    Shape::FileName,
    "a CSV file: each row is a value, a mapping of column names to cells",
    "csv: cast.csv",
)
.required();

/// An axis of the rows of a table.
pub(crate) const CSV_AXIS: ObjectSpec =
    ObjectSpec { noun: "table", keys: &[&CSV], help: "write `{csv: cast.csv}`", is_open: false };

pub(crate) const FILES: KeySpec = KeySpec::new(
    "files",
    Shape::FilePattern,
    "a pattern of file names: each file's name is a value",
    "files: \"stills/*.png\"",
)
.required();

/// An axis of file names.
pub(crate) const FILES_AXIS: ObjectSpec = ObjectSpec {
    noun: "list of files",
    keys: &[&FILES],
    help: "write `{files: \"stills/*.png\"}`",
    is_open: false,
};
