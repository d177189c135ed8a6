//! What earlier runs tell of a service: when they submitted, for the rate of submissions, and how long tasks took, for their first poll.

use std::collections::HashMap;
use std::time::Duration;

use super::sql::column;
use super::{Ledger, LedgerError};
use scheduler::Timestamp;
use scheduler::polling::{FirstPolls, observed_duration, quickest_fifth};

/// How many finished tasks are used, at most: the newest.
const MAX_TASKS: usize = 512;

impl Ledger {
    /// When the newest intents for `service` were recorded, at most `limit` of them, oldest first. Some of their POSTs may not have been
    /// sent.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn submission_times(&self, service: &str, limit: u32) -> Result<Vec<Timestamp>, LedgerError> {
        let query = "SELECT a.intended_at FROM attempts a
                     WHERE a.service = ?1 ORDER BY a.rowid DESC LIMIT ?2";
        let mut times: Vec<Timestamp> = self.rows(query, (service, limit), |row| column(row, 0))?;
        times.sort_unstable();
        Ok(times)
    }

    /// The time within which the quickest fifth of the newest tasks at `service` ended, by model: from submission to the video. Only of tasks that
    /// ended in the run that submitted them: between runs nobody was there to see them end.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn first_polls(&self, service: &str) -> Result<FirstPolls, LedgerError> {
        let query = "SELECT a.model, a.submitted_at, a.ended_at FROM attempts a JOIN runs r ON r.id = a.run
                     WHERE a.service = ?1 AND a.state = 'completed' AND a.submitted_at < a.ended_at AND a.ended_at <= r.ended_at
                     ORDER BY a.rowid DESC LIMIT ?2";
        let tasks: Vec<(String, Duration)> = self.rows(query, (service, MAX_TASKS as i64), |row| {
            let (submitted, ended): (Timestamp, Timestamp) = (column(row, 1)?, column(row, 2)?);
            Ok((row.get(0)?, observed_duration(ended.since(submitted))))
        })?;
        let mut models: HashMap<String, Vec<Duration>> = HashMap::new();
        for (model, took) in tasks {
            models.entry(model).or_default().push(took);
        }
        Ok(FirstPolls::new(
            models.into_iter().filter_map(|(model, took)| Some((model, quickest_fifth(took)?))),
        ))
    }
}
