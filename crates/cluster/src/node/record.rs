//! The attempts of a node's key. Pure.

use engine::effects::InputSource;
use scheduler::budget::Reservation;
use scheduler::{
    Artifact, AttemptId, AttemptState, Event, ExistingWork, Failure, FailureKind, RecordedAttempt,
    RecordedVideo, Refusal, RefusalKind, Resolution, RunId, TaskId, Timestamp,
};
use serde::{Deserialize, Serialize};
use workflow::plan::{NodeIx, NodeKey};

use crate::account::AccountSettlement;

/// Attempts that were not begun and are remembered, at most. A run is declined once or twice for a key, so that this
/// many runs would have to ask for it between two messages of one attempt.
const MAX_DECLINED: usize = 64;

/// All attempts of a key, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NodeRecord {
    /// The attempts. Invariant: at most one of them holds the key.
    pub attempts: Vec<NodeAttempt>,
    /// The latest attempts that were not begun, oldest first. Their messages may arrive again, after their runs have gone on.
    pub declined: Vec<DeclinedAttempt>,
}

/// An attempt that was asked for and not begun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclinedAttempt {
    pub attempt: AttemptId,
    /// The events that were reported to its run.
    pub events: Vec<Event>,
}

/// An attempt, with what its request is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeAttempt {
    pub id: AttemptId,
    /// The run that intended it.
    pub run: RunId,
    /// SHA-256 of the plan of that run.
    pub plan: String,
    /// Its node in that plan.
    pub node: NodeIx,
    pub name: String,
    /// The name of the plan.
    pub workflow: String,
    /// Where the inputs of the request come from.
    pub sources: Vec<InputSource>,
    /// SHA-256 of the request.
    pub digest: String,
    pub service: String,
    /// Digest of the account's key; `None` for a service without keys.
    pub account: Option<String>,
    pub state: AttemptState,
    /// What was reserved for it.
    pub reservation: Option<Reservation>,
    /// When the intent was recorded.
    pub intended_at: Timestamp,
    /// When the task was submitted.
    pub submitted_at: Option<Timestamp>,
    pub task: Option<TaskId>,
    /// The id that an unusable response named.
    pub suggested_task: Option<TaskId>,
    /// Why it is indeterminate, or ended without a video.
    pub reason: Option<String>,
    pub artifact: Option<Artifact>,
    /// Whether another attempt held the key when its video was stored: it does not hold the key beside that one.
    pub is_replaced: bool,
}

impl NodeAttempt {
    /// Whether its request refers to a frame by the URL that the service returned.
    pub fn is_by_url(&self) -> bool {
        self.sources.iter().any(InputSource::is_by_url)
    }

    /// Whether it keeps the key from being submitted again.
    pub fn holds_key(&self) -> bool {
        self.state.holds_key() && !self.is_replaced
    }

    /// The key under which it is recorded, for its node's key: that one, or as in a ledger one of its own, for which no shot asks.
    pub fn recorded_key(&self, key: NodeKey) -> NodeKey {
        if self.is_replaced { key.salted(self.id.as_str()) } else { key }
    }
}

impl NodeRecord {
    /// The attempt that keeps the key from being submitted again.
    pub fn holder(&self) -> Option<&NodeAttempt> {
        self.attempts.iter().find(|attempt| attempt.holds_key())
    }

    pub fn attempt(&self, id: &AttemptId) -> Option<&NodeAttempt> {
        self.attempts.iter().find(|attempt| attempt.id == *id)
    }

    /// Remembers what was answered to an attempt that was not begun. Another run may be declined before the message of the first one arrives
    /// again, so that the latest one alone would not do.
    pub fn decline(&mut self, attempt: AttemptId, events: Vec<Event>) {
        self.declined.push(DeclinedAttempt { attempt, events });
        let surplus = self.declined.len().saturating_sub(MAX_DECLINED);
        self.declined.drain(..surplus);
    }

    /// What was answered to an attempt that was not begun: it never is, because its run has gone on.
    pub fn declined_events(&self, attempt: &AttemptId) -> Option<&[Event]> {
        let declined = self.declined.iter().find(|declined| declined.attempt == *attempt);
        declined.map(|declined| &*declined.events)
    }

    /// The attempt with which a run goes on: the holder, or else one whose task a `retry` gave up without another being accepted since. Its
    /// task is paid for and may have a video after all. Or else one that was replaced and whose video was stored, where its replacement came to
    /// nothing or was abandoned.
    pub fn attempt_to_continue(&self) -> Option<&NodeAttempt> {
        let latest = |is_wanted: fn(&NodeAttempt) -> bool| {
            self.attempts.iter().rev().find(|attempt| is_wanted(attempt))
        };
        let replaced_video =
            || latest(|attempt| attempt.is_replaced && attempt.state == AttemptState::Completed);
        match self.holder() {
            Some(holder) if holder.state == AttemptState::Abandoned => replaced_video().or(Some(holder)),
            Some(holder) => Some(holder),
            None => latest(|attempt| attempt.task.is_some())
                .filter(|attempt| attempt.state == AttemptState::Expired)
                .or_else(replaced_video),
        }
    }

    /// The video of that attempt. A run uses it if it is in the shared store.
    pub fn video_to_reuse(&self) -> Option<&Artifact> {
        self.attempt_to_continue().and_then(|attempt| attempt.artifact.as_ref())
    }

    /// A run goes on with a task that a `retry` gave up, or with the video of one: it holds the key again. Returns whether there is such an
    /// attempt.
    pub fn take_up(&mut self) -> bool {
        if self.holder().is_some() {
            return false;
        }
        let Some(id) = self.attempt_to_continue().map(|attempt| attempt.id.clone()) else { return false };
        self.update(&id, |attempt| {
            attempt.is_replaced = false;
            if attempt.state == AttemptState::Expired {
                attempt.state = AttemptState::Missing;
            }
        });
        true
    }

    /// The shared store has the video of the attempt with which a run goes on, whose task was missing. Returns whether it was.
    pub fn recover_video(&mut self) -> bool {
        let missing = self.attempt_to_continue().filter(|attempt| attempt.state == AttemptState::Missing);
        let Some(id) = missing.map(|attempt| attempt.id.clone()) else { return false };
        self.update(&id, |attempt| {
            attempt.state = AttemptState::Completed;
            attempt.reason = None;
        });
        true
    }

    /// Existing work for the key, for a run with this account. `is_stored` says of a video whether it is in the shared store.
    pub fn existing_work(
        &self,
        account: Option<&str>,
        is_stored: impl FnOnce(&Artifact) -> bool,
    ) -> ExistingWork {
        let Some(recorded) = self.attempt_to_continue().cloned() else { return ExistingWork::None };
        let NodeAttempt { id: attempt, run, state, task, suggested_task, reason, .. } = recorded;
        let NodeAttempt { account: submitted_with, intended_at, submitted_at, artifact, .. } = recorded;
        let video = match artifact {
            Some(artifact) if is_stored(&artifact) => RecordedVideo::Intact(artifact),
            Some(_) => RecordedVideo::Missing,
            None => RecordedVideo::None,
        };
        let recorded = RecordedAttempt {
            attempt,
            run,
            state,
            task,
            suggested_task,
            reason,
            intended_at,
            submitted_at,
            // A handler that was interrupted is executed again, whatever has become of its worker.
            is_run_alive: true,
            is_other_account: submitted_with.as_deref().zip(account).is_some_and(|(own, asked)| own != asked),
        };
        recorded.existing_work(video)
    }

    /// The event that reports a submission that was made before it was asked for: its message was sent again. `None` while it is to be made.
    pub fn submission_event(&self, id: &AttemptId, node: NodeIx) -> Option<Event> {
        let attempt = self.attempt(id)?;
        let (attempt, id) = (attempt.clone(), id.clone());
        let reason = attempt.reason.unwrap_or_default();
        match attempt.state {
            AttemptState::Intended => None,
            AttemptState::Submitted
            | AttemptState::Completed
            | AttemptState::Missing
            | AttemptState::Expired => match attempt.task {
                Some(task) => Some(Event::Submitted { node, attempt: id, task }),
                None => Some(indeterminate(node, id, reason, attempt.suggested_task)),
            },
            AttemptState::Indeterminate | AttemptState::Abandoned => {
                Some(indeterminate(node, id, reason, attempt.suggested_task))
            }
            AttemptState::Failed => match attempt.task {
                Some(task) => Some(Event::Submitted { node, attempt: id, task }),
                None => Some(refused(node, id, reason, RefusalKind::Retryable)),
            },
            AttemptState::Refused | AttemptState::NotAccepted => {
                Some(refused(node, id, reason, RefusalKind::Retryable))
            }
        }
    }

    /// Records an intent; returns the run that holds the key if another attempt does. Claiming again changes nothing.
    ///
    /// # Errors
    /// The run that holds the key.
    pub fn claim(&mut self, attempt: NodeAttempt) -> Result<(), RunId> {
        match self.holder() {
            Some(holder) if holder.id == attempt.id => Ok(()),
            Some(holder) => Err(holder.run.clone()),
            None => {
                self.attempts.push(attempt);
                Ok(())
            }
        }
    }

    /// The service accepted an attempt.
    pub fn submitted(&mut self, id: &AttemptId, task: &TaskId, time: Timestamp) {
        self.update(id, |attempt| {
            attempt.state = AttemptState::Submitted;
            attempt.task = Some(task.clone());
            attempt.submitted_at = Some(time);
            attempt.reason = None;
        });
    }

    /// The service refused an attempt.
    pub fn refused(&mut self, id: &AttemptId, reason: &str) -> AccountSettlement {
        self.end(id, AttemptState::Refused, reason)
    }

    /// Whether an attempt was accepted is unknown.
    pub fn indeterminate(&mut self, id: &AttemptId, reason: &str, suggested_task: Option<TaskId>) {
        self.update(id, |attempt| {
            attempt.state = AttemptState::Indeterminate;
            attempt.reason = Some(reason.to_owned());
            attempt.suggested_task = suggested_task;
        });
    }

    /// The video of an attempt is in the shared store. Returns its record, which is that of the same video where it was there before. The key
    /// stays with the attempt that holds it by now, as where one run gave up the task that another one has downloaded.
    pub fn completed(&mut self, id: &AttemptId, artifact: Artifact) -> Artifact {
        let earlier = self.attempt(id).and_then(|attempt| attempt.artifact.as_ref());
        let artifact = artifact.delivered_after(earlier.map(Artifact::identity_sha256));
        let is_replaced = self.holder().is_some_and(|holder| holder.id != *id);
        self.update(id, |attempt| {
            attempt.is_replaced = is_replaced;
            attempt.state = AttemptState::Completed;
            attempt.artifact = Some(artifact.clone());
        });
        artifact
    }

    /// An attempt ended without a video. Returns what becomes of its reservation.
    pub fn end(&mut self, id: &AttemptId, state: AttemptState, reason: &str) -> AccountSettlement {
        self.update(id, |attempt| {
            attempt.state = state;
            attempt.reason = Some(reason.to_owned());
        });
        if state.may_be_paid() { AccountSettlement::Full } else { AccountSettlement::Released }
    }

    /// A person resolves an attempt that is indeterminate. Returns what becomes of its reservation, if anything does.
    ///
    /// # Errors
    /// The attempt's state, if nobody has to resolve it; `None` if there is no such attempt.
    pub fn resolve(
        &mut self,
        id: &AttemptId,
        resolution: &Resolution,
    ) -> Result<Option<AccountSettlement>, Option<AttemptState>> {
        let attempt = self.attempt(id).ok_or(None)?;
        if !attempt.state.is_resolvable() {
            return Err(Some(attempt.state));
        }
        let intended_at = attempt.intended_at;
        Ok(match resolution {
            Resolution::Accepted { task } => {
                self.submitted(id, task, intended_at);
                None
            }
            Resolution::NotAccepted => {
                Some(self.end(id, resolution.attempt_state(), "a person found that it was not accepted"))
            }
            Resolution::Abandoned => Some(self.end(id, resolution.attempt_state(), "a person abandoned it")),
        })
    }

    fn update(&mut self, id: &AttemptId, change: impl FnOnce(&mut NodeAttempt)) {
        if let Some(attempt) = self.attempts.iter_mut().find(|attempt| attempt.id == *id) {
            change(attempt);
        }
        debug_assert!(
            self.attempts.iter().filter(|attempt| attempt.holds_key()).count() <= 1,
            "two attempts hold the key: {:?}",
            self.attempts
        );
    }
}

fn indeterminate(node: NodeIx, attempt: AttemptId, reason: String, suggested_task: Option<TaskId>) -> Event {
    Event::Indeterminate { node, attempt, reason, halts: false, suggested_task }
}

fn refused(node: NodeIx, attempt: AttemptId, reason: String, kind: RefusalKind) -> Event {
    let refusal = Refusal { kind, failure: Failure::new(FailureKind::Transient, reason), retry_after: None };
    Event::refused(node, attempt, refusal)
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
