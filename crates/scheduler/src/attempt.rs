//! Attempts: one submission of one shot, from its recorded intent to its end.

use workflow::units::Money;

use crate::attempt_state::AttemptState;
use crate::budget::Reservation;
use crate::ids::{AttemptId, TaskId};
use crate::outcome::Failure;
use crate::timestamp::Timestamp;

/// One attempt of a shot, folded from the events of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    pub id: AttemptId,
    pub state: AttemptState,
    /// Whether an earlier run submitted it.
    pub is_adopted: bool,
    /// Its task, once the service has accepted it.
    pub task: Option<TaskId>,
    /// When its intent was recorded; for an adopted attempt, when it was looked up.
    pub intended_at: Timestamp,
    /// When the service accepted it.
    pub submitted_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    /// What this run reserved for it.
    pub reservation: Option<Reservation>,
    /// What its task cost, if known.
    pub cost: Option<Money>,
    pub failure: Option<Failure>,
}

impl Attempt {
    /// An attempt of this run, without a task.
    pub fn new(id: AttemptId, state: AttemptState, now: Timestamp) -> Self {
        Self {
            id,
            state,
            is_adopted: false,
            task: None,
            intended_at: now,
            submitted_at: None,
            ended_at: None,
            reservation: None,
            cost: None,
            failure: None,
        }
    }

    /// Whether this run submitted it and it was, or may have been, accepted: it costs money, or may.
    pub(crate) fn is_submission(&self) -> bool {
        !self.is_adopted
            && match self.state {
                AttemptState::Intended | AttemptState::Refused | AttemptState::NotAccepted => false,
                AttemptState::Indeterminate
                | AttemptState::Submitted
                | AttemptState::Completed
                | AttemptState::Failed
                | AttemptState::Expired
                | AttemptState::Missing
                | AttemptState::Abandoned => true,
            }
    }

    pub(crate) fn end(&mut self, state: AttemptState, failure: Option<Failure>, now: Timestamp) {
        self.state = state;
        self.ended_at = Some(now);
        self.failure = failure;
    }
}
