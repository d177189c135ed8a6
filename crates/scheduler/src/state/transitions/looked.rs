//! The ledger has said what it knows about a node's key, when asked or when an intent was refused for another's sake.

use std::time::Duration;

use workflow::plan::NodeIx;

use crate::state::{Action, Decision, Failure, FailureKind, Outcome, Phase, Prior, RunState};
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
        if !self.is_selected(node) && !matches!(prior, Prior::Made { .. }) {
            // It is not asked about, and takes a place nevertheless.
            if let Prior::Out { since: at, was_downloaded: false, .. } | Prior::Unanswered { at, .. } = prior
            {
                self.keep_place_of_unaccounted(node, at);
            }
            self.end(node, Outcome::NotSelected { task: prior.task().cloned() });
            return;
        }
        match prior {
            Prior::Nothing => {
                self.let_go(node);
                self.node_mut(node).decision = Some(Decision::Execute);
                self.put(node, Phase::Ready { not_before: now });
            }
            Prior::Made { attempt: _, task, artifact } => {
                self.let_go(node);
                self.node_mut(node).decision = Some(Decision::Reuse);
                self.end(node, Outcome::Done { artifact, task });
                self.look_after(node, now, actions);
            }
            Prior::Out { attempt, task, since, was_downloaded } => {
                self.let_go(node);
                let state = self.node_mut(node);
                state.decision = Some(Decision::Adopt);
                state.submitted_at = Some(since);
                state.was_downloaded = was_downloaded;
                self.put(node, Phase::Out { attempt, task, since });
                self.ask_adopted(node, since, now);
            }
            Prior::Unanswered { attempt, at } => {
                self.let_go(node);
                self.keep_place_of_unaccounted(node, at);
                self.node_mut(node).decision = Some(Decision::Blocked);
                let reason = "an earlier run was cut off while it was submitting this shot".to_owned();
                self.end(node, Outcome::Ambiguous { attempt, reason });
            }
            Prior::GivenUp { attempt } => {
                self.let_go(node);
                self.node_mut(node).decision = Some(Decision::Blocked);
                let said = format!("its submission {attempt} was given up, and it is not repeated unasked");
                let failure = Failure::new(FailureKind::GivenUp, said);
                self.end(node, Outcome::Failed { failure, task: None });
            }
            Prior::AtOther { service, attempt, task } => {
                self.let_go(node);
                self.node_mut(node).decision = Some(Decision::Blocked);
                let outcome = match task {
                    Some(task) => Outcome::Detached {
                        task,
                        reason: format!("it is out at {service}, and this run talks to another service"),
                    },
                    None => Outcome::Ambiguous {
                        attempt,
                        reason: format!(
                            "it was submitted to {service}, whose answer was lost, and this run talks to another service"
                        ),
                    },
                };
                self.end(node, outcome);
            }
            Prior::Busy { run } => {
                let Some(key) = self.key(node) else { return };
                self.let_go(node);
                self.put(node, Phase::Elsewhere);
                self.node_mut(node).trouble =
                    Some(format!("run {run} is submitting this very shot; waiting for its task"));
                actions.push(Action::Look { node, key, at: now.after(LOOK_AGAIN) });
            }
        }
    }
}
