//! Shots that were asked for anew: from the key that the file gives to the salt that leads to the video that counts now.

use std::collections::HashMap;

use workflow::plan::NodeKey;

use super::{Ledger, LedgerError};

/// Salts by the key that the file gives.
pub type Salts = HashMap<NodeKey, String>;

impl Ledger {
    /// All salts on record: `run --force` writes one with the intent of each shot that it makes anew.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn salts(&self) -> Result<Salts, LedgerError> {
        let connection = self.connection();
        let read = || {
            let mut statement = connection.prepare("SELECT key, salt FROM salts")?;
            let rows =
                statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
            // A key that is none leads nowhere.
            rows.filter_map(|row| {
                row.map(|(key, salt)| NodeKey::parse(&key).map(|key| (key, salt))).transpose()
            })
            .collect::<rusqlite::Result<Salts>>()
        };
        read().map_err(|error| self.sqlite(error))
    }
}
