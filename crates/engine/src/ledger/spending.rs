//! What all runs of a ledger hold and have spent, kept in the transaction that changes an attempt.
//!
//! Invariant: `totals` is the sum over `attempts`: held while an attempt is intended, ambiguous or submitted, spent once its task has ended.

use rusqlite::{Connection, OptionalExtension as _, Transaction};

use super::{Ledger, LedgerError};
use crate::budget::{Amount, Cap, Caps, Hold};
use crate::ids::AttemptId;

/// How an attempt stops holding what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    /// Nothing was accepted, so nothing is to be paid.
    LetGo,
    /// It was, or may have been, accepted: all that was held counts as spent. The contract does not say that a failed task costs nothing.
    InFull,
    /// It came to this much money.
    At(i64),
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

/// The cap that `more` would cross: over everything that is held, and all that was spent since `spent_before`.
pub(super) fn crossed_by(
    transaction: &Transaction<'_>,
    caps: Caps,
    spent_before: Amount,
    more: Amount,
) -> rusqlite::Result<Option<Cap>> {
    if caps.is_none() {
        return Ok(None);
    }
    let (mut sum, spent) = sums(transaction)?;
    #[cfg(feature = "planted-overspend")]
    {
        sum = Amount::default();
    }
    sum += spent;
    sum -= spent_before;
    sum += more;
    Ok(caps.crossed_by(sum))
}

pub(super) fn hold(transaction: &Transaction<'_>, amount: Amount) -> rusqlite::Result<()> {
    change(transaction, amount, Amount::default())
}

/// Settles an attempt that is about to leave the states in which it holds something. One that has left them already stays as it is.
pub(super) fn settle(
    transaction: &Transaction<'_>,
    attempt: &AttemptId,
    settled: Settled,
) -> rusqlite::Result<()> {
    let found: Option<(f64, Option<i64>)> = transaction
        .prepare_cached(
            "SELECT seconds, held FROM attempts WHERE id = ?1 AND state IN ('intended', 'ambiguous', 'submitted')",
        )?
        .query_row([attempt.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((seconds, cost)) = found else { return Ok(()) };
    let held = Hold { cost, ..Hold::of_seconds(seconds) }.amount();
    let spent = match settled {
        Settled::LetGo => Amount::default(),
        Settled::InFull => held,
        Settled::At(cost) => Amount { cost, ..held },
    };
    let came_to = cost.map(|_| spent.cost);
    transaction
        .prepare_cached("UPDATE attempts SET spent = ?2 WHERE id = ?1")?
        .execute((attempt.as_str(), came_to))?;
    let mut less = Amount::default();
    less -= held;
    change(transaction, less, spent)
}

/// Takes back that an attempt was given up: it holds again what had counted as spent.
pub(super) fn reopen(transaction: &Transaction<'_>, attempt: &AttemptId) -> rusqlite::Result<()> {
    let given_up: Option<(f64, Option<i64>)> = transaction
        .query_row(
            "SELECT seconds, held FROM attempts WHERE id = ?1 AND state = 'given-up'",
            [attempt.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    let Some((seconds, cost)) = given_up else { return Ok(()) };
    transaction.execute(
        "UPDATE attempts SET state = 'ambiguous', spent = NULL, ended_at = NULL WHERE id = ?1",
        [attempt.as_str()],
    )?;
    let held = Hold { cost, ..Hold::of_seconds(seconds) }.amount();
    let mut less = Amount::default();
    less -= held;
    change(transaction, held, less)
}

fn change(transaction: &Transaction<'_>, held: Amount, spent: Amount) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "UPDATE totals SET held_cost = held_cost + ?1, held_tasks = held_tasks + ?2, held_seconds = held_seconds + ?3,
             spent_cost = spent_cost + ?4, spent_tasks = spent_tasks + ?5, spent_seconds = spent_seconds + ?6",
        )?
        .execute((held.cost, held.tasks, held.video_ms, spent.cost, spent.tasks, spent.video_ms))?;
    Ok(())
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
