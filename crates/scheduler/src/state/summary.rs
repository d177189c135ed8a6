//! What a run came to: the last phase of the chain of types, and all that a caller needs for its table and its exit code.

use std::time::Duration;

use serde::Serialize;
use workflow::plan::NodeIx;

use super::{FilmState, RunState};
use crate::budget::{Amount, BudgetLimits};
use crate::ids::{RunId, TaskId};
use crate::{Attempt, Decision, FilmOutcome, Halt, Outcome};

/// A run that is over.
#[derive(Debug, Clone)]
pub struct RunSummary {
    /// The run.
    pub run: RunId,
    /// Every node, in the plan's order.
    pub nodes: Vec<NodeSummary>,
    /// Every film, in the plan's order.
    pub films: Vec<FilmSummary>,
    /// The takes of which one is to be picked, and there are videos to pick from: the name of the shot or instance, and
    /// how many takes there are.
    pub to_pick: Vec<(String, usize)>,
    /// Why the run stopped submitting, if it did.
    pub halt: Option<Halt>,
    /// What the run was allowed to spend.
    pub caps: BudgetLimits,
    /// What is held for tasks of this run that have not ended, as far as prices are known.
    pub held: Amount,
    /// What the run has spent, as far as prices are known.
    pub spent: Amount,
}

/// What one film came to.
#[derive(Debug, Clone, Serialize)]
pub struct FilmSummary {
    /// Its file name.
    pub name: String,
    /// How it ended.
    pub outcome: FilmOutcome,
}

/// What one node came to.
#[derive(Debug, Clone)]
pub struct NodeSummary {
    /// The node's name.
    pub name: String,
    /// What was decided about it; `None` when the run ended before that was known.
    pub decision: Option<Decision>,
    /// How it ended.
    pub outcome: Outcome,
    /// Its task, if it has one.
    pub task: Option<TaskId>,
    /// From submission to the file on disk, when both happened in this run.
    pub took: Option<Duration>,
    /// Its attempts, oldest first.
    pub attempts: Vec<Attempt>,
}

impl NodeSummary {
    /// Whether this run submitted it: the service accepted a task, or may have.
    #[must_use]
    pub fn is_submitted(&self) -> bool {
        self.submissions().next().is_some()
    }

    /// The attempts that this run submitted, those of which nobody knows whether they were accepted among them.
    pub fn submissions(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(|attempt| attempt.is_submission())
    }

    /// How many attempts this run made after a failed one.
    #[must_use]
    pub fn retries(&self) -> usize {
        self.submissions().count().saturating_sub(1)
    }
}

impl RunState {
    /// What the run came to. A node that has not ended (there is none once [`RunState::is_over`]) counts as not begun.
    #[must_use]
    pub fn summary(&self, run: RunId) -> RunSummary {
        let nodes = self.plan.nodes().map(|(ix, _)| self.node_summary(ix)).collect();
        let films = self
            .plan
            .films()
            .iter()
            .zip(&self.films)
            .map(|(film, state)| FilmSummary {
                name: film.output.clone(),
                outcome: match state {
                    FilmState::Done(outcome) => outcome.clone(),
                    FilmState::Pending | FilmState::Joining => FilmOutcome::Waiting { missing: 0 },
                },
            })
            .collect();
        let made = |takes: &&[NodeIx]| takes.iter().any(|take| self.artifact(*take).is_some());
        let to_pick = self
            .plan
            .open_picks()
            .into_iter()
            .filter(made)
            .map(|takes| (self.plan.takes_name(takes).to_owned(), takes.len()))
            .collect();
        let (caps, held, spent) = (self.budget.caps(), self.budget.reserved(), self.budget.spent());
        RunSummary { run, nodes, films, to_pick, halt: self.halt.clone(), caps, held, spent }
    }
}

impl RunState {
    /// What one node came to; as long as it has not ended, it counts as not begun.
    #[must_use]
    pub fn node_summary(&self, node: NodeIx) -> NodeSummary {
        let shot = self.node(node).shot();
        NodeSummary {
            name: self.plan.node(node).name.clone(),
            decision: shot.decision(),
            outcome: shot.outcome().cloned().unwrap_or(Outcome::NotBegun),
            task: shot.task().cloned(),
            took: shot.took(),
            attempts: shot.attempts().to_vec(),
        }
    }
}

impl RunSummary {
    /// How many nodes this run submitted, those of which nobody knows whether they were accepted among them.
    #[must_use]
    pub fn submitted(&self) -> usize {
        self.nodes.iter().filter(|node| node.is_submitted()).count()
    }

    /// How many nodes ended as `test` says.
    #[must_use]
    pub fn count(&self, test: impl Fn(&Outcome) -> bool) -> usize {
        self.nodes.iter().filter(|node| test(&node.outcome)).count()
    }
}
