//! Reading: what runs before this one tell about the service: how lately they submitted, and how long its tasks take.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row};
use scheduler::polling::Class;
use scheduler::{Answer, AttemptId, Event, Millis};
use workflow::plan::KeyPart;

use super::{Ledger, LedgerError};

/// So many of the newest events are looked through for finished tasks.
const EVENTS: i64 = 4_000;
/// So many finished tasks count at most.
const TASKS: usize = 512;

impl Ledger {
    /// When the newest intents for `service` were written, at most `most` of them, oldest first. Whether their POSTs left is not said.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn intents(&self, service: &str, most: u32) -> Result<Vec<Millis>, LedgerError> {
        let connection = self.connection();
        let read = || {
            let mut statement = connection.prepare_cached(
                "SELECT a.intended_at FROM attempts a JOIN runs r ON r.id = a.run
                 WHERE r.service = ?1 ORDER BY a.rowid DESC LIMIT ?2",
            )?;
            let found = statement.query_map((service, most), |row| row.get(0).map(Millis))?;
            found.collect::<rusqlite::Result<Vec<_>>>()
        };
        let mut times = read().map_err(|error| self.sqlite(error))?;
        times.sort_unstable();
        Ok(times)
    }

    /// How long the newest tasks at `service` took, from their submission to their end, oldest first: by the service's own clock where it told,
    /// otherwise until a run learnt of it. A few hundred at most, whatever the size of the ledger.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn durations(&self, service: &str) -> Result<Vec<(Class, Duration)>, LedgerError> {
        durations(&self.connection(), service).map_err(|error| self.sqlite(error))
    }
}

/// See [`Ledger::durations`].
pub(super) fn durations(connection: &Connection, service: &str) -> rusqlite::Result<Vec<(Class, Duration)>> {
    let mut finished: Vec<(AttemptId, Millis, Option<Duration>)> = Vec::new();
    let mut events = connection.prepare_cached(
        "SELECT at, body FROM events
         WHERE seq > (SELECT COALESCE(MAX(seq), 0) FROM events) - ?1 AND body LIKE '{\"event\":\"answered\"%\"completed\"%'
         ORDER BY seq DESC",
    )?;
    let mut rows = events.query([EVENTS])?;
    while let Some(row) = rows.next()? {
        let body: String = row.get(1)?;
        // An event of another version is of no use here, and no harm.
        if let Ok(Event::Answered { attempt, answer: Answer::Completed { took, .. }, .. }) =
            serde_json::from_str(&body)
        {
            finished.push((attempt, Millis(row.get(0)?), took));
            if finished.len() == TASKS {
                break;
            }
        }
    }
    let mut attempts = connection.prepare_cached(
        "SELECT a.model, a.seconds, a.parts, a.submitted_at FROM attempts a JOIN runs r ON r.id = a.run
         WHERE a.id = ?1 AND r.service = ?2 AND a.submitted_at IS NOT NULL",
    )?;
    let mut durations = Vec::with_capacity(finished.len());
    for (attempt, at, took) in finished.into_iter().rev() {
        let found =
            attempts.query_row((attempt.as_str(), service), |row| Ok((class(row, 0)?, Millis(row.get(3)?))));
        if let Some((class, since)) = found.optional()? {
            let learnt = at.since(since);
            durations.push((class, took.map_or(learnt, |took| took.min(learnt))));
        }
    }
    Ok(durations)
}

/// The class of an attempt, from its `model`, `seconds` and `parts`, which stand in this order from column `first` on.
pub(super) fn class(row: &Row<'_>, first: usize) -> rusqlite::Result<Class> {
    let parts: Option<String> = row.get(first + 2)?;
    let parts: Vec<KeyPart> = parts.and_then(|parts| serde_json::from_str(&parts).ok()).unwrap_or_default();
    Ok(Class::of_parts(&row.get::<_, String>(first)?, row.get(first + 1)?, &parts))
}
