//! Which recorded attempts belong to the shots of a plan, as the file is now.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension as _};
use scheduler::{Artifact, KeyResolver};
use workflow::plan::{NodeKey, Plan};

use super::attempt_state::holds_key;
use super::sql::{artifact, artifact_columns};
use super::{LedgerError, LedgerReader, keys};

/// The keys of a plan's nodes at one service.
#[derive(Debug, Clone, Default)]
pub struct PlanKeys {
    keys: HashSet<String>,
    /// Names of nodes whose key depends on a video that does not exist yet.
    undecided: HashSet<String>,
}

/// Whether a node of a plan adopts an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskOwnership {
    /// A node has its key.
    Owned,
    /// Its node has no key yet: it depends on videos that do not exist. The key is the same if they turn out as they were.
    Undecided,
    /// No node has its key.
    Unclaimed,
}

impl PlanKeys {
    /// Whether a node of the plan adopts the attempt with this key and node name.
    pub fn ownership(&self, key: &str, node: &str) -> TaskOwnership {
        if self.keys.contains(key) {
            TaskOwnership::Owned
        } else if self.undecided.contains(node) {
            TaskOwnership::Undecided
        } else {
            TaskOwnership::Unclaimed
        }
    }

    /// Of nodes by their names; without the key of those that depend on a video that does not exist yet.
    pub fn new<'a>(nodes: impl IntoIterator<Item = (&'a str, Option<NodeKey>)>) -> Self {
        let mut plan_keys = Self::default();
        for (name, key) in nodes {
            match key {
                Some(key) => _ = plan_keys.keys.insert(key.to_string()),
                None => _ = plan_keys.undecided.insert(name.to_owned()),
            }
        }
        plan_keys
    }

    fn read(connection: &Connection, plan: &Plan, mut keys: KeyResolver) -> rusqlite::Result<Self> {
        let mut plan_keys = Self::default();
        let mut videos: Vec<Option<Artifact>> = vec![None; plan.len()];
        let mut is_visited = vec![false; plan.len()];
        let mut stored = connection.prepare_cached(concat!(
            "SELECT ",
            artifact_columns!(),
            " FROM attempts a JOIN artifacts f ON f.attempt = a.id
             WHERE a.key = ?1 AND ",
            holds_key!()
        ))?;
        // Nodes come in file order, which need not be topological.
        loop {
            let mut has_progress = false;
            for (ix, node) in plan.nodes() {
                let index = ix.index();
                if is_visited[index]
                    || plan.predecessors(ix).iter().any(|predecessor| !is_visited[predecessor.index()])
                {
                    continue;
                }
                (is_visited[index], has_progress) = (true, true);
                let Some((key, _)) = keys.key(plan, ix, |parent| videos[parent.index()].as_ref()) else {
                    plan_keys.undecided.insert(node.name.clone());
                    continue;
                };
                let key = key.to_string();
                videos[index] = stored.query_row([&key], |row| artifact(row, 0)).optional()?.flatten();
                plan_keys.keys.insert(key);
            }
            if !has_progress {
                return Ok(plan_keys);
            }
        }
    }
}

impl LedgerReader {
    /// The keys of a plan's nodes at `service`, with the salt of a run.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn plan_keys(&self, plan: &Plan, service: &str, salt: Option<&str>) -> Result<PlanKeys, LedgerError> {
        let read = || {
            let keys = keys::key_resolver(&self.connection, plan, service)?;
            let keys = keys.with_salt(salt.map(str::to_owned));
            PlanKeys::read(&self.connection, plan, keys)
        };
        read().map_err(|source| self.sqlite(source))
    }
}
