//! Keys of a run's nodes, from what is known of their inputs.

use workflow::plan::{KeyPart, NodeIx, NodeKey};

use super::RunState;
use crate::ForcedRerun;

impl RunState {
    /// The key of a node, once the videos that it takes frames from exist.
    #[must_use]
    pub fn key(&self, node: NodeIx) -> Option<NodeKey> {
        // A key does not change once it is known, except where a run goes on with the rerun of another one.
        self.node(node).key.or_else(|| self.keys.key(&self.plan, node, |parent| self.artifact(parent)))
    }

    /// The node's key without the service.
    #[must_use]
    pub fn service_independent_key(&self, node: NodeIx) -> Option<NodeKey> {
        self.keys.service_independent_key(&self.plan, node, |parent| self.artifact(parent))
    }

    /// The parts of the node's key at `service`, as far as its inputs are known.
    #[must_use]
    pub fn key_parts(&self, node: NodeIx, service: &str) -> Vec<KeyPart> {
        self.keys.key_parts(&self.plan, node, service, |parent| self.artifact(parent))
    }

    /// What is recorded with the node's intent, if it has a forced rerun.
    #[must_use]
    pub fn forced_rerun(&self, node: NodeIx) -> Option<ForcedRerun> {
        self.keys.forced_rerun(&self.plan, node, |parent| self.artifact(parent))
    }

    /// Goes on with the rerun of a concurrent run, under its key.
    pub(super) fn continue_rerun(&mut self, node: NodeIx, rerun: &ForcedRerun) {
        self.keys.continue_rerun(rerun);
        self.node_mut(node).key = None;
        let key = self.key(node);
        self.node_mut(node).key = key;
    }

    /// The rerun that the node's key belongs to, of this run or an earlier one.
    #[must_use]
    pub fn rerun(&self, node: NodeIx) -> Option<ForcedRerun> {
        self.keys.rerun(&self.plan, node, |parent| self.artifact(parent))
    }
}
