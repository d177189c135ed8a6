//! Hooks of the generated client, which sends submissions, polls and downloads: API key, headers and timeout of each request.
//!
//! What they undo of the generator:
//!
//! | It | They |
//! |---|---|
//! | adds the header `api-version`, which the contract does not define | remove it |
//! | says that a body is `application/octet-stream`, as in the codegen view | say that it is JSON |
//! | leaves a backslash in a task id, which URL parsers take for a slash | replace the URL |

use std::time::Duration;

use progenitor_client::{ClientHooks, Error, OperationInfo};
use reqwest::{
    Request,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, IF_RANGE, RANGE},
};
use tracing::debug;
use url::Url;

use crate::{Resume, generated, key::Key};

/// The generated client's inner state, which the hooks read.
#[derive(Clone)]
pub(crate) struct HookState {
    pub(crate) key: Key,
    pub(crate) submit_timeout: Duration,
    pub(crate) poll_timeout: Duration,
    /// The offset that a download resumes from.
    pub(crate) resume: Resume,
    /// The URL of the task concerned, in which the whole id is percent-encoded.
    pub(crate) url: Option<Url>,
}

impl std::fmt::Debug for HookState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HookState")
            .field("key", &self.key)
            .field("offset", &self.resume.offset)
            .finish_non_exhaustive()
    }
}

impl ClientHooks<HookState> for generated::Client {
    async fn pre<E>(&self, request: &mut Request, info: &OperationInfo) -> Result<(), Error<E>> {
        let state = &self.inner;
        let json = HeaderValue::from_static("application/json");
        let headers = request.headers_mut();
        headers.remove("api-version");
        if headers.contains_key(CONTENT_TYPE) {
            headers.insert(CONTENT_TYPE, json.clone());
        }
        let timeout = match info.operation_id {
            "create_video" => Some(state.submit_timeout),
            "get_video" => Some(state.poll_timeout),
            // A download has no total timeout; `read_timeout` bounds how long it may stall.
            _ => None,
        };
        if timeout.is_some() {
            headers.insert(ACCEPT, json);
        }
        set_range_headers(headers, &state.resume);
        *request.timeout_mut() = timeout;
        let mut url = state.url.clone().unwrap_or_else(|| request.url().clone());
        state.key.apply(&mut url, request.headers_mut());
        *request.url_mut() = url;
        // Safe to log: the path holds a task id at most.
        debug!(method = %request.method(), path = request.url().path(), "sending a request");
        Ok(())
    }

    async fn post<E>(
        &self,
        result: &reqwest::Result<reqwest::Response>,
        _info: &OperationInfo,
    ) -> Result<(), Error<E>> {
        // The error is not logged here: it may name a signed URL. The caller reports it without.
        let status = result.as_ref().ok().map(|response| response.status().as_u16());
        debug!(status, "received a response");
        Ok(())
    }
}

/// Sets `Range` and `If-Range` (RFC 9110, sections 14.2 and 13.1.5).
pub(crate) fn set_range_headers(headers: &mut HeaderMap, resume: &Resume) {
    if resume.offset == 0 {
        return;
    }
    headers.insert(RANGE, range_from(resume.offset));
    if let Some(validator) = resume.validator.as_deref().and_then(|text| HeaderValue::try_from(text).ok()) {
        headers.insert(IF_RANGE, validator);
    }
}

/// A `Range` header from an offset to the end.
fn range_from(offset: u64) -> HeaderValue {
    // ASCII: always a valid header value.
    HeaderValue::try_from(format!("bytes={offset}-")).unwrap_or_else(|_| HeaderValue::from_static("bytes=0-"))
}
