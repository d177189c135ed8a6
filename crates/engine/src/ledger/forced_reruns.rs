//! Forced reruns: from a node's base key to the salt of the video that replaced it.

use std::collections::HashMap;

use workflow::plan::NodeKey;

use super::{Ledger, LedgerError};

/// Salts by base key.
pub type Salts = HashMap<NodeKey, String>;

impl Ledger {
    /// All recorded salts. `run --rerun` records one with the intent of each shot that it renders again.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn salts(&self) -> Result<Salts, LedgerError> {
        let connection = self.connection();
        let read = || {
            let mut statement = connection.prepare("SELECT base_key, salt FROM forced_reruns")?;
            let rows =
                statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
            // A malformed key matches no node.
            rows.filter_map(|row| {
                row.map(|(key, salt)| NodeKey::parse(&key).map(|key| (key, salt))).transpose()
            })
            .collect::<rusqlite::Result<Salts>>()
        };
        read().map_err(|error| self.sqlite(error))
    }
}
