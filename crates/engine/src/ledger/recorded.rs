//! Reading: the attempts of a shot with the parts of their keys, for explaining what changed.

use scheduler::{AttemptId, Millis};
use workflow::plan::KeyPart;

use super::{Ledger, LedgerError};

/// The most attempts of one shot that are looked at, the latest first.
const MOST: i64 = 20_000;

/// An attempt as it is on record.
#[derive(Debug, Clone)]
pub struct RecordedAttempt {
    /// The attempt.
    pub attempt: AttemptId,
    /// The name that its node had.
    pub node: String,
    /// What it came to, in the ledger's word.
    pub state: String,
    /// When the intent was written.
    pub intended_at: Millis,
    /// The parts of its key; nothing where a version made it that did not keep them.
    pub parts: Option<Vec<KeyPart>>,
}

impl Ledger {
    /// The attempts of a shot's instances, the latest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn recorded(&self, shot: &str) -> Result<Vec<RecordedAttempt>, LedgerError> {
        let connection = self.connection();
        let read = || {
            let mut statement = connection.prepare(
                "SELECT id, node, state, intended_at, parts FROM attempts
                 WHERE node = ?1 OR substr(node, 1, length(?1) + 1) IN (?1 || '@', ?1 || '#')
                 ORDER BY intended_at DESC, id DESC LIMIT ?2",
            )?;
            statement
                .query_map((shot, MOST), |row| {
                    let parts: Option<String> = row.get(4)?;
                    let parts = parts.and_then(|parts| serde_json::from_str::<Vec<KeyPart>>(&parts).ok());
                    Ok(RecordedAttempt {
                        attempt: AttemptId(row.get(0)?),
                        node: row.get(1)?,
                        state: row.get(2)?,
                        intended_at: Millis(row.get(3)?),
                        // Parts in a form that is not known are as good as none.
                        parts,
                    })
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|error| self.sqlite(error))
    }
}
