//! What all runs of a ledger hold and have spent, kept in the transaction that changes an attempt.
//!
//! Invariant: `totals` is the sum over `attempts`: held while an attempt is intended, ambiguous or submitted, spent once its task has ended.

use rusqlite::{Connection, OptionalExtension as _, Transaction};

use super::attempt_state::is_in_flight;
use super::{Ledger, LedgerError};
use scheduler::budget::{Amount, BudgetLimit, BudgetLimits, Reservation};
use scheduler::{AttemptId, Timestamp};

/// How an attempt stops holding what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settlement {
    /// Nothing was accepted, so nothing is to be paid.
    Released,
    /// It was, or may have been, accepted: all that was held counts as spent. The contract does not say that a failed task costs nothing.
    Full,
    /// It came to this much money.
    Actual(i64),
}

/// What was held and spent when a run began, against which its caps are measured.
pub(super) fn sums(transaction: &Connection) -> rusqlite::Result<(Amount, Amount)> {
    transaction
        .prepare_cached(
            "SELECT held_cost, held_tasks, held_seconds, spent_cost, spent_tasks, spent_seconds FROM totals",
        )?
        .query_row([], |row| {
            let held = Amount { cost: row.get(0)?, tasks: row.get(1)?, video_ms: row.get(2)? };
            let spent = Amount { cost: row.get(3)?, tasks: row.get(4)?, video_ms: row.get(5)? };
            Ok((held, spent))
        })
}

/// The cap that `more` would cross: over everything that is held, and all that was spent since `spent_before`. `delta` is what the
/// transaction has changed so far.
pub(super) fn exceeded_by(
    transaction: &Transaction<'_>,
    delta: &BudgetDelta,
    caps: BudgetLimits,
    spent_before: Amount,
    more: Amount,
) -> rusqlite::Result<Option<BudgetLimit>> {
    if caps.is_none() {
        return Ok(None);
    }
    let (mut sum, spent) = sums(transaction)?;
    sum += spent;
    sum += delta.held;
    sum += delta.spent;
    sum -= spent_before;
    sum += more;
    Ok(caps.exceeded_by(sum))
}

/// How an attempt ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttemptEnd<'a> {
    /// Its last state, as it is stored.
    pub(super) state: &'a str,
    /// What becomes of what it holds.
    pub(super) settled: Settlement,
    /// Why it failed, if it did.
    pub(super) failure: Option<&'a str>,
    /// When.
    pub(super) at: Timestamp,
}

/// What one transaction changes in the sums: kept here and written once, because a transaction is a few hundred events.
#[derive(Debug, Default)]
#[must_use = "a change that is not written leaves the sums behind the attempts"]
pub(super) struct BudgetDelta {
    held: Amount,
    spent: Amount,
}

impl BudgetDelta {
    /// An attempt begins to hold this.
    pub(super) fn hold(&mut self, amount: Amount) {
        self.held += amount;
    }

    /// Ends an attempt. What it holds is settled; where it holds nothing any more, because its video was there once, only its state changes.
    pub(super) fn end(
        &mut self,
        transaction: &Transaction<'_>,
        attempt: &AttemptId,
        end: AttemptEnd<'_>,
    ) -> rusqlite::Result<()> {
        let AttemptEnd { state, settled, failure, at } = end;
        let actual_cost = match settled {
            Settlement::Released => Some(0),
            Settlement::Full => None,
            Settlement::Actual(cost) => Some(cost),
        };
        // Asked first: an `UPDATE … RETURNING` makes a table of its own for what it returns, which costs more than all the rest.
        let found: Option<(f64, Option<i64>)> = transaction
            .prepare_cached(concat!(
                "SELECT seconds, held FROM attempts WHERE id = ?1 AND ",
                is_in_flight!()
            ))?
            .query_row([attempt.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((seconds, cost)) = found else {
            transaction
                .prepare_cached("UPDATE attempts SET state = ?2, failure = ?3, ended_at = ?4 WHERE id = ?1")?
                .execute((attempt.as_str(), state, failure, at.0))?;
            return Ok(());
        };
        transaction
            .prepare_cached(
                "UPDATE attempts SET state = ?2, failure = ?3, ended_at = ?4,
                 spent = CASE WHEN held IS NULL THEN NULL ELSE COALESCE(?5, held) END WHERE id = ?1",
            )?
            .execute((attempt.as_str(), state, failure, at.0, actual_cost))?;
        let held = Reservation { cost, ..Reservation::unpriced(seconds) }.amount();
        self.held -= held;
        self.spent += match settled {
            Settlement::Released => Amount::default(),
            Settlement::Full => held,
            Settlement::Actual(actual_cost) => {
                Amount { cost: if cost.is_some() { actual_cost } else { 0 }, ..held }
            }
        };
        Ok(())
    }

    /// Takes back that an attempt was given up: it holds again what had counted as spent.
    pub(super) fn reopen(
        &mut self,
        transaction: &Transaction<'_>,
        attempt: &AttemptId,
    ) -> rusqlite::Result<()> {
        let given_up: Option<(f64, Option<i64>)> = transaction
            .query_row(
                "UPDATE attempts SET state = 'ambiguous', spent = NULL, ended_at = NULL
                 WHERE id = ?1 AND state = 'given-up' RETURNING seconds, held",
                [attempt.as_str()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        let Some((seconds, cost)) = given_up else { return Ok(()) };
        let held = Reservation { cost, ..Reservation::unpriced(seconds) }.amount();
        self.held += held;
        self.spent -= held;
        Ok(())
    }

    /// Brings the sums up to date. The last thing before a transaction is committed.
    pub(super) fn write(self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let Self { held, spent } = self;
        if held == Amount::default() && spent == Amount::default() {
            return Ok(());
        }
        transaction
            .prepare_cached(
                "UPDATE totals SET held_cost = held_cost + ?1, held_tasks = held_tasks + ?2, held_seconds = held_seconds + ?3,
                 spent_cost = spent_cost + ?4, spent_tasks = spent_tasks + ?5, spent_seconds = spent_seconds + ?6",
            )?
            .execute((held.cost, held.tasks, held.video_ms, spent.cost, spent.tasks, spent.video_ms))?;
        Ok(())
    }
}

impl Ledger {
    /// What is held now for tasks that have not ended, and what was ever spent, over all runs.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn spending(&self) -> Result<(Amount, Amount), LedgerError> {
        let mut connection = self.connection();
        connection
            .transaction()
            .and_then(|transaction| sums(&transaction))
            .map_err(|error| self.sqlite(error))
    }
}
