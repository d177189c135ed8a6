//! Exit codes. They are part of the interface: `runner --help`, README.

use std::process::ExitCode;

use scheduler::{FilmOutcome, Halt, RunSummary, StatusKind};

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Done,
    /// A shot or a film failed.
    Failed,
    /// Invalid input: arguments, files or environment variables; nothing was submitted.
    InvalidInput,
    /// Action needed: `runner --help` lists what it can be.
    ActionNeeded,
    /// A budget cap was reached; tasks in flight were finished.
    BudgetExceeded,
    /// The service, the ledger or the disk cannot be used, or standard output cannot be written.
    Unusable,
    /// Interrupted; tasks in flight are adopted by the next run.
    Interrupted,
}

impl Exit {
    /// The exit code of a finished run. A halt precedes failures, failures precede actions needed.
    pub(crate) fn from_summary(summary: &RunSummary) -> Self {
        match &summary.halt {
            Some(Halt::Interrupted) => return Self::Interrupted,
            Some(Halt::ServiceUnusable { .. } | Halt::StorageUnusable { .. }) => return Self::Unusable,
            Some(Halt::BudgetExceeded { .. }) => return Self::BudgetExceeded,
            Some(Halt::FailFast { .. }) | None => {}
        }
        let failed = summary.count(&[StatusKind::Failed]) > 0;
        let film = |test: fn(&FilmOutcome) -> bool| summary.films.iter().any(|film| test(&film.outcome));
        let action_needed = summary.nodes.iter().any(|node| node.kind().needs_action())
            || film(|film| matches!(film, FilmOutcome::Unpicked { .. }));
        if failed || film(|film| matches!(film, FilmOutcome::Failed { .. })) {
            Self::Failed
        } else if action_needed {
            Self::ActionNeeded
        } else if summary.count(&[StatusKind::Blocked]) > 0 {
            // Blocked by a shot that was not selected.
            Self::ActionNeeded
        } else if film(|film| matches!(film, FilmOutcome::Pending { .. }))
            && summary.count(&[StatusKind::NotSelected]) == 0
        {
            Self::Failed
        } else {
            Self::Done
        }
    }

    /// The process's exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::InvalidInput => 2,
            Self::ActionNeeded => 3,
            Self::BudgetExceeded => 4,
            Self::Unusable => 5,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
