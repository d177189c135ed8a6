//! Attempts that the lock files of runs name and the ledger does not know. A task that a person names may be that of such an attempt, also where its
//! shot has other work on record.

use std::collections::HashSet;

use scheduler::RunId;
use workflow::plan::NodeKey;

use crate::ledger::{Ledger, LedgerError};

/// The beginnings of the keys of such attempts, by run.
#[derive(Debug, Default)]
pub(super) struct AttemptNotes {
    runs: Vec<(RunId, HashSet<String>)>,
}

impl AttemptNotes {
    /// Those at `service`, and those of runs that do not name theirs.
    ///
    /// # Errors
    /// When the ledger or its folder cannot be read.
    pub(super) fn read(ledger: Option<&Ledger>, service: &str) -> Result<Self, LedgerError> {
        let runs = ledger.map(Ledger::unknown_runs).transpose()?.unwrap_or_default();
        let of_service =
            runs.into_iter().filter(|run| run.service.as_ref().is_none_or(|name| name == service));
        let keys = of_service.map(|run| (run.run, run.attempts.into_iter().map(|noted| noted.key).collect()));
        Ok(Self { runs: keys.collect() })
    }

    /// The latest run that has rendered the work with this key again. Its id is the salt of that rerun.
    pub(super) fn rerun_of(&self, base: NodeKey) -> Option<&RunId> {
        let is_rerun =
            |(run, keys): &&(RunId, HashSet<String>)| keys.contains(&base.salted(run.as_str()).short());
        self.runs.iter().rfind(is_rerun).map(|(run, _)| run)
    }

    /// Whether one of them has this key.
    pub(super) fn has(&self, key: NodeKey) -> bool {
        let key = key.short();
        self.runs.iter().any(|(_, keys)| keys.contains(&key))
    }
}
