//! Keys of a run's nodes, from what is known of their inputs.

use workflow::plan::{KeyPart, NodeIx, NodeKey};

use super::RunState;
use crate::renders::RecordedRenders;

impl RunState {
    /// The key of a node, once the videos that it takes frames from exist.
    pub fn key(&self, node: NodeIx) -> Option<NodeKey> {
        self.node(node).key
    }

    /// The number of a node in the list of renders of its instance, once its key is known.
    pub fn render(&self, node: NodeIx) -> Option<u32> {
        self.node(node).render
    }

    /// The render that was asked for and that a node makes.
    pub fn asked_render(&self, node: NodeIx) -> Option<u32> {
        self.keys.asked_render(&self.plan, node)
    }

    /// Gives a node its key: that of the render that it is.
    pub(super) fn assign_key(&mut self, node: NodeIx) -> Option<NodeKey> {
        // A key does not change once it is known, except where the record has changed meanwhile.
        if let Some(key) = self.node(node).key {
            return Some(key);
        }
        let nodes = &self.nodes;
        let artifact = |parent: NodeIx| nodes[parent.index()].artifact();
        let (key, choice) = self.keys.key(&self.plan, node, artifact)?;
        let state = self.node_mut(node);
        (state.key, state.render) = (Some(key), Some(choice.render));
        Some(key)
    }

    /// Another instance has the number of a node by now, or another render is asked for.
    pub(super) fn reassign_key(&mut self, node: NodeIx, recorded: RecordedRenders) {
        if let Some(key) = self.node_mut(node).key.take() {
            self.keys.refresh(&self.plan, node, key, recorded);
            self.assign_key(node);
        }
    }

    /// The node's key without the service.
    pub fn service_independent_key(&self, node: NodeIx) -> Option<NodeKey> {
        let key = self.key(node)?;
        self.keys.service_independent_key(&self.plan, node, key, |parent| self.artifact(parent))
    }

    /// The parts of the node's key, as far as its inputs are known.
    pub fn key_parts(&self, node: NodeIx) -> Vec<KeyPart> {
        self.keys.key_parts(&self.plan, node, |parent| self.artifact(parent))
    }
}
