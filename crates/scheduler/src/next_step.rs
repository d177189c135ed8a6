//! Next steps: what follows for a shot from a refusal, a poll or a failed download.

use serde::{Deserialize, Serialize};

use crate::event::{Event, PollResult, RefusalKind};
use crate::timestamp::Timestamp;

/// The scheduler's decision, recorded as part of its event: reading the record needs neither the plan (a shot's `retry`, its timeout) nor
/// the policy of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum NextStep {
    /// The same task is polled or downloaded again.
    Continue,
    /// The request is submitted again: it created no task.
    Resubmit { not_before: Timestamp },
    /// The task failed, and the shot's `retry` pays for another attempt.
    Retry {
        /// The number of the next attempt, from 2.
        attempt: u32,
        /// The total number of attempts of the shot.
        of: u32,
        not_before: Timestamp,
    },
    /// The shot has failed.
    Fail,
    /// The service does not know the task, which is paid for, or has no intact video of it: a later run asks again, and only a person decides to pay again.
    Missing { reason: String },
    /// The run detaches from the task.
    Detach { reason: String },
}

impl NextStep {
    /// The next step of an event that was recorded without one, as far as the event alone implies it.
    pub(crate) fn assumed(event: &Event, now: Timestamp) -> Self {
        match event {
            Event::Refused { refusal, .. } => match refusal.kind {
                RefusalKind::Throttled
                | RefusalKind::NotSent
                | RefusalKind::Retryable
                | RefusalKind::Unreachable => Self::Resubmit { not_before: now },
                RefusalKind::InvalidRequest | RefusalKind::ServiceUnusable => Self::Fail,
            },
            Event::Reconciled { task: None, .. } => Self::Resubmit { not_before: now },
            Event::Polled { result, .. } => match result {
                PollResult::Failed { .. } => Self::Fail,
                // Polls of running tasks are recorded only if they are the last.
                PollResult::Running { .. } => Self::Detach { reason: "it is not finished".to_owned() },
                PollResult::Unauthorized { failure } => Self::Detach { reason: failure.message.clone() },
                PollResult::Completed { .. }
                | PollResult::NotFound { .. }
                | PollResult::Throttled { .. }
                | PollResult::Unreachable { .. } => Self::Continue,
            },
            Event::RunConfigured { .. }
            | Event::Started
            | Event::LookupDone { .. }
            | Event::Prepared { .. }
            | Event::ClaimConflict { .. }
            | Event::BudgetExceeded { .. }
            | Event::PrepareFailed { .. }
            | Event::Submitted { .. }
            | Event::Indeterminate { .. }
            | Event::Downloaded { .. }
            | Event::DownloadFailed { .. }
            | Event::FilmJoined { .. }
            | Event::JoinFailed { .. }
            | Event::Reconciled { .. }
            | Event::TaskExpired { .. }
            | Event::Resolved { .. }
            | Event::RendersAsked { .. }
            | Event::RendersWithdrawn { .. }
            | Event::TimerFired
            | Event::Interrupted => Self::Continue,
        }
    }
}
