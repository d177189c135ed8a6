//! Names of tasks that are recorded where the task is not known: `ledger adopt` has found a video without one.

use scheduler::{AttemptId, TaskId};

const PREFIX: &str = "unknown-";

/// The task that is recorded for an attempt whose task is not known.
pub(crate) fn unknown_task(attempt: &AttemptId) -> TaskId {
    TaskId(format!("{PREFIX}{attempt}"))
}

/// Whether a task is one of the service.
pub(crate) fn is_service_task(task: &TaskId) -> bool {
    !task.as_str().starts_with(PREFIX)
}
