//! SQL statements on tasks, each a function to be called inside the open transaction.

use rusqlite::{Connection, OptionalExtension as _, Row, named_params, types::Type};

use super::{
    NewTask, StoreError,
    schema::{signed, unsigned},
};
use crate::{
    digest::Digest,
    id::TaskId,
    keys::KeyId,
    render_spec::RenderSpec,
    task::{Failure, RenderedFiles, Status, StoredFile, Task},
};

const COLUMNS: &str = "number, id, key, spec_json, status, starts, created_at, completed_at, expires_at,
    error_code, error_message, video_token, video_bytes, video_digest, frame_token, frame_bytes, frame_digest,
    progress, files_gone";

/// Inserts a task, unless it exceeds the quota of its key.
pub(super) fn accept(connection: &Connection, new: &NewTask) -> Result<Task, StoreError> {
    let video_ms = new.spec.video_ms();
    if let Some(quota) = new.quota_ms {
        let used = crate::keys::used_ms(connection, &new.key)?;
        if used.saturating_add(video_ms) > quota {
            return Err(StoreError::Quota { used_ms: used, quota_ms: quota });
        }
    }
    let spec = serde_json::to_string(&new.spec).map_err(|error| StoreError::Database(error.to_string()))?;
    connection.execute(
        "INSERT INTO task (id, key, request, spec_json, status, created_at)
         VALUES (:id, :key, :request, :spec, 'queued', :created_at)",
        named_params! {
            ":id": new.id.as_str(),
            ":key": new.key.as_str(),
            ":request": new.request.as_bytes(),
            ":spec": spec,
            ":created_at": new.created_at,
        },
    )?;
    let number = connection.last_insert_rowid();
    connection.execute(
        "INSERT INTO key_usage (key, tasks, video_ms) VALUES (:key, 1, :ms)
         ON CONFLICT (key) DO UPDATE SET tasks = tasks + 1, video_ms = video_ms + :ms",
        named_params! { ":key": new.key.as_str(), ":ms": signed(video_ms) },
    )?;
    Ok(Task {
        number,
        id: new.id.clone(),
        key: new.key.clone(),
        spec: new.spec.clone(),
        status: Status::Queued,
        progress: 0,
        starts: 0,
        created_at: new.created_at,
        completed_at: None,
        expires_at: None,
        failure: None,
        video: None,
        last_frame: None,
        files_gone: false,
    })
}

pub(super) fn started(connection: &Connection, number: i64) -> Result<(), StoreError> {
    connection.execute(
        "UPDATE task SET status = 'in_progress', starts = starts + 1
         WHERE number = ?1 AND status IN ('queued', 'in_progress')",
        [number],
    )?;
    Ok(())
}

pub(super) fn completed(
    connection: &Connection,
    number: i64,
    files: &RenderedFiles,
    now: i64,
    expires_at: i64,
) -> Result<(), StoreError> {
    let frame = files.last_frame.as_ref();
    let changed = connection.execute(
        "UPDATE task SET status = 'completed', progress = 100, completed_at = :now, expires_at = :expires_at,
            video_token = :video_token, video_bytes = :video_bytes, video_digest = :video_digest,
            frame_token = :frame_token, frame_bytes = :frame_bytes, frame_digest = :frame_digest
         WHERE number = :number AND status = 'in_progress'",
        named_params! {
            ":number": number,
            ":now": now,
            ":expires_at": expires_at,
            ":video_token": files.video.token,
            ":video_bytes": signed(files.video.bytes),
            ":video_digest": files.video.digest.as_bytes(),
            ":frame_token": frame.map(|frame| &frame.token),
            ":frame_bytes": frame.map(|frame| signed(frame.bytes)),
            ":frame_digest": frame.map(|frame| frame.digest.as_bytes()),
        },
    )?;
    one_row(changed, number)
}

/// Marks a task failed and refunds its seconds to the quota.
pub(super) fn failed(
    connection: &Connection,
    task: &Task,
    progress: u8,
    failure: &Failure,
    expires_at: i64,
) -> Result<(), StoreError> {
    let changed = connection.execute(
        "UPDATE task SET status = 'failed', progress = :progress, expires_at = :expires_at, error_code = :code, error_message = :message
         WHERE number = :number AND status IN ('queued', 'in_progress')",
        named_params! {
            ":number": task.number,
            ":progress": progress,
            ":expires_at": expires_at,
            ":code": failure.code,
            ":message": failure.message,
        },
    )?;
    one_row(changed, task.number)?;
    connection.execute(
        "UPDATE key_usage SET video_ms = max(0, video_ms - :ms) WHERE key = :key",
        named_params! { ":ms": signed(task.spec.video_ms()), ":key": task.key.as_str() },
    )?;
    Ok(())
}

fn one_row(changed: usize, number: i64) -> Result<(), StoreError> {
    if changed == 1 { Ok(()) } else { Err(StoreError::Ended(number)) }
}

pub(super) fn by_id(connection: &Connection, id: &str) -> Result<Option<Task>, StoreError> {
    find_by(connection, "id", id)
}

/// The task with this token for its video or its last frame.
pub(super) fn by_token(connection: &Connection, token: &str) -> Result<Option<Task>, StoreError> {
    match find_by(connection, "video_token", token)? {
        Some(task) => Ok(Some(task)),
        None => find_by(connection, "frame_token", token),
    }
}

fn find_by(connection: &Connection, column: &str, value: &str) -> Result<Option<Task>, StoreError> {
    let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM task WHERE {column} = ?1"))?;
    Ok(statement.query_row([value], read).optional()?)
}

/// Unfinished tasks, oldest first.
pub(super) fn unfinished(connection: &Connection) -> Result<Vec<Task>, StoreError> {
    select(connection, "status IN ('queued', 'in_progress') ORDER BY number", [])
}

/// Expired tasks whose files are not deleted yet.
pub(super) fn expired(connection: &Connection, now: i64) -> Result<Vec<Task>, StoreError> {
    select(connection, "expires_at <= ?1 AND files_gone = 0 ORDER BY number LIMIT 1000", [now])
}

fn select(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<Task>, StoreError> {
    let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM task WHERE {condition}"))?;
    let tasks = statement.query_map(values, read)?.collect::<rusqlite::Result<_>>()?;
    Ok(tasks)
}

pub(super) fn files_gone(connection: &Connection, numbers: &[i64]) -> Result<(), StoreError> {
    for number in numbers {
        connection.execute("UPDATE task SET files_gone = 1 WHERE number = ?1", [number])?;
    }
    Ok(())
}

/// Deletes the records of tasks whose files are deleted and that expired at or before `limit`.
pub(super) fn purge(connection: &Connection, limit: i64) -> Result<usize, StoreError> {
    Ok(connection.execute("DELETE FROM task WHERE expires_at <= ?1 AND files_gone = 1", [limit])?)
}

pub(super) fn by_request(connection: &Connection, request: &Digest) -> Result<Vec<TaskId>, StoreError> {
    let mut statement = connection.prepare("SELECT id FROM task WHERE request = ?1 ORDER BY number")?;
    let ids = statement
        .query_map([request.as_bytes()], |row| Ok(TaskId::from_text(&row.get::<_, String>(0)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(ids)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Task> {
    let spec: RenderSpec = serde_json::from_str(row.get_ref(3)?.as_str()?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(3, Type::Text, error.into()))?;
    let status: String = row.get(4)?;
    let status =
        Status::parse(&status).ok_or_else(|| rusqlite::Error::InvalidColumnType(4, status, Type::Text))?;
    let code: Option<String> = row.get(9)?;
    let message: Option<String> = row.get(10)?;
    Ok(Task {
        number: row.get(0)?,
        id: TaskId::from_text(&row.get::<_, String>(1)?),
        key: KeyId::from_text(&row.get::<_, String>(2)?),
        spec,
        status,
        progress: row.get(17)?,
        starts: row.get(5)?,
        created_at: row.get(6)?,
        completed_at: row.get(7)?,
        expires_at: row.get(8)?,
        failure: code.map(|code| Failure { code, message: message.unwrap_or_default() }),
        video: file(row, 11)?,
        last_frame: file(row, 14)?,
        files_gone: row.get(18)?,
    })
}

fn file(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<StoredFile>> {
    let Some(token) = row.get(first)? else { return Ok(None) };
    let digest = Digest::from_bytes(row.get(first + 2)?);
    Ok(Some(StoredFile { token, bytes: unsigned(row.get(first + 1)?), digest }))
}
