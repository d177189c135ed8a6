//! The selection of a run: the nodes that it may submit. All others are reused if they are completed, and never submitted.

use std::collections::BTreeSet;

use super::{NodeIx, Plan};

/// Nodes that may be submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    nodes: BTreeSet<NodeIx>,
}

impl Selection {
    /// Exactly these nodes. Their dependencies must be completed: see [`Selection::missing`].
    pub fn only(nodes: impl IntoIterator<Item = NodeIx>) -> Self {
        Self { nodes: nodes.into_iter().collect() }
    }

    /// These nodes, all dependents, and all dependencies of those.
    pub fn from(plan: &Plan, nodes: impl IntoIterator<Item = NodeIx>) -> Self {
        let with_what_depends = Self::only(nodes).with_downstream(plan);
        Self { nodes: closure(with_what_depends.nodes, |node| plan.predecessors(node)) }
    }

    /// The selection with all dependents.
    pub fn with_downstream(self, plan: &Plan) -> Self {
        Self { nodes: closure(self.nodes, |node| plan.successors(node)) }
    }

    /// Whether a node is selected.
    pub fn contains(&self, node: NodeIx) -> bool {
        self.nodes.contains(&node)
    }

    /// The nodes in file order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIx> + '_ {
        self.nodes.iter().copied()
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the selection is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Direct dependencies that are neither selected nor completed, each with the first node that depends on it, in file order.
    pub fn missing(&self, plan: &Plan, is_made: impl Fn(NodeIx) -> bool) -> Vec<(NodeIx, NodeIx)> {
        let mut reported = BTreeSet::new();
        let mut missing = Vec::new();
        for node in self.nodes() {
            for before in plan.predecessors(node) {
                if !self.contains(before) && !is_made(before) && reported.insert(before) {
                    missing.push((before, node));
                }
            }
        }
        missing.sort_unstable();
        missing
    }
}

/// The transitive closure of `nodes` under `next`.
fn closure(nodes: BTreeSet<NodeIx>, next: impl Fn(NodeIx) -> Vec<NodeIx>) -> BTreeSet<NodeIx> {
    let mut open: Vec<NodeIx> = nodes.iter().copied().collect();
    let mut reached = nodes;
    while let Some(node) = open.pop() {
        open.extend(next(node).into_iter().filter(|next| reached.insert(*next)));
    }
    reached
}
