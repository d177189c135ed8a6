//! Responses apart from what they mean, which the service's description says ([`contract::answer`]): how much of them is read, how long they ask
//! to wait, and how they are shown.

mod plain_text;
mod time;

pub(crate) use plain_text::plain_text;
pub(crate) use time::{poll_after, retry_after};

/// JSON responses are read up to this many bytes, beside what they repeat of a request ([`max_response_bytes`]).
pub const MAX_RESPONSE_BYTES: usize = 1024 * 1024;

/// What the response to a request is read up to: it may repeat the request, with its images, and with each character escaped.
pub(crate) const fn max_response_bytes(request_bytes: usize) -> usize {
    MAX_RESPONSE_BYTES.saturating_add(request_bytes.saturating_mul(2))
}

/// Bytes of a request that the response to a poll may repeat: images of 23 MiB in Base64, which is what this program sends at most.
pub(crate) const MAX_REPEATED_REQUEST_BYTES: usize = 32 * 1024 * 1024;
