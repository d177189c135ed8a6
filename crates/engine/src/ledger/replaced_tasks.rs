//! The keys of attempts whose task a `retry` gave up and another attempt has replaced.

use rusqlite::{Connection, OptionalExtension as _};
use scheduler::AttemptId;
use workflow::plan::NodeKey;

use super::attempt_state::{holds_key, is_replaced};

/// The key under which an attempt is recorded whose task has ended without a video, where another attempt holds its key by now: no shot asks for it, as
/// for the video that a forced rerun supersedes. `None` where the attempt keeps its key.
pub(super) fn separate_key(
    connection: &Connection,
    attempt: &AttemptId,
) -> rusqlite::Result<Option<NodeKey>> {
    let key: Option<String> = connection
        .prepare_cached(concat!(
            "SELECT a.key FROM attempts a WHERE a.id = ?1 AND NOT ",
            holds_key!(),
            " AND EXISTS (SELECT 1 FROM attempts WHERE key = a.key AND ",
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

/// Before an attempt holds its key again whose task has ended: see [`separate_key`].
pub(super) fn separate_from_holder(connection: &Connection, attempt: &AttemptId) -> rusqlite::Result<()> {
    match separate_key(connection, attempt)? {
        Some(key) => set_separate_key(connection, attempt, key),
        None => Ok(()),
    }
}

/// Before an attempt is closed in whose place another task was accepted, whatever became of that: its shot is not closed with it.
pub(super) fn separate_from_later_task(connection: &Connection, attempt: &AttemptId) -> rusqlite::Result<()> {
    let key: Option<String> = connection
        .prepare_cached(concat!("SELECT a.key FROM attempts a WHERE a.id = ?1 AND ", is_replaced!()))?
        .query_row([attempt.as_str()], |row| row.get(0))
        .optional()?;
    match key.and_then(|key| NodeKey::parse(&key)) {
        Some(key) => set_separate_key(connection, attempt, key.salted(attempt.as_str())),
        None => Ok(()),
    }
}

fn set_separate_key(connection: &Connection, attempt: &AttemptId, key: NodeKey) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE attempts SET replaced_key = key, key = ?2 WHERE id = ?1")?
        .execute((attempt.as_str(), key.to_string()))?;
    Ok(())
}

/// A lookup found the video of a replaced task, whose key no attempt holds any more; or one that was abandoned, which keeps it.
pub(super) fn rejoin(connection: &Connection, attempt: &AttemptId) -> rusqlite::Result<()> {
    connection
        .prepare_cached(concat!(
            "UPDATE attempts SET key = replaced_key, replaced_key = NULL WHERE id = ?1 AND replaced_key IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM attempts holder WHERE holder.key = attempts.replaced_key AND ",
            holds_key!(),
            ")"
        ))?
        .execute([attempt.as_str()])?;
    Ok(())
}
