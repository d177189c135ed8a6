//! Keys as they are recorded: of this version, and of earlier ones, which numbered equal shots otherwise
//! ([`KeyResolver::with_numbered_keys`]) and had other names of services.
//!
//! The names are those from versions that took a base URL as it was written: with `/v1`, a trailing slash, `localhost`, in upper case; or with
//! IPv4 addresses as IPv6 ones and other percent-encodings. They are part of the keys of that time, so a key is looked up under them too ([`KeyResolver::with_service_aliases`]).
//!
//! Invariant: keys, tasks and states of that time stay as they are; only the name of the service in the rows becomes its identity.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension as _};
use scheduler::{Artifact, KeyResolver, RecordedKeys};
use workflow::plan::{MediaSource, NodeKey, Plan};

use super::attempt_state::holds_key;
use super::unknown_runs::has_work;
use super::{Ledger, LedgerError, forced_reruns};
use crate::provider::{present_identity, service_identity};

/// Gives the rows of each service its identity, and keeps the names that it had. A part of the migration to format 9.
pub(super) fn record(connection: &Connection) -> rusqlite::Result<()> {
    rename(connection, |name| name.parse().ok().map(|url| service_identity(&url)))
}

/// The same, where the identity itself is written otherwise since. A part of the migration to format 13.
pub(super) fn record_present_identities(connection: &Connection) -> rusqlite::Result<()> {
    rename(connection, present_identity)
}

/// Gives the rows of each service the name that `identity_of` gives it, and keeps the one that it had.
fn rename(connection: &Connection, identity_of: fn(&str) -> Option<String>) -> rusqlite::Result<()> {
    // A task that was recorded under two names stayed under both: one of them is an alias.
    let names: Vec<String> = connection
        .prepare(
            "SELECT service FROM runs UNION SELECT service FROM attempts EXCEPT SELECT alias FROM service_aliases",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for name in names {
        // The embedded service and tests have names that are no URLs.
        let Some(identity) = identity_of(&name).filter(|identity| *identity != name) else { continue };
        for sql in [
            "UPDATE service_aliases SET service = ?2 WHERE service = ?1",
            "INSERT INTO service_aliases (alias, service) VALUES (?1, ?2)",
            "UPDATE OR IGNORE linked_accounts SET service = ?2 WHERE service = ?1",
            "UPDATE runs SET service = ?2 WHERE service = ?1",
            "UPDATE OR IGNORE attempts SET service = ?2 WHERE service = ?1",
        ] {
            connection.execute(sql, (&name, &identity))?;
        }
    }
    Ok(())
}

/// Resolves a plan's keys at a service: with the recorded salts, under its earlier names, and as earlier versions numbered them.
pub(super) fn key_resolver(
    connection: &Connection,
    plan: &Plan,
    service: &str,
) -> rusqlite::Result<KeyResolver> {
    let mut keys = KeyResolver::new(service)
        .with_recorded_salts(forced_reruns::salts(connection)?)
        .with_first_downloads(first_downloads(connection, plan)?);
    if plan.nodes().any(|(_, node)| node.has_earlier_key()) {
        // The first versions recorded no parts.
        let condition = r#"key_parts IS NULL OR key_parts LIKE '%"occurrence"%'"#;
        keys = keys.with_numbered_keys(keys_where(connection, condition)?);
    }
    let aliases: Vec<String> = connection
        .prepare_cached("SELECT alias FROM service_aliases WHERE service = ?1 ORDER BY alias")?
        .query_map([service], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if aliases.is_empty() {
        return Ok(keys);
    }
    Ok(keys.with_service_aliases(aliases, recorded_keys(connection)?))
}

/// Records that a video's file was delivered after the first one, if it was.
pub(super) fn record_redelivery(connection: &Connection, artifact: &Artifact) -> rusqlite::Result<()> {
    if let Some(first) = &artifact.first_sha256 {
        connection
            .prepare_cached(
                "INSERT OR IGNORE INTO redeliveries (sha256, first_sha256, last_attempt)
                 SELECT ?1, ?2, COALESCE(MAX(rowid), 0) FROM attempts",
            )?
            .execute((artifact.sha256.as_str(), first.as_str()))?;
    }
    Ok(())
}

/// The files that the service delivered first, by those that it delivered for the same tasks later and that the plan names.
fn first_downloads(connection: &Connection, plan: &Plan) -> rusqlite::Result<HashMap<String, String>> {
    let mut first_downloads = HashMap::new();
    if !connection.prepare_cached("SELECT 1 FROM redeliveries")?.exists([])? {
        return Ok(first_downloads);
    }
    let inputs = plan.nodes().flat_map(|(_, node)| &node.inputs);
    let files: HashSet<&str> = inputs
        .filter_map(|input| match &input.source {
            MediaSource::File { sha256, .. } | MediaSource::FileFrame { sha256, .. } => Some(sha256.as_str()),
            MediaSource::LastFrame(_) | MediaSource::FirstFrame(_) | MediaSource::Pick { .. } => None,
        })
        .collect();
    let mut select = connection.prepare_cached(
        "SELECT first_sha256 FROM redeliveries WHERE sha256 = ?1 AND NOT EXISTS (
            SELECT 1 FROM attempts WHERE rowid <= last_attempt AND key_parts LIKE '%sha256:' || ?1 || '%')",
    )?;
    for file in files {
        if let Some(first) = select.query_row([file], |row| row.get(0)).optional()? {
            first_downloads.insert(file.to_owned(), first);
        }
    }
    Ok(first_downloads)
}

/// The keys of attempts.
fn keys_where(connection: &Connection, condition: &str) -> rusqlite::Result<HashSet<NodeKey>> {
    connection
        .prepare(&format!("SELECT DISTINCT key FROM attempts WHERE {condition}"))?
        .query_map([], |row| row.get::<_, String>(0))?
        .filter_map(|key| key.map(|key| NodeKey::parse(&key)).transpose())
        .collect()
}

/// The keys of all attempts.
fn recorded_keys(connection: &Connection) -> rusqlite::Result<RecordedKeys> {
    Ok(RecordedKeys { all: keys_where(connection, "TRUE")?, with_work: keys_where(connection, has_work!())? })
}

impl Ledger {
    /// The keys of all attempts.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn recorded_keys(&self) -> Result<RecordedKeys, LedgerError> {
        recorded_keys(&self.connection()).map_err(|error| self.sqlite(error))
    }

    /// Records other names of a service that are part of the keys of its work.
    ///
    /// # Errors
    /// When they cannot be recorded.
    pub fn record_service_names(&self, names: &[String], service: &str) -> Result<(), LedgerError> {
        if names.is_empty() {
            return Ok(());
        }
        self.watch.check()?;
        let connection = self.connection();
        for name in names {
            connection
                .prepare_cached("INSERT OR IGNORE INTO service_aliases (alias, service) VALUES (?1, ?2)")
                .and_then(|mut insert| insert.execute((name, service)))
                .map_err(|error| self.sqlite(error))?;
        }
        drop(connection);
        self.watch.check()
    }

    /// Resolves a plan's keys at a service: with the recorded salts of forced reruns, under the names that earlier versions gave to the
    /// service, and with the numbers that they gave to identical shots.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn key_resolver(&self, plan: &Plan, service: &str) -> Result<KeyResolver, LedgerError> {
        key_resolver(&self.connection(), plan, service).map_err(|error| self.sqlite(error))
    }
}
