//! Node keys: a hash over the request, the content of its inputs and the service, and the number of the render within it.

use std::collections::HashSet;

use workflow::plan::{InputIdentity, Node, NodeIx, NodeKey, Plan, Selection};

use crate::artifact::Artifact;
use crate::renders::{Choice, RecordedRenders, Renders};

/// What enters every key of a run besides the plan.
#[derive(Debug, Clone, Default)]
pub struct KeyResolver {
    service: String,
    /// Salt of all keys of the run.
    salt: Option<String>,
    renders: Renders,
    /// The requests of videos that the record does not have (with number 1).
    described: HashSet<NodeKey>,
    /// The nodes that the run may submit; `None` for all.
    selected: Option<HashSet<NodeIx>>,
}

impl KeyResolver {
    /// The identity of the service of nodes that name none.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// The identity of a node's service: its name, if it has one.
    pub fn service_of<'a>(&'a self, node: &'a Node) -> &'a str {
        node.service.as_deref().unwrap_or(&self.service)
    }

    /// Keys for work of which what names no service is done at the one of this identity.
    pub fn new(service: impl Into<String>) -> Self {
        Self { service: service.into(), ..Self::default() }
    }

    /// Salts all keys of the run with `salt`.
    pub fn with_salt(self, salt: Option<String>) -> Self {
        Self { salt, ..self }
    }

    /// Keys of the renders on record.
    pub fn with_renders(self, renders: Renders) -> Self {
        Self { renders, ..self }
    }

    /// Keys where there are also videos of these keys, which are not on record.
    pub fn with_described(self, keys: impl IntoIterator<Item = NodeKey>) -> Self {
        Self { described: keys.into_iter().map(|key| key.numbered(1)).collect(), ..self }
    }

    /// Keys for a run that submits the selected nodes only: what was asked for of the others stays open.
    pub fn with_selection(self, plan: &Plan, selection: Option<&Selection>) -> Self {
        let of_selection = |selection: &Selection| {
            plan.nodes().map(|(node, _)| node).filter(|node| selection.contains(*node)).collect()
        };
        Self { selected: selection.map(of_selection), ..self }
    }

    /// The renders on record, and what was asked for.
    pub fn renders(&self) -> &Renders {
        &self.renders
    }

    /// The same, to ask for more.
    pub fn renders_mut(&mut self) -> &mut Renders {
        &mut self.renders
    }

    fn is_selected(&self, node: NodeIx) -> bool {
        self.selected.as_ref().is_none_or(|selected| selected.contains(&node))
    }

    /// The render that was asked for and that a node makes.
    pub fn asked_render(&self, plan: &Plan, node: NodeIx) -> Option<u32> {
        let made = plan.node(node);
        let open = self.renders.wishes().get(made.name_without_take())?.open?;
        let makes_it = match made.take {
            Some(take) => take == open,
            None => made.picked.is_none(),
        };
        (makes_it && self.is_selected(node)).then_some(open)
    }

    /// The key of a node, once the videos that it takes frames from are known, and the render that it is. Assigns its number to it.
    pub fn key<'a>(
        &mut self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<(NodeKey, Choice)> {
        let request = self.request_key(plan, node, artifact)?;
        let is_selected = self.is_selected(node);
        let choice = self.renders.assign(plan.node(node), request, is_selected);
        Some((request.numbered(choice.number), choice))
    }

    /// What the record has by now of a node's request and its instance.
    pub fn refresh(&mut self, plan: &Plan, node: NodeIx, key: NodeKey, recorded: RecordedRenders) {
        self.renders.refresh(plan.node(node), key.numbered(1), recorded);
    }

    /// The key of a node's request at any service, with the number of its key: equal for the same work everywhere.
    pub fn service_independent_key<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        key: NodeKey,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<NodeKey> {
        let identities = self.input_identities(plan, node, artifact);
        let identities = identities.into_iter().collect::<Option<Vec<_>>>()?;
        Some(self.key_at(plan, node, "", &identities).numbered(key.number()))
    }

    /// The key of a node's request, with number 1. Where there is no work under its service's identity, and there is under another one by which that
    /// is known, it is that of the latter: what was paid for before a service was named, or renamed, is not paid for again.
    pub fn request_key<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<NodeKey> {
        let service = self.service_of(plan.node(node));
        let identities = self.input_identities(plan, node, artifact);
        let identities = identities.into_iter().collect::<Option<Vec<_>>>()?;
        let key = self.key_at(plan, node, service, &identities);
        let has_work = |key: &NodeKey| self.renders.has_work(*key) || self.described.contains(key);
        if plan.aliases(service).is_empty() || has_work(&key) {
            return Some(key);
        }
        let mut others =
            plan.aliases(service).iter().map(|alias| self.key_at(plan, node, alias, &identities));
        Some(others.find(has_work).unwrap_or(key))
    }

    fn key_at(&self, plan: &Plan, node: NodeIx, service: &str, identities: &[InputIdentity]) -> NodeKey {
        let key = workflow::plan::key(plan.node(node), service, identities);
        self.salt.as_deref().map_or(key, |salt| key.salted(salt))
    }
}
