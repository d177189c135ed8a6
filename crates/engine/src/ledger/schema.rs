//! The ledger's tables and their format version.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::LedgerError;

/// The format that this program writes; kept in SQLite's `user_version`.
const FORMAT: i64 = 1;

const TABLES: &str = "
CREATE TABLE runs (
    id          TEXT PRIMARY KEY,
    workflow    TEXT NOT NULL,
    service     TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER
) STRICT;

CREATE TABLE attempts (
    id            TEXT PRIMARY KEY,
    run           TEXT NOT NULL REFERENCES runs (id),
    node          TEXT NOT NULL,
    key           TEXT NOT NULL,
    model         TEXT NOT NULL,
    seconds       REAL NOT NULL,
    digest        TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN
                  ('intended', 'ambiguous', 'submitted', 'completed', 'failed', 'refused', 'expired', 'abandoned')),
    task          TEXT,
    intended_at   INTEGER NOT NULL,
    submitted_at  INTEGER,
    ended_at      INTEGER,
    failure       TEXT,
    CHECK (task IS NOT NULL OR state NOT IN ('submitted', 'completed'))
) STRICT;

-- Whoever wants to submit a node inserts its attempt first; this index lets one of them through.
CREATE UNIQUE INDEX attempts_live ON attempts (key) WHERE state IN ('intended', 'ambiguous', 'submitted', 'completed');
CREATE UNIQUE INDEX attempts_task ON attempts (task) WHERE task IS NOT NULL;

CREATE TABLE artifacts (
    attempt         TEXT PRIMARY KEY REFERENCES attempts (id),
    path            TEXT NOT NULL,
    sha256          TEXT NOT NULL,
    bytes           INTEGER NOT NULL,
    seconds         REAL NOT NULL,
    width           INTEGER NOT NULL,
    height          INTEGER NOT NULL,
    last_frame_url  TEXT,
    expires_at      INTEGER,
    made_at         INTEGER NOT NULL
) STRICT;

CREATE TABLE films (
    path     TEXT PRIMARY KEY,
    made_of  TEXT NOT NULL,
    bytes    INTEGER NOT NULL,
    seconds  REAL NOT NULL,
    width    INTEGER NOT NULL,
    height   INTEGER NOT NULL,
    audio    INTEGER NOT NULL,
    made_at  INTEGER NOT NULL
) STRICT;

-- What happened, in order and for good. `body` is the event as JSON in format `version`.
CREATE TABLE events (
    seq      INTEGER PRIMARY KEY,
    run      TEXT NOT NULL,
    at       INTEGER NOT NULL,
    node     TEXT,
    version  INTEGER NOT NULL,
    body     TEXT NOT NULL
) STRICT;
CREATE INDEX events_run ON events (run, seq);
";

pub(super) fn prepare(connection: &Connection, file: &Path, synchronous: &str) -> Result<(), LedgerError> {
    let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
    connection.busy_timeout(Duration::from_secs(30)).map_err(wrap)?;
    connection.pragma_update(None, "journal_mode", "wal").map_err(wrap)?;
    connection.pragma_update(None, "synchronous", synchronous).map_err(wrap)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(wrap)?;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(wrap)?;
    let made = make_tables(connection, file);
    let end = if made.is_ok() { "COMMIT" } else { "ROLLBACK" };
    connection.execute_batch(end).map_err(wrap)?;
    made
}

fn make_tables(connection: &Connection, file: &Path) -> Result<(), LedgerError> {
    let wrap = |source| LedgerError::Sqlite { path: file.to_owned(), source };
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(wrap)?;
    match found {
        0 => {
            connection.execute_batch(TABLES).map_err(wrap)?;
            connection.pragma_update(None, "user_version", FORMAT).map_err(wrap)
        }
        FORMAT => Ok(()),
        _ => Err(LedgerError::TooNew { path: file.to_owned(), found, known: FORMAT }),
    }
}
