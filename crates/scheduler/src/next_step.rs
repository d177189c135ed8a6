//! What follows for a shot from a refusal, a poll or a failed download.

use serde::{Deserialize, Serialize};

use crate::event::{Event, PollResult, RefusalKind};
use crate::timestamp::Timestamp;

/// What the scheduler decided with an event. It is recorded as part of the event: whoever reads the record needs neither the plan (a shot's
/// `retry`, its timeout) nor the policy of the run to know what followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum NextStep {
    /// The same task is polled or downloaded again.
    Continue,
    /// The request is submitted again: no task of it counts.
    Resubmit {
        /// Earliest time.
        not_before: Timestamp,
    },
    /// The task failed, and the shot's `retry` pays for another attempt.
    Retry {
        /// The number of that attempt, from 2.
        attempt: u32,
        /// How many attempts the shot has.
        of: u32,
        /// Earliest time.
        not_before: Timestamp,
    },
    /// The shot has failed.
    Fail,
    /// The task is left to a later run.
    Detach {
        /// Why.
        reason: String,
    },
}

impl NextStep {
    /// What followed from an event that was recorded without it, as far as the event tells.
    pub(crate) fn assumed(event: &Event, now: Timestamp) -> Self {
        match event {
            Event::Refused { refusal, .. } => match refusal.kind {
                RefusalKind::Throttled | RefusalKind::Retryable | RefusalKind::Unreachable => {
                    Self::Resubmit { not_before: now }
                }
                RefusalKind::InvalidRequest | RefusalKind::ServiceUnusable => Self::Fail,
            },
            Event::Reconciled { task: None, .. } => Self::Resubmit { not_before: now },
            Event::Polled { result, .. } => match result {
                PollResult::Failed { .. } => Self::Fail,
                // Polls of running tasks are recorded only where they are the last.
                PollResult::Running { .. } => Self::Detach { reason: "it is not finished".to_owned() },
                PollResult::Unauthorized { failure } => Self::Detach { reason: failure.message.clone() },
                PollResult::Completed { .. }
                | PollResult::NotFound { .. }
                | PollResult::Throttled { .. }
                | PollResult::Unreachable { .. } => Self::Continue,
            },
            _ => Self::Continue,
        }
    }
}
