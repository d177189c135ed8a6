//! The keys of a film.

use super::{KeySpec, ObjectSpec, Shape};

pub(crate) const OUTPUT: KeySpec = KeySpec::new(
    "output",
    Shape::OutputName,
    "the film's file name; default: the workflow's name",
    "output: lighthouse.mp4",
)
.templated();
pub(crate) const SHOTS: KeySpec = KeySpec::new(
    "shots",
    Shape::ShotRefs,
    "the shots in the order in which they are shown; default: all shots in file order",
    "shots: [harbor, lamp]",
);

/// A film.
pub(crate) const FILM: ObjectSpec = ObjectSpec {
    noun: "film",
    keys: &[&OUTPUT, &SHOTS],
    help: "write `output: lighthouse.mp4` below it, and the list of its `shots` where it does not show all",
    open: false,
};
