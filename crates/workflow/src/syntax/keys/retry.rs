//! The keys of `retry` as a mapping.

use super::{Shape, object};
use crate::limits;
use crate::plan::RetryOn;

object! { RETRY = "retry":
    ATTEMPTS = "attempts": Shape::Count { max: limits::MAX_ATTEMPTS },
    ON = "on": Shape::Choices(retry_on),
}

fn retry_on() -> Vec<&'static str> {
    RetryOn::ALL.map(RetryOn::as_str).into()
}
