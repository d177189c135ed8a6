//! Which recorded attempts belong to the shots of a plan, as the file is now.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension as _};
use scheduler::{Artifact, KeyResolver};
use workflow::plan::Plan;

use super::attempt_state::holds_key;
use super::sql::column;
use super::{Ledger, LedgerError, LedgerReader, forced_reruns};

/// The keys of a plan's nodes at one service.
#[derive(Debug, Clone, Default)]
pub struct PlanKeys {
    keys: HashSet<String>,
    /// Names of nodes whose key depends on a video that does not exist yet.
    undecided: HashSet<String>,
}

impl PlanKeys {
    /// Whether a node of the plan adopts the attempt with this key and node name. Where that is not known yet, the name decides.
    #[must_use]
    pub fn owns(&self, key: &str, node: &str) -> bool {
        self.keys.contains(key) || self.undecided.contains(node)
    }

    fn read(connection: &Connection, plan: &Plan, keys: &KeyResolver) -> rusqlite::Result<Self> {
        let mut found = Self::default();
        let mut videos: Vec<Option<Artifact>> = vec![None; plan.len()];
        let mut is_visited = vec![false; plan.len()];
        let mut artifact = connection.prepare_cached(concat!(
            "SELECT f.path, f.sha256, f.bytes, f.seconds, f.width, f.height FROM attempts a JOIN artifacts f ON f.attempt = a.id
             WHERE a.key = ?1 AND ",
            holds_key!()
        ))?;
        // Nodes come in file order, which need not be topological.
        loop {
            let mut has_progress = false;
            for (ix, node) in plan.nodes() {
                let at = ix.index();
                if is_visited[at] || plan.predecessors(ix).iter().any(|before| !is_visited[before.index()]) {
                    continue;
                }
                (is_visited[at], has_progress) = (true, true);
                let Some(key) = keys.key(plan, ix, |parent| videos[parent.index()].as_ref()) else {
                    found.undecided.insert(node.name.clone());
                    continue;
                };
                let key = key.to_string();
                videos[at] = artifact
                    .query_row([&key], |row| {
                        Ok(Artifact {
                            path: row.get::<_, String>(0)?.into(),
                            sha256: row.get(1)?,
                            bytes: column(row, 2)?,
                            duration: column(row, 3)?,
                            width: row.get(4)?,
                            height: row.get(5)?,
                            last_frame_url: None,
                            expires_at: None,
                            modified_at: None,
                        })
                    })
                    .optional()?;
                found.keys.insert(key);
            }
            if !has_progress {
                return Ok(found);
            }
        }
    }
}

impl Ledger {
    /// The keys of a plan's nodes, as far as they are known.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn plan_keys(&self, plan: &Plan, keys: &KeyResolver) -> Result<PlanKeys, LedgerError> {
        PlanKeys::read(&self.connection(), plan, keys).map_err(|error| self.sqlite(error))
    }
}

impl LedgerReader {
    /// The keys of a plan's nodes at `service`, with the recorded salts.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn plan_keys(&self, plan: &Plan, service: &str) -> Result<PlanKeys, LedgerError> {
        let read = || {
            let salts = forced_reruns::salts(&self.connection)?;
            let keys = KeyResolver::new(service).with_recorded_salts(salts);
            PlanKeys::read(&self.connection, plan, &keys)
        };
        read().map_err(|source| self.sqlite(source))
    }
}
