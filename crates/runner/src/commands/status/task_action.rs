//! What is to be done about a task that no live run polls.

use engine::ledger::{OpenAttempt, OpenTaskState};
use scheduler::TaskId;

use super::query::StatusQuery;
use super::record::ActionReason;
use crate::hints;
use crate::shell;
use crate::task_owners::TaskOwner;

/// What is the matter with a task that no live run polls, and what to do about it.
pub(super) fn about_task(
    query: &StatusQuery,
    open: &OpenAttempt,
    task: &TaskId,
    owner: TaskOwner,
) -> (ActionReason, String) {
    if query.is_cluster {
        return about_cluster_task(open, owner);
    }
    let task = task.as_str();
    let fetch = if task.starts_with('-') {
        format!("runner ledger fetch --in {} -- {}", query.project, shell::quote(task))
    } else {
        format!("runner ledger fetch {} --in {}", shell::quote(task), query.project)
    };
    let close = hints::close_command(&query.project, open.attempt.as_str());
    let is_missing = open.state == OpenTaskState::Missing;
    match (owner, is_missing) {
        (TaskOwner::Run(command) | TaskOwner::Undecided(command), _)
            if open.state == OpenTaskState::NoFile =>
        {
            (ActionReason::NoFile, format!("`{command}` downloads it again, or `{fetch}`"))
        }
        _ if open.state == OpenTaskState::NoFile => {
            (ActionReason::NoFile, format!("`{fetch}` downloads it again"))
        }
        _ if open.state == OpenTaskState::Replaced => {
            (ActionReason::Replaced, format!("`{fetch}` asks for it again; {close}"))
        }
        (TaskOwner::Run(command), true) => (
            ActionReason::Missing,
            format!(
                "`{command}` asks for it again, `{command} --rerun {}` pays for another one; {close}",
                shell::quote_rerun(&open.node)
            ),
        ),
        (TaskOwner::Run(command), false) => (ActionReason::InFlight, format!("adopted by `{command}`")),
        (TaskOwner::Nobody(command), _) => (
            ActionReason::Unclaimed,
            format!(
                "no shot of `{command}` asks for it any more; `{fetch}` downloads it, and {close} if its video is gone"
            ),
        ),
        (TaskOwner::Undecided(_) | TaskOwner::Unknown, true) => {
            (ActionReason::Missing, format!("`{fetch}` asks for it again; {close}"))
        }
        (TaskOwner::Undecided(command), false) => (
            ActionReason::InFlight,
            format!(
                "`{command}` adopts it if the videos that its shot depends on turn out as they were; `{fetch}` downloads it"
            ),
        ),
        (TaskOwner::Unknown, false) => (
            ActionReason::InFlight,
            format!(
                "a run of workflow {} adopts it if its shot, and the arguments of the run, are unchanged; `{fetch}` downloads it",
                open.workflow
            ),
        ),
    }
}

/// As `about_task`, on a cluster: there is nothing that fetches a task without its shot.
fn about_cluster_task(open: &OpenAttempt, owner: TaskOwner) -> (ActionReason, String) {
    let is_missing = open.state == OpenTaskState::Missing;
    let reason = if is_missing { ActionReason::Missing } else { ActionReason::InFlight };
    match owner {
        TaskOwner::Run(command) if is_missing => (
            reason,
            format!(
                "`{command}` asks for it again, `{command} --rerun {}` pays for another one",
                shell::quote_rerun(&open.node)
            ),
        ),
        TaskOwner::Run(command) => (reason, format!("adopted by `{command}`")),
        TaskOwner::Nobody(command) => (
            ActionReason::Unclaimed,
            format!("no shot of `{command}` asks for it any more; a run of the file as it was adopts it"),
        ),
        TaskOwner::Undecided(command) => (
            reason,
            format!("`{command}` adopts it if the videos that its shot depends on turn out as they were"),
        ),
        TaskOwner::Unknown => (
            reason,
            format!(
                "a run of workflow {} adopts it if its shot, and the arguments of the run, are unchanged",
                open.workflow
            ),
        ),
    }
}
