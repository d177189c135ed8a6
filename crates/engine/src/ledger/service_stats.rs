//! Statistics of a service from earlier runs: recent submission times for rate limiting, and task durations for the poll schedule.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row};
use workflow::plan::KeyPart;

use super::sql::column;
use super::{Ledger, LedgerError};
use scheduler::polling::Class;
use scheduler::{AttemptId, Event, PollResult, Timestamp};

/// How many of the newest events are searched for finished tasks.
const MAX_EVENTS: i64 = 4_000;
/// How many finished tasks are used, at most.
const MAX_TASKS: usize = 512;

impl Ledger {
    /// When the newest intents for `service` were recorded, at most `limit` of them, oldest first. Some of their POSTs may not have been
    /// sent.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn submission_times(&self, service: &str, limit: u32) -> Result<Vec<Timestamp>, LedgerError> {
        let connection = self.connection();
        let read = || {
            let mut statement = connection.prepare_cached(
                "SELECT a.intended_at FROM attempts a JOIN runs r ON r.id = a.run
                 WHERE r.service = ?1 ORDER BY a.rowid DESC LIMIT ?2",
            )?;
            let times = statement.query_map((service, limit), |row| column(row, 0))?;
            times.collect::<rusqlite::Result<Vec<_>>>()
        };
        let mut times = read().map_err(|error| self.sqlite(error))?;
        times.sort_unstable();
        Ok(times)
    }

    /// The durations of the newest finished tasks at `service`, oldest first: by the service's own timestamps where it returned them, otherwise
    /// from submission to the poll that found the task finished, if one run did both: between runs nobody was there to see it end. At most a
    /// few hundred, whatever the size of the ledger.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn task_durations(&self, service: &str) -> Result<Vec<(Class, Duration)>, LedgerError> {
        task_durations(&self.connection(), service).map_err(|error| self.sqlite(error))
    }
}

/// See [`Ledger::task_durations`].
pub(super) fn task_durations(
    connection: &Connection,
    service: &str,
) -> rusqlite::Result<Vec<(Class, Duration)>> {
    let mut finished: Vec<(AttemptId, String, Timestamp, Option<Duration>)> = Vec::new();
    let mut events = connection.prepare_cached(
        "SELECT time, body, run FROM events
         WHERE seq > (SELECT COALESCE(MAX(seq), 0) FROM events) - ?1 AND body LIKE '{\"event\":\"polled\"%\"completed\"%'
         ORDER BY seq DESC",
    )?;
    let mut rows = events.query([MAX_EVENTS])?;
    while let Some(row) = rows.next()? {
        let body: String = row.get(1)?;
        // Events of another version are skipped.
        if let Ok(Event::Polled { attempt, result: PollResult::Completed { took, .. }, .. }) =
            serde_json::from_str(&body)
        {
            finished.push((attempt, row.get(2)?, column(row, 0)?, took));
            if finished.len() == MAX_TASKS {
                break;
            }
        }
    }
    let mut attempts = connection.prepare_cached(
        "SELECT a.model, a.video_ms, a.key_parts, a.submitted_at, a.run FROM attempts a JOIN runs r ON r.id = a.run
         WHERE a.id = ?1 AND r.service = ?2 AND a.submitted_at IS NOT NULL",
    )?;
    let mut durations = Vec::with_capacity(finished.len());
    for (attempt, run, completed_at, took) in finished.into_iter().rev() {
        let attempt_row = attempts.query_row((attempt.as_str(), service), |row| {
            Ok((class(row, 0)?, column(row, 3)?, row.get::<_, String>(4)?))
        });
        let Some((class, since, submitted_by)) = attempt_row.optional()? else { continue };
        // Zero if the clock was set back in between.
        let observed = Some(Timestamp::since(completed_at, since)).filter(|observed| !observed.is_zero());
        let duration = match took {
            Some(took) => Some(observed.map_or(took, |observed| took.min(observed))),
            None => observed.filter(|_| submitted_by == run),
        };
        durations.extend(duration.map(|duration| (class, duration)));
    }
    Ok(durations)
}

/// The class of an attempt from its `model`, `video_ms` and `key_parts`, in this order from column `first` on.
pub(super) fn class(row: &Row<'_>, first: usize) -> rusqlite::Result<Class> {
    let parts: Option<String> = row.get(first + 2)?;
    let parts: Vec<KeyPart> = parts.and_then(|parts| serde_json::from_str(&parts).ok()).unwrap_or_default();
    Ok(Class::from_key_parts(&row.get::<_, String>(first)?, column(row, first + 1)?, &parts))
}
