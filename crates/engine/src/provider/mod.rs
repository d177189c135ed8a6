//! The seam to the video service: four calls, and nothing of HTTP beyond them.
//!
//! [`remote::Remote`] is the implementation over the generated client; tests and simulations put their own in its place.

mod classify;
pub mod remote;

use std::io::Write;

use futures_util::future::BoxFuture;
use scheduler::{Answer, Failure, Millis, Refusal, TaskId};
use serde_json::Value;

pub use remote::{Remote, identity_of};

/// A video service, as the executor sees it.
pub trait Provider: Send + Sync {
    /// What stands for this service in every key: the same address is the same service.
    fn identity(&self) -> &str;

    /// The exact body that [`Provider::submit`] would send for `request`, as JSON, so that it can be recognised later.
    ///
    /// # Errors
    /// When the request cannot be put on the wire without losing something.
    fn body(&self, request: &Value) -> Result<Value, Failure>;

    /// Submits a request (spec 4.1).
    fn submit<'a>(&'a self, request: &'a Value) -> BoxFuture<'a, Submission>;

    /// Asks about a task (spec 4.2).
    fn poll<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Answer>;

    /// Whether its tasks are paid for. What costs nothing here keeps nobody from paying elsewhere, nor the other way round.
    fn is_paid(&self) -> bool {
        true
    }

    /// Says what a task is, to compare it with a request (spec 4.2).
    fn describe<'a>(&'a self, _task: &'a TaskId) -> BoxFuture<'a, Result<Description, Failure>> {
        Box::pin(std::future::ready(Ok(Description::default())))
    }

    /// Writes a finished video to `sink`: from `url`, or from the content endpoint (spec 4.3) when there is none; from `resume` on, where the
    /// service can and its file is still the same.
    fn download<'a>(
        &'a self,
        task: &'a TaskId,
        url: Option<&'a str>,
        resume: Option<&'a Resume>,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<(), Failure>>;

    /// Whether the service itself can still reach what it once kept at `url`. An embedded service moves to another port with each start.
    fn reaches(&self, _url: &str) -> bool {
        true
    }

    /// Looks for the task of a submission whose answer was lost. Few services can tell; who cannot, says so.
    fn find<'a>(&'a self, _digest: &'a str, _since: Millis) -> BoxFuture<'a, Found> {
        Box::pin(std::future::ready(Found::CannotTell))
    }
}

/// Takes a download.
pub trait Sink: Write + Send {
    /// Called once, before the first byte.
    ///
    /// # Errors
    /// When what is to come cannot be taken.
    fn begin(&mut self, start: Start) -> std::io::Result<()>;
}

/// What is known when a download begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Start {
    /// The position of the first byte that comes: 0, or that of [`Resume::first`].
    pub offset: u64,
    /// The whole length, where the service told.
    pub total: Option<u64>,
    /// What says later that it is still the same file, where the service told.
    pub validator: Option<String>,
}

/// From where a download goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// The first byte that is missing.
    pub first: u64,
    /// What the service said about the file from which the bytes before it are.
    pub validator: String,
}

/// What a service says about a task; what it does not say is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Description {
    /// The model that runs it.
    pub model: Option<String>,
    /// Seconds of video.
    pub seconds: Option<f64>,
    /// When it was made.
    pub created_at: Option<Millis>,
}

/// SHA-256 over a request body's canonical JSON (keys sorted, no spaces), lower-case hex: what a request is recognised by.
#[must_use]
pub fn digest(body: &Value) -> String {
    crate::artifact::sha256(workflow::plan::canonical_json(body).as_bytes())
}

/// What came of a POST.
#[derive(Debug, Clone, PartialEq)]
pub enum Submission {
    /// Accepted, with this id.
    Accepted(TaskId),
    /// Surely not accepted.
    Refused(Refusal),
    /// Nobody knows.
    Lost(String),
}

/// What a service says about a submission whose answer was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Tasks that were made from a request with that digest, oldest first; none means that it surely never arrived.
    Tasks(Vec<TaskId>),
    /// The service offers no way to know.
    CannotTell,
}
