//! The order in which tasks are rendered: first come, first served within a key, and the keys take turns, so that
//! a thousand tasks of one key do not keep another waiting.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::keys::KeyId;

/// A queue that threads wait at.
#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    /// The key whose turn it is stands first. No line is empty.
    lines: VecDeque<(KeyId, VecDeque<T>)>,
    closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State { lines: VecDeque::new(), closed: false }), changed: Condvar::new() }
    }

    pub(super) fn push(&self, key: &KeyId, item: T) {
        let mut state = self.state();
        match state.lines.iter_mut().find(|(owner, _)| owner == key) {
            Some((_, line)) => line.push_back(item),
            None => state.lines.push_back((key.clone(), VecDeque::from([item]))),
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Waits for the next item; `None` once the queue is closed, whatever is still in it.
    pub(super) fn next(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            if state.closed {
                return None;
            }
            if let Some(item) = state.take() {
                return Some(item);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Sends everyone home.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    pub(super) fn len(&self) -> usize {
        self.state().lines.iter().map(|(_, line)| line.len()).sum()
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        // No step above leaves the lines half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn take(&mut self) -> Option<T> {
        let (key, mut line) = self.lines.pop_front()?;
        let item = line.pop_front();
        if !line.is_empty() {
            self.lines.push_back((key, line));
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_take_turns_and_each_is_first_come_first_served() {
        let queue = Queue::new();
        let (many, few) = (KeyId::from_text("many"), KeyId::from_text("few"));
        for number in 0..4 {
            queue.push(&many, format!("many {number}"));
        }
        queue.push(&few, "few 0".to_owned());
        assert_eq!(queue.len(), 5);
        let order: Vec<String> = (0..5).filter_map(|_| queue.next()).collect();
        assert_eq!(order, ["many 0", "few 0", "many 1", "many 2", "many 3"]);
    }

    #[test]
    fn closing_wakes_whoever_waits() {
        let queue = Queue::<u8>::new();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.next());
            queue.close();
            assert_eq!(waiting.join().unwrap(), None);
        });
        queue.push(&KeyId::from_text("late"), 1);
        assert_eq!(queue.next(), None);
    }
}
