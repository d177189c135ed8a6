//! The pure scheduler: what is known of a run, and what follows from each event. No I/O, no clock, no randomness.
//!
//! [`RunState::apply`] takes one [`Event`] and the time and returns the [`Action`]s that follow. The executor appends every
//! event to the ledger before it applies it, so replaying a run is the same `apply` with the actions dropped.

mod action;
mod admission;
mod event;
mod limiter;
mod outcome;
mod phase;
mod summary;
mod transitions;

use std::sync::Arc;

use workflow::plan::{InputIdentity, KeyPart, NodeIx, NodeKey, Plan, Source};

pub use action::{Action, Download};
pub use event::{Answer, Event, Prior, Refusal, RefusalKind};
pub use outcome::{Decision, Failure, FailureKind, Film, FilmOutcome, Halt, Outcome};
pub use phase::{NodeState, Phase};
pub use summary::{FilmSummary, NodeSummary, RunSummary};

use crate::artifact::Artifact;
use crate::policy::Policy;
use crate::time::Millis;
use limiter::Limiter;

/// Everything that is known of a run, and what is to come.
#[derive(Debug, Clone)]
pub struct RunState {
    plan: Arc<Plan>,
    service: String,
    policy: Policy,
    nodes: Vec<NodeState>,
    limiter: Limiter,
    /// By position among the films of the plan.
    films: Vec<FilmState>,
    halt: Option<Halt>,
    wake_at: Option<Millis>,
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
        let limiter = Limiter::new(policy.in_flight);
        Self { plan, service: service.into(), policy, nodes, limiter, films, halt: None, wake_at: None }
    }

    /// Takes note of `event` and says what follows. Events that no longer matter (a late answer about a node that has ended) change nothing.
    #[must_use]
    pub fn apply(&mut self, event: Event, now: Millis) -> Vec<Action> {
        let mut actions = Vec::new();
        match event {
            Event::Started => self.started(now, &mut actions),
            Event::Looked { node, key: _, prior } | Event::Taken { node, prior } => {
                self.looked(node, prior, now, &mut actions);
            }
            Event::Prepared { node, attempt, key: _, digest: _, by_url, parts: _ } => {
                self.prepared(node, attempt, by_url, &mut actions);
            }
            Event::Unprepared { node, failure } => self.unprepared(node, failure),
            Event::Submitted { node, attempt, task } => {
                self.submitted(node, attempt, task, now, &mut actions);
            }
            Event::Refused { node, attempt: _, refusal } => self.refused(node, refusal, now),
            Event::Lost { node, attempt, reason } => self.lost(node, attempt, reason),
            Event::Answered { node, attempt, answer } => {
                self.answered(node, attempt, answer, now, &mut actions);
            }
            Event::Downloaded { node, attempt: _, artifact } => {
                self.downloaded(node, artifact, now, &mut actions);
            }
            Event::NotDownloaded { node, attempt: _, failure } => self.not_downloaded(node, failure, now),
            Event::Joined { at, film } => self.film_ended(at, FilmOutcome::Done { film }),
            Event::NotJoined { at, failure } => self.film_ended(at, FilmOutcome::Failed { failure }),
            Event::Woke => self.wake_at = None,
            Event::Interrupted => self.interrupted(),
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
        self.nodes.iter().filter(|node| node.phase.is_in_flight()).count()
    }

    /// Whether every node and every film have ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.films.iter().all(|film| matches!(film, FilmState::Over(_)))
            && self.nodes.iter().all(|node| node.outcome().is_some())
    }

    /// The finished video of a node.
    #[must_use]
    pub fn artifact(&self, node: NodeIx) -> Option<&Artifact> {
        match self.node(node).outcome() {
            Some(Outcome::Done { artifact, .. }) => Some(artifact),
            _ => None,
        }
    }

    /// The key of a node, once the videos that it takes frames from are there.
    #[must_use]
    pub fn key(&self, node: NodeIx) -> Option<NodeKey> {
        key_of(&self.plan, node, &self.service, |parent| self.artifact(parent))
    }

    fn film_ended(&mut self, at: usize, outcome: FilmOutcome) {
        if let Some(film) = self.films.get_mut(at) {
            *film = FilmState::Over(outcome);
        }
    }

    fn node_mut(&mut self, node: NodeIx) -> &mut NodeState {
        &mut self.nodes[node.index()]
    }
}

/// A node's key, if `artifact` knows the videos that it takes frames from and no take of them is still to be picked.
#[must_use]
pub fn key_of<'a>(
    plan: &Plan,
    node: NodeIx,
    service: &str,
    artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
) -> Option<NodeKey> {
    let identities = identities_of(plan, node, artifact).into_iter().collect::<Option<Vec<_>>>()?;
    Some(workflow::plan::key(plan.node(node), service, &identities))
}

/// What identifies each of a node's inputs; nothing for those whose video is not there yet.
pub(crate) fn identities_of<'a>(
    plan: &Plan,
    node: NodeIx,
    artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
) -> Vec<Option<InputIdentity>> {
    let inputs = plan.node(node).inputs.iter();
    inputs
        .map(|input| match &input.source {
            Source::LastFrame(parent) => {
                artifact(*parent).map(|made| InputIdentity::last_frame_of(&made.sha256))
            }
            Source::FirstFrame(parent) => {
                artifact(*parent).map(|made| InputIdentity::first_frame_of(&made.sha256))
            }
            // Which frame it will be, nobody has said yet.
            Source::Pick { .. } => None,
            Source::File { sha256, .. } => Some(InputIdentity::content(sha256)),
        })
        .collect()
}

/// The parts of a node's key, as far as its inputs are known.
pub(crate) fn parts_of<'a>(
    plan: &Plan,
    node: NodeIx,
    service: &str,
    artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
) -> Vec<KeyPart> {
    workflow::plan::key_parts(plan.node(node), service, &identities_of(plan, node, artifact))
}
