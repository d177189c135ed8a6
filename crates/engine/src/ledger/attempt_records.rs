//! Recorded attempts of a shot with the parts of their keys, for `runner explain`.

use workflow::plan::{KeyPart, NodeKey};

use super::sql::{column, json_column};
use super::{Ledger, LedgerError};
use scheduler::{AttemptId, AttemptState, Timestamp};

/// How many attempts of a shot are read, at most.
const MAX_ATTEMPTS: i64 = 20_000;

/// An attempt and the parts of its key.
#[derive(Debug, Clone)]
pub struct AttemptRecord {
    pub attempt: AttemptId,
    /// The name of its node at that time.
    pub node: String,
    /// The key of the work that it was intended for.
    pub key: Option<NodeKey>,
    pub state: AttemptState,
    /// When the intent was recorded.
    pub intended_at: Timestamp,
    /// The parts of its key.
    pub parts: Vec<KeyPart>,
}

impl Ledger {
    /// The attempts of a shot's instances, the latest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn attempts_of_shot(&self, shot: &str) -> Result<Vec<AttemptRecord>, LedgerError> {
        let query = "SELECT id, node, state, intended_at, key_parts, key FROM attempts
                     WHERE node = ?1 OR substr(node, 1, length(?1) + 1) IN (?1 || '@', ?1 || '#')
                     ORDER BY intended_at DESC, rowid DESC LIMIT ?2";
        self.rows(query, (shot, MAX_ATTEMPTS), |row| {
            Ok(AttemptRecord {
                attempt: AttemptId(row.get(0)?),
                node: row.get(1)?,
                key: NodeKey::parse(&row.get::<_, String>(5)?),
                state: column(row, 2)?,
                intended_at: column(row, 3)?,
                parts: json_column(row, 4)?,
            })
        })
    }

    /// The parts of an attempt's key: what was asked for, as far as it may be stored. None for an attempt that is not on record.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn key_parts(&self, attempt: &AttemptId) -> Result<Vec<KeyPart>, LedgerError> {
        let query = "SELECT key_parts FROM attempts WHERE id = ?1";
        let parts: Vec<Vec<KeyPart>> = self.rows(query, [attempt.as_str()], |row| json_column(row, 0))?;
        Ok(parts.into_iter().flatten().collect())
    }
}
