//! The ledger's tables and their format version.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::LedgerError;

/// The format that this program writes; kept in SQLite's `user_version`.
const FORMAT: i64 = 1 + CHANGES.len() as i64;

/// What makes the next format of each, from format 1 on. A new ledger goes the same way.
const CHANGES: [&str; 1] = [
    // The named parts of the attempt's key as JSON, for `explain`: hashes and bounded text, nothing secret.
    "ALTER TABLE attempts ADD COLUMN parts TEXT;",
];

/// The tables of format 1.
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
    let done = match found {
        FORMAT => return Ok(()),
        0 => {
            connection.execute_batch(TABLES).map_err(wrap)?;
            0
        }
        1..FORMAT => usize::try_from(found - 1).unwrap_or(0),
        _ => return Err(LedgerError::TooNew { path: file.to_owned(), found, known: FORMAT }),
    };
    for change in &CHANGES[done..] {
        connection.execute_batch(change).map_err(wrap)?;
    }
    connection.pragma_update(None, "user_version", FORMAT).map_err(wrap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Ledger;

    #[test]
    fn a_ledger_of_format_1_is_brought_up_to_date_and_keeps_what_it_knows() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("ledger.db");
        let old = Connection::open(&file).expect("a database");
        old.execute_batch(TABLES).expect("tables");
        old.execute_batch(
            "PRAGMA user_version = 1;
             INSERT INTO runs VALUES ('r', 'w', 's', 1, 2);
             INSERT INTO attempts VALUES ('r.1', 'r', 'lamp#2', 'k', 'm', 5.0, 'd', 'completed', 't', 1, 1, 2, NULL);",
        )
        .expect("rows");
        drop(old);
        for _ in 0..2 {
            let ledger = Ledger::open(&file, folder.path()).expect("it is brought up to date");
            let recorded = ledger.recorded("lamp").expect("it can be read");
            assert_eq!((recorded.len(), recorded[0].node.as_str()), (1, "lamp#2"));
            assert!(recorded[0].parts.is_none() && ledger.live("k").expect("it can be read").is_some());
            assert!(ledger.recorded("lam").expect("it can be read").is_empty());
        }
        let version: i64 = Connection::open(&file)
            .and_then(|connection| connection.query_row("PRAGMA user_version", [], |row| row.get(0)))
            .expect("a version");
        assert_eq!(version, FORMAT);
    }

    #[test]
    fn a_ledger_of_a_later_format_is_left_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("ledger.db");
        let later = Connection::open(&file).expect("a database");
        later.pragma_update(None, "user_version", FORMAT + 1).expect("a version");
        drop(later);
        assert!(matches!(Ledger::open(&file, folder.path()), Err(LedgerError::TooNew { .. })));
    }
}
