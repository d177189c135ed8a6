//! [`Provider`] over HTTP, with the generated client.

use client::{Client, PreparedRequest};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use url::Url;

use super::{
    Cancelled, DownloadSink, DownloadStart, Provider, Resume, Submission, SubmissionLookup, TaskDescription,
    classify,
};
use scheduler::{AttemptId, Failure, FailureKind, PollResult, TaskId, Timestamp};
use workflow::units::VideoDuration;

/// A video service at a base URL.
#[derive(Debug, Clone)]
pub struct Remote {
    client: Client,
    identity: String,
    account: Option<String>,
}

impl Remote {
    /// The service that `client` talks to, with its identity ([`service_identity`](super::service_identity)).
    pub fn new(client: Client, identity: String) -> Self {
        Self { client, identity, account: None }
    }

    /// The same service, with the digest of the API key that `client` sends.
    pub fn with_account(self, account: Option<String>) -> Self {
        Self { account, ..self }
    }
}

impl Provider for Remote {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn account(&self) -> Option<&str> {
        self.account.as_deref()
    }

    fn prepare(&self, model: &str, request: &Value) -> Result<PreparedRequest, Failure> {
        let prepared = self.client.prepare(model, request);
        prepared.map_err(|error| Failure::new(FailureKind::Local, error.to_string()))
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
                let piece = piece.map_err(classify::download)?;
                // The caller's sink has recorded the error.
                sink.write_all(&piece)
                    .map_err(|error| Failure::new(FailureKind::Local, error.to_string()))?;
            }
            Ok(())
        })
    }

    fn describe<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Result<TaskDescription, Failure>> {
        Box::pin(async move {
            let task = self.client.get(task.as_str()).await.map_err(classify::download)?.task;
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

    fn cancel<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Result<Cancelled, Failure>> {
        Box::pin(async move { self.client.cancel(task.as_str()).await.map_err(classify::download) })
    }

    fn mark(&self, request: &mut Value, attempt: &AttemptId) {
        self.client.description().mark(request, attempt.as_str());
    }

    fn find_marked<'a>(&'a self, attempt: &'a AttemptId) -> BoxFuture<'a, SubmissionLookup> {
        Box::pin(async move {
            match self.client.find_marked(attempt.as_str()).await {
                Ok(Some(tasks)) if !tasks.is_empty() => {
                    SubmissionLookup::Tasks(tasks.into_iter().map(TaskId).collect())
                }
                // The list may be behind, or begin after it.
                Ok(_) | Err(_) => SubmissionLookup::Unsupported,
            }
        })
    }

    fn can_reach(&self, url: &str) -> bool {
        let Ok(url) = Url::parse(url) else { return false };
        !workflow::is_loopback(&url) || url.origin() == self.client.base_url().origin()
    }
}
