//! Exit codes: part of the interface (DESIGN section 11).

use std::process::ExitCode;

use scheduler::{FilmOutcome, Halt, Outcome, RunSummary};

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything is done.
    Done,
    /// A shot or the film failed.
    Failed,
    /// The input is invalid; nothing was submitted.
    InvalidInput,
    /// Something is outstanding: a take to pick, an ambiguous submission or a task left for later.
    Outstanding,
    /// A cap was reached; what was out is finished.
    Capped,
    /// The service, or something that a run cannot do without, cannot be used.
    Unusable,
    /// The user interrupted; tasks that are out are adopted next time.
    Interrupted,
}

impl Exit {
    /// What a finished run exits with: the most pressing of what happened.
    pub(crate) fn from_summary(summary: &RunSummary) -> Self {
        match &summary.halt {
            Some(Halt::Interrupted) => return Self::Interrupted,
            Some(Halt::ServiceUnusable { .. }) => return Self::Unusable,
            Some(Halt::BudgetExceeded { .. }) => return Self::Capped,
            Some(Halt::FailFast { .. }) => return Self::Failed,
            None => {}
        }
        let failed = summary.count(|outcome| matches!(outcome, Outcome::Failed { .. })) > 0;
        let left = |outcome: &Outcome| match outcome {
            Outcome::Indeterminate { .. } | Outcome::Detached { .. } | Outcome::Unpicked { .. } => true,
            Outcome::Done { .. }
            | Outcome::Failed { .. }
            | Outcome::Blocked { .. }
            | Outcome::NotBegun
            | Outcome::NotSelected { .. } => false,
        };
        let film = |test: fn(&FilmOutcome) -> bool| summary.films.iter().any(|film| test(&film.outcome));
        let outstanding =
            summary.count(left) > 0 || film(|film| matches!(film, FilmOutcome::Unpicked { .. }));
        if failed || film(|film| matches!(film, FilmOutcome::Failed { .. })) {
            Self::Failed
        } else if outstanding {
            Self::Outstanding
        } else if summary.count(|outcome| matches!(outcome, Outcome::Blocked { .. })) > 0 {
            // It waits for what was not to be made.
            Self::Outstanding
        } else if film(|film| matches!(film, FilmOutcome::Waiting { .. }))
            && summary.count(|outcome| matches!(outcome, Outcome::NotSelected { .. })) == 0
        {
            Self::Failed
        } else {
            Self::Done
        }
    }
}

impl Exit {
    /// The code of the process.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::InvalidInput => 2,
            Self::Outstanding => 3,
            Self::Capped => 4,
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
