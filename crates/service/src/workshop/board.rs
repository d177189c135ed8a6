//! Tasks that have not ended, in memory: polls read them here without touching the disk.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU8, Ordering},
    },
};

use super::queue::Queue;
use crate::{
    id::TaskId,
    limits::Place,
    task::{Status, Task},
};

/// Progress of a task that waits. Anything else is in progress, at that percentage less one.
const WAITING: u8 = 0;

/// The last percentage before a task has ended (spec 2.5): 100 is said only with `completed`.
const NEARLY: u8 = 99;

/// A task that has not ended.
#[derive(Debug)]
pub(crate) struct Live {
    /// As it was accepted; how it stands now is in `step`.
    task: Task,
    /// [`WAITING`], or the percentage plus one. Only ever grows.
    step: AtomicU8,
    /// Given back when the task has ended.
    place: Mutex<Option<Place>>,
}

impl Live {
    pub(crate) fn new(task: Task, place: Place) -> Self {
        let step = match task.status {
            Status::Queued => WAITING,
            // Begun by an earlier life of the service: it does not go back to `queued`.
            Status::InProgress | Status::Completed | Status::Failed => WAITING + 1,
        };
        Self { task, step: AtomicU8::new(step), place: Mutex::new(Some(place)) }
    }

    pub(crate) fn task(&self) -> &Task {
        &self.task
    }

    /// The status and the percentage right now.
    pub(crate) fn standing(&self) -> (Status, u8) {
        match self.step.load(Ordering::Acquire) {
            WAITING => (Status::Queued, 0),
            step => (Status::InProgress, step - 1),
        }
    }

    /// Gives the task's place among the unfinished back.
    pub(super) fn leave(&self) {
        drop(self.place.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    pub(super) fn reached(&self, percent: u8) {
        self.step.fetch_max(percent.min(NEARLY) + 1, Ordering::AcqRel);
    }
}

/// All tasks that have not ended, and the queue of those that wait.
#[derive(Debug)]
pub(crate) struct Board {
    live: RwLock<HashMap<TaskId, Arc<Live>>>,
    pub(super) queue: Queue<Arc<Live>>,
}

impl Board {
    pub(crate) fn new() -> Self {
        Self { live: RwLock::default(), queue: Queue::new() }
    }

    /// Puts an accepted task up; from now on it is found and will be rendered.
    pub(crate) fn post(&self, live: Live) {
        let live = Arc::new(live);
        let mut all = self.live.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(live.task.id.clone(), Arc::clone(&live));
        drop(all);
        let key = live.task.key.clone();
        self.queue.push(&key, live);
    }

    pub(crate) fn find(&self, id: &TaskId) -> Option<Arc<Live>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// How many tasks wait for a worker.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Takes an ended task down; the store knows it from now on.
    pub(super) fn remove(&self, id: &TaskId) {
        self.live.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}
