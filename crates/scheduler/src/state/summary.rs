//! The result of a run: everything a caller needs for the final report and the exit code.

use std::time::Duration;

use workflow::plan::{NodeIx, OpenPick, PickKind};

use super::lanes::Lane;
use super::{FilmPhase, RunState};
use crate::budget::{Amount, BudgetCaps};
use crate::ids::{RunId, TaskId};
use crate::{Attempt, Decision, FilmOutcome, Halt, Outcome, Shot, StatusKind};

/// A pick that something waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickSummary {
    /// What the candidates differ in.
    pub kind: PickKind,
    /// The shot or instance.
    pub name: String,
    /// The number of candidates.
    pub candidates: usize,
}

#[derive(Debug, Clone)]
pub struct RunSummary {
    pub run: RunId,
    /// Every node, in the plan's order.
    pub nodes: Vec<NodeSummary>,
    /// Every film, in the plan's order.
    pub films: Vec<FilmSummary>,
    /// Picks to make, with at least one video to pick from.
    pub picks: Vec<PickSummary>,
    /// Why the run stopped submitting, if it did, or the shots of one of its services.
    pub halt: Option<Halt>,
    /// The services that could not be used, of several.
    pub unusable: Vec<String>,
    /// The caps of the run.
    pub caps: BudgetCaps,
    /// What is reserved for tasks of this run that have not ended, as far as they are priced.
    pub held: Amount,
    /// What the run has spent, as far as it is priced.
    pub spent: Amount,
}

/// The result of one film.
#[derive(Debug, Clone)]
pub struct FilmSummary {
    pub name: String,
    pub outcome: FilmOutcome,
}

/// The result of one node.
#[derive(Debug, Clone)]
pub struct NodeSummary {
    pub name: String,
    /// The decision about it; `None` if the run ended before that.
    pub decision: Option<Decision>,
    pub outcome: Outcome,
    /// Its task, if it has one.
    pub task: Option<TaskId>,
    /// From submission to the file on disk, if both happened in this run.
    pub took: Option<Duration>,
    /// Its attempts, oldest first.
    pub attempts: Vec<Attempt>,
}

impl NodeSummary {
    /// The kind of its outcome.
    pub fn kind(&self) -> StatusKind {
        self.outcome.kind(self.decision)
    }

    /// Whether this run submitted it: the service accepted a task, or may have.
    pub(crate) fn is_submitted(&self) -> bool {
        self.submissions().next().is_some()
    }

    /// The attempts that this run submitted, including indeterminate ones.
    pub fn submissions(&self) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(|attempt| attempt.is_submission())
    }

    /// Number of attempts that this run made after a failed one.
    pub fn retries(&self) -> usize {
        self.submissions().count().saturating_sub(1)
    }
}

impl RunState {
    /// The summary. Nodes that have not ended (none once [`RunState::is_over`]) count as not started.
    pub fn into_summary(mut self, run: RunId) -> RunSummary {
        let films = self
            .plan
            .films()
            .iter()
            .zip(&self.films)
            .map(|(film, state)| FilmSummary {
                name: film.output.clone(),
                outcome: match state {
                    FilmPhase::Done(outcome) => outcome.clone(),
                    FilmPhase::Pending | FilmPhase::Joining => FilmOutcome::Pending { missing: 0 },
                },
            })
            .collect();
        let has_video = |open: &OpenPick<'_>| open.candidates.iter().any(|ix| self.artifact(*ix).is_some());
        let picks = self
            .plan
            .open_picks()
            .into_iter()
            .filter(has_video)
            .map(|open| PickSummary {
                kind: open.kind,
                candidates: open.candidates.len(),
                name: open.name.into_owned(),
            })
            .collect();
        // Moved, not copied: a run may have a hundred thousand.
        let shots = std::mem::take(&mut self.nodes).into_iter().map(|node| node.shot);
        let nodes =
            self.plan.nodes().zip(shots).map(|((_, node), shot)| node_summary(&node.name, shot)).collect();
        let (caps, held, spent) = (self.budget.caps(), self.budget.reserved(), self.budget.spent());
        let unusable: Vec<&Lane> = self.lanes.iter().filter(|lane| lane.unusable.is_some()).collect();
        let halt = self.halt.or_else(|| unusable.first()?.unusable.clone());
        let is_one_of_several = self.lanes.len() > 1;
        let unusable =
            unusable.into_iter().filter(|_| is_one_of_several).map(|lane| lane.service.clone()).collect();
        RunSummary { run, nodes, films, picks, halt, unusable, caps, held, spent }
    }
}

impl RunState {
    /// The summary of one node; unfinished, it counts as not started.
    pub fn node_summary(&self, node: NodeIx) -> NodeSummary {
        node_summary(&self.plan.node(node).name, self.node(node).shot().clone())
    }
}

fn node_summary(name: &str, shot: Shot) -> NodeSummary {
    let (decision, task, took) = (shot.decision(), shot.task().cloned(), shot.took());
    let (outcome, attempts) = shot.into_parts();
    NodeSummary {
        name: name.to_owned(),
        decision,
        outcome: outcome.unwrap_or(Outcome::NotStarted),
        task,
        took,
        attempts,
    }
}

impl RunSummary {
    /// Number of nodes that this run submitted, including indeterminate ones.
    pub fn submitted(&self) -> usize {
        self.nodes.iter().filter(|node| node.is_submitted()).count()
    }

    /// Number of tasks that the service accepted in this run: with retries more than the nodes that were submitted.
    pub fn accepted_tasks(&self) -> usize {
        let attempts = self.nodes.iter().flat_map(NodeSummary::submissions);
        attempts.filter(|attempt| attempt.task.is_some()).count()
    }

    /// Number of nodes whose outcome has one of these kinds.
    pub fn count(&self, kinds: &[StatusKind]) -> usize {
        self.nodes.iter().filter(|node| kinds.contains(&node.kind())).count()
    }
}
