//! Names of services from versions that took a base URL as it was written: with `/v1`, a trailing slash, `localhost`, in upper case. They are
//! part of the keys of that time, so a key is looked up under them too ([`KeyResolver::with_service_aliases`]).
//!
//! Invariant: keys, tasks and states of that time stay as they are; only the name of the service in the rows becomes its identity.

use std::collections::HashSet;

use rusqlite::Connection;
use scheduler::KeyResolver;
use workflow::plan::NodeKey;

use super::{Ledger, LedgerError, forced_reruns};
use crate::provider::service_identity;

/// Gives the rows of each service its identity, and keeps the names that it had. A part of the migration to format 9.
pub(super) fn record(connection: &Connection) -> rusqlite::Result<()> {
    let names: Vec<String> = connection
        .prepare("SELECT service FROM runs UNION SELECT service FROM attempts")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for name in names {
        // The embedded service and tests have names that are no URLs.
        let Some(identity) = name.parse().ok().map(|url| service_identity(&url)) else { continue };
        if identity == name {
            continue;
        }
        connection
            .execute("INSERT INTO service_aliases (alias, service) VALUES (?1, ?2)", (&name, &identity))?;
        connection.execute("UPDATE runs SET service = ?2 WHERE service = ?1", (&name, &identity))?;
        // A task that was recorded under two names stays under both.
        connection
            .execute("UPDATE OR IGNORE attempts SET service = ?2 WHERE service = ?1", (&name, &identity))?;
    }
    Ok(())
}

/// Resolves keys at a service: with the recorded salts, and under its earlier names.
pub(super) fn key_resolver(connection: &Connection, service: &str) -> rusqlite::Result<KeyResolver> {
    let keys = KeyResolver::new(service).with_recorded_salts(forced_reruns::salts(connection)?);
    let aliases: Vec<String> = connection
        .prepare_cached("SELECT alias FROM service_aliases WHERE service = ?1 ORDER BY alias")?
        .query_map([service], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if aliases.is_empty() {
        return Ok(keys);
    }
    let recorded = connection
        .prepare("SELECT DISTINCT key FROM attempts")?
        .query_map([], |row| row.get::<_, String>(0))?
        .filter_map(|key| key.map(|key| NodeKey::parse(&key)).transpose())
        .collect::<rusqlite::Result<HashSet<NodeKey>>>()?;
    Ok(keys.with_service_aliases(aliases, recorded))
}

impl Ledger {
    /// Resolves keys at a service: with the recorded salts of forced reruns, and under the names that earlier versions gave to the service.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn key_resolver(&self, service: &str) -> Result<KeyResolver, LedgerError> {
        key_resolver(&self.connection(), service).map_err(|error| self.sqlite(error))
    }
}
