//! The ledger has said what it knows about a node's key, when asked or when an intent was refused for another's sake.

use std::time::Duration;

use workflow::plan::NodeIx;

use crate::state::{Action, Decision, Outcome, Phase, Prior, RunState};
use crate::time::Millis;

/// How long to wait before asking again about a node that another live run is submitting.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

impl RunState {
    pub(in crate::state) fn looked(
        &mut self,
        node: NodeIx,
        prior: Prior,
        now: Millis,
        actions: &mut Vec<Action>,
    ) {
        match self.node(node).phase {
            Phase::Looking | Phase::Elsewhere | Phase::Preparing => {}
            Phase::Waiting
            | Phase::Ready { .. }
            | Phase::Submitting { .. }
            | Phase::Out { .. }
            | Phase::Finished(_)
            | Phase::Downloading(_)
            | Phase::Over(_) => return,
        }
        match prior {
            Prior::Nothing => {
                let state = self.node_mut(node);
                state.decision = Some(Decision::Execute);
                state.phase = Phase::Ready { not_before: now };
            }
            Prior::Made { attempt: _, task, artifact } => {
                let state = self.node_mut(node);
                state.decision = Some(Decision::Reuse);
                state.end(Outcome::Done { artifact, task });
                self.look_after(node, now, actions);
            }
            Prior::Out { attempt, task, since, was_downloaded } => {
                let state = self.node_mut(node);
                state.decision = Some(Decision::Adopt);
                state.submitted_at = Some(since);
                state.was_downloaded = was_downloaded;
                state.phase = Phase::Out { attempt: attempt.clone(), task: task.clone(), since };
                actions.push(Action::Poll { node, attempt, task, at: now });
            }
            Prior::Unanswered { attempt, at: _ } => {
                let state = self.node_mut(node);
                state.decision = Some(Decision::Blocked);
                let reason = "an earlier run was cut off while it was submitting this shot".to_owned();
                state.end(Outcome::Ambiguous { attempt, reason });
            }
            Prior::Busy { run } => {
                let Some(key) = self.key(node) else { return };
                let state = self.node_mut(node);
                state.phase = Phase::Elsewhere;
                state.trouble = Some(format!("run {run} is submitting this very shot; waiting for its task"));
                actions.push(Action::Look { node, key, at: now.after(LOOK_AGAIN) });
            }
        }
    }
}
