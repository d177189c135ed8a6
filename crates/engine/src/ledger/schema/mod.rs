//! The ledger's tables, and what tells a ledger of this version from any other file.
//!
//! There is one schema and there are no migrations: whoever changes `schema.sql`, or the form of a stored event, gets another digest, and ledgers
//! with the former one are refused.

use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use sha2::{Digest as _, Sha256};

use super::LedgerError;

/// The tables, for an empty file.
const SCHEMA: &str = include_str!("schema.sql");

/// SQLite's `application_id` of a ledger: "vrlg".
const APPLICATION_ID: i32 = 0x7672_6c67;

/// A digest of the schema's text, kept in SQLite's `user_version`.
static SCHEMA_DIGEST: LazyLock<i32> = LazyLock::new(|| {
    let [first, second, third, fourth, ..] = <[u8; 32]>::from(Sha256::digest(SCHEMA));
    i32::from_be_bytes([first, second, third, fourth])
});

/// SQLite's page cache: holds the indexes of a run of 100,000 nodes, whose keys are hashes and access them at random.
const CACHE_KIB: i64 = 64 * 1024;

/// Pages in the WAL at which SQLite checkpoints it. Pages that change often are then written to the main file once.
const CHECKPOINT_PAGES: i64 = 8_192;

/// How long a writer waits for another process's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// Between two tries where SQLite does not wait itself.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// Everything that is not unreserved in a URI path (RFC 3986, section 2.3), except `/`.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// What a database is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A ledger with this schema.
    Ledger,
    /// A database without tables: a process has died while it created the ledger.
    Empty,
    Other,
}

/// What a connection reads now, in one transaction: another process may be creating the ledger.
fn present_content(connection: &Connection) -> rusqlite::Result<Content> {
    content(&*connection.unchecked_transaction()?)
}

/// What a connection reads in its transaction.
pub(super) fn content(connection: &Connection) -> rusqlite::Result<Content> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let ids = (pragma("application_id")?, pragma("user_version")?);
    if ids == (APPLICATION_ID, *SCHEMA_DIGEST) {
        return Ok(Content::Ledger);
    }
    let has_tables = connection.prepare("SELECT 1 FROM sqlite_schema")?.exists([])?;
    Ok(if ids == (0, 0) && !has_tables { Content::Empty } else { Content::Other })
}

/// Refuses everything but a ledger of this schema and an empty file, and writes nothing: even opening a file through SQLite would create files
/// beside it.
pub(super) fn ensure_ledger(file: &Path) -> Result<(), LedgerError> {
    if !file.exists() {
        return Ok(());
    }
    let log = file.with_extension("db-wal");
    let has_wal = std::fs::metadata(log).is_ok_and(|log| log.len() > 0);
    let opened = if has_wal {
        // A process that died left its last transactions in the WAL.
        Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)
    } else {
        // Through SQLite: a process that closes a descriptor of a file loses all of its POSIX locks on it, and SQLite alone knows whether a ledger
        // that is open has some. Without them, another process takes itself for the last one, and removes the WAL.
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(immutable(file), flags)
    };
    match opened.and_then(|connection| present_content(&connection)) {
        Ok(Content::Other) => Err(LedgerError::OtherFormat { path: file.to_owned() }),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Err(LedgerError::OtherFormat { path: file.to_owned() })
        }
        // Whatever an error is, whoever opens the file reports it.
        Ok(Content::Ledger | Content::Empty) | Err(_) => Ok(()),
    }
}

/// Configures a connection and creates the tables of a new ledger.
pub(super) fn configure(
    connection: &mut Connection,
    file: &Path,
    synchronous: &str,
) -> Result<(), LedgerError> {
    let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
    connection.busy_timeout(BUSY_TIMEOUT).map_err(wrap)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Query plans independent of bound values: otherwise statements that a partial index may serve are compiled at each use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(wrap)?;
    let found = present_content(connection).map_err(wrap)?;
    if found == Content::Other {
        return Err(LedgerError::OtherFormat { path: file.to_owned() });
    }
    use_wal(connection).map_err(wrap)?;
    connection.pragma_update(None, "synchronous", synchronous).map_err(wrap)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(wrap)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).map_err(wrap)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(wrap)?;
    if found == Content::Empty { create(connection, file) } else { Ok(()) }
}

/// Switches to a WAL. Of several connections that do so at once, SQLite refuses all but one at once, whatever their timeout, because waiting
/// might be a deadlock: they try again.
fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    let until = Instant::now() + BUSY_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < until =>
            {
                std::thread::sleep(BUSY_PAUSE);
            }
            result => return result,
        }
    }
}

/// Creates the tables in one transaction, unless another process has created them in the meantime.
fn create(connection: &mut Connection, file: &Path) -> Result<(), LedgerError> {
    let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(wrap)?;
    match content(&transaction).map_err(wrap)? {
        Content::Ledger => return Ok(()),
        Content::Other => return Err(LedgerError::OtherFormat { path: file.to_owned() }),
        Content::Empty => {}
    }
    transaction.execute_batch(SCHEMA).map_err(wrap)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(wrap)?;
    transaction.pragma_update(None, "user_version", *SCHEMA_DIGEST).map_err(wrap)?;
    transaction.commit().map_err(wrap)
}

/// The URI under which SQLite opens a file without locks or a WAL.
pub(super) fn immutable(file: &Path) -> String {
    format!("file:{}?immutable=1", percent_encode(file.as_os_str().as_encoded_bytes(), PATH))
}
