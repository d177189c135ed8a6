//! Indexes of nodes by phase, maintained on each phase change, for O(changed) scheduling.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, VecDeque};

use workflow::plan::{Clip, NodeIx, Plan};

use super::{NodeState, Phase, RunState};
use crate::timestamp::Timestamp;
use crate::{Halt, Outcome};

/// Counters and queues of nodes by phase.
#[derive(Debug, Clone)]
pub(super) struct NodeQueues {
    /// Nodes that have not ended.
    pub(super) unfinished: usize,
    pub(super) lookups: usize,
    pub(super) in_flight: usize,
    /// Requests that are prepared or wait for their response.
    pub(super) posting: usize,
    pub(super) downloading: usize,
    /// Nodes that have not ended and hold a reservation: it may be settled yet.
    pub(super) reservations: usize,
    /// Nodes that may be submitted, longest path first, then file order.
    pub(super) ready: BTreeSet<(Reverse<u64>, NodeIx)>,
    /// Nodes that may be submitted from a later time on.
    pub(super) delayed: BTreeSet<(Timestamp, NodeIx)>,
    /// Tasks in flight, by the time of their next poll.
    pub(super) polls: BTreeSet<(Timestamp, NodeIx)>,
    /// Tasks in flight, by the time at which their run detaches from them even if they cannot be polled.
    pub(super) deadlines: BTreeSet<(Timestamp, NodeIx)>,
    /// Slots of ended nodes whose task is in flight or may be, with the time at which they are released.
    pub(super) held_slots: BTreeSet<(Timestamp, NodeIx)>,
    /// Downloads that are ready, soonest-expiring first.
    pub(super) downloads: BTreeSet<(Timestamp, NodeIx)>,
    /// Nodes whose phase the last event changed: see [`RunState::changed`].
    pub(super) changed: Vec<NodeIx>,
    /// Films that ended with the last event, by index in the plan.
    pub(super) ended_films: Vec<usize>,
    /// Nodes that ended without success and whose successors are not blocked yet.
    pub(super) unpropagated_failures: Vec<NodeIx>,
    /// Indexes of films, by the nodes that they show.
    films_of: HashMap<NodeIx, Vec<usize>>,
    /// Number of unfinished nodes per film.
    unfinished_clips: Vec<usize>,
    /// Films whose nodes have all ended and that are not evaluated yet.
    pub(super) complete_films: VecDeque<usize>,
}

impl NodeQueues {
    pub(super) fn new(plan: &Plan) -> Self {
        let mut films_of: HashMap<NodeIx, Vec<usize>> = HashMap::new();
        let mut unfinished_clips = Vec::with_capacity(plan.films().len());
        for (index, film) in plan.films().iter().enumerate() {
            let nodes: BTreeSet<NodeIx> = film.clips.iter().flat_map(Clip::nodes).copied().collect();
            unfinished_clips.push(nodes.len());
            for node in nodes {
                films_of.entry(node).or_default().push(index);
            }
        }
        Self {
            complete_films: (0..unfinished_clips.len()).filter(|film| unfinished_clips[*film] == 0).collect(),
            films_of,
            unfinished_clips,
            unfinished: plan.len(),
            lookups: 0,
            in_flight: 0,
            posting: 0,
            downloading: 0,
            reservations: 0,
            ready: BTreeSet::new(),
            delayed: BTreeSet::new(),
            polls: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            held_slots: BTreeSet::new(),
            downloads: BTreeSet::new(),
            unpropagated_failures: Vec::new(),
            changed: Vec::new(),
            ended_films: Vec::new(),
        }
    }

    fn on_exit(&mut self, node: NodeIx, rank: u64, phase: &Phase, holds: bool) {
        self.reservations -= usize::from(holds);
        self.in_flight -= usize::from(phase.is_in_flight());
        match phase {
            Phase::LookingUp => self.lookups -= 1,
            Phase::Ready { not_before } => {
                self.delayed.remove(&(*not_before, node));
                self.ready.remove(&(Reverse(rank), node));
            }
            Phase::ReadyToDownload(download) => {
                self.downloads.remove(&(expiry_order(download.expires_at), node));
            }
            Phase::Downloading(_) => self.downloading -= 1,
            Phase::Preparing | Phase::Submitting { .. } => self.posting -= 1,
            Phase::Pending | Phase::ClaimedByOtherRun { .. } | Phase::InFlight { .. } | Phase::Done => {}
        }
    }

    fn on_enter(&mut self, node: NodeIx, state: &NodeState, holds: bool) {
        self.reservations += usize::from(holds);
        self.in_flight += usize::from(state.phase.is_in_flight());
        match &state.phase {
            Phase::LookingUp => self.lookups += 1,
            Phase::Ready { not_before } => {
                self.delayed.insert((*not_before, node));
            }
            Phase::ReadyToDownload(download) => {
                self.downloads.insert((expiry_order(download.expires_at), node));
            }
            Phase::Downloading(_) => self.downloading += 1,
            Phase::Preparing | Phase::Submitting { .. } => self.posting += 1,
            Phase::Done => {
                self.unfinished -= 1;
                for film in self.films_of.get(&node).into_iter().flatten() {
                    self.unfinished_clips[*film] -= 1;
                    if self.unfinished_clips[*film] == 0 {
                        self.complete_films.push_back(*film);
                    }
                }
                if !matches!(state.outcome(), Some(Outcome::Done { .. })) {
                    self.unpropagated_failures.push(node);
                }
            }
            Phase::Pending | Phase::ClaimedByOtherRun { .. } | Phase::InFlight { .. } => {}
        }
    }
}

/// Videos that never expire come last.
fn expiry_order(time: Option<Timestamp>) -> Timestamp {
    time.unwrap_or(Timestamp(i64::MAX))
}

impl RunState {
    /// Sets the phase of a node and updates the queues: the only place that does. A node that is done stays done.
    pub(super) fn set_phase(&mut self, node: NodeIx, phase: Phase) {
        let rank = self.plan.rank(node);
        let state = &mut self.nodes[node.index()];
        if state.phase == Phase::Done {
            return;
        }
        let holds = state.reserved.is_some();
        if let Some(poll_at) = state.poll_at.take() {
            self.queues.polls.remove(&(poll_at, node));
        }
        if let Some(deadline) = state.deadline.take() {
            self.queues.deadlines.remove(&(deadline, node));
        }
        self.queues.on_exit(node, rank, &state.phase, holds);
        let is_over = phase == Phase::Done;
        state.phase = phase;
        self.queues.on_enter(node, state, holds && !is_over);
        self.queues.changed.push(node);
    }

    /// Schedules the node's next poll.
    pub(super) fn set_poll(&mut self, node: NodeIx, time: Timestamp) {
        if let Some(before) = self.nodes[node.index()].poll_at.replace(time) {
            self.queues.polls.remove(&(before, node));
        }
        self.queues.polls.insert((time, node));
    }

    /// Sets the time at which the run detaches from the node's task even if it cannot be polled.
    pub(super) fn set_deadline(&mut self, node: NodeIx, deadline: Timestamp) {
        if let Some(before) = self.nodes[node.index()].deadline.replace(deadline) {
            self.queues.deadlines.remove(&(before, node));
        }
        self.queues.deadlines.insert((deadline, node));
    }

    /// Keeps the slot of an ended node, whose task is in flight or may be, until `until`.
    pub(super) fn hold_slot(&mut self, node: NodeIx, until: Timestamp) {
        self.queues.held_slots.insert((until, node));
    }

    /// Ends a node, in its projection and in the queues.
    pub(super) fn end(&mut self, node: NodeIx, outcome: Outcome) {
        let now = self.now;
        self.node_mut(node).shot.end(outcome, now);
        self.sync_end(node);
    }

    /// Cancels a node that waits to be submitted.
    pub(super) fn cancel(&mut self, node: NodeIx) {
        let now = self.now;
        self.node_mut(node).shot.cancel(now);
        self.sync_end(node);
    }

    /// Removes a node whose projection has ended from the queues. With fail-fast, the first failure halts the run.
    pub(super) fn sync_end(&mut self, node: NodeIx) {
        let state = self.node(node);
        let Some(outcome) = state.outcome() else { return };
        if state.phase == Phase::Done {
            return;
        }
        if self.scope.fail_fast && self.halt.is_none() && matches!(outcome, Outcome::Failed { .. }) {
            self.halt = Some(Halt::FailFast { shot: self.plan.node(node).name.clone() });
        }
        self.set_phase(node, Phase::Done);
    }
}
