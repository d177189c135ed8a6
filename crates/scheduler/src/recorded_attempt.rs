//! What an attempt on record means for a run that looks up its key. The ledger and the records of a cluster decide it here, so that they agree.

use crate::artifact::Artifact;
use crate::attempt_state::AttemptState;
use crate::event::ExistingWork;
use crate::ids::{AttemptId, RunId, TaskId};
use crate::timestamp::Timestamp;

/// An attempt as it is on record.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedAttempt {
    pub attempt: AttemptId,
    /// The run that intended it.
    pub run: RunId,
    pub state: AttemptState,
    /// Its task, once it was accepted.
    pub task: Option<TaskId>,
    /// The id that the response to an indeterminate submission named.
    pub suggested_task: Option<TaskId>,
    /// Why it is indeterminate.
    pub reason: Option<String>,
    /// When the intent was recorded.
    pub intended_at: Timestamp,
    /// When its task was accepted.
    pub submitted_at: Option<Timestamp>,
    /// Whether its run has not ended, so that it may still submit it.
    pub is_run_alive: bool,
    /// Whether it was submitted with the key of another account than that of the run that asks.
    pub is_other_account: bool,
}

/// The video of an attempt, as the store has it.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordedVideo {
    None,
    /// It is in the store.
    Intact(Artifact),
    /// It was in the store, and is not any more, or its bytes have changed.
    Missing,
    /// Its bytes are those that were downloaded, but they cannot be decoded; with the reason.
    Damaged(String),
}

impl RecordedAttempt {
    /// Whether it has a task that counts, so that its video has to be looked for.
    pub fn has_task(&self) -> bool {
        self.task.is_some() && is_of_a_task(self.state)
    }

    /// What it means for a run that goes on with it.
    pub fn existing_work(self, video: RecordedVideo) -> ExistingWork {
        let state = self.state;
        match (state, self.task) {
            (AttemptState::Intended, _) if self.is_run_alive => {
                ExistingWork::ClaimedByOtherRun { run: self.run }
            }
            (AttemptState::Abandoned, _) => ExistingWork::Abandoned { attempt: self.attempt },
            // These hold no key.
            (AttemptState::Failed | AttemptState::Refused | AttemptState::NotAccepted, _) => {
                ExistingWork::None
            }
            (
                AttemptState::Submitted
                | AttemptState::Completed
                | AttemptState::Missing
                | AttemptState::Expired,
                Some(task),
            ) => {
                let (was_downloaded, damage) = match video {
                    RecordedVideo::Intact(artifact) => {
                        return ExistingWork::Completed { attempt: self.attempt, task, artifact };
                    }
                    RecordedVideo::None => (false, None),
                    RecordedVideo::Missing => (true, None),
                    RecordedVideo::Damaged(reason) => (true, Some(reason)),
                };
                ExistingWork::InFlight {
                    attempt: self.attempt,
                    task,
                    since: self.submitted_at.unwrap_or(self.intended_at),
                    was_downloaded,
                    is_missing: matches!(state, AttemptState::Missing | AttemptState::Expired),
                    is_expired: state == AttemptState::Expired,
                    is_other_account: self.is_other_account,
                    damage,
                }
            }
            // A record in one of the later states has a task; what has none cannot be polled for.
            (
                AttemptState::Intended
                | AttemptState::Indeterminate
                | AttemptState::Submitted
                | AttemptState::Completed
                | AttemptState::Missing
                | AttemptState::Expired,
                _,
            ) => ExistingWork::Indeterminate {
                attempt: self.attempt,
                intended_at: self.intended_at,
                suggested_task: self.suggested_task,
                reason: self.reason,
            },
        }
    }
}

fn is_of_a_task(state: AttemptState) -> bool {
    state == AttemptState::Completed || state.has_open_task()
}

#[cfg(test)]
#[path = "recorded_attempt_tests.rs"]
mod tests;
