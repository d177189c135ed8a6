//! The ledger's tables, the version of their format, and the migrations from older formats.
//!
//! To change the format, add a migration and change `schema.sql`, which a new ledger begins with: `tests/migration.rs` compares the two.

mod event_bodies;
mod first_downloads;

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{LedgerError, keys, read_only};

/// A step from one format to the next.
struct Migration {
    sql: &'static str,
    /// The part of the migration that SQL cannot express; runs after `sql`.
    then: Option<fn(&Connection) -> rusqlite::Result<()>>,
}

/// The tables of [`FORMAT`], for an empty file.
const SCHEMA: &str = include_str!("schema.sql");

/// Migration `n`, counted from 0, leads from format `n + 1` to format `n + 2`.
const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("format2.sql"), then: None },
    Migration { sql: include_str!("format3.sql"), then: None },
    Migration { sql: include_str!("format4.sql"), then: None },
    Migration { sql: include_str!("format5.sql"), then: Some(event_bodies::to_version_2) },
    Migration { sql: include_str!("format6.sql"), then: None },
    Migration { sql: include_str!("format7.sql"), then: None },
    Migration { sql: include_str!("format8.sql"), then: None },
    Migration { sql: include_str!("format9.sql"), then: Some(keys::record) },
    Migration { sql: include_str!("format10.sql"), then: None },
    Migration { sql: include_str!("format11.sql"), then: None },
    Migration { sql: include_str!("format12.sql"), then: None },
    Migration { sql: include_str!("format13.sql"), then: Some(keys::record_present_identities) },
    Migration { sql: include_str!("format14.sql"), then: Some(first_downloads::record) },
];

/// The version of stored events that this program writes.
pub(super) const EVENT_VERSION: i64 = 2;

/// The format that this program writes; kept in SQLite's `user_version`.
pub(super) const FORMAT: i64 = MIGRATIONS.len() as i64 + 1;

/// SQLite's page cache: holds the indexes of a run of 100,000 nodes, whose keys are hashes and access them at random.
const CACHE_KIB: i64 = 64 * 1024;

/// Pages in the WAL at which SQLite checkpoints it. Pages that change often are then written to the main file once.
const CHECKPOINT_PAGES: i64 = 8_192;

/// How long a writer waits for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Refuses a ledger of a later format without writing: even opening it through SQLite would create files beside it.
pub(super) fn ensure_supported_format(file: &Path) -> Result<(), LedgerError> {
    let mut format = in_main_file(file).unwrap_or(0);
    let log = file.with_extension("db-wal");
    if format <= FORMAT && std::fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        // A process that died left its last transactions in the WAL.
        let opened = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY);
        format = opened.and_then(|connection| format_of(&connection)).unwrap_or(0);
    }
    if format > FORMAT {
        Err(LedgerError::TooNew { path: file.to_owned(), format, supported: FORMAT })
    } else {
        Ok(())
    }
}

/// The version in the file without its WAL; `None` where it is not an SQLite file, which opening it reports.
///
/// Through SQLite: a process that closes a descriptor of a file loses all of its POSIX locks on it, and SQLite alone knows whether a ledger that is
/// open has some. Without them, another process takes itself for the last one, and removes the WAL.
fn in_main_file(file: &Path) -> Option<i64> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(read_only::immutable(file), flags).ok()?;
    format_of(&connection).ok()
}

/// Configures a connection and migrates the ledger to [`FORMAT`].
pub(super) fn configure(
    connection: &mut Connection,
    file: &Path,
    synchronous: &str,
) -> Result<(), LedgerError> {
    let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
    connection.busy_timeout(BUSY_TIMEOUT).map_err(wrap)?;
    let format = format_of(connection).map_err(wrap)?;
    if format > FORMAT {
        return Err(LedgerError::TooNew { path: file.to_owned(), format, supported: FORMAT });
    }
    connection.set_prepared_statement_cache_capacity(64);
    // Query plans independent of bound values: otherwise statements that a partial index may serve are compiled at each use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(wrap)?;
    connection.pragma_update(None, "journal_mode", "wal").map_err(wrap)?;
    connection.pragma_update(None, "synchronous", synchronous).map_err(wrap)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(wrap)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).map_err(wrap)?;
    if format != FORMAT {
        // Otherwise dropping a recreated table would delete the rows that refer to it.
        connection.pragma_update(None, "foreign_keys", false).map_err(wrap)?;
        migrate(connection, file)?;
    }
    connection.pragma_update(None, "foreign_keys", true).map_err(wrap)
}

/// Creates the tables, or runs the pending migrations, in one transaction. Another process may have run them in the meantime.
fn migrate(connection: &mut Connection, file: &Path) -> Result<(), LedgerError> {
    let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(wrap)?;
    let mut format = format_of(&transaction).map_err(wrap)?;
    if format > FORMAT {
        return Err(LedgerError::TooNew { path: file.to_owned(), format, supported: FORMAT });
    }
    if format == 0 {
        transaction.execute_batch(SCHEMA).map_err(wrap)?;
        format = FORMAT;
    }
    while let Some(migration) = usize::try_from(format - 1).ok().and_then(|index| MIGRATIONS.get(index)) {
        transaction.execute_batch(migration.sql).map_err(wrap)?;
        if let Some(then) = migration.then {
            then(&transaction).map_err(wrap)?;
        }
        format += 1;
    }
    transaction.pragma_update(None, "user_version", FORMAT).map_err(wrap)?;
    transaction.commit().map_err(wrap)
}

pub(super) fn format_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}
