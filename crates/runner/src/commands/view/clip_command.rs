//! The command of a clip: what renders it, or what has to be done first.

use engine::preview::Preview;
use scheduler::{ExistingWork, StatusKind};

use crate::hints;
use crate::named_workflow::NamedWorkflow;
use crate::shell;

/// The command that renders a clip, or renders it again. Where that would pay a second time for what may have been paid for, the command that
/// resolves it.
pub(super) fn clip_command(file: &NamedWorkflow, preview: &Preview, state: StatusKind) -> String {
    let name = shell::quote(&preview.name);
    let all = file.in_full();
    match (state, preview.basis.existing_work()) {
        (StatusKind::Indeterminate, Some(ExistingWork::Indeterminate { .. })) => hints::resolve(file, &name),
        (StatusKind::Unrecorded, _) => format!("runner ledger adopt {all}"),
        (StatusKind::Done | StatusKind::Reused, _) | (_, Some(ExistingWork::Abandoned { .. })) => {
            format!("runner run {all} --rerun {}", shell::quote_rerun(&preview.name))
        }
        // Which says at which service it is, and what can be done.
        (StatusKind::AtOtherService, _) => format!("runner status {file}"),
        // What it depends on has to be rendered first.
        (StatusKind::Blocked, _) => format!("runner run {all}"),
        _ => format!("runner run {all} --only {name}"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use engine::preview::StateBasis;
    use scheduler::Decision;

    use super::*;

    #[test]
    fn commands_lead_on_from_each_state() {
        let command = |state, existing| {
            let preview = Preview {
                name: "b".to_owned(),
                decision: Decision::Execute,
                basis: StateBasis::Lookup(Box::new(existing)),
                why: None,
                task: None,
                key: None,
                full_key: None,
                render: None,
                is_certain: false,
                may_be_retried: true,
                known_at: None,
                hint: None,
            };
            clip_command(&NamedWorkflow::new(Path::new("w.yaml"), ""), &preview, state)
        };
        let none = || ExistingWork::None;
        assert_eq!(command(StatusKind::NotStarted, none()), "runner run w.yaml --only b");
        assert_eq!(command(StatusKind::Done, none()), "runner run w.yaml --rerun b");
        // `--only` would be refused: what it depends on has no video.
        assert_eq!(command(StatusKind::Blocked, none()), "runner run w.yaml");
        assert_eq!(command(StatusKind::AtOtherService, none()), "runner status w.yaml");
        assert_eq!(command(StatusKind::Unrecorded, none()), "runner ledger adopt w.yaml");
        let abandoned = ExistingWork::Abandoned { attempt: "r.1".into() };
        assert_eq!(command(StatusKind::Failed, abandoned), "runner run w.yaml --rerun b");
    }
}
