//! What happens to each generated request before it leaves: key, headers, time-out; or capture instead of sending.

use std::time::Duration;

use bytes::Bytes;
use progenitor_client::{ClientHooks, Error, OperationInfo};
use reqwest::{
    Request,
    header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue, IF_RANGE, RANGE},
};

use tracing::debug;

use crate::{
    Resume,
    capture::{Captured, Slot},
    generated,
};

/// What the hook returns when it captured: never seen outside this crate.
const CAPTURED: &str = "captured";

/// The state that the hook works with.
#[derive(Clone)]
pub(crate) struct Shell {
    pub(crate) bearer: HeaderValue,
    pub(crate) submit_timeout: Duration,
    pub(crate) poll_timeout: Duration,
    /// The body to send in place of the generated one.
    pub(crate) body: Option<Bytes>,
    /// From where a download goes on.
    pub(crate) from: Resume,
    /// Where to leave the request instead of sending it.
    pub(crate) capture: Option<Slot>,
}

impl std::fmt::Debug for Shell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The header value is sensitive, and says so itself; the body may be megabytes of image.
        f.debug_struct("Shell")
            .field("bearer", &self.bearer)
            .field("from", &self.from.first)
            .finish_non_exhaustive()
    }
}

impl ClientHooks<Shell> for generated::Client {
    async fn pre<E>(&self, request: &mut Request, info: &OperationInfo) -> Result<(), Error<E>> {
        let shell = &self.inner;
        let headers = request.headers_mut();
        // The generator adds it; the service's document knows no such header.
        headers.remove("api-version");
        headers.insert(AUTHORIZATION, shell.bearer.clone());
        let timeout = match info.operation_id {
            "create_video" => Some(shell.submit_timeout),
            "get_video" => Some(shell.poll_timeout),
            // A download has no limit on the whole; the client limits how long it may stand still.
            _ => None,
        };
        if timeout.is_some() {
            headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        }
        go_on_from(headers, &shell.from);
        *request.timeout_mut() = timeout;
        if let Some(body) = &shell.body {
            *request.body_mut() = Some(body.clone().into());
        }
        if let Some(slot) = &shell.capture {
            slot.put(Captured::of(request));
            return Err(Error::Custom(CAPTURED.to_owned()));
        }
        // The path is the contract's, with a task's id at most.
        debug!(method = %request.method(), path = request.url().path(), "asking");
        Ok(())
    }

    async fn post<E>(
        &self,
        result: &reqwest::Result<reqwest::Response>,
        _info: &OperationInfo,
    ) -> Result<(), Error<E>> {
        // What went wrong may name an address; whoever called tells it without.
        let status = result.as_ref().ok().map(|response| response.status().as_u16());
        debug!(status, "answered");
        Ok(())
    }
}

/// Asks for the rest of a file, as long as it is still the same.
pub(crate) fn go_on_from(headers: &mut HeaderMap, from: &Resume) {
    if from.first == 0 {
        return;
    }
    headers.insert(RANGE, range_from(from.first));
    // What came in a header goes back into one.
    if let Some(validator) = from.validator.as_deref().and_then(|text| HeaderValue::try_from(text).ok()) {
        headers.insert(IF_RANGE, validator);
    }
}

/// `Range` from a byte to the end.
fn range_from(first: u64) -> HeaderValue {
    // Digits and ASCII: always a header value.
    HeaderValue::try_from(format!("bytes={first}-")).unwrap_or_else(|_| HeaderValue::from_static("bytes=0-"))
}
