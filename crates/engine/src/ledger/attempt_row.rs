//! An attempt as the ledger has it.

use scheduler::budget::Reservation;
use scheduler::{Artifact, AttemptId, AttemptState, RunId, TaskId, Timestamp};

use crate::sidecar::{SIDECAR_VERSION, Sidecar};

#[derive(Debug, Clone)]
pub struct AttemptRow {
    pub attempt: AttemptId,
    /// The run that created it.
    pub run: RunId,
    /// The workflow of that run.
    pub workflow: String,
    /// The name of its node at that time.
    pub node: String,
    /// Its key, as lower-case hex.
    pub key: String,
    pub state: AttemptState,
    /// The service that it was submitted to.
    pub service: String,
    /// The digest of the API key that it was submitted with, if known.
    pub account: Option<String>,
    pub model: String,
    /// The most that was reserved for it: cost, and requested length of video.
    pub reservation: Reservation,
    /// Its task, once there is one.
    pub task: Option<TaskId>,
    /// The id that the response to an indeterminate submission named.
    pub suggested_task: Option<TaskId>,
    /// SHA-256 of the canonical request body.
    pub digest: String,
    /// When the intent was recorded.
    pub intended_at: Timestamp,
    /// When its task was accepted.
    pub submitted_at: Option<Timestamp>,
    /// When it reached its last state, such as completion.
    pub ended_at: Option<Timestamp>,
    /// The last error, for people.
    pub failure: Option<String>,
    /// Its video as it was downloaded. The file may be gone.
    pub artifact: Option<Artifact>,
}

impl AttemptRow {
    /// The identity of its video ([`Artifact::identity_sha256`]), if it has had one.
    pub fn video_identity(&self) -> Option<&str> {
        self.artifact.as_ref().map(Artifact::identity_sha256)
    }

    /// The sidecar of a task's video whose request is not known.
    pub(crate) fn sidecar(&self) -> Sidecar {
        Sidecar {
            version: SIDECAR_VERSION,
            key: self.key.clone(),
            sha256: String::new(),
            first_sha256: None,
            bytes: 0,
            service: self.service.clone(),
            task: self.task.as_ref().map(|task| task.as_str().to_owned()),
            attempt: self.attempt.to_string(),
            shot: self.node.clone(),
            workflow: self.workflow.clone(),
            file: None,
            model: self.model.clone(),
            prompt: None,
            seed: None,
            request: None,
            parents: Vec::new(),
            render: 1,
            asked: false,
            reserved_cost: self.reservation.cost,
            currency: None,
            completed_at: Timestamp::default(),
        }
    }
}
