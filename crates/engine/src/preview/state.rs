//! The states of a plan's nodes outside of a run.

use scheduler::{ExistingWork, LastAttempt, StatusKind};
use workflow::plan::{NodeIx, Plan};

use super::Preview;

/// What decides the state of a node outside of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum StateBasis {
    /// It waits for a pick, its work is at another service, or its video is adopted or unrecorded: this is its state.
    Fixed(StatusKind),
    /// It waits for other nodes, whose states decide.
    Waits,
    /// What the lookup of its key has returned.
    Lookup(Box<ExistingWork>),
}

impl StateBasis {
    /// What the lookup of its key has returned, if that decides.
    pub fn existing_work(&self) -> Option<&ExistingWork> {
        match self {
            Self::Lookup(existing) => Some(existing),
            Self::Fixed(_) | Self::Waits => None,
        }
    }
}

impl Preview {
    /// The state of the node's work, whichever run did it. `last`: the latest attempt with its key. `dependencies`: the states of the nodes
    /// that it depends on.
    fn state(
        &self,
        last: Option<LastAttempt>,
        dependencies: impl IntoIterator<Item = StatusKind>,
    ) -> StatusKind {
        match &self.basis {
            StateBasis::Fixed(state) => *state,
            StateBasis::Waits => StatusKind::of_dependent(dependencies),
            StateBasis::Lookup(existing) => StatusKind::from_record(existing, last),
        }
    }
}

/// The state of each node's work, whichever run did it. `last`: the latest attempt with the key of a node. `was_cut_off`: whether the last run
/// was interrupted or killed before the node had ended; it has not started what depends on that node.
pub fn states(
    plan: &Plan,
    previews: &[Preview],
    last: impl Fn(NodeIx) -> Option<LastAttempt>,
    was_cut_off: impl Fn(NodeIx) -> bool,
) -> Vec<StatusKind> {
    let mut states = vec![StatusKind::NotStarted; previews.len()];
    for ix in plan.in_dependency_order() {
        let dependencies = plan.predecessors(ix);
        let dependencies = dependencies.iter().map(|predecessor| match states[predecessor.index()] {
            StatusKind::Detached | StatusKind::Indeterminate if was_cut_off(*predecessor) => {
                StatusKind::NotStarted
            }
            state => state,
        });
        states[ix.index()] = previews[ix.index()].state(last(ix), dependencies);
    }
    states
}
