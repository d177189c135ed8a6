//! [`FairQueue`]: FIFO per API key, round robin over the keys, so that a thousand tasks of one key do not delay those of
//! another.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::keys::KeyId;

/// A blocking queue.
#[derive(Debug)]
pub(super) struct FairQueue<T> {
    state: Mutex<QueueState<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct QueueState<T> {
    /// One queue per key, the next key first. Invariant: no queue is empty.
    queues: VecDeque<(KeyId, VecDeque<T>)>,
    is_closed: bool,
}

impl<T> FairQueue<T> {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(QueueState { queues: VecDeque::new(), is_closed: false }),
            changed: Condvar::new(),
        }
    }

    pub(super) fn push(&self, key: &KeyId, item: T) {
        let mut state = self.state();
        match state.queues.iter_mut().find(|(owner, _)| owner == key) {
            Some((_, queue)) => queue.push_back(item),
            None => state.queues.push_back((key.clone(), VecDeque::from([item]))),
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Waits for the next item; `None` once the queue is closed, whatever is still in it.
    pub(super) fn next(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(item) = state.take() {
                return Some(item);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wakes all waiting threads; they get `None`.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, QueueState<T>> {
        // No operation leaves the queues inconsistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> QueueState<T> {
    fn take(&mut self) -> Option<T> {
        let (key, mut queue) = self.queues.pop_front()?;
        let item = queue.pop_front();
        if !queue.is_empty() {
            self.queues.push_back((key, queue));
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_round_robins_over_keys_and_is_fifo_per_key() {
        let queue = FairQueue::new();
        let (busy, idle) = (KeyId::from_text("many"), KeyId::from_text("few"));
        for number in 0..4 {
            queue.push(&busy, format!("many {number}"));
        }
        queue.push(&idle, "few 0".to_owned());
        let order: Vec<String> = (0..5).filter_map(|_| queue.next()).collect();
        assert_eq!(order, ["many 0", "few 0", "many 1", "many 2", "many 3"]);
    }

    #[test]
    fn close_wakes_waiting_threads() {
        let queue = FairQueue::<u8>::new();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.next());
            queue.close();
            assert_eq!(waiting.join().unwrap(), None);
        });
        queue.push(&KeyId::from_text("late"), 1);
        assert_eq!(queue.next(), None);
    }
}
