//! The database schema with its format number, and opening of connections.

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    path::Path,
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};

use crate::{config::Durability, error::ServiceError};

/// The number of the format. There are no migrations: a change of the schema gets another number, and other databases are refused.
const FORMAT: i64 = 1;

const SCHEMA: &str = include_str!("schema.sql");

/// The file name of the database.
const FILE: &str = "service.db";

/// Creates a folder of a data directory if missing, for its owner only: prompts and media are there.
pub(super) fn create_dir(data: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(data)
}

/// Creates the database's file if missing, for its owner only, wherever it is: it has the tokens that give access to videos. SQLite gives its log
/// the same permissions. A file that exists is not opened: that would end the locks which this process has on it.
fn create_file(file: &Path) -> io::Result<()> {
    if file.exists() {
        return Ok(());
    }
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.create(true).append(true).open(file).map(drop)
}

/// Opens the database for writing. Creates the tables of a new one, and the directory if missing.
pub(crate) fn open_database(data: &Path, durability: Durability) -> Result<Connection, ServiceError> {
    create_dir(data).map_err(|source| ServiceError::DataDirectory { path: data.to_owned(), source })?;
    let file = data.join(FILE);
    create_file(&file).map_err(|source| ServiceError::DataDirectory { path: data.to_owned(), source })?;
    let mut connection = Connection::open(file).map_err(database)?;
    prepare(&connection, durability).map_err(database)?;
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(database)?;
    let format: i64 =
        transaction.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(database)?;
    if format == 0 {
        transaction.execute_batch(SCHEMA).map_err(database)?;
        transaction.pragma_update(None, "user_version", FORMAT).map_err(database)?;
    } else if format != FORMAT {
        return Err(ServiceError::OtherFormat { path: data.to_owned(), format, supported: FORMAT });
    }
    transaction.commit().map_err(database)?;
    Ok(connection)
}

/// Opens the database read-only.
pub(super) fn open_reader(data: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(data.join(FILE), flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// How long a connection waits for a lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

fn prepare(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(
        None,
        "synchronous",
        match durability {
            // An acknowledged commit survives a power cut, not only a killed process.
            Durability::PowerCut => "FULL",
            // Whole after a power cut, without the latest commits.
            Durability::Process => "NORMAL",
        },
    )?;
    connection.pragma_update(None, "journal_mode", "WAL")
}

/// Converts a database error.
#[expect(clippy::needless_pass_by_value, reason = "handed to map_err")]
pub(crate) fn database(error: rusqlite::Error) -> ServiceError {
    ServiceError::Store(error.to_string())
}

/// Converts an error of a stored JSON value.
#[expect(clippy::needless_pass_by_value, reason = "handed to map_err")]
pub(crate) fn corrupt(error: serde_json::Error) -> ServiceError {
    ServiceError::Store(error.to_string())
}

/// A number as `SQLite` stores it: signed, saturating.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The inverse of [`signed`].
pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
