//! Keys of a plan's work, and those that are on record.

use std::collections::HashSet;

use rusqlite::Connection;
use scheduler::KeyResolver;
use workflow::plan::Plan;

use super::attempt_state::holds_key;
use super::{Ledger, LedgerError, renders};

/// Whether an attempt holds its key, or has had its video.
macro_rules! has_work {
    () => {
        concat!("(", holds_key!(), " OR EXISTS (SELECT 1 FROM artifacts WHERE attempt = attempts.id))")
    };
}

/// Resolves the keys of a plan at a service, with the renders on record.
pub(super) fn key_resolver(
    connection: &Connection,
    plan: &Plan,
    service: &str,
) -> rusqlite::Result<KeyResolver> {
    Ok(KeyResolver::new(service).with_renders(renders::of_plan(connection, plan)?))
}

impl Ledger {
    /// Resolves the keys of a plan at a service, with the renders on record.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn key_resolver(&self, plan: &Plan, service: &str) -> Result<KeyResolver, LedgerError> {
        key_resolver(&self.connection(), plan, service).map_err(|error| self.sqlite(error))
    }

    /// The beginning of every key whose work is on record, with its number, as file names have them ([`workflow::plan::NodeKey::short`]): an attempt holds it, or has had its video.
    /// A refusal or a failure alone is no record of a video: the ledger may be older than the attempt that followed.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn short_keys(&self) -> Result<HashSet<String>, LedgerError> {
        let query = concat!(
            "SELECT DISTINCT substr(key, 1, 12) || replace(substr(key, 65), '#', '-') FROM attempts WHERE ",
            has_work!()
        );
        self.rows(query, [], |row| row.get(0))
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
