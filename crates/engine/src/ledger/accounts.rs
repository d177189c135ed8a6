//! API keys of one account, known by their digests: the service has shown a task that was submitted with the one to the other.

use rusqlite::Connection;
use scheduler::{AttemptId, RunId};

use super::attempt_row::AttemptRow;
use super::{Ledger, LedgerError};

/// The service has shown the task of an attempt to the key of `run`, which has its video: where it was submitted with another key, both belong to
/// one account.
pub(super) fn record_shown_task(
    connection: &Connection,
    run: &RunId,
    attempt: &AttemptId,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO same_accounts (service, account, same_as)
             SELECT own.service, own.account, submitted.account
             FROM attempts a
             JOIN run_services own ON own.run = ?1 AND own.service = a.service
             JOIN run_services submitted ON submitted.run = a.run AND submitted.service = a.service
             WHERE a.id = ?2 AND own.account <> submitted.account",
        )?
        .execute((run.as_str(), attempt.as_str()))?;
    Ok(())
}

impl Ledger {
    /// Whether a task was submitted with the key of another account than `account`, as far as is known.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn is_of_other_account(
        &self,
        row: &AttemptRow,
        account: Option<&str>,
    ) -> Result<bool, LedgerError> {
        let Some((submitted_with, account)) = row.account.as_deref().zip(account) else { return Ok(false) };
        if submitted_with == account {
            return Ok(false);
        }
        let is_same = || {
            self.connection()
                .prepare_cached(
                    "WITH RECURSIVE same (account) AS (
                         VALUES (?2)
                         UNION
                         SELECT CASE same.account WHEN pair.account THEN pair.same_as ELSE pair.account END
                         FROM same JOIN same_accounts pair
                         ON pair.service = ?1 AND same.account IN (pair.account, pair.same_as)
                     )
                     SELECT 1 FROM same WHERE account = ?3",
                )?
                .exists((row.service.as_str(), submitted_with, account))
        };
        is_same().map(|is_same| !is_same).map_err(|error| self.sqlite(error))
    }
}
