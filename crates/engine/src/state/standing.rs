//! Which nodes are where, kept with every change of phase, so that an event costs the same in a run of ten and of a hundred thousand.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use workflow::plan::{NodeIx, Plan};

use super::{Outcome, Phase, RunState};
use crate::time::Millis;

/// The nodes by what the scheduler asks about them.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    /// Nodes that have not ended.
    pub(super) open: usize,
    pub(super) looking: usize,
    pub(super) in_flight: usize,
    pub(super) downloading: usize,
    /// Open nodes that hold something of the budget: it may be settled yet.
    pub(super) may_settle: usize,
    /// Nodes that may be submitted, longest chain first, then file order.
    pub(super) ready: BTreeSet<(Reverse<u64>, NodeIx)>,
    /// Nodes that may be submitted from a time on.
    pub(super) later: BTreeSet<(Millis, NodeIx)>,
    /// Videos to fetch, soonest-expiring first.
    pub(super) finished: BTreeSet<(Millis, NodeIx)>,
    /// Nodes that did not end well, whose successors have not been told yet.
    pub(super) fallen: Vec<NodeIx>,
    /// Clips of the film that have not ended.
    pub(super) open_clips: HashSet<NodeIx>,
}

impl Standing {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            open: plan.len(),
            looking: 0,
            in_flight: 0,
            downloading: 0,
            may_settle: 0,
            ready: BTreeSet::new(),
            later: BTreeSet::new(),
            finished: BTreeSet::new(),
            fallen: Vec::new(),
            open_clips: plan.film().map(|film| film.clips.iter().copied().collect()).unwrap_or_default(),
        }
    }

    fn leave(&mut self, node: NodeIx, rank: u64, phase: &Phase, holds: bool) {
        self.may_settle -= usize::from(holds);
        self.in_flight -= usize::from(phase.is_in_flight());
        match phase {
            Phase::Looking => self.looking -= 1,
            Phase::Ready { not_before } => {
                self.later.remove(&(*not_before, node));
                self.ready.remove(&(Reverse(rank), node));
            }
            Phase::Finished(download) => {
                self.finished.remove(&(expiry(download.expires_at), node));
            }
            Phase::Downloading(_) => self.downloading -= 1,
            Phase::Waiting
            | Phase::Elsewhere
            | Phase::Preparing
            | Phase::Submitting { .. }
            | Phase::Out { .. }
            | Phase::Over(_) => {}
        }
    }

    fn enter(&mut self, node: NodeIx, phase: &Phase, holds: bool) {
        self.may_settle += usize::from(holds);
        self.in_flight += usize::from(phase.is_in_flight());
        match phase {
            Phase::Looking => self.looking += 1,
            Phase::Ready { not_before } => {
                self.later.insert((*not_before, node));
            }
            Phase::Finished(download) => {
                self.finished.insert((expiry(download.expires_at), node));
            }
            Phase::Downloading(_) => self.downloading += 1,
            Phase::Over(outcome) => {
                self.open -= 1;
                self.open_clips.remove(&node);
                if !matches!(outcome, Outcome::Done { .. }) {
                    self.fallen.push(node);
                }
            }
            Phase::Waiting
            | Phase::Elsewhere
            | Phase::Preparing
            | Phase::Submitting { .. }
            | Phase::Out { .. } => {}
        }
    }
}

/// What never expires comes last.
fn expiry(at: Option<Millis>) -> Millis {
    at.unwrap_or(Millis(i64::MAX))
}

impl RunState {
    /// The only way in which a node changes its phase. What has ended stays as it ended.
    pub(super) fn put(&mut self, node: NodeIx, phase: Phase) {
        let rank = self.plan.rank(node);
        let state = &mut self.nodes[node.index()];
        if matches!(state.phase, Phase::Over(_)) {
            return;
        }
        let holds = state.held.is_some();
        self.standing.leave(node, rank, &state.phase, holds);
        let is_over = matches!(phase, Phase::Over(_));
        state.phase = phase;
        self.standing.enter(node, &state.phase, holds && !is_over);
        if is_over {
            state.trouble = None;
        }
    }

    /// A node's end.
    pub(super) fn end(&mut self, node: NodeIx, outcome: Outcome) {
        self.put(node, Phase::Over(outcome));
    }
}
