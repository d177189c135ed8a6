//! What earlier runs tell of a service: when they submitted, for the rate of submissions.

use super::sql::column;
use super::{Ledger, LedgerError};
use scheduler::Timestamp;

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
}
