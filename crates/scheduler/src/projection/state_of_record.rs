//! The state of a shot outside of a run. The only conversion from records of work to states: the manifest and the reports use it, and
//! `runner status` for the shots of a run that is over.

use super::StatusKind;
use crate::attempt_state::AttemptState;
use crate::event::ExistingWork;

/// The state that a run gives to a shot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateInRun {
    /// The run is alive and goes on with the shot.
    Current(StatusKind),
    /// The shot has ended, or the run is over.
    Left(StatusKind),
}

/// The latest attempt with a shot's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastAttempt {
    pub state: AttemptState,
    /// The state that the run which has it gives to the shot; `None` where none on record has it as the last one of a shot.
    pub in_run: Option<StateInRun>,
}

impl LastAttempt {
    /// The state of its shot, where nothing else is recorded of the work.
    fn kind(self) -> StatusKind {
        match self.in_run {
            Some(StateInRun::Current(kind)) => kind,
            Some(StateInRun::Left(kind)) => StatusKind::after_run(self.state, Some(kind)),
            None => StatusKind::after_run(self.state, None),
        }
    }
}

impl AttemptState {
    /// Whether the state of its shot depends on what its run did after it as well: a refused submission may have been sent again.
    pub const fn needs_run(self) -> bool {
        match self {
            Self::Failed | Self::Refused | Self::NotAccepted => true,
            Self::Intended
            | Self::Indeterminate
            | Self::Submitted
            | Self::Completed
            | Self::Expired
            | Self::Missing
            | Self::Abandoned => false,
        }
    }
}

impl StatusKind {
    /// The state of a shot for which a lookup returns `existing`, and whose key has this latest attempt.
    pub fn from_record(existing: &ExistingWork, last: Option<LastAttempt>) -> Self {
        let in_run = last.and_then(|last| last.in_run);
        let recorded = |state| match in_run {
            // A run that is alive knows more than the record of its attempt.
            Some(StateInRun::Current(kind)) => kind,
            Some(StateInRun::Left(kind)) => Self::after_run(state, Some(kind)),
            None => Self::after_run(state, None),
        };
        match existing {
            ExistingWork::None => last.map_or(Self::NotStarted, LastAttempt::kind),
            ExistingWork::Completed { .. } => Self::Done,
            ExistingWork::InFlight { is_missing: true, .. } => recorded(AttemptState::Missing),
            ExistingWork::InFlight { .. } => recorded(AttemptState::Submitted),
            ExistingWork::Indeterminate { .. } => recorded(AttemptState::Indeterminate),
            ExistingWork::Abandoned { .. } => recorded(AttemptState::Abandoned),
            ExistingWork::OtherService { .. } => Self::AtOtherService,
            ExistingWork::ClaimedByOtherRun { .. } => match in_run {
                Some(StateInRun::Current(kind)) => kind,
                Some(StateInRun::Left(_)) | None => Self::ClaimedByOtherRun,
            },
            ExistingWork::Changed { .. } => Self::Pending,
        }
    }

    /// The state of a shot whose run is over or does not go on with it, by the present state of the attempt that decides it. `left`: as the
    /// run has left it, if that is known. Other commands may have changed the attempt since.
    pub const fn after_run(attempt: AttemptState, left: Option<Self>) -> Self {
        match attempt {
            AttemptState::Completed => Self::Done,
            AttemptState::Submitted | AttemptState::Intended | AttemptState::Indeterminate
                if matches!(left, Some(Self::AtOtherService)) =>
            {
                Self::AtOtherService
            }
            AttemptState::Submitted => Self::Detached,
            AttemptState::Intended | AttemptState::Indeterminate => Self::Indeterminate,
            // The next run asks about the task that a `retry` has given up as well.
            AttemptState::Missing | AttemptState::Expired => Self::Missing,
            AttemptState::Abandoned => Self::Failed,
            // Throttled, or answered with a server error that is repeated: it would have been sent again.
            AttemptState::Refused | AttemptState::Failed => match left {
                Some(Self::Unrecorded) => Self::Unrecorded,
                Some(kind) if kind.was_not_started() => Self::NotStarted,
                _ => Self::Failed,
            },
            // Its run may have sent it too often; a person who finds it out later makes it as if it had not been sent.
            AttemptState::NotAccepted => match left {
                Some(Self::Unrecorded) => Self::Unrecorded,
                Some(Self::Failed) => Self::Failed,
                _ => Self::NotStarted,
            },
        }
    }

    /// The state of a shot that waits for others, by the states of those that it depends on. As a run ends it: blocked, unless a run may go on
    /// with what it waits for, or none has begun that.
    pub fn of_dependent(dependencies: impl IntoIterator<Item = Self>) -> Self {
        let mut state = Self::NotStarted;
        for dependency in dependencies {
            match dependency {
                Self::Failed
                | Self::Indeterminate
                | Self::Detached
                | Self::AtOtherService
                | Self::Missing
                | Self::Unrecorded
                | Self::Unpicked
                | Self::Blocked => return Self::Blocked,
                Self::InFlight
                | Self::Submitting
                | Self::Downloading
                | Self::WaitingForRetry
                | Self::Waiting
                | Self::Pending
                | Self::ClaimedByOtherRun => state = Self::Pending,
                Self::Done | Self::Reused | Self::NotStarted | Self::NotSelected => {}
            }
        }
        state
    }

    /// Whether the run would have submitted the shot again.
    const fn was_not_started(self) -> bool {
        matches!(self, Self::Waiting | Self::NotStarted)
    }
}

#[cfg(test)]
#[path = "state_of_record_tests.rs"]
mod tests;
