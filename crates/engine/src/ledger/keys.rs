//! Keys of a plan's work, and those that are on record.

use std::collections::HashSet;

use rusqlite::Connection;
use scheduler::KeyResolver;

use super::attempt_state::holds_key;
use super::{Ledger, LedgerError, forced_reruns};

/// Whether an attempt holds its key, or has had its video.
macro_rules! has_work {
    () => {
        concat!("(", holds_key!(), " OR EXISTS (SELECT 1 FROM artifacts WHERE attempt = attempts.id))")
    };
}

/// Resolves keys at a service, with the recorded salts of forced reruns.
pub(super) fn key_resolver(connection: &Connection, service: &str) -> rusqlite::Result<KeyResolver> {
    Ok(KeyResolver::new(service).with_recorded_salts(forced_reruns::salts(connection)?))
}

impl Ledger {
    /// Resolves keys at a service, with the recorded salts of forced reruns.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn key_resolver(&self, service: &str) -> Result<KeyResolver, LedgerError> {
        key_resolver(&self.connection(), service).map_err(|error| self.sqlite(error))
    }

    /// The first twelve digits of every key whose work is on record, as file names have them: an attempt holds it, or has had its video.
    /// A refusal or a failure alone is no record of a video: the ledger may be older than the attempt that followed.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn short_keys(&self) -> Result<HashSet<String>, LedgerError> {
        let connection = self.connection();
        let read = || {
            let mut statement = connection
                .prepare(concat!("SELECT DISTINCT substr(key, 1, 12) FROM attempts WHERE ", has_work!()))?;
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<HashSet<String>>>()
        };
        read().map_err(|error| self.sqlite(error))
    }

    /// Whether work with this key is on record, as [`Ledger::short_keys`] counts it.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn has_work(&self, key: &str) -> Result<bool, LedgerError> {
        let connection = self.connection();
        let read = || {
            connection
                .prepare_cached(concat!("SELECT 1 FROM attempts WHERE key = ?1 AND ", has_work!()))?
                .exists([key])
        };
        read().map_err(|error| self.sqlite(error))
    }
}
