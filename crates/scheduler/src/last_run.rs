//! What failed in the last run of a workflow, and what was not begun because of that.

use std::collections::{BTreeSet, HashMap, HashSet};

use workflow::plan::{NodeIx, Plan};

use crate::ids::RunId;
use crate::timestamp::Timestamp;
use crate::{Event, ExistingWork, PollResult, RefusalKind};

/// A run as it is on record, as far as is needed to say how its shots stood.
#[derive(Debug, Clone)]
pub struct RunRecord {
    /// The run.
    pub run: RunId,
    /// When it began.
    pub started_at: Timestamp,
    /// What it was told besides its plan.
    pub scoped: Option<Event>,
    /// The last event about each shot, by the name that it had then.
    pub last: HashMap<String, Event>,
}

/// How a shot stood when its run was last heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Done,
    Failed,
    /// Nothing of it was submitted.
    NotBegun,
    /// A task is out, or may be: nothing to pay for again.
    Outstanding,
}

/// What `run --failed` makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The nodes of the plan that failed then, and those that were not begun for that reason alone, in file order.
    pub nodes: Vec<NodeIx>,
    /// How many others that the run was to make are not done.
    pub others: usize,
}

impl RunRecord {
    /// What failed, in the plan as it is now. What it does not name any more is not among them.
    #[must_use]
    pub fn failed(&self, plan: &Plan) -> Failed {
        let (only, fail_fast) = match &self.scoped {
            Some(Event::RunConfigured { only, fail_fast }) => (only.as_ref(), *fail_fast),
            _ => (None, false),
        };
        let only: Option<HashSet<&str>> = only.map(|names| names.iter().map(String::as_str).collect());
        let was_selected =
            |ix: NodeIx| only.as_ref().is_none_or(|only| only.contains(plan.node(ix).name.as_str()));
        let standing: Vec<Standing> = plan
            .nodes()
            .map(|(_, node)| self.last.get(&node.name).map_or(Standing::NotBegun, standing))
            .collect();
        let stands = |ix: NodeIx| standing[ix.index()];
        let selected: Vec<NodeIx> = plan.nodes().map(|(ix, _)| ix).filter(|ix| was_selected(*ix)).collect();
        let mut nodes: BTreeSet<NodeIx> =
            selected.iter().copied().filter(|ix| stands(*ix) == Standing::Failed).collect();
        let ended_the_run = (fail_fast && !nodes.is_empty()) || self.last.values().any(is_unusable);
        if ended_the_run {
            nodes.extend(selected.iter().filter(|ix| stands(**ix) == Standing::NotBegun));
        }
        let mut open: Vec<NodeIx> = nodes.iter().copied().collect();
        while let Some(node) = open.pop() {
            for next in plan.successors(node) {
                // What waits for something else as well is not to be begun for that other thing's sake.
                let goes_on = |before: &NodeIx| {
                    nodes.contains(before) || stands(*before) == Standing::Done || !was_selected(*before)
                };
                let waited = was_selected(next) && stands(next) == Standing::NotBegun;
                if waited && !nodes.contains(&next) && plan.predecessors(next).iter().all(goes_on) {
                    nodes.insert(next);
                    open.push(next);
                }
            }
        }
        let is_other = |ix: &&NodeIx| stands(**ix) != Standing::Done && !nodes.contains(ix);
        Failed { others: selected.iter().filter(is_other).count(), nodes: nodes.into_iter().collect() }
    }
}

/// Whether no request of the run could succeed any more.
fn is_unusable(event: &Event) -> bool {
    match event {
        Event::Refused { refusal, .. } => refusal.kind == RefusalKind::ServiceUnusable,
        Event::Polled { result, .. } => matches!(result, PollResult::Unauthorized { .. }),
        _ => false,
    }
}

fn standing(event: &Event) -> Standing {
    match event {
        Event::LookupDone { existing, .. } | Event::ClaimConflict { existing, .. } => match existing {
            ExistingWork::Completed { .. } => Standing::Done,
            ExistingWork::None => Standing::NotBegun,
            ExistingWork::Abandoned { .. } => Standing::Failed,
            ExistingWork::InFlight { .. }
            | ExistingWork::Indeterminate { .. }
            | ExistingWork::OtherService { .. }
            | ExistingWork::ClaimedByRun { .. } => Standing::Outstanding,
        },
        Event::Downloaded { .. } => Standing::Done,
        // A refusal that was not followed by another intent.
        Event::PrepareFailed { .. }
        | Event::Refused { .. }
        | Event::TaskExpired { .. }
        | Event::Polled { result: PollResult::Failed { .. }, .. } => Standing::Failed,
        // The service has no such task: not accepted after all, or not yet submitted by this run.
        Event::Reconciled { task: None, reason, .. } => match reason {
            Some(_) => Standing::Failed,
            None => Standing::NotBegun,
        },
        Event::Prepared { .. }
        | Event::Submitted { .. }
        | Event::Indeterminate { .. }
        | Event::Reconciled { task: Some(_), .. }
        | Event::Polled { .. }
        | Event::DownloadFailed { .. } => Standing::Outstanding,
        Event::BudgetExceeded { .. }
        | Event::RunConfigured { .. }
        | Event::Started
        | Event::FilmJoined { .. }
        | Event::JoinFailed { .. }
        | Event::Resolved { .. }
        | Event::TimerFired
        | Event::Interrupted => Standing::NotBegun,
    }
}
