//! Forced reruns: from a node's base key to the salt of the video that replaced it.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _};
use scheduler::{AttemptState, ForcedRerun, RunId};
use workflow::plan::NodeKey;

use super::attempt_state::holds_key;
use super::sql::column;
use super::{Ledger, LedgerError};

/// Salts by base key.
pub type Salts = HashMap<NodeKey, String>;

impl Ledger {
    /// All recorded salts. `run --rerun` records one with the intent of each shot that it renders again.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn salts(&self) -> Result<Salts, LedgerError> {
        salts(&self.connection()).map_err(|error| self.sqlite(error))
    }

    /// The recorded rerun whose key this is.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn rerun_with_key(&self, key: &str) -> Result<Option<ForcedRerun>, LedgerError> {
        let rerun = self.salts()?.into_iter().find(|(base, salt)| base.salted(salt).to_string() == key);
        Ok(rerun.map(|(base, salt)| ForcedRerun { key: base.to_string(), salt, supersedes: None }))
    }

    /// Base keys of forced reruns that were begun and not finished: their task is in flight or may be, the run that forced them is alive, or it
    /// has died, and no run that has the same shot has ended since.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn unfinished_reruns(&self) -> Result<HashSet<NodeKey>, LedgerError> {
        let connection = self.connection();
        let read = || {
            let mut statement = connection.prepare(
                "SELECT f.base_key, f.salt, f.run, r.rowid
                 FROM forced_reruns f LEFT JOIN runs r ON r.id = f.run AND r.ended_at IS NULL",
            )?;
            let mut state_query = connection
                .prepare(concat!("SELECT state FROM attempts WHERE key = ?1 AND ", holds_key!()))?;
            let mut rows = statement.query([])?;
            let (mut unfinished, mut alive) = (HashSet::new(), HashMap::new());
            // Read where a run has died only.
            let mut ended: Option<HashMap<String, i64>> = None;
            while let Some(row) = rows.next()? {
                let (base, salt): (String, String) = (row.get(0)?, row.get(1)?);
                let Some(base) = NodeKey::parse(&base) else { continue };
                let key = base.salted(&salt).to_string();
                let state: Option<AttemptState> =
                    state_query.query_row([&key], |row| column(row, 0)).optional()?;
                let run = RunId(row.get(2)?);
                let is_alive = *alive.entry(run.clone()).or_insert_with(|| self.is_alive(&run));
                let has_died = match row.get::<_, Option<i64>>(3)? {
                    None => false,
                    Some(began) => {
                        let ended = match &mut ended {
                            Some(ended) => ended,
                            None => ended.insert(keys_of_ended_runs(&connection)?),
                        };
                        ended.get(&key).is_none_or(|later| *later < began)
                    }
                };
                if is_alive || has_died || state.is_some_and(AttemptState::is_in_flight) {
                    unfinished.insert(base);
                }
            }
            Ok(unfinished)
        };
        read().map_err(|error| self.sqlite(error))
    }
}

/// The keys that runs which have ended looked up since the first run that has not, each with the latest of these runs: its number in the order
/// in which they began, because clocks may have been set meanwhile.
fn keys_of_ended_runs(connection: &Connection) -> rusqlite::Result<HashMap<String, i64>> {
    connection
        .prepare(
            "SELECT json_extract(e.body, '$.key'), MAX(r.rowid) FROM runs r JOIN events e ON e.run = r.id
             WHERE r.ended_at IS NOT NULL AND r.rowid > (SELECT MIN(rowid) FROM runs WHERE ended_at IS NULL)
             AND json_extract(e.body, '$.event') = 'lookup-done' GROUP BY 1",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// See [`Ledger::salts`].
pub(super) fn salts(connection: &Connection) -> rusqlite::Result<Salts> {
    let mut statement = connection.prepare("SELECT base_key, salt FROM forced_reruns")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    // A malformed key matches no node.
    rows.filter_map(|row| row.map(|(key, salt)| NodeKey::parse(&key).map(|key| (key, salt))).transpose())
        .collect()
}
