//! The scope of a run besides its plan: the selected shots, and fail-fast.

use std::collections::BTreeSet;

use workflow::plan::{NodeIx, Plan, Selection};

use super::RunState;
use crate::Event;

/// The scope of a run besides its plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunScope {
    /// The nodes that the run may submit; `None` for all.
    pub selection: Option<Selection>,
    /// Whether nothing more is submitted once a shot has failed.
    pub fail_fast: bool,
}

impl RunScope {
    /// The event that records the scope; `None` for the default.
    pub fn to_event(&self, plan: &Plan) -> Option<Event> {
        let names = |selection: &Selection| selection.nodes().map(|ix| plan.node(ix).name.clone()).collect();
        let only = self.selection.as_ref().map(names);
        let services: BTreeSet<_> = plan.nodes().map(|(_, node)| node.service.as_deref()).collect();
        let (fail_fast, several_services) = (self.fail_fast, services.len() > 1);
        let is_default = only.is_none() && !fail_fast && !several_services;
        (!is_default).then_some(Event::RunConfigured { only, fail_fast, several_services })
    }
}

impl RunState {
    /// Whether a node may be submitted in this run.
    pub fn is_selected(&self, node: NodeIx) -> bool {
        self.scope.selection.as_ref().is_none_or(|selection| selection.contains(node))
    }
}
