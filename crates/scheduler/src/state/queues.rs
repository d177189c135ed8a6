//! Indexes of nodes by phase, maintained on each phase change, for O(changed) scheduling.

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
    /// Nodes that have not ended and hold a reservation: it may be settled yet.
    pub(super) reservations: usize,
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
            reservations: 0,
            unpropagated_failures: Vec::new(),
            changed: Vec::new(),
            ended_films: Vec::new(),
        }
    }

    fn on_exit(&mut self, phase: &Phase, holds: bool) {
        self.reservations -= usize::from(holds);
        self.lookups -= usize::from(*phase == Phase::LookingUp);
    }

    fn on_enter(&mut self, node: NodeIx, state: &NodeState, holds: bool) {
        self.reservations += usize::from(holds);
        self.lookups += usize::from(state.phase == Phase::LookingUp);
        if state.phase != Phase::Done {
            return;
        }
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
        let lane = &mut self.lanes[self.lane_of[node.index()]].queues;
        if let Some(poll_at) = state.poll_at.take() {
            lane.polls.remove(&(poll_at, node));
        }
        if let Some(deadline) = state.deadline.take() {
            lane.deadlines.remove(&(deadline, node));
        }
        lane.on_exit(node, rank, &state.phase);
        self.queues.on_exit(&state.phase, holds);
        let is_over = phase == Phase::Done;
        state.phase = phase;
        lane.on_enter(node, state);
        self.queues.on_enter(node, state, holds && !is_over);
        self.queues.changed.push(node);
    }

    /// Schedules the node's next poll.
    pub(super) fn set_poll(&mut self, node: NodeIx, time: Timestamp) {
        let before = self.nodes[node.index()].poll_at.replace(time);
        let polls = &mut self.lane_mut(node).queues.polls;
        before.map(|before| polls.remove(&(before, node)));
        polls.insert((time, node));
    }

    /// Sets the time at which the run detaches from the node's task even if it cannot be polled.
    pub(super) fn set_deadline(&mut self, node: NodeIx, deadline: Timestamp) {
        let before = self.nodes[node.index()].deadline.replace(deadline);
        let deadlines = &mut self.lane_mut(node).queues.deadlines;
        before.map(|before| deadlines.remove(&(before, node)));
        deadlines.insert((deadline, node));
    }

    /// Keeps the slot of an ended node, whose task is in flight or may be, until `until`.
    pub(super) fn hold_slot(&mut self, node: NodeIx, until: Timestamp) {
        self.lane_mut(node).queues.held_slots.insert((until, node));
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
