//! Node keys: a hash over the request, the content of its inputs, the service, and the salts of forced reruns.

use std::collections::{HashMap, HashSet};

use workflow::plan::{InputIdentity, KeyPart, NodeIx, NodeKey, Plan, Source};

use crate::artifact::Artifact;
use crate::event::ForcedRerun;

/// What goes into every key of a run besides the plan.
#[derive(Debug, Clone, Default)]
pub struct KeyResolver {
    service: String,
    /// Sets all of the run's work apart from other work.
    salt: Option<String>,
    /// Salts on record, by the key that the file gives.
    salts: HashMap<NodeKey, String>,
    /// Nodes that are made anew in this run, and the salt that they get.
    forced: HashSet<NodeIx>,
    new_salt: String,
}

impl KeyResolver {
    /// Keys for work at the service of this identity.
    #[must_use]
    pub fn new(service: impl Into<String>) -> Self {
        Self { service: service.into(), ..Self::default() }
    }

    /// Sets all of the run's work apart by `salt`.
    #[must_use]
    pub fn with_salt(self, salt: Option<String>) -> Self {
        Self { salt, ..self }
    }

    /// Follows the salts on record, so that what was made anew once is what counts.
    #[must_use]
    pub fn with_recorded_salts(self, salts: HashMap<NodeKey, String>) -> Self {
        Self { salts, ..self }
    }

    /// Makes `nodes` anew: `salt` sets their videos apart from all that there are.
    #[must_use]
    pub fn with_forced(self, nodes: impl IntoIterator<Item = NodeIx>, salt: impl Into<String>) -> Self {
        Self { forced: nodes.into_iter().collect(), new_salt: salt.into(), ..self }
    }

    /// Whether a node is to be made anew.
    #[must_use]
    pub fn is_forced(&self, node: NodeIx) -> bool {
        self.forced.contains(&node)
    }

    /// The key of a node, once the videos that it takes frames from are known.
    #[must_use]
    pub fn key<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<NodeKey> {
        let base = self.base_key(plan, node, &self.service, artifact)?;
        Some(match self.salt_of(node, &base) {
            Some(salt) => base.salted(salt),
            None => base,
        })
    }

    /// The key without the service: the same for the same work, whoever does it.
    #[must_use]
    pub fn service_independent_key<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact> + Copy,
    ) -> Option<NodeKey> {
        let base = self.base_key(plan, node, &self.service, artifact)?;
        let key = self.base_key(plan, node, "", artifact)?;
        Some(match self.salt_of(node, &base) {
            Some(salt) => key.salted(salt),
            None => key,
        })
    }

    /// What goes on record when a node is made anew.
    #[must_use]
    pub fn forced_rerun<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<ForcedRerun> {
        let base = self.base_key(plan, node, &self.service, artifact)?;
        self.is_forced(node).then(|| ForcedRerun { key: base.to_string(), salt: self.new_salt.clone() })
    }

    fn salt_of(&self, node: NodeIx, base: &NodeKey) -> Option<&str> {
        if self.is_forced(node) {
            return Some(&self.new_salt);
        }
        self.salts.get(base).map(String::as_str)
    }

    fn base_key<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        service: &str,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<NodeKey> {
        let key = key_of(plan, node, service, artifact)?;
        Some(self.salt.as_deref().map_or(key, |salt| key.salted(salt)))
    }
}

/// A node's key, if `artifact` knows the videos that it takes frames from.
#[must_use]
pub fn key_of<'a>(
    plan: &Plan,
    node: NodeIx,
    service: &str,
    artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
) -> Option<NodeKey> {
    let identities = input_identities(plan, node, artifact).into_iter().collect::<Option<Vec<_>>>()?;
    Some(workflow::plan::key(plan.node(node), service, &identities))
}

/// What identifies each of a node's inputs; nothing for those whose video is not there yet.
#[must_use]
pub fn input_identities<'a>(
    plan: &Plan,
    node: NodeIx,
    artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
) -> Vec<Option<InputIdentity>> {
    let inputs = plan.node(node).inputs.iter();
    inputs
        .map(|input| match &input.source {
            Source::LastFrame(parent) => {
                artifact(*parent).map(|made| InputIdentity::last_frame_of(&made.sha256))
            }
            Source::FirstFrame(parent) => {
                artifact(*parent).map(|made| InputIdentity::first_frame_of(&made.sha256))
            }
            // Which frame it will be, nobody has said yet.
            Source::Pick { .. } => None,
            Source::File { sha256, .. } => Some(InputIdentity::content(sha256)),
        })
        .collect()
}

/// The parts of a node's key, as far as its inputs are known.
#[must_use]
pub fn key_parts<'a>(
    plan: &Plan,
    node: NodeIx,
    service: &str,
    artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
) -> Vec<KeyPart> {
    workflow::plan::key_parts(plan.node(node), service, &input_identities(plan, node, artifact))
}
