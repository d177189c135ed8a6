//! API keys of one account: a new key of the same account has another digest. The proof is a task that was submitted with the one and that
//! the service shows to the other.

use rusqlite::{Connection, OptionalExtension as _};
use scheduler::{TaskId, Timestamp};

use super::attempt_state::has_open_task;
use super::sql::Sql;
use super::{AttemptRow, Ledger, LedgerError};

/// How many tasks of an account are candidates for the proof.
const MAX_TASKS: i64 = 5;

impl Ledger {
    /// Digests of the other accounts that submitted tasks to `service` and are not known to be the same as `account`, each with tasks that
    /// the service should know: those in flight first, then the latest.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn other_accounts(
        &self,
        service: &str,
        account: &str,
    ) -> Result<Vec<(String, Vec<TaskId>)>, LedgerError> {
        let connection = self.connection();
        let read = || {
            let own = root(&connection, service, account)?;
            let others: Vec<String> = connection
                .prepare(
                    "SELECT account FROM runs WHERE service = ?1 AND account IS NOT NULL GROUP BY account ORDER BY MIN(started_at)",
                )?
                .query_map([service], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            let mut tasks = connection.prepare(concat!(
                "SELECT a.task FROM attempts a JOIN runs r ON r.id = a.run
                 WHERE a.service = ?1 AND r.account = ?2 AND a.task IS NOT NULL ORDER BY ",
                has_open_task!(),
                " DESC, a.intended_at DESC LIMIT ?3"
            ))?;
            let mut accounts = Vec::new();
            for account in others {
                if root(&connection, service, &account)? != own {
                    let tasks = tasks
                        .query_map((service, &account, MAX_TASKS), |row| row.get(0).map(TaskId))?
                        .collect::<rusqlite::Result<Vec<_>>>()?;
                    accounts.push((account, tasks));
                }
            }
            Ok(accounts)
        };
        read().map_err(|error| self.sqlite(error))
    }

    /// Records that `account` is the same account as `other`, because the service showed `task` of the other one to it.
    ///
    /// # Errors
    /// When it cannot be recorded, and as [`Ledger::append`] when the ledger is not the file that was opened.
    pub fn link_account(
        &self,
        service: &str,
        account: &str,
        other: &str,
        task: &TaskId,
        time: Timestamp,
    ) -> Result<(), LedgerError> {
        self.watch.check()?;
        let mut connection = self.connection();
        let mut write = || {
            let transaction = connection.transaction()?;
            let (own, other) = (root(&transaction, service, account)?, root(&transaction, service, other)?);
            if own != other {
                transaction.execute(
                    "INSERT INTO linked_accounts (service, account, same_as, task, time) VALUES (?1, ?2, ?3, ?4, ?5)",
                    (service, &own, &other, task.as_str(), Sql(time)),
                )?;
            }
            transaction.commit()
        };
        write().map_err(|error| self.sqlite(error))?;
        drop(connection);
        self.watch.check()
    }

    /// Whether a task was submitted with the key of another account than `account`, as far as is known: unknown are the account of what an
    /// older version submitted, and keys of one account that were not linked.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn is_of_other_account(
        &self,
        row: &AttemptRow,
        account: Option<&str>,
    ) -> Result<bool, LedgerError> {
        let Some((submitted_with, account)) = row.account.as_deref().zip(account) else { return Ok(false) };
        let connection = self.connection();
        let read = || {
            Ok(root(&connection, &row.service, submitted_with)? != root(&connection, &row.service, account)?)
        };
        read().map_err(|error| self.sqlite(error))
    }
}

/// The digest that stands for an account. Each is linked to one that was there before, so the links have no cycle.
fn root(connection: &Connection, service: &str, account: &str) -> rusqlite::Result<String> {
    let mut account = account.to_owned();
    let mut next = connection
        .prepare_cached("SELECT same_as FROM linked_accounts WHERE service = ?1 AND account = ?2")?;
    while let Some(before) = next.query_row((service, &account), |row| row.get(0)).optional()? {
        account = before;
    }
    Ok(account)
}
