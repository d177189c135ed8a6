//! [`Provider`] over HTTP, with the generated client.

use client::{CallError, Client, PreparedRequest};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use url::Url;

use super::{DownloadSink, DownloadStart, Provider, Resume, Submission, TaskDescription, classify};
use scheduler::{Failure, FailureKind, PollResult, TaskId, Timestamp};
use workflow::units::VideoDuration;

/// A video service at a base URL.
#[derive(Debug, Clone)]
pub struct Remote {
    client: Client,
    identity: String,
}

impl Remote {
    /// The service that `client` talks to.
    #[must_use]
    pub fn new(client: Client) -> Self {
        let identity = service_identity(client.base_url());
        Self { client, identity }
    }
}

/// Identifies the service at a base URL in every key: origin and path, without user info and query, which may hold secrets.
#[must_use]
pub fn service_identity(base_url: &Url) -> String {
    format!("{}{}", base_url.origin().ascii_serialization(), base_url.path().trim_end_matches('/'))
}

impl Provider for Remote {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn submit<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Submission> {
        Box::pin(async move { classify::submission(self.client.create(request).await) })
    }

    fn poll<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, PollResult> {
        Box::pin(async move { classify::poll_result(self.client.get(task.as_str()).await) })
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
            let mut pieces = started.map_err(classify::download)?;
            let start = DownloadStart {
                offset: pieces.offset,
                total: pieces.total,
                validator: pieces.validator.clone(),
            };
            sink.start(start).map_err(|error| Failure::new(FailureKind::Transient, error.to_string()))?;
            while let Some(piece) = pieces.next().await {
                let piece = piece.map_err(|error: CallError| classify::download(error))?;
                // The caller's sink has recorded the error.
                sink.write_all(&piece)
                    .map_err(|error| Failure::new(FailureKind::Local, error.to_string()))?;
            }
            Ok(())
        })
    }

    fn describe<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Result<TaskDescription, Failure>> {
        Box::pin(async move {
            let task = self.client.get(task.as_str()).await.map_err(classify::download)?;
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
