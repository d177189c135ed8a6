//! The totals over all runs, reserved and spent, updated in the transaction that changes an attempt.
//!
//! Invariant: `totals` is the sum over `attempts`: reserved while [`AttemptState::is_in_flight`], spent once a task has ended.

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction};

use super::attempt_state::is_in_flight;
use super::sql::{Sql, column, one_row};
use super::{Ledger, LedgerError};
use scheduler::budget::{Amount, BudgetCap, BudgetCaps, Reservation};
use scheduler::{AttemptId, AttemptState, Timestamp};
use workflow::units::Money;

/// What becomes of an attempt's reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settlement {
    /// Nothing was accepted: the reservation is released.
    Released,
    /// The task was or may have been accepted: the whole reservation counts as spent. The contract does not say that a failed task is free.
    Full,
    Actual(Money),
}

impl Settlement {
    /// What becomes of the reservation of an attempt that ends in this state, at this cost if it is known.
    pub(super) fn at_end(state: AttemptState, cost: Option<Money>) -> Self {
        match cost {
            Some(cost) => Self::Actual(cost),
            None if state.may_be_paid() => Self::Full,
            None => Self::Released,
        }
    }
}

/// The totals, reserved and spent.
pub(super) fn sums(transaction: &Connection) -> rusqlite::Result<(Amount, Amount)> {
    transaction
        .prepare_cached(
            "SELECT reserved_cost, reserved_tasks, reserved_video_ms, spent_cost, spent_tasks, spent_video_ms FROM totals",
        )?
        .query_row([], |row| {
            let reserved = Amount { cost: column(row, 0)?, tasks: column(row, 1)?, duration: column(row, 2)? };
            let spent = Amount { cost: column(row, 3)?, tasks: column(row, 4)?, duration: column(row, 5)? };
            Ok((reserved, spent))
        })
}

/// Tasks in flight without a reservation of their cost, over all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpricedInFlight {
    /// How many there are.
    pub count: u64,
    /// The shot of the earliest of them.
    pub first: Option<String>,
}

fn unpriced_in_flight(transaction: &Connection) -> rusqlite::Result<UnpricedInFlight> {
    // `min` selects the row of the bare column: that of the earliest.
    transaction
        .prepare_cached(concat!(
            "SELECT count(*), node, min(intended_at) FROM attempts WHERE reserved_cost IS NULL AND ",
            is_in_flight!()
        ))?
        .query_row([], |row| Ok(UnpricedInFlight { count: column(row, 0)?, first: row.get(1)? }))
}

/// The cap that `more` would exceed, counting all reservations and everything spent since `spent_before`. `delta` is the change by the
/// transaction so far. Tasks in flight whose cost is unknown exceed any cap on the cost, unless unpriced tasks are allowed.
pub(super) fn exceeded_by(
    transaction: &Transaction<'_>,
    delta: &BudgetDelta,
    caps: BudgetCaps,
    spent_before: Amount,
    reservation: Amount,
) -> rusqlite::Result<Option<BudgetCap>> {
    if caps.is_none() {
        return Ok(None);
    }
    if caps.cost.is_some() && !caps.allow_unpriced && unpriced_in_flight(transaction)?.count > 0 {
        return Ok(Some(BudgetCap::Cost));
    }
    let (mut sum, spent) = sums(transaction)?;
    // Additions first: an amount is never negative.
    sum += spent;
    sum += delta.reserved.added;
    sum += delta.spent.added;
    sum += reservation;
    sum -= delta.reserved.removed;
    sum -= delta.spent.removed;
    sum -= spent_before;
    Ok(caps.exceeded_by(sum))
}

/// The cost that is or was reserved for an attempt, if its task had a price.
pub(super) fn reserved_cost(
    transaction: &Transaction<'_>,
    attempt: &AttemptId,
) -> rusqlite::Result<Option<Money>> {
    transaction
        .prepare_cached("SELECT reserved_cost FROM attempts WHERE id = ?1")?
        .query_row([attempt.as_str()], |row| column(row, 0))
}

/// The end of an attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttemptEnd<'a> {
    /// The state in which it ends.
    pub(super) state: AttemptState,
    /// What becomes of its reservation.
    pub(super) settlement: Settlement,
    /// The failure, for people.
    pub(super) failure: Option<&'a str>,
    /// When it ended.
    pub(super) time: Timestamp,
}

/// The change of a total.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct TotalDelta {
    added: Amount,
    removed: Amount,
}

/// The change of the totals by one transaction of up to a few hundred events, written once.
#[derive(Debug, Default)]
#[must_use = "the totals have to be written in the same transaction"]
pub(super) struct BudgetDelta {
    reserved: TotalDelta,
    spent: TotalDelta,
}

impl BudgetDelta {
    pub(super) fn reserve(&mut self, amount: Amount) {
        self.reserved.added += amount;
    }

    /// Ends an attempt and settles its reservation. Where that was settled before (a completed attempt that expires), only the state changes.
    pub(super) fn end(
        &mut self,
        transaction: &Transaction<'_>,
        attempt: &AttemptId,
        end: AttemptEnd<'_>,
    ) -> rusqlite::Result<()> {
        let AttemptEnd { state, settlement, failure, time } = end;
        let actual_cost = match settlement {
            Settlement::Released => Some(Money::ZERO),
            Settlement::Full => None,
            Settlement::Actual(cost) => Some(cost),
        };
        // A query first: `UPDATE … RETURNING` creates an ephemeral table, which costs more than everything else here.
        let reservation = transaction
            .prepare_cached(concat!(
                "SELECT video_ms, reserved_cost FROM attempts WHERE id = ?1 AND ",
                is_in_flight!()
            ))?
            .query_row([attempt.as_str()], read_reservation)
            .optional()?;
        let Some(reservation) = reservation else {
            let changed = transaction
                .prepare_cached("UPDATE attempts SET state = ?2, failure = ?3, ended_at = ?4 WHERE id = ?1")?
                .execute((attempt.as_str(), Sql(state), failure, Sql(time)))?;
            return one_row(changed);
        };
        transaction
            .prepare_cached(
                "UPDATE attempts SET state = ?2, failure = ?3, ended_at = ?4,
                 actual_cost = CASE WHEN reserved_cost IS NULL THEN NULL ELSE COALESCE(?5, reserved_cost) END WHERE id = ?1",
            )?
            .execute((attempt.as_str(), Sql(state), failure, Sql(time), actual_cost.map(Sql)))?;
        let reserved = reservation.amount();
        self.reserved.removed += reserved;
        self.spent.added += match settlement {
            Settlement::Released => Amount::default(),
            Settlement::Full => reserved,
            Settlement::Actual(actual_cost) => {
                Amount { cost: reservation.cost.map_or(Money::ZERO, |_| actual_cost), ..reserved }
            }
        };
        Ok(())
    }

    /// Makes an abandoned attempt indeterminate again: what counted as spent is reserved.
    pub(super) fn reopen(
        &mut self,
        transaction: &Transaction<'_>,
        attempt: &AttemptId,
    ) -> rusqlite::Result<()> {
        // It may have been settled at less than what was reserved.
        let spent: Option<Money> = transaction.query_row(
            "SELECT COALESCE(actual_cost, reserved_cost) FROM attempts WHERE id = ?1",
            [attempt.as_str()],
            |row| column(row, 0),
        )?;
        let reservation = transaction.query_row(
            "UPDATE attempts SET state = ?2, actual_cost = NULL, ended_at = NULL WHERE id = ?1
                 RETURNING video_ms, reserved_cost",
            (attempt.as_str(), Sql(AttemptState::Indeterminate)),
            read_reservation,
        )?;
        let reserved = reservation.amount();
        self.reserved.added += reserved;
        self.spent.removed += Amount { cost: spent.unwrap_or(Money::ZERO), ..reserved };
        Ok(())
    }

    /// Writes the totals. Call it last before the commit.
    pub(super) fn write(self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let Self { reserved, spent } = self;
        if reserved == TotalDelta::default() && spent == TotalDelta::default() {
            return Ok(());
        }
        transaction
            .prepare_cached(
                "UPDATE totals SET
                 reserved_cost = reserved_cost + ?1 - ?2, spent_cost = spent_cost + ?3 - ?4,
                 reserved_tasks = reserved_tasks + ?5 - ?6, spent_tasks = spent_tasks + ?7 - ?8,
                 reserved_video_ms = reserved_video_ms + ?9 - ?10, spent_video_ms = spent_video_ms + ?11 - ?12",
            )?
            .execute((
                Sql(reserved.added.cost),
                Sql(reserved.removed.cost),
                Sql(spent.added.cost),
                Sql(spent.removed.cost),
                Sql(reserved.added.tasks),
                Sql(reserved.removed.tasks),
                Sql(spent.added.tasks),
                Sql(spent.removed.tasks),
                Sql(reserved.added.duration),
                Sql(reserved.removed.duration),
                Sql(spent.added.duration),
                Sql(spent.removed.duration),
            ))?;
        Ok(())
    }
}

/// The reservation of an attempt: its `video_ms` and `reserved_cost`.
fn read_reservation(row: &Row<'_>) -> rusqlite::Result<Reservation> {
    Ok(Reservation { duration: column(row, 0)?, cost: column(row, 1)? })
}

impl Ledger {
    /// The totals over all runs: reserved for tasks in flight, and spent.
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

    /// Tasks in flight without a reservation of their cost, over all runs: a limit on the cost cannot count them.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn unpriced_in_flight(&self) -> Result<UnpricedInFlight, LedgerError> {
        unpriced_in_flight(&self.connection()).map_err(|error| self.sqlite(error))
    }
}
