//! Errors that end a run.

use scheduler::{AttemptId, TaskId};
use tokio::task::JoinError;

use crate::ledger::LedgerError;

/// Why a run was aborted. Failed shots are not errors: they are outcomes in the summary.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The ledger could not be read or written before anything was submitted, so nothing may be. Tasks in flight are adopted by the next run.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The output folder cannot be used.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A task of the executor panicked.
    #[error("internal error: {0}; tasks in flight are adopted by the next run")]
    Internal(JoinError),
    /// The ledger was removed, replaced or damaged during the run, and submission stopped.
    #[error("{source}")]
    LedgerReplaced {
        /// What happened to it.
        source: LedgerError,
        /// Shots and their tasks that have no video yet.
        tasks: Box<[(String, TaskId)]>,
        /// Shots whose submission may or may not have been accepted, with the id of a task that the response named.
        indeterminate: Box<[(String, Option<TaskId>)]>,
    },
    /// The ledger could no longer be written during the run, and submission stopped.
    #[error("{source}; nothing more was submitted")]
    LedgerWrite {
        /// The error of the ledger.
        source: LedgerError,
        /// Tasks that are or may be accepted and are not in the ledger, to be adopted with `runner resolve` once it can be written again.
        unrecorded: Vec<UnrecordedTask>,
    },
}

/// A task of a submission whose result could not be recorded. Its intent is recorded, so it is not submitted again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrecordedTask {
    pub node: String,
    pub attempt: AttemptId,
    pub task: TaskId,
    /// Whether the service accepted it; otherwise a response that leaves this open names it.
    pub is_accepted: bool,
}
