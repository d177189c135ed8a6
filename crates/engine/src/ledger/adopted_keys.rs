//! The keys of work that `runner ledger adopt` has recorded: what a lock file names may have been lost and adopted since.

use std::collections::HashMap;

use rusqlite::Connection;
use scheduler::{Event, Timestamp};
use workflow::plan::NodeKey;

use super::sql::column;
use crate::adopt::UNKNOWN_DIGEST;

/// The beginnings of keys under which work was adopted, with the latest time. An attempt that a run has made is not among them, although it has the
/// same key: it may be the one whose successor was lost.
#[derive(Debug, Default)]
pub(super) struct AdoptedKeys {
    latest: HashMap<String, Timestamp>,
}

impl AdoptedKeys {
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let mut adopted = Self::default();
        // The requests of adopted work are not known.
        let mut attempts = connection.prepare("SELECT DISTINCT run FROM attempts WHERE digest = ?1")?;
        let runs: Vec<String> =
            attempts.query_map([UNKNOWN_DIGEST], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let mut events = connection.prepare("SELECT time, body FROM events WHERE run = ?1")?;
        for run in runs {
            let rows = events.query_map([run], |row| {
                let body: String = row.get(1)?;
                Ok((column(row, 0)?, serde_json::from_str::<Event>(&body).ok()))
            })?;
            for row in rows {
                let (time, event) = row?;
                if let Some(Event::Prepared { key, forced_rerun, .. }) = event {
                    adopted.add(NodeKey::parse(&key), time);
                    // A lost rerun, or the attempt that followed it, is adopted as another rerun of the same work.
                    let Some(rerun) = forced_rerun else { continue };
                    let base = NodeKey::parse(&rerun.key);
                    adopted.add(base, time);
                    let superseded =
                        base.zip(rerun.supersedes.as_ref()).map(|(base, salt)| base.salted(salt));
                    adopted.add(superseded, time);
                }
            }
        }
        Ok(adopted)
    }

    fn add(&mut self, key: Option<NodeKey>, time: Timestamp) {
        let Some(key) = key else { return };
        let latest = self.latest.entry(key.short()).or_insert(time);
        *latest = (*latest).max(time);
    }

    /// Whether work with a key of this beginning was adopted at this time or later.
    pub(super) fn has_since(&self, short_key: &str, time: Timestamp) -> bool {
        self.latest.get(short_key).is_some_and(|latest| *latest >= time)
    }
}
