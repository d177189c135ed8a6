//! Requests to a service as its description says, for which no client is generated.

use std::time::Duration;

use bytes::Bytes;
use contract::{Contract, Operation};
use progenitor_client::ResponseValue;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Request};
use tracing::debug;
use url::Url;

use crate::key::Key;
use crate::unread_response::Response;
use crate::{CallError, PreparedRequest, Resume, hooks, task_id};

/// What requests to the service have in common.
#[derive(Debug)]
pub(crate) struct Described {
    /// For submissions, without connection reuse.
    pub(crate) submits: reqwest::Client,
    /// For idempotent requests.
    pub(crate) reads: reqwest::Client,
    pub(crate) base: Url,
    pub(crate) key: Key,
    pub(crate) submit_timeout: Duration,
    pub(crate) poll_timeout: Duration,
}

impl Described {
    pub(crate) async fn submit(
        &self,
        description: &Contract,
        request: &PreparedRequest,
    ) -> Result<Response, CallError> {
        let request = self.submission(description, request)?;
        send(&self.submits, request).await
    }

    fn submission(&self, description: &Contract, request: &PreparedRequest) -> Result<Request, CallError> {
        let value = request.model().unwrap_or_default();
        let mut built = self.request(description.submit(), value, &Resume::default())?;
        built.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *built.body_mut() = Some(Bytes::clone(request.body()).into());
        *built.timeout_mut() = Some(self.submit_timeout);
        Ok(built)
    }

    /// A request about a task, or another thing that its one parameter names.
    pub(crate) async fn get(&self, operation: &Operation, value: &str) -> Result<Response, CallError> {
        let mut request = self.request(operation, value, &Resume::default())?;
        *request.timeout_mut() = Some(self.poll_timeout);
        send(&self.reads, request).await
    }

    /// A download of a task's video; with the URL that it is asked from, for redirects.
    pub(crate) async fn content(
        &self,
        operation: &Operation,
        task: &str,
        resume: &Resume,
    ) -> Result<(Response, Url), CallError> {
        let mut request = self.request(operation, task, resume)?;
        request.headers_mut().remove(ACCEPT);
        let url = request.url().clone();
        Ok((send(&self.reads, request).await?, url))
    }

    /// The URL of an operation, with a value for its parameter.
    pub(crate) fn url(&self, operation: &Operation, value: &str) -> Result<Url, CallError> {
        url(&self.base, operation, value)
    }

    fn request(&self, operation: &Operation, value: &str, resume: &Resume) -> Result<Request, CallError> {
        let mut url = self.url(operation, value)?;
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        hooks::set_range_headers(&mut headers, resume);
        self.key.apply(&mut url, &mut headers);
        let method = Method::from_bytes(operation.method.to_uppercase().as_bytes())
            .map_err(|_| CallError::not_sent("the description names a method that is none"))?;
        let mut request = Request::new(method, url);
        *request.headers_mut() = headers;
        Ok(request)
    }
}

async fn send(client: &reqwest::Client, request: Request) -> Result<Response, CallError> {
    // Safe to log: the path holds a task id at most.
    debug!(method = %request.method(), path = request.url().path(), "sending a request");
    let sent = client.execute(request).await;
    let response = sent.map_err(|error| CallError::from_transport(&error))?;
    debug!(status = response.status().as_u16(), "received a response");
    Ok(Response(ResponseValue::stream(response)))
}

/// The URL of an operation below a base, with a value for its parameter.
fn url(base: &Url, operation: &Operation, value: &str) -> Result<Url, CallError> {
    let mut path = operation.path.clone();
    for parameter in &operation.parameters {
        let segment = if parameter.has_slashes {
            let segments: Result<Vec<String>, CallError> =
                value.split('/').map(task_id::path_segment).collect();
            segments?.join("/")
        } else {
            task_id::path_segment(value)?
        };
        path = path.replace(&format!("{{{}}}", parameter.name), &segment);
    }
    let text = format!("{}{path}", base.as_str().trim_end_matches('/'));
    text.parse().map_err(|error| CallError::not_sent(format!("the URL cannot be built: {error}")))
}

#[cfg(test)]
mod tests {
    use contract::Parameter;

    use super::*;

    #[test]
    fn url_has_the_value_encoded_and_slashes_where_they_are_allowed() {
        let base: Url = "https://a.test/api/v3/".parse().expect("a URL");
        let operation = |path: &str, has_slashes| Operation {
            path: path.to_owned(),
            parameters: vec![Parameter { name: "id".to_owned(), has_slashes }],
            ..Operation::default()
        };
        let built =
            |path, has_slashes, value| url(&base, &operation(path, has_slashes), value).map(String::from);
        assert_eq!(
            built("/tasks/{id}", false, "a/b?c").as_deref(),
            Ok("https://a.test/api/v3/tasks/a%2Fb%3Fc")
        );
        assert_eq!(
            built("/{id}:run", true, "models/x/y z").as_deref(),
            Ok("https://a.test/api/v3/models/x/y%20z:run")
        );
        for value in ["../../x", "a//b", ""] {
            assert!(built("/{id}", true, value).is_err(), "{value}");
        }
    }
}
