//! The projection of one shot: its attempts, its status and the last error.

mod fold;

use std::time::Duration;

use super::{ShotStatus, StatusKind};
use crate::attempt::Attempt;
use crate::attempt_state::AttemptState;
use crate::ids::{AttemptId, TaskId};
use crate::outcome::{Decision, Halt, Outcome};
use crate::timestamp::Timestamp;

/// Why the task of an interrupted run is detached.
const INTERRUPTED: &str = "the run was interrupted";

/// The projection of the events of one shot in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Shot {
    status: ShotStatus,
    since: Timestamp,
    decision: Option<Decision>,
    attempts: Vec<Attempt>,
    /// The number of the current or next attempt, as the shot's `retry` counts: from 1.
    attempt_number: u32,
    progress: Option<u8>,
    last_error: Option<String>,
    is_selected: bool,
    /// It ended because it waited when the run halted. If its request was in preparation, events still follow.
    is_cancelled: bool,
}

impl Shot {
    /// A shot without events. `is_selected`: whether the run may submit it.
    pub fn new(is_selected: bool) -> Self {
        Self {
            status: ShotStatus::Pending,
            since: Timestamp::default(),
            decision: None,
            attempts: Vec::new(),
            attempt_number: 1,
            progress: None,
            last_error: None,
            is_selected,
            is_cancelled: false,
        }
    }

    pub fn status(&self) -> &ShotStatus {
        &self.status
    }

    /// The kind of its status.
    pub fn kind(&self) -> StatusKind {
        self.status.kind(self.decision)
    }

    /// Since when it has its status; for an adopted task, since when it is in flight.
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// What the run does about it, once decided.
    pub fn decision(&self) -> Option<Decision> {
        self.decision
    }

    /// Its attempts in this run, oldest first, including one of an earlier run that this run reuses or adopts.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// The attempt that decides the state of the shot once its run is over: the last one; or the one whose task a `retry` gave up, where no
    /// other was accepted since, with which the next run goes on.
    pub fn deciding_attempt(&self) -> Option<&Attempt> {
        let last = self.attempts.last()?;
        let accepted = self.attempts.iter().rfind(|attempt| attempt.task.is_some());
        let expired = accepted.filter(|attempt| attempt.state == AttemptState::Expired);
        Some(expired.filter(|_| last.task.is_none() && !last.state.holds_key()).unwrap_or(last))
    }

    /// The number of the current or next attempt, as the shot's `retry` counts: from 1.
    pub fn attempt_number(&self) -> u32 {
        self.attempt_number
    }

    /// The progress of its task in percent, as last reported.
    pub fn progress(&self) -> Option<u8> {
        self.progress
    }

    /// How it ended, if it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        if let ShotStatus::Ended(outcome) = &self.status { Some(outcome) } else { None }
    }

    /// The last error, if it still matters: why the shot failed, is detached or indeterminate, or what is being retried.
    pub fn last_error(&self) -> Option<&str> {
        match &self.status {
            ShotStatus::Ended(Outcome::Failed { failure, .. }) => Some(&failure.message),
            ShotStatus::Ended(
                Outcome::Indeterminate { reason, .. }
                | Outcome::Detached { reason, .. }
                | Outcome::AtOtherService { reason, .. }
                | Outcome::Missing { reason, .. }
                | Outcome::Unrecorded { reason },
            ) => Some(reason),
            ShotStatus::Ended(
                Outcome::Done { .. }
                | Outcome::Blocked { .. }
                | Outcome::Unpicked { .. }
                | Outcome::NotStarted
                | Outcome::NotSelected { .. },
            )
            | ShotStatus::Pending
            | ShotStatus::Waiting { .. }
            | ShotStatus::WaitingForRetry { .. }
            | ShotStatus::ClaimedByOtherRun { .. }
            | ShotStatus::Submitting
            | ShotStatus::InFlight
            | ShotStatus::Downloading => self.last_error.as_deref(),
        }
    }

    /// Its task: the one in flight, or the one that its outcome names.
    pub fn task(&self) -> Option<&TaskId> {
        match &self.status {
            ShotStatus::InFlight | ShotStatus::Downloading => self.attempts.last()?.task.as_ref(),
            ShotStatus::Ended(outcome) => match outcome {
                Outcome::Done { task, .. }
                | Outcome::Detached { task, .. }
                | Outcome::Missing { task, .. } => Some(task),
                Outcome::Failed { task, .. }
                | Outcome::AtOtherService { task, .. }
                | Outcome::NotSelected { task } => task.as_ref(),
                Outcome::Indeterminate { .. }
                | Outcome::Unrecorded { .. }
                | Outcome::Blocked { .. }
                | Outcome::Unpicked { .. }
                | Outcome::NotStarted => None,
            },
            ShotStatus::Pending
            | ShotStatus::Waiting { .. }
            | ShotStatus::WaitingForRetry { .. }
            | ShotStatus::ClaimedByOtherRun { .. }
            | ShotStatus::Submitting => None,
        }
    }

    /// When its latest task was submitted.
    pub fn submitted_at(&self) -> Option<Timestamp> {
        self.attempts.last()?.submitted_at
    }

    /// From the submission to the downloaded video, where this run downloaded it.
    pub fn took(&self) -> Option<Duration> {
        let attempt = self.attempts.last().filter(|attempt| attempt.state == AttemptState::Completed)?;
        Some(attempt.ended_at?.since(attempt.submitted_at?))
    }

    /// The run halted: what waits to be submitted ends. After an interrupt, or if the service is unusable, what waits for anything else
    /// ends as well; an interrupted run detaches from tasks in flight.
    pub(crate) fn on_halt(&mut self, halt: &Halt, now: Timestamp) {
        let ends_lookups = matches!(halt, Halt::Interrupted | Halt::ServiceUnusable { .. });
        match self.status {
            ShotStatus::Waiting { .. } | ShotStatus::WaitingForRetry { .. } => self.cancel(now),
            ShotStatus::Pending | ShotStatus::ClaimedByOtherRun { .. } if ends_lookups => self.cancel(now),
            ShotStatus::InFlight if *halt == Halt::Interrupted => self.detach_interrupted(now),
            ShotStatus::Pending
            | ShotStatus::ClaimedByOtherRun { .. }
            | ShotStatus::Submitting
            | ShotStatus::InFlight
            | ShotStatus::Downloading
            | ShotStatus::Ended(_) => {}
        }
    }

    /// It will not be submitted in this run. If an attempt failed and the next one was not submitted, that failure is its outcome.
    pub(crate) fn cancel(&mut self, now: Timestamp) {
        let last = self.attempts.iter().rfind(|attempt| attempt.task.is_some());
        let failed = last.and_then(|attempt| Some((attempt.failure.clone()?, attempt.task.clone())));
        self.end(
            failed.map_or(Outcome::NotStarted, |(failure, task)| Outcome::Failed { failure, task }),
            now,
        );
        self.is_cancelled = true;
    }

    /// Its task is left to a later run, because this one was interrupted.
    pub(crate) fn detach_interrupted(&mut self, now: Timestamp) {
        self.detach(INTERRUPTED.to_owned(), now);
    }

    fn detach(&mut self, reason: String, now: Timestamp) {
        if let Some(task) = self.attempts.last().and_then(|attempt| attempt.task.clone()) {
            self.end(Outcome::Detached { task, reason }, now);
        }
    }

    /// Ends it. A shot that is not selected is not blocked by anything.
    pub(crate) fn end(&mut self, outcome: Outcome, now: Timestamp) {
        let has_no_task =
            matches!(outcome, Outcome::Blocked { .. } | Outcome::Unpicked { .. } | Outcome::NotStarted);
        let outcome =
            if has_no_task && !self.is_selected { Outcome::NotSelected { task: None } } else { outcome };
        if matches!(self.status, ShotStatus::Ended(_)) {
            return;
        }
        match outcome {
            Outcome::NotSelected { .. } => self.decision = Some(Decision::NotSelected),
            Outcome::Unpicked { .. } => self.decision = Some(Decision::Deferred),
            Outcome::Done { .. }
            | Outcome::Failed { .. }
            | Outcome::Indeterminate { .. }
            | Outcome::Detached { .. }
            | Outcome::AtOtherService { .. }
            | Outcome::Missing { .. }
            | Outcome::Unrecorded { .. }
            | Outcome::Blocked { .. }
            | Outcome::NotStarted => {}
        }
        self.last_error = None;
        self.set(ShotStatus::Ended(outcome), now);
    }

    fn set(&mut self, status: ShotStatus, now: Timestamp) {
        if matches!(self.status, ShotStatus::Ended(_)) {
            return;
        }
        self.status = status;
        self.since = now;
    }

    /// Its outcome, if it has ended, and its attempts.
    pub(crate) fn into_parts(self) -> (Option<Outcome>, Vec<Attempt>) {
        let outcome = if let ShotStatus::Ended(outcome) = self.status { Some(outcome) } else { None };
        (outcome, self.attempts)
    }

    /// Most shots have one attempt, and runs have many shots.
    fn push_attempt(&mut self, attempt: Attempt) {
        self.attempts.reserve_exact(1);
        self.attempts.push(attempt);
    }

    fn attempt_mut(&mut self, id: &AttemptId) -> Option<&mut Attempt> {
        self.attempts.iter_mut().rfind(|attempt| attempt.id == *id)
    }
}
