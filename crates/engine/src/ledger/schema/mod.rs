//! The ledger's tables, the version of their format, and the steps that bring an older ledger up to it.
//!
//! A new ledger goes through all the steps, so that an old one and a new one cannot differ. To change the format, add a step.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::LedgerError;

/// Step `n`, counted from 0, leads from format `n` to format `n + 1`. Format 0 is an empty file.
const MIGRATIONS: &[&str] = &[
    include_str!("format1.sql"),
    include_str!("format2.sql"),
    include_str!("format3.sql"),
    include_str!("format4.sql"),
];

/// The format that this program writes; kept in SQLite's `user_version`.
pub(super) const FORMAT: i64 = MIGRATIONS.len() as i64;

/// How much of the file is kept in memory: the indices of a run of a hundred thousand, whose keys are hashes and lie anywhere in them.
const CACHE_KIB: i64 = 64 * 1024;

/// How long the log beside the file becomes before it is brought into the file. Pages that change again and again are written there once.
const CHECKPOINT_PAGES: i64 = 8_192;

/// How long a writer waits for another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Refuses a ledger of a later format before anything of it is touched: even looking through SQLite would leave files beside it.
pub(super) fn ensure_supported_format(file: &Path) -> Result<(), LedgerError> {
    let mut found = in_header(file).unwrap_or(0);
    let log = file.with_extension("db-wal");
    if found <= FORMAT && std::fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        // A process that died has left what it wrote last beside the file.
        let looked = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY);
        found = looked.and_then(|connection| format_of(&connection)).unwrap_or(0);
    }
    if found > FORMAT {
        Err(LedgerError::TooNew { path: file.to_owned(), found, known: FORMAT })
    } else {
        Ok(())
    }
}

/// The version as it stands in the file's own header (SQLite's file format, section 1.3); nothing where the file is none of SQLite's, which
/// opening it for good says better.
fn in_header(file: &Path) -> Option<i64> {
    let mut header = [0_u8; 100];
    std::fs::File::open(file).ok()?.read_exact(&mut header).ok()?;
    let version: [u8; 4] = header[60..64].try_into().ok()?;
    header.starts_with(b"SQLite format 3\0").then_some(i64::from(u32::from_be_bytes(version)))
}

/// Sets a connection up and brings the ledger to this program's format.
pub(super) fn configure(
    connection: &mut Connection,
    file: &Path,
    synchronous: &str,
) -> Result<(), LedgerError> {
    let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
    connection.busy_timeout(BUSY_TIMEOUT).map_err(wrap)?;
    let found = format_of(connection).map_err(wrap)?;
    if found > FORMAT {
        return Err(LedgerError::TooNew { path: file.to_owned(), found, known: FORMAT });
    }
    connection.set_prepared_statement_cache_capacity(64);
    // Plans do not depend on what is bound: otherwise statements that a partial index may serve are compiled anew at each use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(wrap)?;
    connection.pragma_update(None, "journal_mode", "wal").map_err(wrap)?;
    connection.pragma_update(None, "synchronous", synchronous).map_err(wrap)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(wrap)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).map_err(wrap)?;
    if found != FORMAT {
        // A table that is made again would otherwise take the rows that refer to it along.
        connection.pragma_update(None, "foreign_keys", false).map_err(wrap)?;
        migrate(connection, file)?;
    }
    connection.pragma_update(None, "foreign_keys", true).map_err(wrap)
}

/// Goes the steps that are left to go, all or none. Another process may have gone them meanwhile.
fn migrate(connection: &mut Connection, file: &Path) -> Result<(), LedgerError> {
    let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(wrap)?;
    let mut found = format_of(&transaction).map_err(wrap)?;
    if found > FORMAT {
        return Err(LedgerError::TooNew { path: file.to_owned(), found, known: FORMAT });
    }
    while let Some(step) = usize::try_from(found).ok().and_then(|found| MIGRATIONS.get(found)) {
        transaction.execute_batch(step).map_err(wrap)?;
        found += 1;
        transaction.pragma_update(None, "user_version", found).map_err(wrap)?;
    }
    transaction.commit().map_err(wrap)
}

pub(super) fn format_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}
