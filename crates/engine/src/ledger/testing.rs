//! What tests need of a ledger beyond what runs do.

use std::collections::BTreeMap;
use std::path::Path;

use workflow::plan::NodeKey;

use super::{AttemptRow, Ledger, LedgerError};

impl Ledger {
    /// As [`Ledger::open`] with `synchronous=OFF`: survives the end of the process, but not a power cut. For simulations of thousands of runs.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    pub fn open_without_sync(file: &Path, base: &Path) -> Result<Self, LedgerError> {
        Self::open_with(file, base, "off")
    }

    /// Limits the size of the file on this connection, as a full disk would.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn limit_pages(&self, pages: u32) -> Result<(), LedgerError> {
        self.connection()
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .map_err(|error| self.sqlite(error))
    }

    /// Removes all records, so that the ledger is as a new one is. Statements stay compiled, for simulations that need thousands of ledgers.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn clear(&self) -> Result<(), LedgerError> {
        let mut connection = self.connection();
        let mut clear = || {
            let transaction = connection.transaction()?;
            // Those that others refer to come last: with foreign keys deferred by a pragma, all statements would be compiled again.
            let tables: Vec<String> = transaction
                .prepare_cached(
                    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name != 'totals' ORDER BY name = 'runs', name = 'attempts'",
                )?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            for table in tables {
                transaction.prepare_cached(&format!("DELETE FROM {table}"))?.execute([])?;
            }
            transaction
                .prepare_cached(
                    "UPDATE totals SET (reserved_cost, reserved_tasks, reserved_video_ms, spent_cost, spent_tasks, spent_video_ms) = (0, 0, 0, 0, 0, 0)",
                )?
                .execute([])?;
            transaction.commit()
        };
        clear().map_err(|error| self.sqlite(error))
    }

    /// Whether an attempt's task was replaced by another one and is one more render of its shot, which neither the file nor a person has asked for.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn is_extra_render(&self, row: &AttemptRow) -> Result<bool, LedgerError> {
        let Some(key) = NodeKey::parse(&row.key) else { return Ok(false) };
        let (render, is_asked) = self.render_of(&row.workflow, key)?;
        let take = row.node.split_once('#').and_then(|(_, take)| take.parse().ok());
        Ok(!is_asked && take.unwrap_or(1) != render)
    }

    /// How many renders of each instance were asked for, by what has become of that: `open`, `done`, `failed` or `withdrawn`.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn wish_ends(&self) -> Result<BTreeMap<(String, String), usize>, LedgerError> {
        self.rows("SELECT instance, state, COUNT(*) FROM wishes GROUP BY instance, state", [], |row| {
            Ok(((row.get(0)?, row.get(1)?), row.get::<_, u32>(2)? as usize))
        })
    }
}
