//! What some of the runs have reserved and spent.

use std::collections::HashSet;

use scheduler::budget::Amount;
use scheduler::{AttemptState, RunId};
use workflow::units::{Money, VideoDuration};

use super::sql::column;
use super::{LedgerError, LedgerReader};

/// The attempts of a run that are in one state.
struct AttemptGroup {
    run: RunId,
    state: AttemptState,
    tasks: u64,
    duration: VideoDuration,
    reserved: Money,
    actual: Money,
}

impl LedgerReader {
    /// The totals over these runs: reserved for tasks in flight, and spent. Over all runs they are those of [`LedgerReader::spending`].
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn spending_of(&self, runs: &HashSet<RunId>) -> Result<(Amount, Amount), LedgerError> {
        let groups = self.rows(
            "SELECT run, state, count(*), sum(video_ms), coalesce(sum(reserved_cost), 0), coalesce(sum(actual_cost), 0)
             FROM attempts GROUP BY run, state",
            [],
            |row| {
                Ok(AttemptGroup {
                    run: RunId(row.get(0)?),
                    state: column(row, 1)?,
                    tasks: column(row, 2)?,
                    duration: column(row, 3)?,
                    reserved: column(row, 4)?,
                    actual: column(row, 5)?,
                })
            },
        )?;
        let (mut reserved, mut spent) = (Amount::default(), Amount::default());
        for group in groups.into_iter().filter(|group| runs.contains(&group.run)) {
            let AttemptGroup { state, tasks, duration, .. } = group;
            if state.is_in_flight() {
                reserved += Amount { cost: group.reserved, tasks, duration };
            } else if state.may_be_paid() {
                spent += Amount { cost: group.actual, tasks, duration };
            }
        }
        Ok((reserved, spent))
    }
}
