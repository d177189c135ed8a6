//! Group commit for objects that many invocations talk to: what arrives at a worker while a call to the object is in progress goes together
//! in the next call.
//!
//! Restate executes one handler of an object at a time, so that an invocation for each event of a run bounds the run. With one call of each
//! worker in progress, an object takes as many items at once as have arrived meanwhile. A call is not journalled: an item may arrive more
//! than once, when a step is run again, and its receiver takes the first one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use crate::error::ClusterError;

/// Items in one call, at most.
const MAX_BATCH: usize = 256;

/// Calls an object, by its key, with items; returns a reply to each.
type Call<T, R> =
    Box<dyn Fn(String, Vec<T>) -> BoxFuture<'static, Result<Vec<R>, ClusterError>> + Send + Sync>;

/// Items for objects of one kind.
pub(crate) struct Batcher<T, R> {
    call: Call<T, R>,
    /// By the object's key. An object with an entry has a call in progress.
    waiting: Mutex<HashMap<String, Vec<Item<T, R>>>>,
}

struct Item<T, R> {
    item: T,
    reply: oneshot::Sender<Result<R, ClusterError>>,
}

impl<T: Send + 'static, R: Send + 'static> Batcher<T, R> {
    pub(crate) fn new(
        call: impl Fn(String, Vec<T>) -> BoxFuture<'static, Result<Vec<R>, ClusterError>> + Send + Sync + 'static,
    ) -> Self {
        Self { call: Box::new(call), waiting: Mutex::default() }
    }

    /// Sends an item, and returns the object's reply.
    pub(crate) async fn send(self: &Arc<Self>, key: &str, item: T) -> Result<R, ClusterError> {
        let (reply, replied) = oneshot::channel();
        let item = Item { item, reply };
        let is_idle = {
            let mut waiting = self.lock();
            let is_idle = !waiting.contains_key(key);
            waiting.entry(key.to_owned()).or_default().push(item);
            is_idle
        };
        if is_idle {
            // A task of its own: it carries items of other invocations, too.
            tokio::spawn(Arc::clone(self).drain(key.to_owned()));
        }
        replied.await.unwrap_or_else(|_| Err(no_reply(key)))
    }

    async fn drain(self: Arc<Self>, key: String) {
        let mut drain = Drain { batcher: &*self, key: &key, is_done: false };
        while let Some(batch) = drain.next_batch() {
            let (items, replies): (Vec<T>, Vec<_>) =
                batch.into_iter().map(|Item { item, reply }| (item, reply)).unzip();
            match (self.call)(key.clone(), items).await {
                Ok(answers) => {
                    // A receiver that is gone has been cancelled; whoever runs its step again asks again.
                    for (reply, answer) in replies.into_iter().zip(answers) {
                        drop(reply.send(Ok(answer)));
                    }
                }
                Err(error) => {
                    for reply in replies {
                        drop(reply.send(Err(error.duplicate())));
                    }
                }
            }
        }
    }
}

impl<T, R> Batcher<T, R> {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Vec<Item<T, R>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The calls to one object that follow each other. Invariant: the object has an entry until this is done.
struct Drain<'a, T, R> {
    batcher: &'a Batcher<T, R>,
    key: &'a str,
    is_done: bool,
}

impl<T, R> Drain<'_, T, R> {
    /// The items of the next call. Without any, the entry is removed in the same moment: the next item starts another drain.
    fn next_batch(&mut self) -> Option<Vec<Item<T, R>>> {
        let mut waiting = self.batcher.lock();
        let items = waiting.get_mut(self.key).filter(|items| !items.is_empty());
        let batch = items.map(|items| items.drain(..items.len().min(MAX_BATCH)).collect());
        if batch.is_none() {
            waiting.remove(self.key);
            self.is_done = true;
        }
        batch
    }
}

impl<T, R> Drop for Drain<'_, T, R> {
    /// After a call that panicked. An entry that stayed would let every later item wait for ever. The items that wait fail, because the senders
    /// of their replies are dropped.
    fn drop(&mut self) {
        if !self.is_done {
            let failed = self.batcher.lock().remove(self.key);
            drop(failed);
        }
    }
}

impl<T, R> std::fmt::Debug for Batcher<T, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batcher").finish_non_exhaustive()
    }
}

/// A reply that did not come.
fn no_reply(key: &str) -> ClusterError {
    ClusterError::Unreachable { url: key.to_owned(), reason: "the object gave no reply".to_owned() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    type Calls = Arc<Mutex<Vec<Vec<u32>>>>;

    /// Doubles its items, and notes which came together.
    fn doubling(calls: &Calls) -> Arc<Batcher<u32, u32>> {
        let calls = Arc::clone(calls);
        Arc::new(Batcher::new(move |_key, items: Vec<u32>| {
            let calls = Arc::clone(&calls);
            Box::pin(async move {
                calls.lock().expect("no panic").push(items.clone());
                tokio::time::sleep(Duration::from_millis(10)).await;
                assert!(!items.contains(&0), "a call that panics");
                if items.contains(&13) {
                    return Err(ClusterError::Unreachable { url: "a".into(), reason: "b".into() });
                }
                Ok(items.into_iter().map(|item| item * 2).collect())
            })
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn items_that_arrive_during_a_call_go_together() {
        let calls = Calls::default();
        let batcher = doubling(&calls);
        let replies = futures_util::future::join_all((1..=5).map(|item| batcher.send("k", item))).await;
        let replies: Vec<u32> = replies.into_iter().map(|reply| reply.expect("a reply")).collect();
        assert_eq!(replies, [2, 4, 6, 8, 10]);
        // All of them arrive before the call of the first one begins.
        assert_eq!(calls.lock().expect("no panic").concat(), [1, 2, 3, 4, 5]);
        assert!(calls.lock().expect("no panic").len() <= 2);
        assert!(batcher.lock().is_empty(), "nothing is in progress");
    }

    #[tokio::test(start_paused = true)]
    async fn failed_call_fails_its_items_and_no_others() {
        let calls = Calls::default();
        let batcher = doubling(&calls);
        assert!(batcher.send("k", 13).await.expect_err("it fails").is_transient());
        assert_eq!(batcher.send("k", 1).await.expect("a reply"), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn cancelled_item_does_not_stop_the_others() {
        let calls = Calls::default();
        let batcher = doubling(&calls);
        let cancelled = tokio::time::timeout(Duration::from_millis(1), batcher.send("k", 1)).await;
        assert!(cancelled.is_err());
        assert_eq!(batcher.send("k", 2).await.expect("a reply"), 4);
        assert_eq!(*calls.lock().expect("no panic"), [vec![1], vec![2]]);
    }

    #[tokio::test(start_paused = true)]
    async fn call_that_panics_fails_what_waits_and_no_later_item() {
        let calls = Calls::default();
        let batcher = doubling(&calls);
        // One is in the call that panics, the other one waits for it.
        let first = batcher.send("k", 0);
        let second = async {
            while calls.lock().expect("no panic").is_empty() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            batcher.send("k", 1).await
        };
        let both = tokio::time::timeout(Duration::from_mins(1), futures_util::future::join(first, second));
        let (first, second) = both.await.expect("neither waits for ever");
        assert!(first.expect_err("it fails").is_transient());
        assert!(second.expect_err("it fails").is_transient());
        let later = tokio::time::timeout(Duration::from_mins(1), batcher.send("k", 2)).await;
        assert_eq!(later.expect("it does not wait for ever").expect("a reply"), 4);
        assert!(batcher.lock().is_empty(), "nothing is in progress");
    }
}
