//! What a run is told besides its plan: which shots it is to make, and whether it ends at the first failure.

use workflow::plan::{NodeIx, Plan, Selection};

use super::{Phase, RunState};
use crate::timestamp::Timestamp;
use crate::{Decision, Event, Failure, FailureKind, Halt, Outcome};

/// What a run is told besides its plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunScope {
    /// The nodes that it may submit; all of them where this is not given.
    pub selection: Option<Selection>,
    /// Whether nothing more is submitted once a shot has failed.
    pub fail_fast: bool,
}

impl RunScope {
    /// The event that puts it on record; nothing where nothing was told.
    #[must_use]
    pub fn to_event(&self, plan: &Plan) -> Option<Event> {
        let names = |selection: &Selection| selection.nodes().map(|ix| plan.node(ix).name.clone()).collect();
        let only = self.selection.as_ref().map(names);
        (only.is_some() || self.fail_fast).then_some(Event::RunConfigured { only, fail_fast: self.fail_fast })
    }
}

impl RunState {
    /// Whether a node may be submitted in this run.
    #[must_use]
    pub fn is_selected(&self, node: NodeIx) -> bool {
        self.scope.selection.as_ref().is_none_or(|selection| selection.contains(node))
    }

    /// The end of a node as this run sees it: what was not to be made was not kept from it by anything; and the first failure may be the
    /// last submission.
    pub(super) fn outcome_in_scope(&mut self, node: NodeIx, outcome: Outcome) -> Outcome {
        let outcome = match outcome {
            Outcome::Blocked { .. } | Outcome::Unpicked { .. } | Outcome::NotBegun
                if !self.is_selected(node) =>
            {
                Outcome::NotSelected { task: None }
            }
            other => other,
        };
        match outcome {
            Outcome::NotSelected { .. } => self.node_mut(node).decision = Some(Decision::Unselected),
            Outcome::Failed { .. } if self.scope.fail_fast && self.halt.is_none() => {
                self.halt = Some(Halt::FailFast { shot: self.plan.node(node).name.clone() });
            }
            Outcome::Done { .. }
            | Outcome::Failed { .. }
            | Outcome::Indeterminate { .. }
            | Outcome::Detached { .. }
            | Outcome::Blocked { .. }
            | Outcome::Unpicked { .. }
            | Outcome::NotBegun => {}
        }
        outcome
    }

    /// Whether the shot's `retry` pays for another attempt after such a failure.
    pub(super) fn may_retry(&self, node: NodeIx, kind: FailureKind) -> bool {
        let planned = self.plan.node(node);
        self.halt.is_none()
            && self.node(node).resubmissions < planned.retry.saturating_sub(1)
            && kind.retried_as().is_some_and(|on| planned.retry_on.contains(on))
    }

    /// Another attempt: a task of its own, with an intent of its own, within the budget. The one before is settled, and holds the node's key no
    /// longer.
    pub(super) fn retry(&mut self, node: NodeIx, failure: Failure, now: Timestamp) {
        // What passes needs time to pass.
        let tries = self.node(node).resubmissions + 1;
        let is_passing = failure.kind == FailureKind::Transient;
        let not_before = if is_passing { now.after(self.policy.backoff_after(tries)) } else { now };
        let state = self.node_mut(node);
        state.resubmissions += 1;
        state.replaced += u32::from(state.decision == Some(Decision::Execute));
        state.decision = Some(Decision::Execute);
        state.progress = None;
        state.submitted_at = None;
        state.missing_since = None;
        state.download_tries = 0;
        state.partial_bytes = 0;
        state.last_error = Some(failure.message);
        self.set_phase(node, Phase::Ready { not_before });
    }
}
