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
pub(super) struct Writer(Sender<Box<dyn QueuedWrite>>);

trait QueuedWrite: Send {
    /// Runs inside the open transaction. After an error it must be rolled back.
    fn apply(&mut self, connection: &Connection) -> Result<(), StoreError>;
    /// Sends the result to the waiting caller.
    fn finish(self: Box<Self>, committed: Result<(), StoreError>);
}

struct Pending<T, W> {
    work: Option<W>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> QueuedWrite for Pending<T, W>
where
    T: Send,
    W: FnOnce(&Connection) -> Result<T, StoreError> + Send,
{
    fn apply(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let work = self.work.take().ok_or(StoreError::Stopped)?;
        self.result.insert(work(connection)).as_ref().map(drop).map_err(Clone::clone)
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

fn run(connection: &Connection, operations: &Receiver<Box<dyn QueuedWrite>>) {
    while let Ok(first) = operations.recv() {
        let mut group = vec![first];
        group.extend(operations.try_iter().take(MAX_GROUP - 1));
        let committed = commit(connection, &mut group);
        if !connection.is_autocommit()
            && let Err(error) = connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "the task store could not roll back a failed commit");
        }
        for operation in group {
            operation.finish(committed.clone());
        }
    }
}

fn commit(connection: &Connection, group: &mut [Box<dyn QueuedWrite>]) -> Result<(), StoreError> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    for operation in group {
        // A failed write must not roll back the others of its group.
        connection.execute_batch("SAVEPOINT one")?;
        if let Err(error) = operation.apply(connection) {
            if connection.is_autocommit() {
                // Some errors make SQLite roll the whole transaction back: nothing of the group is stored.
                return Err(error);
            }
            connection.execute_batch("ROLLBACK TO one")?;
        }
        connection.execute_batch("RELEASE one")?;
    }
    Ok(connection.execute_batch("COMMIT")?)
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

    /// Holds the thread in a write of its own: what is written until the sender is dropped is one group.
    fn hold(writer: &Writer) -> Sender<()> {
        let ((hold, release), (begin, begun)) = (mpsc::channel::<()>(), mpsc::channel());
        drop(writer.write(move |_| {
            begin.send(()).ok();
            release.recv().ok();
            Ok(())
        }));
        begun.recv().unwrap();
        hold
    }

    #[test]
    fn failed_write_does_not_affect_others_of_its_batch() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(folder.path());
        let hold = hold(&writer);
        let (two, duplicate, three) =
            (writer.write(insert(2)), writer.write(insert(2)), writer.write(insert(3)));
        drop(hold);
        assert_eq!(two.committed_blocking().unwrap(), 1);
        assert!(duplicate.committed_blocking().is_err());
        assert_eq!(three.committed_blocking().unwrap(), 1);
        let count = writer.write(|connection| {
            Ok(connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0))?)
        });
        assert_eq!(count.committed_blocking().unwrap(), 2);
    }

    #[test]
    fn write_without_space_stores_nothing_of_itself() {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join("test.db")).unwrap();
        connection.execute_batch("CREATE TABLE t (n INTEGER UNIQUE)").unwrap();
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        connection.pragma_update(None, "max_page_count", pages).unwrap();
        let writer = Writer::start(connection).unwrap();
        let hold = hold(&writer);
        let small = writer.write(insert(1));
        let large = writer.write(|connection| {
            let series = "WITH RECURSIVE s(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM s WHERE n < 9999)";
            Ok(connection.execute(&format!("{series} INSERT INTO t SELECT n FROM s"), [])?)
        });
        drop(hold);
        let error = large.committed_blocking().unwrap_err();
        assert!(matches!(error, StoreError::Full), "{error}");
        // It has found room, and is kept.
        assert_eq!(small.committed_blocking().unwrap(), 1);
    }

    #[test]
    fn rolled_back_transaction_stores_nothing_of_its_batch() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(folder.path());
        let hold = hold(&writer);
        let before = writer.write(insert(1));
        // As SQLite does by itself after some errors.
        let failed = writer.write(|connection| -> Result<(), StoreError> {
            connection.execute_batch("ROLLBACK")?;
            Err(StoreError::Full)
        });
        let after = writer.write(insert(2));
        drop(hold);
        for receipt in [
            before.committed_blocking().map(drop),
            failed.committed_blocking(),
            after.committed_blocking().map(drop),
        ] {
            let error = receipt.unwrap_err();
            assert!(matches!(error, StoreError::Full), "{error}");
        }
        let count = writer.write(|connection| {
            Ok(connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0))?)
        });
        assert_eq!(count.committed_blocking().unwrap(), 0);
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
