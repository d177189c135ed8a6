//! A pool of read-only connections, so that reads never wait for a commit.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use rusqlite::Connection;

use super::{StoreError, schema::open_reader};

/// Idle connections kept open.
const MAX_IDLE: usize = 8;

/// The pool; it opens further connections when all are in use.
#[derive(Debug)]
pub(super) struct Readers {
    data: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(data: &Path) -> Self {
        Self { data: data.to_owned(), idle: Mutex::default() }
    }

    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open_reader(&self.data)?,
        };
        let result = work(&connection);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // After an error the connection is discarded: it may be the cause.
        if result.is_ok() && idle.len() < MAX_IDLE {
            idle.push(connection);
        }
        result
    }
}
