//! Which nodes are where, kept with every change of phase, so that an event costs the same in a run of ten and of a hundred thousand.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, VecDeque};

use workflow::plan::{Clip, NodeIx, Plan};

use super::{Outcome, Phase, RunState};
use crate::time::Millis;

/// The nodes by what the scheduler asks about them.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    /// Nodes that have not ended.
    pub(super) open: usize,
    pub(super) looking: usize,
    pub(super) in_flight: usize,
    /// Submissions that are prepared or wait for their answer.
    pub(super) on_their_way: usize,
    pub(super) downloading: usize,
    /// Open nodes that hold something of the budget: it may be settled yet.
    pub(super) may_settle: usize,
    /// Nodes that may be submitted, longest chain first, then file order.
    pub(super) ready: BTreeSet<(Reverse<u64>, NodeIx)>,
    /// Nodes that may be submitted from a time on.
    pub(super) later: BTreeSet<(Millis, NodeIx)>,
    /// Tasks that are out, by when they are asked about next.
    pub(super) polls: BTreeSet<(Millis, NodeIx)>,
    /// Nodes that have ended while a task of theirs is out, or may be, and until when they keep its place.
    pub(super) unaccounted: BTreeSet<(Millis, NodeIx)>,
    /// Videos to fetch, soonest-expiring first.
    pub(super) finished: BTreeSet<(Millis, NodeIx)>,
    /// Nodes that changed their phase with the last event: see [`RunState::changed`].
    pub(super) changed: Vec<NodeIx>,
    /// Films that ended with the last event, by their position in the plan.
    pub(super) ended_films: Vec<usize>,
    /// Nodes that did not end well, whose successors have not been told yet.
    pub(super) fallen: Vec<NodeIx>,
    /// Films by the nodes that are shown in them.
    shown_in: HashMap<NodeIx, Vec<usize>>,
    /// How many nodes of each film have not ended.
    open_clips: Vec<usize>,
    /// Films of which every node has ended, and which have not been looked at since.
    pub(super) whole_films: VecDeque<usize>,
}

impl Standing {
    pub(super) fn new(plan: &Plan) -> Self {
        let mut shown_in: HashMap<NodeIx, Vec<usize>> = HashMap::new();
        let mut open_clips = Vec::with_capacity(plan.films().len());
        for (at, film) in plan.films().iter().enumerate() {
            let nodes: BTreeSet<NodeIx> = film.clips.iter().flat_map(Clip::nodes).copied().collect();
            open_clips.push(nodes.len());
            for node in nodes {
                shown_in.entry(node).or_default().push(at);
            }
        }
        Self {
            whole_films: (0..open_clips.len()).filter(|at| open_clips[*at] == 0).collect(),
            shown_in,
            open_clips,
            open: plan.len(),
            looking: 0,
            in_flight: 0,
            on_their_way: 0,
            downloading: 0,
            may_settle: 0,
            ready: BTreeSet::new(),
            later: BTreeSet::new(),
            polls: BTreeSet::new(),
            unaccounted: BTreeSet::new(),
            finished: BTreeSet::new(),
            fallen: Vec::new(),
            changed: Vec::new(),
            ended_films: Vec::new(),
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
            Phase::Preparing | Phase::Submitting { .. } => self.on_their_way -= 1,
            Phase::Waiting | Phase::Elsewhere | Phase::Out { .. } | Phase::Over(_) => {}
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
            Phase::Preparing | Phase::Submitting { .. } => self.on_their_way += 1,
            Phase::Over(outcome) => {
                self.open -= 1;
                for film in self.shown_in.get(&node).into_iter().flatten() {
                    self.open_clips[*film] -= 1;
                    if self.open_clips[*film] == 0 {
                        self.whole_films.push_back(*film);
                    }
                }
                if !matches!(outcome, Outcome::Done { .. }) {
                    self.fallen.push(node);
                }
            }
            Phase::Waiting | Phase::Elsewhere | Phase::Out { .. } => {}
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
        let rank = self.rank(node);
        let state = &mut self.nodes[node.index()];
        if matches!(state.phase, Phase::Over(_)) {
            return;
        }
        let holds = state.held.is_some();
        if let Some(at) = state.poll_at.take() {
            self.standing.polls.remove(&(at, node));
        }
        self.standing.leave(node, rank, &state.phase, holds);
        let is_over = matches!(phase, Phase::Over(_));
        state.phase = phase;
        self.standing.enter(node, &state.phase, holds && !is_over);
        self.standing.changed.push(node);
        if is_over {
            state.trouble = None;
        }
    }

    /// Its task is asked about at `at`.
    pub(super) fn set_poll(&mut self, node: NodeIx, at: Millis) {
        if let Some(before) = self.nodes[node.index()].poll_at.replace(at) {
            self.standing.polls.remove(&(before, node));
        }
        self.standing.polls.insert((at, node));
    }

    /// A node that ends keeps the place of a task that is out, or may be, until then.
    pub(super) fn keep_place(&mut self, node: NodeIx, until: Millis) {
        self.standing.unaccounted.insert((until, node));
    }

    /// A node's end.
    pub(super) fn end(&mut self, node: NodeIx, outcome: Outcome) {
        let outcome = self.within_scope(node, outcome);
        self.put(node, Phase::Over(outcome));
    }
}
