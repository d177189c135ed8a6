//! Shots that failed in the last run of a workflow, and those that were not started because of that: `run --failed`.

use std::collections::BTreeSet;

use workflow::plan::{NodeIx, Plan};

use crate::ids::RunId;
use crate::timestamp::Timestamp;
use crate::{Halt, Outcome, RunProjection, StatusKind};

#[derive(Debug, Clone)]
pub struct RunRecord {
    pub run: RunId,
    pub started_at: Timestamp,
    /// The projection of its events.
    pub projection: RunProjection,
}

/// How a shot ended, as far as `run --failed` distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndState {
    Done,
    Failed,
    /// Nothing was submitted.
    NotStarted,
    /// A task is in flight or missing, or may be, or its video is on no record: submitting again would pay twice.
    InFlight,
}

/// The shots that `run --failed` submits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedShots {
    /// Nodes of the plan that failed, and those that were not started for that reason alone, in file order.
    pub nodes: Vec<NodeIx>,
    /// Number of other selected shots that are not done.
    pub others: usize,
}

impl RunRecord {
    /// Whether the run was interrupted, lost its service or was killed before a shot had ended, or while its task was in flight.
    pub fn has_cut_off(&self, shot: &str) -> bool {
        let Some(shot) = self.projection.shot(shot) else { return false };
        let is_halted = matches!(
            self.projection.halt(),
            Some(Halt::Interrupted | Halt::ServiceUnusable { .. } | Halt::StorageUnusable { .. })
        );
        match shot.outcome() {
            Some(Outcome::Detached { .. } | Outcome::Indeterminate { .. }) => is_halted,
            Some(_) => false,
            None => true,
        }
    }

    /// Failed shots, in terms of the current plan. Shots that it no longer has are omitted.
    pub fn failed(&self, plan: &Plan) -> FailedShots {
        let run = &self.projection;
        let name = |ix: NodeIx| plan.node(ix).name.as_str();
        let categories: Vec<EndState> = plan
            .nodes()
            .map(|(ix, _)| run.shot(name(ix)).map_or(EndState::NotStarted, |shot| category(shot.kind())))
            .collect();
        let category = |ix: NodeIx| categories[ix.index()];
        let was_selected = |ix: NodeIx| run.is_selected(name(ix));
        let selected: Vec<NodeIx> = plan.nodes().map(|(ix, _)| ix).filter(|ix| was_selected(*ix)).collect();
        let mut nodes: BTreeSet<NodeIx> =
            selected.iter().copied().filter(|ix| category(*ix) == EndState::Failed).collect();
        let ended_the_run = (run.is_fail_fast() && !nodes.is_empty()) || run.is_service_unusable();
        // A shot that also waits for something else, such as a task in flight, was not started for that other reason.
        let waits_for_failed = |next: NodeIx, failed: &BTreeSet<NodeIx>| {
            let is_failed_or_done = |predecessor: &NodeIx| {
                failed.contains(predecessor)
                    || category(*predecessor) == EndState::Done
                    || !was_selected(*predecessor)
            };
            let was_waiting = was_selected(next) && category(next) == EndState::NotStarted;
            was_waiting && plan.predecessors(next).iter().all(is_failed_or_done)
        };
        if ended_the_run {
            let first: Vec<NodeIx> =
                selected.iter().copied().filter(|ix| waits_for_failed(*ix, &nodes)).collect();
            nodes.extend(first);
        }
        let mut open: Vec<NodeIx> = nodes.iter().copied().collect();
        while let Some(node) = open.pop() {
            for next in plan.successors(node) {
                if !nodes.contains(&next) && waits_for_failed(next, &nodes) {
                    nodes.insert(next);
                    open.push(next);
                }
            }
        }
        let is_other = |ix: &&NodeIx| category(**ix) != EndState::Done && !nodes.contains(ix);
        FailedShots { others: selected.iter().filter(is_other).count(), nodes: nodes.into_iter().collect() }
    }
}

fn category(kind: StatusKind) -> EndState {
    match kind {
        StatusKind::Done | StatusKind::Reused => EndState::Done,
        // The run ended before it submitted the next attempt.
        StatusKind::Failed | StatusKind::WaitingForRetry => EndState::Failed,
        StatusKind::Waiting
        | StatusKind::Pending
        | StatusKind::Blocked
        | StatusKind::Unpicked
        | StatusKind::NotStarted
        | StatusKind::NotSelected => EndState::NotStarted,
        StatusKind::InFlight
        | StatusKind::Submitting
        | StatusKind::Downloading
        | StatusKind::ClaimedByOtherRun
        | StatusKind::Detached
        | StatusKind::AtOtherService
        | StatusKind::Missing
        | StatusKind::Unrecorded
        | StatusKind::Indeterminate => EndState::InFlight,
    }
}
