//! Node keys: a hash over the request, the content of its inputs, the service, and the salts of forced reruns.

use std::collections::{HashMap, HashSet};

use workflow::plan::{NodeIx, NodeKey, Plan};

use crate::artifact::Artifact;
use crate::event::ForcedRerun;

/// What enters every key of a run besides the plan.
#[derive(Debug, Clone, Default)]
pub struct KeyResolver {
    service: String,
    /// Salt of all keys of the run.
    salt: Option<String>,
    /// Recorded salts, by base key.
    salts: HashMap<NodeKey, String>,
    /// Nodes with a forced rerun in this run, and their salt.
    forced: HashSet<NodeIx>,
    new_salt: String,
    /// Base keys of forced reruns that an earlier run began and did not finish.
    unfinished: HashSet<NodeKey>,
}

impl KeyResolver {
    /// The identity of the service.
    #[must_use]
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Keys for work at the service of this identity.
    #[must_use]
    pub fn new(service: impl Into<String>) -> Self {
        Self { service: service.into(), ..Self::default() }
    }

    /// Salts all keys of the run with `salt`.
    #[must_use]
    pub fn with_salt(self, salt: Option<String>) -> Self {
        Self { salt, ..self }
    }

    /// Applies recorded salts, so that the latest rerun of a shot counts.
    #[must_use]
    pub fn with_recorded_salts(self, salts: HashMap<NodeKey, String>) -> Self {
        Self { salts, ..self }
    }

    /// Forces a rerun of `nodes`: `salt` makes their keys differ from all recorded ones.
    #[must_use]
    pub fn with_forced(self, nodes: impl IntoIterator<Item = NodeIx>, salt: impl Into<String>) -> Self {
        Self { forced: nodes.into_iter().collect(), new_salt: salt.into(), ..self }
    }

    /// Continues unfinished reruns: forcing such a node again leads to the work that was begun, and not to another task.
    #[must_use]
    pub fn with_unfinished_reruns(self, base_keys: HashSet<NodeKey>) -> Self {
        Self { unfinished: base_keys, ..self }
    }

    /// Goes on with the rerun of another run: forcing its node leads to the work that was begun there.
    pub fn continue_rerun(&mut self, rerun: &ForcedRerun) {
        // A malformed key matches no node.
        if let Some(base) = NodeKey::parse(&rerun.key) {
            if rerun.salt.is_empty() {
                self.salts.remove(&base);
            } else {
                self.salts.insert(base, rerun.salt.clone());
            }
            self.unfinished.insert(base);
        }
    }

    /// Whether a forced rerun of a node was requested.
    #[must_use]
    pub fn is_forced(&self, node: NodeIx) -> bool {
        self.forced.contains(&node)
    }

    /// Whether a node's work is new whatever the frames that it takes are: a forced rerun is, unless it may continue an unfinished one.
    #[must_use]
    pub fn is_always_new(&self, node: NodeIx) -> bool {
        self.is_forced(node) && self.unfinished.is_empty()
    }

    /// The key of a node, once the videos that it takes frames from are known.
    #[must_use]
    pub fn key<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<NodeKey> {
        let base = self.base_key(plan, node, artifact)?;
        Some(match self.salt_of(node, &base) {
            Some(salt) => base.salted(salt),
            None => base,
        })
    }

    /// The key without the service: equal for the same work at any service.
    #[must_use]
    pub fn service_independent_key<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact> + Copy,
    ) -> Option<NodeKey> {
        let key = self.key_at(plan, node, "", artifact)?;
        // A key is hashed from the whole request, for every submission: only where it decides something.
        if !self.may_have_salt(node) {
            return Some(key);
        }
        let base = self.base_key(plan, node, artifact)?;
        Some(match self.salt_of(node, &base) {
            Some(salt) => key.salted(salt),
            None => key,
        })
    }

    /// What is recorded for a forced rerun.
    #[must_use]
    pub fn forced_rerun<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<ForcedRerun> {
        if !self.is_forced(node) {
            return None;
        }
        let base = self.base_key(plan, node, artifact)?;
        self.has_new_salt(node, &base).then(|| ForcedRerun {
            key: base.to_string(),
            salt: self.new_salt.clone(),
            supersedes: self.salts.get(&base).cloned(),
        })
    }

    /// The rerun that the node's key belongs to: one of this run, or a recorded one.
    #[must_use]
    pub fn rerun<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<ForcedRerun> {
        if !self.may_have_salt(node) {
            return None;
        }
        let base = self.base_key(plan, node, artifact)?;
        let salt = self.salt_of(node, &base)?;
        Some(ForcedRerun { key: base.to_string(), salt: salt.to_owned(), supersedes: None })
    }

    /// Whether a salt of a forced rerun may enter the node's key, which only its base key tells.
    fn may_have_salt(&self, node: NodeIx) -> bool {
        !self.salts.is_empty() || self.is_forced(node)
    }

    fn has_new_salt(&self, node: NodeIx, base: &NodeKey) -> bool {
        self.is_forced(node) && !self.unfinished.contains(base)
    }

    fn salt_of(&self, node: NodeIx, base: &NodeKey) -> Option<&str> {
        if self.has_new_salt(node, base) {
            return Some(&self.new_salt);
        }
        self.salts.get(base).map(String::as_str)
    }

    /// The key of the work that is on record and counts, whether or not this run renders the node again.
    #[must_use]
    pub fn recorded_key<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<NodeKey> {
        let base = self.base_key(plan, node, artifact)?;
        Some(self.salts.get(&base).map_or(base, |salt| base.salted(salt)))
    }

    /// The key of a node without the salt of a rerun: the one that the workflow file gives.
    #[must_use]
    pub fn base_key<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<NodeKey> {
        self.key_at(plan, node, &self.service, artifact)
    }

    /// The same at any service.
    fn key_at<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        service: &str,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<NodeKey> {
        let identities = self.input_identities(plan, node, artifact);
        let identities = identities.into_iter().collect::<Option<Vec<_>>>()?;
        let key = workflow::plan::key(plan.node(node), service, &identities);
        Some(self.salt.as_deref().map_or(key, |salt| key.salted(salt)))
    }
}
