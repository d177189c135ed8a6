//! The keys of attempts whose task a `retry` gave up and another attempt has replaced.

use rusqlite::{Connection, OptionalExtension as _};
use scheduler::AttemptId;
use workflow::plan::NodeKey;

use super::attempt_state::holds_key;

/// The key under which an attempt is recorded whose task a `retry` gave up, where another attempt holds its key by now: no shot asks for it, as
/// for the video that a forced rerun supersedes. `None` where the attempt keeps its key.
pub(super) fn separate_key(
    connection: &Connection,
    attempt: &AttemptId,
) -> rusqlite::Result<Option<NodeKey>> {
    let key: Option<String> = connection
        .prepare_cached(concat!(
            "SELECT a.key FROM attempts a WHERE a.id = ?1 AND a.state = 'expired'
             AND EXISTS (SELECT 1 FROM attempts WHERE key = a.key AND ",
            holds_key!(),
            ")"
        ))?
        .query_row([attempt.as_str()], |row| row.get(0))
        .optional()?;
    Ok(key.and_then(|key| Some(NodeKey::parse(&key)?.salted(attempt.as_str()))))
}

/// The key under which the video of an attempt is recorded: a separate one, or its own.
pub(super) fn key_of_video(
    connection: &Connection,
    attempt: &AttemptId,
) -> rusqlite::Result<Option<NodeKey>> {
    if let Some(key) = separate_key(connection, attempt)? {
        return Ok(Some(key));
    }
    let key: String = connection
        .prepare_cached("SELECT key FROM attempts WHERE id = ?1")?
        .query_row([attempt.as_str()], |row| row.get(0))?;
    Ok(NodeKey::parse(&key))
}
