//! The one thread that writes. Whatever waits is committed together, so that many submissions share one sync to
//! the disk; each is answered only after the commit that holds it.

use std::{
    sync::mpsc::{self, Receiver, Sender},
    thread,
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::StoreError;
use crate::error::ServiceError;

/// As many writes as share one commit at most.
const GROUP: usize = 256;

/// Hands writes to the thread. The thread ends when the last of its writers is dropped.
#[derive(Debug)]
pub(super) struct Writer(Sender<Box<dyn Operation>>);

/// A write on its way through the thread.
trait Operation: Send {
    /// Does the work inside the open transaction; `false` when it failed and must be undone.
    fn apply(&mut self, connection: &Connection) -> bool;
    /// Tells whoever waits how it ended.
    fn settle(self: Box<Self>, committed: Result<(), StoreError>);
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
        let good = result.is_ok();
        self.result = Some(result);
        good
    }

    fn settle(self: Box<Self>, committed: Result<(), StoreError>) {
        let answer = match (self.result, committed) {
            (Some(Ok(value)), Ok(())) => Ok(value),
            (Some(Err(error)), _) | (_, Err(error)) => Err(error),
            (None, Ok(())) => Err(StoreError::Stopped),
        };
        // Nobody waits any more when the caller has been shut down; the write stands all the same.
        drop(self.reply.send(answer));
    }
}

/// The answer to a write, when it is there.
pub(super) struct Receipt<T>(oneshot::Receiver<Result<T, StoreError>>);

impl<T> Receipt<T> {
    pub(super) async fn committed(self) -> Result<T, StoreError> {
        self.0.await.unwrap_or(Err(StoreError::Stopped))
    }

    /// For threads of their own; never from asynchronous code.
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
        let (reply, answer) = oneshot::channel();
        // When the thread is gone, the operation is dropped and with it `reply`: the receipt says so.
        drop(self.0.send(Box::new(Pending { work: Some(work), result: None, reply })));
        Receipt(answer)
    }
}

fn run(connection: &Connection, operations: &Receiver<Box<dyn Operation>>) {
    while let Ok(first) = operations.recv() {
        let mut group = vec![first];
        group.extend(operations.try_iter().take(GROUP - 1));
        let committed = commit(connection, &mut group).map_err(|error| {
            if !connection.is_autocommit()
                && let Err(error) = connection.execute_batch("ROLLBACK")
            {
                tracing::error!(%error, "the task store could not undo a failed commit");
            }
            StoreError::from(error)
        });
        for operation in group {
            operation.settle(committed.clone());
        }
    }
}

fn commit(connection: &Connection, group: &mut [Box<dyn Operation>]) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    for operation in group {
        // A failed write must not take its neighbours with it.
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
    fn a_failed_write_leaves_its_neighbours_alone() {
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
    fn a_panic_in_a_write_is_an_answer_not_a_hang() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(folder.path());
        let lost =
            writer.write(|_| -> Result<(), StoreError> { std::panic::resume_unwind(Box::new("test")) });
        assert!(matches!(lost.committed_blocking(), Err(StoreError::Stopped)));
        assert!(matches!(writer.write(insert(1)).committed_blocking(), Err(StoreError::Stopped)));
    }
}
