//! Unfinished tasks in memory, so that polls do not read the disk.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU8, Ordering},
    },
};

use super::fair_queue::FairQueue;
use crate::{
    admission::Permit,
    id::TaskId,
    task::{Status, Task},
};

/// [`ActiveTask::step`] of a queued task.
const QUEUED: u8 = 0;

/// The highest progress of an unfinished task (spec 2.5): 100 is reported with `completed` only.
const MAX_PROGRESS: u8 = 99;

#[derive(Debug)]
pub(crate) struct ActiveTask {
    /// As it was accepted; `step` has the current progress.
    task: Task,
    /// [`QUEUED`], or the percentage plus one while in progress. Invariant: it only grows.
    step: AtomicU8,
    /// Released when the task ends.
    permit: Mutex<Option<Permit>>,
}

impl ActiveTask {
    pub(crate) fn new(task: Task, permit: Permit) -> Self {
        let step = match task.status {
            Status::Queued => QUEUED,
            // Started before a restart: it does not go back to `queued`.
            Status::InProgress | Status::Completed | Status::Failed => QUEUED + 1,
        };
        Self { task, step: AtomicU8::new(step), permit: Mutex::new(Some(permit)) }
    }

    pub(crate) fn task(&self) -> &Task {
        &self.task
    }

    /// The current status and percentage.
    pub(crate) fn progress(&self) -> (Status, u8) {
        match self.step.load(Ordering::Acquire) {
            QUEUED => (Status::Queued, 0),
            step => (Status::InProgress, step - 1),
        }
    }

    /// Releases the permit of the task.
    pub(super) fn release(&self) {
        drop(self.permit.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    pub(super) fn set_progress(&self, percent: u8) {
        self.step.fetch_max(percent.min(MAX_PROGRESS) + 1, Ordering::AcqRel);
    }
}

/// All unfinished tasks, and the queue of those not started yet.
#[derive(Debug)]
pub(crate) struct ActiveTasks {
    tasks: RwLock<HashMap<TaskId, Arc<ActiveTask>>>,
    pub(super) queue: FairQueue<Arc<ActiveTask>>,
}

impl ActiveTasks {
    pub(crate) fn new() -> Self {
        Self { tasks: RwLock::default(), queue: FairQueue::new() }
    }

    /// Adds an accepted task and queues it for rendering.
    pub(crate) fn insert(&self, active: ActiveTask) {
        let active = Arc::new(active);
        let mut all = self.tasks.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(active.task.id.clone(), Arc::clone(&active));
        drop(all);
        let key = active.task.key.clone();
        self.queue.push(&key, active);
    }

    pub(crate) fn find(&self, id: &TaskId) -> Option<Arc<ActiveTask>> {
        self.tasks.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Removes an ended task; from now on it is read from the store.
    pub(super) fn remove(&self, id: &TaskId) {
        self.tasks.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}
