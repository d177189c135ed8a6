//! What can happen to a run. Closed: the scheduler, the ledger and the reporters all eat this one stream.

use serde::{Deserialize, Serialize};
use workflow::plan::{KeyPart, NodeIx};

use crate::artifact::Artifact;
use crate::budget::{BudgetLimit, Reservation};
use crate::ids::{AttemptId, RunId, TaskId};
use crate::next_step::NextStep;
use crate::outcome::{Failure, Film};
use crate::timestamp::Timestamp;

pub use crate::event_kind::EventKind;
pub use crate::response::{PollResult, Refusal, RefusalKind};

/// Something that happened, as the executor learnt it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The run was told more than its plan. Comes before anything else, and only where there is something.
    RunConfigured {
        /// The nodes that it may submit, by name; all of them where this is not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Vec<String>>,
        /// Whether nothing more is submitted once a shot has failed.
        #[serde(default)]
        fail_fast: bool,
    },
    /// The run begins.
    Started,
    /// The ledger was asked what it knows about a node's key.
    LookupDone {
        /// The node.
        node: NodeIx,
        /// Its key as lower-case hex (DESIGN section 6).
        key: String,
        /// What was found.
        existing: ExistingWork,
    },
    /// The request is ready and the intent to submit it is on disk. Only now may the POST leave.
    Prepared {
        /// The node.
        node: NodeIx,
        /// The new attempt.
        attempt: AttemptId,
        /// The node's key as lower-case hex.
        key: String,
        /// SHA-256 of the canonical request body, to recognise it at the service.
        digest: String,
        /// Whether the request holds addresses of frames that the service keeps.
        by_url: bool,
        /// The key without the service, where the service is paid: equal for the same work at any service.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        service_independent_key: Option<String>,
        /// The most that the task can cost, reserved from now on.
        #[serde(default)]
        reservation: Reservation,
        /// Set when the user asked for the shot to be rendered again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forced_rerun: Option<ForcedRerun>,
        /// The parts of the key. They are kept with the attempt; the stored event does without them.
        #[serde(default, skip_serializing)]
        parts: Vec<KeyPart>,
    },
    /// The intent was not written, because it would cross a cap.
    BudgetExceeded {
        /// The node.
        node: NodeIx,
        /// The limit.
        limit: BudgetLimit,
    },
    /// The intent was not written, because another attempt for the same key is live.
    ClaimConflict {
        /// The node.
        node: NodeIx,
        /// What the other attempt has come to.
        existing: ExistingWork,
    },
    /// The request could not be made ready: a frame or a file could not be read.
    PrepareFailed {
        /// The node.
        node: NodeIx,
        /// Why.
        failure: Failure,
    },
    /// The service accepted the request: from here on there is something to pay for.
    Submitted {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// The service's id.
        task: TaskId,
    },
    /// The service surely did not accept the request.
    Refused {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// Why, and whether to come back.
        refusal: Refusal,
        /// What follows. `None` before the scheduler has decided, and in events of versions that did not record it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<NextStep>,
    },
    /// No usable answer to the POST: it may or may not have been accepted.
    Indeterminate {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// What went wrong on the way.
        reason: String,
    },
    /// The service, or the way to it, answered a poll.
    Polled {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// What was learnt.
        result: PollResult,
        /// What follows. `None` before the scheduler has decided, and in events of versions that did not record it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<NextStep>,
    },
    /// The video is on disk, verified, under its final name.
    Downloaded {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// The video.
        artifact: Artifact,
        /// What the task cost, in millionths, where a price is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<i64>,
    },
    /// The video could not be fetched this time.
    DownloadFailed {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// Why.
        failure: Failure,
        /// How many bytes of it are on disk, to go on from.
        #[serde(default)]
        partial_bytes: u64,
        /// What follows. `None` before the scheduler has decided, and in events of versions that did not record it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<NextStep>,
    },
    /// The film is on disk under its final name.
    FilmJoined {
        /// Its position among the films of the plan.
        #[serde(default)]
        index: usize,
        /// The film.
        film: Film,
    },
    /// The clips could not be joined.
    JoinFailed {
        /// The film's position among those of the plan.
        #[serde(default)]
        index: usize,
        /// Why.
        failure: Failure,
    },
    /// The service was asked about a submission without a response and knows every task that the request created.
    Reconciled {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// When its intent was written.
        since: Timestamp,
        /// Why the response to its POST is missing; `None` where the attempt is of an earlier run, found by a lookup.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// All tasks created from the same request, oldest first.
        candidates: Vec<TaskId>,
        /// The task of this attempt: the first candidate that no other attempt owns, chosen by the ledger in its transaction. `None`: the
        /// request was not accepted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// What follows. `None` before the scheduler has decided, and in events of versions that did not record it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<NextStep>,
    },
    /// An attempt's task is gone from the service, so that its node may be submitted again.
    TaskExpired {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
    },
    /// A person resolved an attempt with `runner resolve`, outside of a run.
    Resolved {
        /// The attempt.
        attempt: AttemptId,
        /// What became of it.
        resolution: Resolution,
    },
    /// A time that an action was waiting for has come.
    TimerFired,
    /// The user asks the run to end: nothing more is submitted, tasks that are out are left for the next run.
    Interrupted,
}

/// A shot that is made anew: from the key that the file gives to the salt that sets the new video apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForcedRerun {
    /// The key that the file gives, as lower-case hex.
    pub key: String,
    /// The salt.
    pub salt: String,
}

impl Event {
    /// The event's kind, under which it is stored.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        match self {
            Self::RunConfigured { .. } => EventKind::RunConfigured,
            Self::Started => EventKind::Started,
            Self::LookupDone { .. } => EventKind::LookupDone,
            Self::Prepared { .. } => EventKind::Prepared,
            Self::BudgetExceeded { .. } => EventKind::BudgetExceeded,
            Self::ClaimConflict { .. } => EventKind::ClaimConflict,
            Self::PrepareFailed { .. } => EventKind::PrepareFailed,
            Self::Submitted { .. } => EventKind::Submitted,
            Self::Refused { .. } => EventKind::Refused,
            Self::Indeterminate { .. } => EventKind::Indeterminate,
            Self::Polled { .. } => EventKind::Polled,
            Self::Downloaded { .. } => EventKind::Downloaded,
            Self::DownloadFailed { .. } => EventKind::DownloadFailed,
            Self::FilmJoined { .. } => EventKind::FilmJoined,
            Self::JoinFailed { .. } => EventKind::JoinFailed,
            Self::Reconciled { .. } => EventKind::Reconciled,
            Self::TaskExpired { .. } => EventKind::TaskExpired,
            Self::Resolved { .. } => EventKind::Resolved,
            Self::TimerFired => EventKind::TimerFired,
            Self::Interrupted => EventKind::Interrupted,
        }
    }

    /// The node that the event is about, if it is about one.
    #[must_use]
    pub fn node(&self) -> Option<NodeIx> {
        match self {
            Self::LookupDone { node, .. }
            | Self::Prepared { node, .. }
            | Self::ClaimConflict { node, .. }
            | Self::BudgetExceeded { node, .. }
            | Self::PrepareFailed { node, .. }
            | Self::Submitted { node, .. }
            | Self::Refused { node, .. }
            | Self::Indeterminate { node, .. }
            | Self::Polled { node, .. }
            | Self::Downloaded { node, .. }
            | Self::DownloadFailed { node, .. }
            | Self::Reconciled { node, .. }
            | Self::TaskExpired { node, .. } => Some(*node),
            Self::RunConfigured { .. }
            | Self::Started
            | Self::FilmJoined { .. }
            | Self::JoinFailed { .. }
            | Self::Resolved { .. }
            | Self::TimerFired
            | Self::Interrupted => None,
        }
    }
}

/// What became of a submission without a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Resolution {
    /// It was accepted, as this task.
    Accepted {
        /// The task.
        task: TaskId,
    },
    /// It was not accepted: the next run submits the node again.
    NotAccepted,
    /// It cannot be found out: its reservation counts as spent, and the node is submitted again only on request.
    Abandoned,
}

/// What the ledger knows about a key from before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ExistingWork {
    /// Nothing that counts: the node is to be executed.
    None,
    /// The video is there and verified.
    Completed {
        /// The attempt that made it.
        attempt: AttemptId,
        /// The task that made it.
        task: TaskId,
        /// The video.
        artifact: Artifact,
    },
    /// A task is out at the service, or finished there without having been downloaded.
    InFlight {
        /// The attempt.
        attempt: AttemptId,
        /// The service's id.
        task: TaskId,
        /// When it was submitted.
        since: Timestamp,
        /// Whether its video was downloaded once and is no longer on disk. If the service has lost it as well, the node is made anew.
        was_downloaded: bool,
    },
    /// A POST left and its answer never came back; nobody has said since what became of it.
    Indeterminate {
        /// The attempt.
        attempt: AttemptId,
        /// When the intent was written.
        intended_at: Timestamp,
    },
    /// A POST left, its answer never came back, and someone gave up finding out: it is not submitted again unless someone asks for it.
    Abandoned {
        /// The attempt.
        attempt: AttemptId,
    },
    /// The same work is out, or may be, at another service than this run talks to.
    OtherService {
        /// That service.
        service: String,
        /// The attempt there.
        attempt: AttemptId,
        /// Its task, if that is known.
        task: Option<TaskId>,
    },
    /// Another run that is alive now is about to submit this very node.
    ClaimedByRun {
        /// That run.
        run: RunId,
    },
}

impl ExistingWork {
    /// The task that is out or made the video, if one is known.
    #[must_use]
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::Completed { task, .. } | Self::InFlight { task, .. } => Some(task),
            Self::OtherService { task, .. } => task.as_ref(),
            Self::None | Self::Indeterminate { .. } | Self::Abandoned { .. } | Self::ClaimedByRun { .. } => {
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_kind_equals_serialized_tag() {
        let failure = || Failure::new(crate::FailureKind::Task, "no");
        let (node, attempt) = (NodeIx::new(0), AttemptId::from("r.1"));
        let events = [
            Event::RunConfigured { only: None, fail_fast: true },
            Event::Started,
            Event::LookupDone { node, key: String::new(), existing: ExistingWork::None },
            Event::Prepared {
                node,
                attempt: attempt.clone(),
                key: String::new(),
                digest: String::new(),
                by_url: false,
                service_independent_key: None,
                reservation: Reservation::default(),
                forced_rerun: None,
                parts: Vec::new(),
            },
            Event::BudgetExceeded { node, limit: BudgetLimit::Cost },
            Event::ClaimConflict { node, existing: ExistingWork::None },
            Event::PrepareFailed { node, failure: failure() },
            Event::Submitted { node, attempt: attempt.clone(), task: TaskId::from("t") },
            Event::Refused {
                node,
                attempt: attempt.clone(),
                refusal: Refusal { kind: RefusalKind::Throttled, failure: failure(), retry_after: None },
                next: None,
            },
            Event::Indeterminate { node, attempt: attempt.clone(), reason: String::new() },
            Event::Polled {
                node,
                attempt: attempt.clone(),
                result: PollResult::NotFound { expired: false },
                next: None,
            },
            Event::Downloaded { node, attempt: attempt.clone(), artifact: artifact(), cost: None },
            Event::DownloadFailed { node, attempt, failure: failure(), partial_bytes: 0, next: None },
            Event::FilmJoined { index: 0, film: film() },
            Event::JoinFailed { index: 0, failure: failure() },
            Event::Reconciled {
                node,
                attempt: AttemptId::from("r.1"),
                since: Timestamp(1),
                reason: None,
                candidates: Vec::new(),
                task: None,
                next: None,
            },
            Event::TaskExpired { node, attempt: AttemptId::from("r.1") },
            Event::Resolved { attempt: AttemptId::from("r.1"), resolution: Resolution::NotAccepted },
            Event::TimerFired,
            Event::Interrupted,
        ];
        assert_eq!(events.len(), EventKind::ALL.len());
        for (event, kind) in events.iter().zip(EventKind::ALL) {
            let stored = serde_json::to_value(event).unwrap();
            assert_eq!((stored["event"].as_str(), event.kind()), (Some(kind.as_str()), *kind));
        }
    }

    fn artifact() -> Artifact {
        Artifact {
            path: "a.mp4".into(),
            sha256: String::new(),
            bytes: 1,
            seconds: 4.0,
            width: 1,
            height: 1,
            last_frame_url: None,
            expires_at: None,
            changed_at: None,
        }
    }

    fn film() -> Film {
        Film {
            path: "film.mp4".into(),
            seconds: 4.0,
            width: 1,
            height: 1,
            audio: false,
            made_of: String::new(),
            reused: false,
        }
    }
}
