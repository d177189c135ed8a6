//! The seam to the video service: four calls, and nothing of HTTP beyond them.
//!
//! [`remote::Remote`] is the implementation over the generated client; tests and simulations put their own in its place.

mod classify;
pub mod remote;

use std::io::Write;

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::ids::TaskId;
use crate::state::{Answer, Failure, Refusal};
use crate::time::Millis;

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

    /// Writes a finished video to `sink`: from `url`, or from the content endpoint (spec 4.3) when there is none.
    fn download<'a>(
        &'a self,
        task: &'a TaskId,
        url: Option<&'a str>,
        sink: &'a mut (dyn Write + Send),
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
