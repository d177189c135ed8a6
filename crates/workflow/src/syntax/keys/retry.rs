//! The keys of `retry` as a mapping.

use super::{KeySpec, ObjectSpec, Shape};
use crate::limits;
use crate::plan::RetryOn;

pub(crate) const ATTEMPTS: KeySpec = KeySpec::new(
    "attempts",
    Shape::Count { max: limits::MAX_ATTEMPTS },
    "how many attempts a run may submit in all",
    "attempts: 3",
)
.required()
.templated();
pub(crate) const ON: KeySpec = KeySpec::new(
    "on",
    Shape::Choices(retry_on),
    "the failures that are retried; default: `failed`, `transient` and `output-moderated`",
    "on: [failed, transient]",
)
.templated();

/// `retry` as a mapping.
pub(crate) const RETRY: ObjectSpec = ObjectSpec {
    noun: "`retry`",
    keys: &[&ATTEMPTS, &ON],
    help: "write `retry: 3` or `retry: {attempts: 3, on: [transient, corrupt]}`",
    is_open: false,
};

fn retry_on() -> Vec<&'static str> {
    RetryOn::ALL.map(RetryOn::as_str).into()
}
