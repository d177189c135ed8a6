//! Rendering jobs: the queue, the tasks in progress, the render threads.

mod active_tasks;
mod fair_queue;
mod prepare;
mod worker_pool;

pub(crate) use self::{
    active_tasks::{ActiveTask, ActiveTasks},
    worker_pool::{WorkerContext, WorkerPool},
};
