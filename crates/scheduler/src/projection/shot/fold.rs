//! The fold of events into a shot: the only one in the workspace.

use super::Shot;
use crate::attempt::Attempt;
use crate::attempt_state::AttemptState;
use crate::event::{Event, ExistingWork, PollResult};
use crate::ids::{AttemptId, TaskId};
use crate::next_step::NextStep;
use crate::outcome::{Decision, Failure, FailureKind, Outcome};
use crate::projection::ShotStatus;
use crate::timestamp::Timestamp;

impl Shot {
    /// Folds an event of the shot. The event's `next` decides what follows; without one, what the event alone implies.
    pub fn on_event(&mut self, event: &Event, now: Timestamp) {
        let was_in_preparation = matches!(
            event,
            Event::Prepared { .. }
                | Event::PrepareFailed { .. }
                | Event::ClaimConflict { .. }
                | Event::BudgetExceeded { .. }
        );
        if was_in_preparation && std::mem::take(&mut self.is_cancelled) {
            self.status = ShotStatus::Waiting { not_before: now };
        }
        match event {
            Event::LookupDone { existing, .. } | Event::ClaimConflict { existing, .. } => {
                self.on_existing_work(existing, now);
            }
            Event::Prepared { attempt, reservation, .. } => {
                let mut attempt = Attempt::new(attempt.clone(), AttemptState::Intended, now);
                attempt.reservation = Some(*reservation);
                self.push_attempt(attempt);
                self.set(ShotStatus::Submitting, now);
            }
            Event::BudgetExceeded { cap, .. } => {
                self.last_error = Some(format!("the cap on {cap} is reached"));
                self.set(ShotStatus::Waiting { not_before: now }, now);
            }
            // Nothing is wrong with the shot: the halt that follows cancels it.
            Event::PrepareFailed { failure, .. } if failure.kind == FailureKind::Storage => {
                self.last_error = Some(failure.message.clone());
                self.set(ShotStatus::Waiting { not_before: now }, now);
            }
            Event::PrepareFailed { failure, .. } => {
                let failure = failure.clone();
                let outcome = if failure.kind == FailureKind::Unrecorded {
                    Outcome::Unrecorded { reason: failure.message }
                } else {
                    Outcome::Failed { failure, task: None }
                };
                self.end(outcome, now);
            }
            Event::Submitted { attempt, task, .. } => self.on_submitted(attempt, task, now),
            Event::Refused { attempt, refusal, next, .. } => {
                let next = next.clone().unwrap_or_else(|| NextStep::assumed(event, now));
                self.on_not_accepted(attempt, AttemptState::Refused, &refusal.failure, &next, now);
            }
            Event::Indeterminate { attempt, reason, suggested_task, .. } => {
                if let Some(attempt) = self.attempt_mut(attempt) {
                    attempt.state = AttemptState::Indeterminate;
                }
                let (attempt, reason) = (attempt.clone(), reason.clone());
                let suggested_task = suggested_task.clone();
                self.end(Outcome::Indeterminate { attempt, reason, suggested_task }, now);
            }
            Event::Reconciled { attempt, since, reason, task, next, .. } => match (&self.status, task) {
                (ShotStatus::Submitting, Some(task)) => self.on_submitted(attempt, task, now),
                (ShotStatus::Submitting, None) => {
                    let failure = Failure::new(FailureKind::Transient, reason.clone().unwrap_or_default());
                    let next = next.clone().unwrap_or_else(|| NextStep::assumed(event, now));
                    self.on_not_accepted(attempt, AttemptState::NotAccepted, &failure, &next, now);
                }
                (ShotStatus::Ended(_), task) => {
                    self.on_late_reconciliation(attempt, task.as_ref(), *since, now);
                }
                (_, Some(task)) => self.on_existing_work(
                    &ExistingWork::InFlight {
                        attempt: attempt.clone(),
                        task: task.clone(),
                        since: *since,
                        was_downloaded: false,
                        is_missing: false,
                        is_expired: false,
                        is_other_account: false,
                        damage: None,
                    },
                    now,
                ),
                (_, None) => self.on_existing_work(&ExistingWork::None, now),
            },
            Event::Polled { attempt, result, next, .. } => {
                let next = next.clone().unwrap_or_else(|| NextStep::assumed(event, now));
                self.on_polled(attempt, result, next, now);
            }
            Event::Downloaded { attempt, artifact, cost, .. } => {
                let Some(attempt) = self.attempt_mut(attempt) else { return };
                attempt.end(AttemptState::Completed, None, now);
                attempt.cost = *cost;
                if let Some(task) = attempt.task.clone() {
                    self.end(Outcome::Done { artifact: artifact.clone(), task }, now);
                }
            }
            Event::DownloadFailed { attempt, failure, next, .. } => {
                if self.status != ShotStatus::Downloading {
                    return;
                }
                self.last_error = Some(failure.message.clone());
                let next = next.clone().unwrap_or_else(|| NextStep::assumed(event, now));
                let ended = match next {
                    NextStep::Retry { .. } => Some(AttemptState::Expired),
                    NextStep::Missing { .. } => Some(AttemptState::Missing),
                    NextStep::Continue
                    | NextStep::Resubmit { .. }
                    | NextStep::Fail
                    | NextStep::Detach { .. } => None,
                };
                if let (Some(state), Some(attempt)) = (ended, self.attempt_mut(attempt)) {
                    attempt.end(state, Some(failure.clone()), now);
                }
                self.proceed(next, Some(failure), now);
            }
            Event::TaskExpired { attempt, .. } => {
                let is_current = self.attempts.last().is_some_and(|last| last.id == *attempt);
                let failure = Failure::new(FailureKind::Expired, "the service no longer has the task");
                let Some(attempt) = self.attempt_mut(attempt) else { return };
                attempt.state = AttemptState::Expired;
                attempt.ended_at.get_or_insert(now);
                let task = attempt.task.clone();
                // Where the poll before has not decided it.
                if is_current && matches!(self.status, ShotStatus::InFlight | ShotStatus::Downloading) {
                    self.end(Outcome::Failed { failure, task }, now);
                }
            }
            Event::RunConfigured { .. }
            | Event::Started
            | Event::FilmJoined { .. }
            | Event::JoinFailed { .. }
            | Event::Resolved { .. }
            | Event::RendersAsked { .. }
            | Event::RendersWithdrawn { .. }
            | Event::TimerFired
            | Event::Interrupted => {}
        }
    }

    fn on_existing_work(&mut self, existing: &ExistingWork, now: Timestamp) {
        if !self.is_selected && !matches!(existing, ExistingWork::Completed { .. }) {
            self.end(Outcome::NotSelected { task: existing.task().cloned() }, now);
            return;
        }
        let blocked = Some(Decision::Blocked);
        match existing {
            ExistingWork::None => {
                self.decision = Some(Decision::Execute);
                self.set(ShotStatus::Waiting { not_before: now }, now);
            }
            ExistingWork::Completed { attempt, task, artifact } => {
                self.decision = Some(Decision::Reuse);
                self.adopt(attempt, AttemptState::Completed, Some(task), now);
                self.end(Outcome::Done { artifact: artifact.clone(), task: task.clone() }, now);
            }
            ExistingWork::InFlight { attempt, task, since, .. } => {
                self.decision = Some(Decision::Adopt);
                self.adopt(attempt, AttemptState::Submitted, Some(task), now).submitted_at = Some(*since);
                self.last_error = None;
                self.set(ShotStatus::InFlight, now);
                self.since = *since;
            }
            ExistingWork::Indeterminate { attempt, suggested_task, reason, .. } => {
                self.decision = blocked;
                self.adopt(attempt, AttemptState::Indeterminate, None, now);
                let reason = match (reason, suggested_task) {
                    (Some(reason), _) => {
                        format!("an earlier run submitted this shot and got no usable response: {reason}")
                    }
                    (None, None) => "an earlier run was cut off while it was submitting this shot".to_owned(),
                    (None, Some(_)) => {
                        "an earlier run submitted this shot and got no usable response".to_owned()
                    }
                };
                let attempt = attempt.clone();
                let suggested_task = suggested_task.clone();
                self.end(Outcome::Indeterminate { attempt, reason, suggested_task }, now);
            }
            ExistingWork::Abandoned { attempt } => {
                self.decision = blocked;
                self.adopt(attempt, AttemptState::Abandoned, None, now);
                let message =
                    format!("its submission {attempt} was abandoned, and it is not submitted again");
                let failure = Failure::new(FailureKind::Abandoned, message);
                self.end(Outcome::Failed { failure, task: None }, now);
            }
            ExistingWork::OtherService { service, attempt, task } => {
                self.decision = blocked;
                let state =
                    if task.is_some() { AttemptState::Submitted } else { AttemptState::Indeterminate };
                self.adopt(attempt, state, task.as_ref(), now);
                let detail = if task.is_some() {
                    format!("it is in flight at {service}")
                } else {
                    format!("it was submitted to {service}, without a response")
                };
                let outcome = Outcome::AtOtherService {
                    service: service.clone(),
                    attempt: attempt.clone(),
                    task: task.clone(),
                    reason: format!("{detail}, and this run uses another service"),
                };
                self.end(outcome, now);
            }
            ExistingWork::ClaimedByOtherRun { run } => {
                self.last_error = Some(format!("run {run} is submitting this shot; waiting for its task"));
                self.set(ShotStatus::ClaimedByOtherRun { run: run.clone() }, now);
            }
            ExistingWork::Changed { .. } => self.set(ShotStatus::Pending, now),
        }
    }

    fn adopt(
        &mut self,
        attempt: &AttemptId,
        state: AttemptState,
        task: Option<&TaskId>,
        now: Timestamp,
    ) -> &mut Attempt {
        let mut adopted = Attempt::new(attempt.clone(), state, now);
        adopted.is_adopted = true;
        adopted.task = task.cloned();
        self.push_attempt(adopted);
        let last = self.attempts.len() - 1;
        &mut self.attempts[last]
    }

    fn on_submitted(&mut self, attempt: &AttemptId, task: &TaskId, now: Timestamp) {
        let Some(attempt) = self.attempt_mut(attempt) else { return };
        attempt.state = AttemptState::Submitted;
        attempt.task = Some(task.clone());
        attempt.submitted_at = Some(now);
        self.last_error = None;
        self.set(ShotStatus::InFlight, now);
    }

    /// The shot has ended: only the state of the attempt changes.
    fn on_late_reconciliation(
        &mut self,
        attempt: &AttemptId,
        task: Option<&TaskId>,
        since: Timestamp,
        now: Timestamp,
    ) {
        let Some(attempt) = self.attempt_mut(attempt) else { return };
        if let Some(task) = task {
            attempt.state = AttemptState::Submitted;
            attempt.task = Some(task.clone());
            attempt.submitted_at = Some(since);
        } else {
            attempt.end(AttemptState::NotAccepted, None, now);
        }
    }

    fn on_not_accepted(
        &mut self,
        attempt: &AttemptId,
        state: AttemptState,
        failure: &Failure,
        next: &NextStep,
        now: Timestamp,
    ) {
        if let Some(attempt) = self.attempt_mut(attempt) {
            attempt.end(state, Some(failure.clone()), now);
        }
        self.last_error = Some(failure.message.clone());
        match next {
            NextStep::Fail => self.end(Outcome::Failed { failure: failure.clone(), task: None }, now),
            NextStep::Resubmit { not_before } => {
                self.set(ShotStatus::Waiting { not_before: *not_before }, now);
            }
            NextStep::Continue
            | NextStep::Retry { .. }
            | NextStep::Detach { .. }
            | NextStep::Missing { .. } => {}
        }
    }

    fn on_polled(&mut self, id: &AttemptId, result: &PollResult, next: NextStep, now: Timestamp) {
        if self.status != ShotStatus::InFlight || self.attempts.last().is_none_or(|last| last.id != *id) {
            return;
        }
        let mut ended = None;
        self.last_error = None;
        match result {
            PollResult::Running { progress, .. } => {
                // Displayed progress never decreases, whatever the service reports.
                self.progress = self.progress.max(progress.map(|percent| percent.min(100)));
            }
            PollResult::Completed { .. } => {
                self.progress = Some(100);
                self.set(ShotStatus::Downloading, now);
            }
            PollResult::Failed { failure } => {
                let is_missing = matches!(next, NextStep::Missing { .. });
                let state = if is_missing { AttemptState::Missing } else { AttemptState::Failed };
                ended = Some((state, failure.clone()));
            }
            PollResult::NotFound { expired } => {
                let message = if *expired {
                    "the service reports that the task has expired"
                } else {
                    "the service does not know the task"
                };
                self.last_error = Some(message.to_owned());
                let is_missing = matches!(next, NextStep::Missing { .. });
                let state = if is_missing { AttemptState::Missing } else { AttemptState::Expired };
                if next != NextStep::Continue {
                    ended = Some((state, Failure::new(FailureKind::Expired, message)));
                }
            }
            PollResult::Throttled { reason, .. } | PollResult::Unreachable { reason } => {
                self.last_error = Some(reason.clone());
            }
            PollResult::Unauthorized { failure } => self.last_error = Some(failure.message.clone()),
        }
        if let (Some((state, failure)), false) = (&ended, matches!(next, NextStep::Detach { .. }))
            && let Some(attempt) = self.attempts.last_mut()
        {
            // A deleted video that had been delivered is no failure: it is rendered again.
            let failure = (!matches!(next, NextStep::Resubmit { .. })).then(|| failure.clone());
            attempt.end(*state, failure, now);
        }
        let failure = ended.map(|(_, failure)| failure);
        self.proceed(next, failure.as_ref(), now);
    }

    /// The next step of an accepted task.
    fn proceed(&mut self, next: NextStep, failure: Option<&Failure>, now: Timestamp) {
        match next {
            NextStep::Continue => {}
            NextStep::Resubmit { not_before } => {
                self.start_over();
                self.set(ShotStatus::Waiting { not_before }, now);
            }
            NextStep::Retry { attempt, of, not_before } => {
                self.start_over();
                self.attempt_number = attempt;
                self.last_error = failure.map(|failure| failure.message.clone());
                self.set(ShotStatus::WaitingForRetry { attempt, of, not_before }, now);
            }
            NextStep::Fail => {
                let task = self.attempts.last().and_then(|attempt| attempt.task.clone());
                let failure =
                    failure.cloned().unwrap_or_else(|| Failure::new(FailureKind::Task, "it failed"));
                self.end(Outcome::Failed { failure, task }, now);
            }
            NextStep::Detach { reason } => self.detach(reason, now),
            NextStep::Missing { reason } => {
                if let Some(task) = self.attempts.last().and_then(|attempt| attempt.task.clone()) {
                    self.end(Outcome::Missing { task, reason }, now);
                }
            }
        }
    }

    fn start_over(&mut self) {
        self.decision = Some(Decision::Execute);
        self.progress = None;
        self.last_error = None;
    }
}
