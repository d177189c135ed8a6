//! A response whose body has not been read yet, and the redirect that it may be.

use progenitor_client::{ByteStream, ResponseValue};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION};
use url::Url;

use crate::CallError;

/// A response whose body has not been read yet.
pub(crate) struct Response(pub(crate) ResponseValue<ByteStream>);

impl Response {
    pub(crate) fn status(&self) -> StatusCode {
        self.0.status()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.0.headers()
    }

    pub(crate) fn into_stream(self) -> ByteStream {
        self.0.into_inner()
    }
}

/// The URLs that a redirect leads from and to; `None` for other responses.
pub(crate) fn redirect_target(response: &Response, from: Url) -> Result<Option<(Url, Url)>, CallError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    match target.and_then(|target| from.join(target).ok()) {
        Some(to) => Ok(Some((from, to))),
        None => Err(CallError::indeterminate(
            "the service redirects the download without a usable Location header",
        )),
    }
}
