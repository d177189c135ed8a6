//! The command of a clip: what renders it, or what has to be done first.

use engine::preview::Preview;
use scheduler::{ExistingWork, StatusKind};

use crate::named_workflow::NamedWorkflow;
use crate::shell;

/// The command that renders a clip, or renders it again. Where that would pay a second time for what may have been paid for, the command that
/// resolves it.
pub(super) fn clip_command(file: &NamedWorkflow, preview: &Preview, state: StatusKind) -> String {
    let name = shell::quote(&preview.name);
    let all = file.in_full();
    match (state, preview.basis.existing_work()) {
        (StatusKind::Indeterminate, Some(ExistingWork::Indeterminate { attempt, .. })) => {
            format!("runner resolve {file} {attempt}")
        }
        (StatusKind::Unrecorded, _) => format!("runner ledger adopt {all}"),
        (StatusKind::Done | StatusKind::Reused, _) | (_, Some(ExistingWork::Abandoned { .. })) => {
            format!("runner run {all} --rerun {name}")
        }
        // Which says at which service it is, and what can be done.
        (StatusKind::AtOtherService, _) => format!("runner status {file}"),
        // What it depends on has to be rendered first.
        (StatusKind::Blocked, _) => format!("runner run {all}"),
        _ => format!("runner run {all} --only {name}"),
    }
}
