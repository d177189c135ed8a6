//! The state machine of a run. No I/O, no clock, no randomness.
//!
//! [`RunState::apply`] takes one [`Event`] and the time and returns the [`Action`]s that follow. The executor appends every event to the
//! ledger before it applies it, so replaying a run ([`RunState::replaying`]) is the same `apply` with the actions dropped.

mod admission;
mod expected_events;
mod keys;
mod lanes;
mod missing;
mod phase;
mod poll_schedule;
mod queues;
mod reservations;
mod retry;
mod scope;
mod summary;
mod transitions;

use std::collections::BTreeSet;
use std::sync::Arc;

use workflow::plan::{NodeIx, NodeKey, Plan};

pub use admission::RateWait;
pub use expected_events::UnexpectedEvent;
use phase::AdoptedTask;
pub use phase::{NodeState, Phase, UnusableCopies};
pub use scope::RunScope;
pub use summary::{FilmSummary, NodeSummary, PickSummary, RunSummary};

use crate::{Action, Artifact, Budget, Event, FilmOutcome, Halt, KeyResolver, NextStep, Policy, Timestamp};
use lanes::Lane;
pub use lanes::ServiceHistory;
use queues::NodeQueues;

/// The state of a run.
#[derive(Debug, Clone)]
pub struct RunState {
    plan: Arc<Plan>,
    keys: KeyResolver,
    /// The time of the event that is being applied.
    now: Timestamp,
    budget: Budget,
    nodes: Vec<NodeState>,
    queues: NodeQueues,
    lanes: Vec<Lane>,
    /// The index of each node's lane, in the plan's order.
    lane_of: Vec<usize>,
    /// By index in the films of the plan.
    films: Vec<FilmPhase>,
    scope: RunScope,
    halt: Option<Halt>,
    /// Until when an interrupted run continues with downloads.
    grace_until: Option<Timestamp>,
    /// Timers that are set and have not fired.
    wakes: BTreeSet<Timestamp>,
    /// Whether the events are replayed from the ledger: see [`RunState::replaying`].
    is_replay: bool,
    /// The last event, if its node did not wait for it.
    unexpected: Option<UnexpectedEvent>,
}

#[derive(Debug, Clone, PartialEq)]
enum FilmPhase {
    Pending,
    Joining,
    Done(FilmOutcome),
}

impl RunState {
    /// A new run of `plan`, of which what names no service is done at the one of the identity `service`. All services have one policy until
    /// [`RunState::with_service`].
    #[expect(clippy::needless_pass_by_value, reason = "each service has one of its own")]
    pub fn new(plan: Arc<Plan>, service: impl Into<String>, policy: Policy) -> Self {
        let nodes = plan.nodes().map(|_| NodeState::new()).collect();
        let films = vec![FilmPhase::Pending; plan.films().len()];
        let service = service.into();
        let (lanes, lane_of) = lanes::of_plan(&plan, &service, &policy);
        Self {
            keys: KeyResolver::new(service),
            queues: NodeQueues::new(&plan),
            lanes,
            lane_of,
            now: Timestamp::default(),
            budget: Budget::default(),
            plan,
            nodes,
            films,
            scope: RunScope::default(),
            halt: None,
            grace_until: None,
            wakes: BTreeSet::new(),
            is_replay: false,
            unexpected: None,
        }
    }

    /// The same run with a budget.
    pub fn with_budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// The same run with keys: the renders on record, and what was asked for.
    pub fn with_keys(self, keys: KeyResolver) -> Self {
        Self { keys, ..self }
    }

    /// The same run, replayed from the ledger. When a shot was admitted depends on timers and on polls that are not recorded, so a replay
    /// admits no submission itself: the recorded [`Event::Prepared`] shows which one was admitted. Whether a cap halted the run
    /// was decided at such a moment too, and is not reproduced.
    pub fn replaying(self) -> Self {
        Self { is_replay: true, ..self }
    }

    /// Applies `event` and returns the actions that follow. Events that no longer matter (a late response for a node that has ended) change
    /// nothing; an event that its node does not wait for changes nothing either and is reported by [`RunState::unexpected`].
    #[must_use]
    pub fn apply(&mut self, event: Event, now: Timestamp) -> Vec<Action> {
        self.now = now;
        self.queues.changed.clear();
        self.queues.ended_films.clear();
        let event = self.decide(event, now);
        let unfinished_node = event.node().filter(|node| self.node(*node).phase != Phase::Done);
        let mut actions = Vec::new();
        self.unexpected =
            unfinished_node.and_then(|node| UnexpectedEvent::check(node, &event, &self.node(node).phase));
        if self.unexpected.is_some() {
            self.admit(now, &mut actions);
            return actions;
        }
        if let Some(node) = unfinished_node {
            self.node_mut(node).shot.on_event(&event, now);
        }
        // Before the shot fails: it is the reason of the halt even under `--fail-fast`.
        let halted_lane = self.halt_at_unusable(&event);
        match event {
            Event::RunConfigured { only, fail_fast, several_services: _ } => {
                self.run_configured(only, fail_fast);
            }
            Event::Started => self.started(now, &mut actions),
            Event::LookupDone { node, key, existing, render } => {
                // In a replay the record says which render it was.
                if self.is_replay {
                    let state = self.node_mut(node);
                    (state.key, state.render) = (NodeKey::parse(&key).or(state.key), Some(render));
                }
                self.lookup_done(node, existing, now, &mut actions);
            }
            Event::ClaimConflict { node, existing, renders } => {
                if let Some(renders) = renders {
                    self.reassign_key(node, *renders);
                }
                self.lookup_done(node, existing, now, &mut actions);
            }
            Event::BudgetExceeded { node, cap } => self.budget_exceeded(node, cap),
            Event::Prepared { node, attempt, by_url, .. } => {
                self.prepared(node, attempt, by_url, &mut actions);
            }
            Event::PrepareFailed { node, failure } => self.prepare_failed(node, &failure),
            Event::Submitted { node, attempt, task } => self.submitted(node, attempt, task, now),
            Event::Refused { node, attempt: _, refusal, halts: _, next } => {
                self.refused(node, &refusal, &next.unwrap_or(NextStep::Fail), now);
            }
            Event::Indeterminate { node, .. } => self.indeterminate(node, now),
            Event::Polled { node, attempt, result, next } => {
                let next = next.unwrap_or(NextStep::Continue);
                self.polled(node, attempt, result, &next, now, &mut actions);
            }
            Event::Downloaded { node, cost, .. } => self.downloaded(node, cost, now, &mut actions),
            Event::DownloadFailed { node, attempt: _, failure, partial_bytes, next } => {
                let next = next.unwrap_or(NextStep::Continue);
                self.download_failed(node, &failure, partial_bytes, &next, now, &mut actions);
            }
            Event::FilmJoined { index, film } => self.film_ended(index, FilmOutcome::Done { film }),
            Event::JoinFailed { index, failure } => self.film_ended(index, FilmOutcome::Failed { failure }),
            Event::Reconciled { node, .. } => self.reconciled(node, event, now, &mut actions),
            // The transition that requested it has happened. A person resolves attempts, and asks for renders, outside of runs only.
            Event::TaskExpired { .. }
            | Event::Resolved { .. }
            | Event::RendersAsked { .. }
            | Event::RendersWithdrawn { .. } => {}
            Event::TimerFired => self.timer_fired(now),
            Event::Interrupted => self.interrupted(now, &mut actions),
        }
        if let Some(lane) = halted_lane {
            self.cancel_pending(|state, node| state.lane_of[node.index()] == lane);
        }
        if let Some(node) = unfinished_node {
            self.halt_node(node);
        }
        self.admit(now, &mut actions);
        actions
    }

    /// Applies the run's halt, if any, to the node of an event. A request in preparation is discarded when its intent is recorded; after a
    /// budget halt it is submitted.
    fn halt_node(&mut self, node: NodeIx) {
        if let Some(halt) = self.halt_of(node)
            && !matches!(self.node(node).phase, Phase::Preparing | Phase::Done)
        {
            let now = self.now;
            self.node_mut(node).shot.on_halt(&halt, now);
            self.sync_end(node);
        }
    }

    /// The last event, if its node did not wait for it: a defect of the caller, to be logged.
    pub fn unexpected(&self) -> Option<&UnexpectedEvent> {
        self.unexpected.as_ref()
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The state of each node, in the plan's order.
    pub fn nodes(&self) -> &[NodeState] {
        &self.nodes
    }

    /// The state of one node.
    pub fn node(&self, node: NodeIx) -> &NodeState {
        &self.nodes[node.index()]
    }

    /// Halts the run, or the service of the event's shot, if the event says that the disk or that service cannot be used. Returns the lane of a service
    /// that is halted now. The run is halted once none of its services can be used.
    fn halt_at_unusable(&mut self, event: &Event) -> Option<usize> {
        let halt = Halt::from_event(event)?;
        match (&halt, event.node()) {
            (Halt::StorageUnusable { .. }, _) => {
                self.halt.get_or_insert(halt);
                None
            }
            (Halt::ServiceUnusable { .. }, Some(node)) => {
                let index = self.lane_of[node.index()];
                let lane = &mut self.lanes[index];
                let is_new = lane.unusable.is_none() && self.halt.is_none();
                lane.unusable.get_or_insert_with(|| halt.clone());
                if self.lanes.iter().all(|lane| lane.unusable.is_some()) {
                    self.halt.get_or_insert(halt);
                }
                is_new.then_some(index)
            }
            (
                Halt::ServiceUnusable { .. }
                | Halt::Interrupted
                | Halt::BudgetExceeded { .. }
                | Halt::FailFast { .. },
                _,
            ) => None,
        }
    }

    /// Why nothing more is submitted of a node, if so: the halt of the run, or that of its service.
    pub fn halt_of(&self, node: NodeIx) -> Option<Halt> {
        self.halt.clone().or_else(|| self.lane(node).unusable.clone())
    }

    /// Why nothing more is submitted, if so.
    pub fn halt(&self) -> Option<&Halt> {
        self.halt.as_ref()
    }

    /// The time before which no request is submitted, because a service asked to wait.
    pub fn submissions_held_until(&self) -> Option<Timestamp> {
        self.lanes.iter().filter_map(|lane| lane.limits.concurrency.held_until(self.now)).max()
    }

    /// The time before which no task is polled, because a service asked to wait.
    pub fn polls_held_until(&self) -> Option<Timestamp> {
        self.lanes.iter().filter_map(|lane| lane.limits.poll_rate.held_until(self.now)).max()
    }

    /// Number of tasks in flight, including those being submitted.
    pub fn in_flight(&self) -> usize {
        self.lanes.iter().map(|lane| lane.queues.in_flight).sum()
    }

    /// Number of nodes that have not ended.
    pub fn unfinished(&self) -> usize {
        self.queues.unfinished
    }

    /// Whether every node and every film have ended.
    pub fn is_over(&self) -> bool {
        self.queues.unfinished == 0 && self.films.iter().all(|film| matches!(film, FilmPhase::Done(_)))
    }

    /// The finished video of a node.
    pub fn artifact(&self, node: NodeIx) -> Option<&Artifact> {
        self.node(node).artifact()
    }

    /// The budget: limits, reserved, spent.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The nodes whose phase the last event changed, in the order of the changes, once per change. Lets a reporter update at O(changed)
    /// cost.
    pub fn changed(&self) -> &[NodeIx] {
        &self.queues.changed
    }

    /// The films that ended with the last event, with their index in the plan.
    pub fn ended_films(&self) -> impl Iterator<Item = (usize, &FilmOutcome)> {
        self.queues.ended_films.iter().filter_map(|film| match self.films.get(*film)? {
            FilmPhase::Done(outcome) => Some((*film, outcome)),
            FilmPhase::Pending | FilmPhase::Joining => None,
        })
    }

    fn film_ended(&mut self, index: usize, outcome: FilmOutcome) {
        if let Some(film) = self.films.get_mut(index) {
            *film = FilmPhase::Done(outcome);
            self.queues.ended_films.push(index);
        }
    }

    fn node_mut(&mut self, node: NodeIx) -> &mut NodeState {
        &mut self.nodes[node.index()]
    }
}
