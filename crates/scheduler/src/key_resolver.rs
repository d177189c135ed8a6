//! Node keys: a hash over the request, the content of its inputs, the service, and the salts of forced reruns.

use std::collections::{HashMap, HashSet};

use workflow::plan::{NodeIx, NodeKey, Plan};

use crate::artifact::Artifact;
use crate::event::ForcedRerun;

/// How occurrences are counted in a key.
#[derive(Debug, Clone, Copy)]
enum OccurrenceNumbering {
    /// As this version counts them.
    Present,
    /// As earlier versions did.
    Earlier,
}

/// A base key, and what it is made with.
#[derive(Debug, Clone, Copy)]
struct CountingKey<'k> {
    key: NodeKey,
    numbering: OccurrenceNumbering,
    /// The name of the service.
    service: &'k str,
}

/// The keys of attempts on record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedKeys {
    /// Those of all attempts, whatever became of them.
    pub all: HashSet<NodeKey>,
    /// Those of attempts that hold their key or have had a video. The others were refused or have failed.
    pub with_work: HashSet<NodeKey>,
}

impl RecordedKeys {
    fn extend(&mut self, other: Self) {
        self.all.extend(other.all);
        self.with_work.extend(other.with_work);
    }
}

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
    /// What earlier versions called the service.
    aliases: Vec<String>,
    /// The keys of attempts; empty where there are neither aliases nor described work.
    recorded: RecordedKeys,
    /// The keys of work that is not on record and whose descriptions are there.
    described: HashSet<NodeKey>,
    /// Keys of attempts that have a number, as this version or an earlier one counted it.
    numbered: HashSet<NodeKey>,
    /// Hashes of files that were downloaded first, by those of files that the service delivered for the same tasks later: of what the plan names.
    pub(crate) first_downloads: HashMap<String, String>,
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

    /// Finds work that earlier versions recorded under another name of the service. Work counts before attempts that were refused or have
    /// failed, and the present name before the others.
    ///
    /// Every run resolves the same key then, at any time: this version records no attempt under the present name for a node that has one under
    /// another, and attempts stay on record whatever becomes of them.
    #[must_use]
    pub fn with_service_aliases(self, aliases: Vec<String>, recorded: RecordedKeys) -> Self {
        Self { aliases, recorded, ..self }
    }

    /// Finds work that earlier versions recorded under a key with another number ([`workflow::plan::earlier_key`]). `numbered` are the keys of
    /// attempts with a number. No key with a number of an earlier version is that of other work, so that every run resolves the same key.
    #[must_use]
    pub fn with_numbered_keys(self, numbered: HashSet<NodeKey>) -> Self {
        Self { numbered, ..self }
    }

    /// Finds work that is not on record and whose descriptions are there: under other names of the service, and with the numbers of earlier
    /// versions. `described` are the keys of that work. It comes after work that is `recorded`, and before attempts that were refused or have failed.
    #[must_use]
    pub fn with_described_work(
        mut self,
        names: impl IntoIterator<Item = String>,
        described: HashSet<NodeKey>,
        recorded: RecordedKeys,
    ) -> Self {
        for name in names {
            if name != self.service && !self.aliases.contains(&name) {
                self.aliases.push(name);
            }
        }
        if !described.is_empty() {
            self.recorded.extend(recorded);
        }
        self.described.extend(described);
        self
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
        let base = self.counting_key(plan, node, artifact)?;
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
        // A key is hashed from the whole request, for every submission: only where it decides something.
        if !self.may_have_salt(node) && self.numbered.is_empty() && self.described.is_empty() {
            return self.base_key(plan, node, "", OccurrenceNumbering::Present, artifact);
        }
        let CountingKey { key: base, numbering, .. } = self.counted(plan, node, artifact)?;
        let key = self.base_key(plan, node, "", numbering, artifact)?;
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
        let base = self.counting_key(plan, node, artifact)?;
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
        let base = self.counting_key(plan, node, artifact)?;
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
        let base = self.counting_key(plan, node, artifact)?;
        Some(self.salts.get(&base).map_or(base, |salt| base.salted(salt)))
    }

    /// The name of the service that is part of the node's key: its identity, or what an earlier version called it.
    #[must_use]
    pub fn service_name<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> &str {
        if self.aliases.is_empty() {
            return &self.service;
        }
        self.counted(plan, node, artifact).map_or(&self.service, |counted| counted.service)
    }

    /// The number that is part of the node's key, where an earlier version counted it otherwise.
    #[must_use]
    pub fn earlier_occurrence<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<u32> {
        if !plan.node(node).has_earlier_key() {
            return None;
        }
        let counted = self.counted(plan, node, artifact)?;
        matches!(counted.numbering, OccurrenceNumbering::Earlier)
            .then_some(plan.node(node).earlier_occurrence)
    }

    /// The base key of the name of the service, and with the number, under which the node's work is recorded; the present one where none is.
    #[must_use]
    pub fn counting_key<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<NodeKey> {
        self.counted(plan, node, artifact).map(|counted| counted.key)
    }

    /// The key of [`Self::counting_key`], and what it is made with.
    fn counted<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<CountingKey<'_>> {
        let base = self.base_key(plan, node, &self.service, OccurrenceNumbering::Present, &artifact)?;
        if !self.numbered.is_empty() && plan.node(node).has_earlier_key() {
            let numbering = OccurrenceNumbering::Earlier;
            for service in std::iter::once(&self.service).chain(&self.aliases) {
                let key = self.base_key(plan, node, service, numbering, &artifact);
                if let Some(key) = key.filter(|key| self.is_numbered(key)) {
                    return Some(CountingKey { key, numbering, service });
                }
            }
        }
        let numbering = OccurrenceNumbering::Present;
        let present = CountingKey { key: base, numbering, service: &self.service };
        if (self.aliases.is_empty() && self.described.is_empty())
            || self.is_in(&self.recorded.with_work, &base)
        {
            return Some(present);
        }
        let others = self.aliases.iter().filter_map(|service| {
            let key = self.base_key(plan, node, service, numbering, &artifact)?;
            Some(CountingKey { key, numbering, service })
        });
        let candidates: Vec<CountingKey<'_>> = std::iter::once(present).chain(others).collect();
        let first_in = |keys| candidates.iter().copied().find(|candidate| self.is_in(keys, &candidate.key));
        first_in(&self.recorded.with_work)
            .or_else(|| self.described_as(plan, node, &artifact))
            .or_else(|| first_in(&self.recorded.all))
            .or(Some(present))
    }

    /// The base key under which the node's work is described.
    fn described_as<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<CountingKey<'_>> {
        if self.described.is_empty() {
            return None;
        }
        let earlier = plan.node(node).has_earlier_key().then_some(OccurrenceNumbering::Earlier);
        for numbering in std::iter::once(OccurrenceNumbering::Present).chain(earlier) {
            for service in std::iter::once(&self.service).chain(&self.aliases) {
                let key = self.base_key(plan, node, service, numbering, &artifact);
                if let Some(key) = key.filter(|key| self.described.contains(key)) {
                    return Some(CountingKey { key, numbering, service });
                }
            }
        }
        None
    }

    /// Whether an attempt with this base key, or the rerun of it that counts, is recorded with a number.
    fn is_numbered(&self, base: &NodeKey) -> bool {
        self.numbered.contains(base) || self.is_in(&self.numbered, base)
    }

    /// Whether the key that counts is among `keys`: that of the rerun, if there is one.
    fn is_in(&self, keys: &HashSet<NodeKey>, base: &NodeKey) -> bool {
        match self.salts.get(base) {
            Some(salt) => keys.contains(&base.salted(salt)),
            None => keys.contains(base),
        }
    }

    fn base_key<'a>(
        &self,
        plan: &Plan,
        node: NodeIx,
        service: &str,
        counting: OccurrenceNumbering,
        artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    ) -> Option<NodeKey> {
        let identities = self.input_identities(plan, node, artifact);
        let identities = identities.into_iter().collect::<Option<Vec<_>>>()?;
        let key = match counting {
            OccurrenceNumbering::Present => workflow::plan::key(plan.node(node), service, &identities),
            OccurrenceNumbering::Earlier => {
                workflow::plan::earlier_key(plan.node(node), service, &identities)?
            }
        };
        Some(self.salt.as_deref().map_or(key, |salt| key.salted(salt)))
    }
}
