//! The write thread. It commits waiting writes as a group, so that many submissions share one sync to disk; each write
//! is acknowledged after its commit.

use std::{
    sync::mpsc::{self, Receiver, Sender},
    thread,
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::StoreError;
use crate::error::ServiceError;

/// Maximum number of writes per commit.
const MAX_GROUP: usize = 256;

/// Sends writes to the thread, which ends when the writer is dropped.
#[derive(Debug)]
pub(super) struct Writer(Sender<Box<dyn Operation>>);

/// A queued write.
trait Operation: Send {
    /// Runs inside the open transaction; `false` if it failed and must be rolled back.
    fn apply(&mut self, connection: &Connection) -> bool;
    /// Sends the result to the waiting caller.
    fn finish(self: Box<Self>, committed: Result<(), StoreError>);
}

struct Pending<T, W> {
    work: Option<W>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> Operation for Pending<T, W>
where
    T: Send,
    W: FnOnce(&Connection) -> Result<T, StoreError> + Send,
{
    fn apply(&mut self, connection: &Connection) -> bool {
        let Some(work) = self.work.take() else { return false };
        let result = work(connection);
        let succeeded = result.is_ok();
        self.result = Some(result);
        succeeded
    }

    fn finish(self: Box<Self>, committed: Result<(), StoreError>) {
        let result = match (self.result, committed) {
            (Some(Ok(value)), Ok(())) => Ok(value),
            (Some(Err(error)), _) | (_, Err(error)) => Err(error),
            (None, Ok(())) => Err(StoreError::Stopped),
        };
        // The receiver is gone if its caller was dropped; the write is committed anyway.
        drop(self.reply.send(result));
    }
}

/// The pending result of a write.
pub(super) struct Receipt<T>(oneshot::Receiver<Result<T, StoreError>>);

impl<T> Receipt<T> {
    pub(super) async fn committed(self) -> Result<T, StoreError> {
        self.0.await.unwrap_or(Err(StoreError::Stopped))
    }

    /// Blocking; not for async code.
    pub(super) fn committed_blocking(self) -> Result<T, StoreError> {
        self.0.blocking_recv().unwrap_or(Err(StoreError::Stopped))
    }
}

impl Writer {
    pub(super) fn start(connection: Connection) -> Result<Self, ServiceError> {
        let (sender, operations) = mpsc::channel();
        thread::Builder::new()
            .name("service-store".to_owned())
            .spawn(move || run(&connection, &operations))
            .map_err(|error| ServiceError::Start(format!("no thread for the task store: {error}")))?;
        Ok(Self(sender))
    }

    pub(super) fn write<T, W>(&self, work: W) -> Receipt<T>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, receiver) = oneshot::channel();
        // If the thread has ended, `reply` is dropped with the operation, and the receipt returns `Stopped`.
        drop(self.0.send(Box::new(Pending { work: Some(work), result: None, reply })));
        Receipt(receiver)
    }
}

fn run(connection: &Connection, operations: &Receiver<Box<dyn Operation>>) {
    while let Ok(first) = operations.recv() {
        let mut group = vec![first];
        group.extend(operations.try_iter().take(MAX_GROUP - 1));
        let committed = commit(connection, &mut group).map_err(|error| {
            if !connection.is_autocommit()
                && let Err(error) = connection.execute_batch("ROLLBACK")
            {
                tracing::error!(%error, "the task store could not roll back a failed commit");
            }
            StoreError::from(error)
        });
        for operation in group {
            operation.finish(committed.clone());
        }
    }
}

fn commit(connection: &Connection, group: &mut [Box<dyn Operation>]) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    for operation in group {
        // A failed write must not roll back the others of its group.
        connection.execute_batch("SAVEPOINT one")?;
        if !operation.apply(connection) {
            connection.execute_batch("ROLLBACK TO one")?;
        }
        connection.execute_batch("RELEASE one")?;
    }
    connection.execute_batch("COMMIT")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(folder: &std::path::Path) -> Writer {
        let connection = Connection::open(folder.join("test.db")).unwrap();
        connection.execute_batch("CREATE TABLE t (n INTEGER UNIQUE)").unwrap();
        Writer::start(connection).unwrap()
    }

    fn insert(number: i64) -> impl FnOnce(&Connection) -> Result<usize, StoreError> + Send {
        move |connection| Ok(connection.execute("INSERT INTO t VALUES (?1)", [number])?)
    }

    #[test]
    fn failed_write_does_not_affect_others_of_its_batch() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(folder.path());
        let (hold, release) = mpsc::channel::<()>();
        // Holds the thread until the three below are one group.
        let first = writer.write(move |connection| {
            release.recv().ok();
            insert(1)(connection)
        });
        let (two, again, three) = (writer.write(insert(2)), writer.write(insert(2)), writer.write(insert(3)));
        drop(hold);
        assert_eq!(first.committed_blocking().unwrap(), 1);
        assert_eq!(two.committed_blocking().unwrap(), 1);
        assert!(again.committed_blocking().is_err());
        assert_eq!(three.committed_blocking().unwrap(), 1);
        let count = writer.write(|connection| {
            Ok(connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0))?)
        });
        assert_eq!(count.committed_blocking().unwrap(), 3);
    }

    #[test]
    fn panic_in_write_returns_error() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(folder.path());
        let lost =
            writer.write(|_| -> Result<(), StoreError> { std::panic::resume_unwind(Box::new("test")) });
        assert!(matches!(lost.committed_blocking(), Err(StoreError::Stopped)));
        assert!(matches!(writer.write(insert(1)).committed_blocking(), Err(StoreError::Stopped)));
    }
}
