//! The interface to the video service: submit, poll, download, and lookups. No HTTP is visible above it.
//!
//! [`remote::Remote`] implements it over the generated client; tests and simulations implement their own.

mod account;
pub mod classify;
pub mod remote;

use std::io::Write;

pub use client::{Cancelled, PreparedRequest};
use futures_util::future::BoxFuture;

pub use account::{Account, Accounts, account_digest};
pub use remote::Remote;
use scheduler::{AttemptId, Failure, PollResult, Refusal, TaskId, Timestamp};
use serde_json::Value;
pub use workflow::service_identity;
use workflow::units::VideoDuration;

/// A video service, as the executor sees it.
pub trait Provider: Send + Sync {
    /// Identifies this service in every key: the same base URL is the same service.
    fn identity(&self) -> &str;

    /// Identifies the account by a digest of the API key ([`account_digest`]); `None` for a service without keys.
    fn account(&self) -> Option<&str> {
        None
    }

    /// The account, for what reads the record of several services.
    fn accounts(&self) -> Accounts {
        let account = Account { digest: self.account().map(str::to_owned), is_paid: self.is_paid() };
        Accounts::default().with(self.identity(), account)
    }

    /// Serializes a complete request to a model.
    ///
    /// # Errors
    /// It is not one that can be sent.
    fn prepare(&self, model: &str, request: &Value) -> Result<PreparedRequest, Failure>;

    /// Submits a request (spec 4.1). Its digest is in the ledger before.
    fn submit<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Submission>;

    /// Polls a task (spec 4.2).
    fn poll<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, PollResult>;

    /// Whether its tasks cost money. Work in flight at a free service does not block the same work at a paid one, nor the reverse.
    fn is_paid(&self) -> bool {
        true
    }

    /// Describes a task, to compare it with a request (spec 4.2).
    fn describe<'a>(&'a self, _task: &'a TaskId) -> BoxFuture<'a, Result<TaskDescription, Failure>> {
        Box::pin(std::future::ready(Ok(TaskDescription::default())))
    }

    /// Downloads a finished video to `sink`: from `url`, or from the content endpoint (spec 4.3) when there is none; from `resume` on, where the
    /// service supports ranges and its file has not changed.
    fn download<'a>(
        &'a self,
        task: &'a TaskId,
        url: Option<&'a str>,
        resume: Option<&'a Resume>,
        sink: &'a mut dyn DownloadSink,
    ) -> BoxFuture<'a, Result<(), Failure>>;

    /// Whether the service can still reach `url`, which it returned earlier. An embedded service has another port after each start.
    fn can_reach(&self, _url: &str) -> bool {
        true
    }

    /// Looks for the tasks created by an indeterminate submission, by the digest of its request. Few services support it.
    fn find_tasks<'a>(&'a self, _digest: &'a str, _since: Timestamp) -> BoxFuture<'a, SubmissionLookup> {
        Box::pin(std::future::ready(SubmissionLookup::Unsupported))
    }

    /// Cancels a task, if it is in a state in which the service does that.
    fn cancel<'a>(&'a self, _task: &'a TaskId) -> BoxFuture<'a, Result<Cancelled, Failure>> {
        Box::pin(std::future::ready(Ok(Cancelled::Unsupported)))
    }

    /// Marks the request of an attempt, where the service gives such a mark back in its list of tasks.
    fn mark(&self, _request: &mut Value, _attempt: &AttemptId) {}

    /// Looks for the tasks created by an indeterminate submission, by that mark. That there is none is no proof that none was created.
    fn find_marked<'a>(&'a self, _attempt: &'a AttemptId) -> BoxFuture<'a, SubmissionLookup> {
        Box::pin(std::future::ready(SubmissionLookup::Unsupported))
    }
}

/// The tasks created by an indeterminate submission, in whichever way the service finds them.
pub(crate) async fn find_submission(
    provider: &dyn Provider,
    attempt: &AttemptId,
    digest: &str,
    since: Timestamp,
) -> SubmissionLookup {
    match provider.find_tasks(digest, since).await {
        SubmissionLookup::Unsupported => provider.find_marked(attempt).await,
        found @ SubmissionLookup::Tasks(_) => found,
    }
}

/// Receives a download.
pub trait DownloadSink: Write + Send {
    /// Called once, before the first byte.
    ///
    /// # Errors
    /// When the bytes to come cannot be stored.
    fn start(&mut self, start: DownloadStart) -> std::io::Result<()>;
}

/// The response headers of a download.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DownloadStart {
    /// The position of the first byte: 0, or [`Resume::offset`].
    pub offset: u64,
    /// The total length, where the service stated it.
    pub total: Option<u64>,
    /// `ETag` or `Last-Modified`, to resume with `If-Range`.
    pub validator: Option<String>,
}

/// The point at which a download is resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// The position of the first missing byte.
    pub offset: u64,
    /// The validator of the file that the earlier bytes belong to.
    pub validator: String,
}

/// A service's description of a task; `None` where it does not state a value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskDescription {
    /// The model that runs it.
    pub model: Option<String>,
    /// The length of its video.
    pub duration: Option<VideoDuration>,
    /// When the task was created.
    pub created_at: Option<Timestamp>,
}

/// The result of a POST.
#[derive(Debug, Clone, PartialEq)]
pub enum Submission {
    Accepted {
        task: TaskId,
    },
    /// Definitely not accepted.
    Refused(Refusal),
    /// Accepted or not: no usable response arrived.
    Indeterminate {
        /// Why, for people.
        reason: String,
        /// An id in what arrived: probably that of the task.
        task_hint: Option<TaskId>,
        /// Whether the response is probably another server's, so that no request can succeed: a page with a success status, a redirect, or an
        /// error such as 401 to 404 that is not in the service's form.
        halts: bool,
    },
}

/// The result of [`Provider::find_tasks`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmissionLookup {
    /// The tasks created from a request with that digest, oldest first. None: the request definitely never arrived.
    Tasks(Vec<TaskId>),
    /// The service does not support it.
    Unsupported,
}
