//! Reading: what runs before this one tell about the service: how lately they submitted, and how long its tasks take.

use super::{Ledger, LedgerError};
use crate::time::Millis;

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
}
