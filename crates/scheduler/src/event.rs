//! Events of a run. A closed enum: scheduler, ledger and reporters all consume this one stream.

use serde::{Deserialize, Serialize};
use workflow::plan::{KeyPart, NodeIx};
use workflow::units::{self, Money};

use crate::artifact::Artifact;
use crate::attempt_state::AttemptState;
use crate::budget::{BudgetCap, Reservation};
use crate::ids::{AttemptId, TaskId};
use crate::next_step::NextStep;
use crate::outcome::{Failure, Film};
use crate::renders::RecordedRenders;
use crate::timestamp::Timestamp;

pub use crate::event_kind::EventKind;
pub use crate::existing_work::ExistingWork;
pub use crate::response::{PollResult, Refusal, RefusalKind};

/// Something that happened to a run, as the executor observed it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The scope of the run. Precedes every other event; absent for the default.
    RunConfigured {
        /// Names of the nodes that the run may submit; `None` for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Vec<String>>,
        /// Whether nothing more is submitted once a shot has failed.
        fail_fast: bool,
        /// Whether its shots have several services, of which one that cannot be used does not stop the others.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        several_services: bool,
    },
    Started,
    /// The existing work for a node's key was looked up in the ledger.
    LookupDone {
        node: NodeIx,
        /// Its key as lower-case hex.
        key: String,
        /// What the lookup returned.
        existing: ExistingWork,
        /// The number in the list of renders of its instance.
        #[serde(default = "first_render", skip_serializing_if = "is_first_render")]
        render: u32,
    },
    /// The request is prepared and the intent to submit it is recorded. Only now may the POST be sent.
    Prepared {
        node: NodeIx,
        attempt: AttemptId,
        /// The node's key as lower-case hex.
        key: String,
        /// SHA-256 of the canonical request body, to recognize it at the service.
        digest: String,
        /// Whether the request refers to frames by URL.
        by_url: bool,
        /// The key without the service, for paid services: equal for the same work at any service.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        service_independent_key: Option<String>,
        /// The most that the task can cost, reserved from now on.
        reservation: Reservation,
        /// The number in the list of renders of its instance.
        #[serde(default = "first_render", skip_serializing_if = "is_first_render")]
        render: u32,
        /// The parts of the key. Stored with the attempt, not in the stored event.
        #[serde(default, skip_serializing)]
        parts: Vec<KeyPart>,
    },
    /// The intent was not recorded, because it would exceed a budget cap.
    BudgetExceeded {
        node: NodeIx,
        #[serde(rename = "limit")]
        cap: BudgetCap,
    },
    /// The intent was not recorded, because another live attempt holds the key, or the node is another render by now.
    ClaimConflict {
        node: NodeIx,
        /// The state of the other attempt.
        existing: ExistingWork,
        /// What the record has by now, where the number belongs to another shot, or another render is asked for: the node is looked up again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        renders: Option<Box<RecordedRenders>>,
    },
    /// The request could not be prepared, because a frame or a file could not be read; or the existing work for its key could not be looked up.
    PrepareFailed {
        node: NodeIx,
        failure: Failure,
    },
    /// The service accepted the request: from here on it costs money.
    Submitted {
        node: NodeIx,
        attempt: AttemptId,
        task: TaskId,
    },
    /// The service definitely did not accept the request.
    Refused {
        node: NodeIx,
        attempt: AttemptId,
        /// Why, and whether it may be retried.
        refusal: Refusal,
        /// Whether no request of this run can succeed, so that nothing more is submitted: decided with `next`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        halts: bool,
        /// What follows. `None` before the scheduler has decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<NextStep>,
    },
    /// No usable response to the POST: it may or may not have been accepted.
    Indeterminate {
        node: NodeIx,
        attempt: AttemptId,
        reason: String,
        /// Whether nothing more is submitted: the response is probably another server's, so that no request of this run can succeed, and the
        /// service has accepted or refused none yet. [`RunState::decide`](crate::RunState::decide) clears it otherwise.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        halts: bool,
        /// The id of a task that the response names: probably that of this attempt. A person adopts it, once the account lists it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suggested_task: Option<TaskId>,
    },
    /// A poll has a result, or failed.
    Polled {
        node: NodeIx,
        attempt: AttemptId,
        result: PollResult,
        /// What follows. `None` before the scheduler has decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<NextStep>,
    },
    /// The video is on disk under its final name, and verified.
    Downloaded {
        node: NodeIx,
        attempt: AttemptId,
        artifact: Artifact,
        /// What the task cost, if it has a price.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "units::micros")]
        cost: Option<Money>,
    },
    /// The video could not be downloaded this time.
    DownloadFailed {
        node: NodeIx,
        attempt: AttemptId,
        failure: Failure,
        /// Bytes of it on disk, from which the next download resumes.
        partial_bytes: u64,
        /// What follows. `None` before the scheduler has decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<NextStep>,
    },
    /// The film is on disk under its final name.
    FilmJoined {
        /// Its index among the films of the plan.
        index: usize,
        film: Film,
    },
    /// The clips could not be joined.
    JoinFailed {
        /// Its index among the films of the plan.
        index: usize,
        failure: Failure,
    },
    /// The service was queried for an indeterminate submission and returned every task that the request created.
    Reconciled {
        node: NodeIx,
        attempt: AttemptId,
        /// When its intent was recorded.
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
        /// What follows. `None` before the scheduler has decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<NextStep>,
    },
    /// An attempt's task is gone from the service, so that its node may be submitted again.
    TaskExpired {
        node: NodeIx,
        attempt: AttemptId,
    },
    /// A person resolved an attempt with `runner resolve`, outside of a run.
    Resolved {
        attempt: AttemptId,
        resolution: Resolution,
    },
    /// A person asked for one more render of shots, with `run --rerun`.
    RendersAsked {
        workflow: String,
        renders: Vec<AskedRender>,
        /// The latest ones of shots for which nothing more is asked, because they were asked for before, together with others that are not done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        continued: Vec<AskedRender>,
    },
    /// What was asked for is not wanted any more: a person withdrew it, or the shot is gone from the file.
    RendersWithdrawn {
        workflow: String,
        renders: Vec<AskedRender>,
    },
    /// The deadline of an [`crate::Action::Wake`] has passed.
    TimerFired,
    /// The user interrupted the run: nothing more is submitted, tasks in flight are left to the next run.
    Interrupted,
}

/// A render that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedRender {
    /// The name of the instance, without the number of a take.
    pub instance: String,
    /// The number in its list of renders.
    pub render: u32,
}

fn first_render() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_first_render(render: &u32) -> bool {
    *render == 1
}

impl Event {
    /// A refusal, before the scheduler has decided what follows.
    pub fn refused(node: NodeIx, attempt: AttemptId, refusal: Refusal) -> Self {
        Self::Refused { node, attempt, refusal, halts: false, next: None }
    }

    /// The event's kind, its name in the ledger.
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
            Self::RendersAsked { .. } => EventKind::RendersAsked,
            Self::RendersWithdrawn { .. } => EventKind::RendersWithdrawn,
            Self::TimerFired => EventKind::TimerFired,
            Self::Interrupted => EventKind::Interrupted,
        }
    }

    /// The node that the event concerns, if any.
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
            | Self::RendersAsked { .. }
            | Self::RendersWithdrawn { .. }
            | Self::TimerFired
            | Self::Interrupted => None,
        }
    }
}

/// Resolution of an indeterminate submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Resolution {
    /// It was accepted, as this task.
    Accepted { task: TaskId },
    /// It was not accepted: the next run submits the node again.
    NotAccepted,
    /// It cannot be found out: its reservation counts as spent, and the node is submitted again only on request.
    Abandoned,
}

impl Resolution {
    /// The state of the attempt from then on.
    pub const fn attempt_state(&self) -> AttemptState {
        match self {
            Self::Accepted { .. } => AttemptState::Submitted,
            Self::NotAccepted => AttemptState::NotAccepted,
            Self::Abandoned => AttemptState::Abandoned,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::renders::{RendersOfRequest, Work};

    #[test]
    fn event_kind_equals_serialized_tag() {
        let failure = || Failure::new(crate::FailureKind::Task, "no");
        let (node, attempt) = (NodeIx::new(0), AttemptId::from("r.1"));
        let events = [
            Event::RunConfigured { only: None, fail_fast: true, several_services: false },
            Event::Started,
            Event::LookupDone { node, key: String::new(), existing: ExistingWork::None, render: 1 },
            Event::Prepared {
                node,
                attempt: attempt.clone(),
                key: String::new(),
                digest: String::new(),
                by_url: false,
                service_independent_key: None,
                reservation: Reservation::default(),
                render: 1,
                parts: Vec::new(),
            },
            Event::BudgetExceeded { node, cap: BudgetCap::Cost },
            Event::ClaimConflict {
                node,
                existing: ExistingWork::None,
                renders: Some(Box::new(RecordedRenders {
                    request: RendersOfRequest::new([], [(1, Work::Video), (2, Work::Live)]),
                    wishes: crate::renders::Wishes { open: Some(3), done: [2].into(), ..Default::default() },
                })),
            },
            Event::PrepareFailed { node, failure: failure() },
            Event::Submitted { node, attempt: attempt.clone(), task: TaskId::from("t") },
            Event::refused(
                node,
                attempt.clone(),
                Refusal { kind: RefusalKind::Throttled, failure: failure(), retry_after: None },
            ),
            Event::Indeterminate {
                node,
                attempt: attempt.clone(),
                reason: String::new(),
                halts: true,
                suggested_task: Some(TaskId::from("t")),
            },
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
            Event::RendersAsked { workflow: String::new(), renders: Vec::new(), continued: Vec::new() },
            Event::RendersWithdrawn { workflow: String::new(), renders: Vec::new() },
            Event::TimerFired,
            Event::Interrupted,
        ];
        assert_eq!(events.len(), EventKind::ALL.len());
        for (event, kind) in events.iter().zip(EventKind::ALL) {
            let stored = serde_json::to_value(event).unwrap();
            assert_eq!((stored["event"].as_str(), event.kind()), (Some(kind.as_str()), *kind));
            assert_eq!(serde_json::from_value::<Event>(stored).unwrap(), *event, "it can be read back");
        }
    }

    fn artifact() -> Artifact {
        Artifact {
            path: "a.mp4".into(),
            sha256: String::new(),
            first_sha256: None,
            bytes: 1,
            duration: Duration::from_secs(4),
            width: 1,
            height: 1,
            last_frame_url: None,
            expires_at: None,
            modified_at: None,
        }
    }

    fn film() -> Film {
        Film {
            path: "film.mp4".into(),
            duration: Duration::from_secs(4),
            width: 1,
            height: 1,
            audio: false,
            clips_digest: String::new(),
            loudness: None,
            frames: None,
            unmatched: Vec::new(),
            reused: false,
        }
    }
}
