//! [`Provider`] over HTTP, with the generated client.

use client::{CallError, Client, PreparedRequest};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use url::Url;

use super::{
    DownloadSink, DownloadStart, ModerationCodes, Provider, Resume, ServerErrorPolicy, Submission,
    TaskDescription, classify,
};
use scheduler::{Failure, FailureKind, PollResult, TaskId, Timestamp};
use workflow::units::VideoDuration;

/// A video service at a base URL.
#[derive(Debug, Clone)]
pub struct Remote {
    client: Client,
    identity: String,
    account: Option<String>,
    server_errors: ServerErrorPolicy,
    moderation: ModerationCodes,
}

impl Remote {
    /// The service that `client` talks to.
    #[must_use]
    pub fn new(client: Client) -> Self {
        let identity = service_identity(client.base_url());
        Self {
            client,
            identity,
            account: None,
            server_errors: ServerErrorPolicy::default(),
            moderation: ModerationCodes::default(),
        }
    }

    /// The same service, with the digest of the API key that `client` sends.
    #[must_use]
    pub fn with_account(self, account: Option<String>) -> Self {
        Self { account, ..self }
    }

    /// With this meaning of server errors.
    #[must_use]
    pub fn with_server_errors(self, server_errors: ServerErrorPolicy) -> Self {
        Self { server_errors, ..self }
    }

    /// With more error codes that mean moderation.
    #[must_use]
    pub fn with_moderation_codes(self, moderation: ModerationCodes) -> Self {
        Self { moderation, ..self }
    }
}

/// Identifies the service at a base URL in every key: origin and path, without user info and query, which may hold secrets. One service has
/// one identity, however its base URL is written: with or without `/v1`, a trailing slash, the default port or a final dot of the host, in
/// upper or lower case, and by any name of the loopback interface.
#[must_use]
pub fn service_identity(base_url: &Url) -> String {
    let mut url = base_url.clone();
    let host = match base_url.host() {
        Some(url::Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            Some(if name == "localhost" { "127.0.0.1" } else { name }.to_owned())
        }
        Some(url::Host::Ipv6(address)) if address.is_loopback() => Some("127.0.0.1".to_owned()),
        _ => None,
    };
    if let Some(host) = host {
        // A host that was valid stays so.
        let _ = url.set_host(Some(&host));
    }
    let path = url.path().trim_end_matches('/');
    format!(
        "{}{}",
        url.origin().ascii_serialization(),
        path.strip_suffix("/v1").unwrap_or(path).trim_end_matches('/')
    )
}

impl Provider for Remote {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn account(&self) -> Option<&str> {
        self.account.as_deref()
    }

    fn submit<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Submission> {
        Box::pin(async move {
            classify::submission(self.client.create(request).await, self.server_errors, &self.moderation)
        })
    }

    fn poll<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, PollResult> {
        Box::pin(async move { classify::poll_result(self.client.get(task.as_str()).await, &self.moderation) })
    }

    fn download<'a>(
        &'a self,
        task: &'a TaskId,
        url: Option<&'a str>,
        resume: Option<&'a Resume>,
        sink: &'a mut dyn DownloadSink,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let from = resume.map_or_else(client::Resume::default, |resume| client::Resume {
                offset: resume.offset,
                validator: Some(resume.validator.clone()),
            });
            let started = match url {
                Some(url) => self.client.fetch_from(url, &from).await,
                None => self.client.content_from(task.as_str(), &from).await,
            };
            let mut pieces = started.map_err(|error| classify::download(error, &self.moderation))?;
            let start = DownloadStart {
                offset: pieces.offset,
                total: pieces.total,
                validator: pieces.validator.clone(),
            };
            sink.start(start).map_err(|error| Failure::new(FailureKind::Transient, error.to_string()))?;
            while let Some(piece) = pieces.next().await {
                let piece = piece.map_err(|error: CallError| classify::download(error, &self.moderation))?;
                // The caller's sink has recorded the error.
                sink.write_all(&piece)
                    .map_err(|error| Failure::new(FailureKind::Local, error.to_string()))?;
            }
            Ok(())
        })
    }

    fn describe<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Result<TaskDescription, Failure>> {
        Box::pin(async move {
            let task = self
                .client
                .get(task.as_str())
                .await
                .map_err(|error| classify::download(error, &self.moderation))?;
            Ok(TaskDescription {
                model: task.model,
                duration: task
                    .seconds
                    .and_then(|seconds| seconds.trim().parse().ok())
                    .map(VideoDuration::from_secs_f64),
                created_at: task.created_at_ms.map(Timestamp),
            })
        })
    }

    fn can_reach(&self, url: &str) -> bool {
        let Ok(url) = Url::parse(url) else { return false };
        let is_here = match url.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        !is_here || url.origin() == self.client.base_url().origin()
    }
}

#[cfg(test)]
mod tests {
    use super::service_identity;

    #[test]
    fn service_has_one_identity_however_its_url_is_written() {
        let identity = |url: &str| service_identity(&url.parse().expect("a URL"));
        for url in [
            "http://127.0.0.1:8080",
            "http://127.0.0.1:8080/",
            "http://127.0.0.1:8080/v1",
            "http://127.0.0.1:8080/v1/",
            "http://localhost:8080//v1//",
            "HTTP://LocalHost.:8080",
            "http://[::1]:8080/v1",
        ] {
            assert_eq!(identity(url), "http://127.0.0.1:8080", "{url}");
        }
        for url in ["https://API.example.com", "https://api.example.com:443/v1", "https://api.example.com./"]
        {
            assert_eq!(identity(url), "https://api.example.com", "{url}");
        }
        for url in ["https://example.com/gateway/v1/", "https://me:pw@example.com/gateway?key=1"] {
            assert_eq!(identity(url), "https://example.com/gateway", "{url}");
        }
        for (one, other) in [
            ("https://example.com", "http://example.com"),
            ("http://127.0.0.1:8080", "http://127.0.0.2:8080"),
            ("https://example.com/a", "https://example.com/A"),
        ] {
            assert_ne!(identity(one), identity(other));
        }
    }
}
