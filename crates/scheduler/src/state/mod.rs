//! The pure scheduler: what is known of a run, and what follows from each event. No I/O, no clock, no randomness.
//!
//! [`RunState::apply`] takes one [`Event`] and the time and returns the [`Action`]s that follow. The executor appends every
//! event to the ledger before it applies it, so replaying a run is the same `apply` with the actions dropped.

mod action;
mod admission;
mod asking;
mod event;
mod keys;
mod limits;
mod outcome;
mod phase;
mod scope;
mod spending;
mod standing;
mod summary;
mod transitions;

use std::collections::BTreeSet;
use std::sync::Arc;

use workflow::plan::{NodeIx, Plan};

pub use action::{Action, Download};
pub use event::{Anew, Answer, Event, EventKind, Prior, Refusal, RefusalKind};
pub use keys::{Keys, identities_of, key_of, parts_of};
pub use outcome::{Decision, Failure, FailureKind, Film, FilmOutcome, Halt, Outcome};
pub use phase::{NodeState, Phase};
pub use scope::Scope;
pub use summary::{FilmSummary, NodeSummary, RunSummary};

use crate::artifact::Artifact;
use crate::budget::Budget;
use crate::policy::Policy;
use crate::polling::Book;
use crate::time::Millis;
use limits::Limits;
use standing::Standing;

/// Everything that is known of a run, and what is to come.
#[derive(Debug, Clone)]
pub struct RunState {
    plan: Arc<Plan>,
    keys: Keys,
    policy: Policy,
    budget: Budget,
    nodes: Vec<NodeState>,
    standing: Standing,
    /// What is known about how long tasks take.
    book: Book,
    /// The longest paths by time, where that is known.
    ranks: Option<Vec<u64>>,
    limits: Limits,
    /// By position among the films of the plan.
    films: Vec<FilmState>,
    scope: Scope,
    halt: Option<Halt>,
    /// Until when an interrupted run goes on with its downloads.
    grace_until: Option<Millis>,
    /// The times at which the clock has been asked to tick, and has not yet.
    wakes: BTreeSet<Millis>,
}

#[derive(Debug, Clone, PartialEq)]
enum FilmState {
    Pending,
    Joining,
    Over(FilmOutcome),
}

impl RunState {
    /// A run of `plan` against the service called `service` (part of every key), about to begin.
    #[must_use]
    pub fn new(plan: Arc<Plan>, service: impl Into<String>, policy: Policy) -> Self {
        let nodes = plan.nodes().map(|_| NodeState::new()).collect();
        let films = vec![FilmState::Pending; plan.films().len()];
        Self {
            keys: Keys::of_service(service),
            standing: Standing::new(&plan),
            book: Book::default(),
            ranks: None,
            limits: Limits::new(&policy),
            budget: Budget::default(),
            plan,
            policy,
            nodes,
            films,
            scope: Scope::default(),
            halt: None,
            grace_until: None,
            wakes: BTreeSet::new(),
        }
    }

    /// The same run with caps and prices.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// The same run with salts: what is made anew, and what was before.
    #[must_use]
    pub fn with_keys(self, keys: Keys) -> Self {
        Self { keys, ..self }
    }

    /// The same run after earlier ones of this process or another, which submitted at these times: they count against the rate of submissions.
    #[must_use]
    pub fn after_submissions(mut self, times: impl IntoIterator<Item = Millis>) -> Self {
        if let Some(submits) = &mut self.limits.submits {
            times.into_iter().for_each(|at| submits.take(at));
        }
        self
    }

    /// Takes note of `event` and says what follows. Events that no longer matter (a late answer about a node that has ended) change nothing.
    #[must_use]
    pub fn apply(&mut self, event: Event, now: Millis) -> Vec<Action> {
        let mut actions = Vec::new();
        self.standing.changed.clear();
        self.standing.ended_films.clear();
        match event {
            Event::Scoped { only, fail_fast } => self.scoped(only, fail_fast),
            Event::Started => self.started(now, &mut actions),
            Event::Looked { node, key: _, prior } | Event::Taken { node, prior } => {
                self.looked(node, prior, now, &mut actions);
            }
            Event::Capped { node, cap } => self.capped(node, cap),
            Event::Prepared { node, attempt, by_url, .. } => {
                self.prepared(node, attempt, by_url, &mut actions);
            }
            Event::Unprepared { node, failure } => self.unprepared(node, failure),
            Event::Submitted { node, attempt, task } => self.submitted(node, attempt, task, now),
            Event::Refused { node, attempt: _, refusal } => self.refused(node, refusal, now),
            Event::Lost { node, attempt, reason } => self.lost(node, attempt, reason, now),
            Event::Answered { node, attempt, answer } => {
                self.answered(node, attempt, answer, now, &mut actions);
            }
            Event::Downloaded { node, attempt: _, artifact, spent } => {
                self.downloaded(node, artifact, spent, now, &mut actions);
            }
            Event::NotDownloaded { node, attempt: _, failure, kept } => {
                self.not_downloaded(node, failure, kept, now, &mut actions);
            }
            Event::Joined { at, film } => self.film_ended(at, FilmOutcome::Done { film }),
            Event::NotJoined { at, failure } => self.film_ended(at, FilmOutcome::Failed { failure }),
            Event::Woke => self.woke(now),
            Event::Interrupted => self.interrupted(now, &mut actions),
        }
        self.admit(now, &mut actions);
        actions
    }

    /// The plan that is run.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Where each node stands, in the plan's order.
    #[must_use]
    pub fn nodes(&self) -> &[NodeState] {
        &self.nodes
    }

    /// Where one node stands.
    #[must_use]
    pub fn node(&self, node: NodeIx) -> &NodeState {
        &self.nodes[node.index()]
    }

    /// Why nothing more is submitted, if so.
    #[must_use]
    pub fn halt(&self) -> Option<&Halt> {
        self.halt.as_ref()
    }

    /// How many tasks are out at the service or on their way there.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.standing.in_flight
    }

    /// Whether every node and every film have ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.standing.open == 0 && self.films.iter().all(|film| matches!(film, FilmState::Over(_)))
    }

    /// The finished video of a node.
    #[must_use]
    pub fn artifact(&self, node: NodeIx) -> Option<&Artifact> {
        match self.node(node).outcome() {
            Some(Outcome::Done { artifact, .. }) => Some(artifact),
            _ => None,
        }
    }

    /// What the run may spend, holds and has spent.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The nodes whose phase the last event changed, in the order of the changes; one that passed through several phases stands there as often.
    /// With it a reporter keeps up at the cost of what happened, not of the plan's size.
    #[must_use]
    pub fn changed(&self) -> &[NodeIx] {
        &self.standing.changed
    }

    /// The films that ended with the last event, by their position in the plan.
    pub fn ended_films(&self) -> impl Iterator<Item = (usize, &FilmOutcome)> {
        self.standing.ended_films.iter().filter_map(|at| match self.films.get(*at)? {
            FilmState::Over(outcome) => Some((*at, outcome)),
            FilmState::Pending | FilmState::Joining => None,
        })
    }

    fn film_ended(&mut self, at: usize, outcome: FilmOutcome) {
        if let Some(film) = self.films.get_mut(at) {
            *film = FilmState::Over(outcome);
            self.standing.ended_films.push(at);
        }
    }

    fn node_mut(&mut self, node: NodeIx) -> &mut NodeState {
        &mut self.nodes[node.index()]
    }
}
