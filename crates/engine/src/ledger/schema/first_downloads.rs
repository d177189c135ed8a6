//! Migration to format 14: which file of a task's video stands for it in the keys of the shots that continue it.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _};

/// Finds the videos that were downloaded more than once, and records the first file that the key of another attempt was made of. Where one was
/// made of the file on record, that stays: earlier versions paid for what continues a video again once it had other bytes.
pub(super) fn record(connection: &Connection) -> rusqlite::Result<()> {
    let mut downloads: HashMap<String, Vec<String>> = HashMap::new();
    let mut select = connection.prepare(
        "SELECT body ->> '$.attempt', body ->> '$.artifact.sha256' FROM events
         WHERE json_valid(body) AND body ->> '$.event' = 'downloaded' ORDER BY seq",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        // An event that cannot be read says nothing.
        let (Ok(Some(attempt)), Ok(Some(sha256))) =
            (row.get::<_, Option<_>>(0), row.get::<_, Option<String>>(1))
        else {
            continue;
        };
        let files = downloads.entry(attempt).or_default();
        if !files.contains(&sha256) {
            files.push(sha256);
        }
    }
    downloads.retain(|_, files| files.len() > 1);
    for (attempt, files) in downloads {
        let current: Option<String> = connection
            .prepare_cached("SELECT sha256 FROM artifacts WHERE attempt = ?1")?
            .query_row([&attempt], |row| row.get(0))
            .optional()?;
        let Some(current) = current else { continue };
        if is_in_a_key(connection, &current)? {
            continue;
        }
        for first in files.iter().filter(|file| **file != current) {
            if is_in_a_key(connection, first)? {
                connection.execute(
                    "UPDATE artifacts SET first_sha256 = ?2 WHERE attempt = ?1",
                    (&attempt, first),
                )?;
                break;
            }
        }
    }
    Ok(())
}

/// Whether the key of an attempt was made of a frame of this file.
fn is_in_a_key(connection: &Connection, sha256: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM attempts WHERE key_parts LIKE '%-frame-of:sha256:' || ?1 || '%'")?
        .exists([sha256])
}
