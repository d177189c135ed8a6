//! The index of a node.

use petgraph::graph::NodeIndex;
use serde::{Deserialize, Serialize};

/// The index of a node in its plan: 0 is the first node in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeIx(u32);

impl NodeIx {
    /// The position of the node in file order, counted from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The node at a position in file order.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    pub(super) fn graph(self) -> NodeIndex {
        NodeIndex::new(self.index())
    }
}
