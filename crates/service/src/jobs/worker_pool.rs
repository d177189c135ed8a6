//! [`WorkerPool`]: the threads that render.

use std::{
    any::Any,
    error::Error,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use media::{Ffmpeg, encode_png};
use renderer::{RenderError, Renderer, Rendering};

use super::{
    active_tasks::{ActiveTask, ActiveTasks},
    prepare::prepare,
};
use crate::{
    clock::Clock,
    digest::Digest,
    error::ServiceError,
    faults::Faults,
    id::{Randomness, token},
    store::{Store, StoreError},
    task::{Failure, RenderedFiles, StoredFile, Task},
};

/// Starts of one task, counted across restarts; beyond them it fails as the likely cause of crashes.
const MAX_STARTS: u32 = 64;

/// Attempts at writing a file that fails although the disk has space; after the last one the task fails.
const WRITE_ATTEMPTS: usize = 3;

/// Delay before the next attempt at storing a file, or what became of a task.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// State shared by the workers.
pub(crate) struct WorkerContext {
    pub(crate) store: Arc<Store>,
    pub(crate) active_tasks: Arc<ActiveTasks>,
    pub(crate) renderer: Arc<dyn Renderer>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) randomness: Arc<dyn Randomness>,
    pub(crate) faults: Arc<Faults>,
    /// Milliseconds from the end of a task to its expiry.
    pub(crate) lifetime_ms: i64,
    /// External programs for codecs without native support.
    pub(crate) ffmpeg: Ffmpeg,
}

/// The render threads. Dropping the pool stops them without waiting.
pub(crate) struct WorkerPool {
    active_tasks: Arc<ActiveTasks>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl WorkerPool {
    pub(crate) fn start(count: usize, context: WorkerContext) -> Result<Self, ServiceError> {
        let context = Arc::new(context);
        let stop = Arc::new(AtomicBool::new(false));
        let mut workers = Self { active_tasks: Arc::clone(&context.active_tasks), stop, threads: Vec::new() };
        for number in 0..count.max(1) {
            let (context, stop) = (Arc::clone(&context), Arc::clone(&workers.stop));
            let thread = thread::Builder::new()
                .name(format!("render-{number}"))
                .spawn(move || run_worker(&context, &stop))
                .map_err(|error| ServiceError::Start(format!("no thread to render on: {error}")))?;
            workers.threads.push(thread);
        }
        Ok(workers)
    }

    /// Cancels renderings and waits for the threads. Unfinished tasks continue at the next start of the service.
    pub(crate) fn stop(mut self) {
        self.signal();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a render thread panicked");
            }
        }
    }

    fn signal(&self) {
        self.stop.store(true, Ordering::Release);
        self.active_tasks.queue.close();
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.signal();
    }
}

fn run_worker(context: &WorkerContext, stop: &AtomicBool) {
    while let Some(active) = context.active_tasks.queue.next() {
        if context.run(&active, stop).is_err() {
            return;
        }
        // Release the permit before the end becomes visible: a client that sees it may submit the next task at once.
        active.release();
        context.active_tasks.remove(&active.task().id);
    }
}

/// The service is being stopped; the task continues at the next start.
struct ServiceStopped;

/// Why a rendering has no video.
enum AttemptError {
    Stopped,
    Failed(Failure),
}

impl From<ServiceStopped> for AttemptError {
    fn from(_: ServiceStopped) -> Self {
        Self::Stopped
    }
}

impl WorkerContext {
    /// Renders a task and records what became of it. While nothing can be stored, it waits.
    fn run(&self, active: &ActiveTask, stop: &AtomicBool) -> Result<(), ServiceStopped> {
        let task = active.task();
        record(task, stop, || self.store.started(task.number))?;
        match self.attempt(active, stop) {
            Ok(files) => {
                record(task, stop, || {
                    let now = self.clock.now_ms().max(task.created_at);
                    let expires_at = now.saturating_add(self.lifetime_ms);
                    self.store.completed(task.number, files.clone(), now, expires_at)
                })?;
                tracing::info!(task = %task.id, "completed");
            }
            Err(AttemptError::Stopped) => return Err(ServiceStopped),
            Err(AttemptError::Failed(failure)) => {
                record(task, stop, || {
                    let expires_at = self.clock.now_ms().saturating_add(self.lifetime_ms);
                    self.store.failed(task.clone(), active.progress().1, failure.clone(), expires_at)
                })?;
                tracing::warn!(task = %task.id, code = failure.code, message = failure.message, "failed");
            }
        }
        Ok(())
    }

    /// Renders a task and stores its files.
    fn attempt(&self, active: &ActiveTask, stop: &AtomicBool) -> Result<RenderedFiles, AttemptError> {
        let task = active.task();
        if task.starts >= MAX_STARTS {
            let message = "the service stopped each time it rendered this task; it is not retried";
            return Err(AttemptError::Failed(Failure::new("render_aborted", message)));
        }
        active.set_progress(0);
        if let Some(failure) = self.faults.render_failure(&task.id) {
            return Err(AttemptError::Failed(failure));
        }
        let rendering = self.render(active, stop)?;
        self.store_files(active, &rendering, stop)
    }

    fn render(&self, active: &ActiveTask, stop: &AtomicBool) -> Result<Rendering, AttemptError> {
        let job =
            prepare(&active.task().spec, &self.store.files, &self.ffmpeg).map_err(AttemptError::Failed)?;
        let mut progress = |progress: renderer::Progress| {
            let percent = u64::from(progress.frames_done) * 100 / u64::from(progress.frames_total.max(1));
            active.set_progress(u8::try_from(percent).unwrap_or(u8::MAX));
            if stop.load(Ordering::Acquire) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // A panic of the renderer fails its task only, not the thread.
        let rendered = catch_unwind(AssertUnwindSafe(|| self.renderer.render(&job, &mut progress)));
        match rendered {
            Ok(Ok(rendering)) => Ok(rendering),
            Ok(Err(RenderError::Cancelled)) if stop.load(Ordering::Acquire) => Err(AttemptError::Stopped),
            Ok(Err(RenderError::Task { code, message })) => {
                Err(AttemptError::Failed(Failure::new(code, message)))
            }
            Ok(Err(error)) => {
                let cause: &(dyn Error + 'static) = &error;
                tracing::error!(task = %active.task().id, cause, "the renderer failed");
                Err(AttemptError::Failed(Failure::new("render_failed", error.to_string())))
            }
            Err(panic) => {
                let cause = panic_text(panic.as_ref());
                tracing::error!(task = %active.task().id, cause, "the renderer panicked");
                let message = "the renderer panicked; the service's log has details";
                Err(AttemptError::Failed(Failure::new("render_failed", message)))
            }
        }
    }

    /// Stores the files durably. Invariant: this precedes the database row that refers to them.
    fn store_files(
        &self,
        active: &ActiveTask,
        rendering: &Rendering,
        stop: &AtomicBool,
    ) -> Result<RenderedFiles, AttemptError> {
        let id = &active.task().id;
        let video = self.store_file(&self.store.files.video(id), &rendering.mp4, stop)?;
        let last_frame = if active.task().spec.return_last_frame {
            let png = encode_png(&rendering.last_frame);
            Some(self.store_file(&self.store.files.last_frame(id), &png, stop)?)
        } else {
            None
        };
        Ok(RenderedFiles { video, last_frame })
    }

    fn store_file(&self, path: &Path, bytes: &[u8], stop: &AtomicBool) -> Result<StoredFile, AttemptError> {
        let failed = |code, message| AttemptError::Failed(Failure::new(code, message));
        let token = token(self.randomness.as_ref())
            .map_err(|_| failed("internal_error", "no URL could be generated for the video"))?;
        let mut attempts = 0;
        while let Err(error) = self.store.files.write(path, bytes).map_err(StoreError::from) {
            tracing::error!(%error, "a rendered file could not be stored");
            // A full disk is waited for.
            attempts += usize::from(!matches!(error, StoreError::Full));
            if attempts == WRITE_ATTEMPTS {
                let message = "the video was rendered but could not be stored; submit the task again";
                return Err(failed("storage_failed", message));
            }
            wait(stop)?;
        }
        Ok(StoredFile { token, bytes: bytes.len() as u64, digest: Digest::sha256(bytes) })
    }
}

/// Writes to the task's record until that succeeds.
fn record(
    task: &Task,
    stop: &AtomicBool,
    write: impl Fn() -> Result<(), StoreError>,
) -> Result<(), ServiceStopped> {
    loop {
        match write() {
            Ok(()) => return Ok(()),
            Err(StoreError::Stopped) => return Err(ServiceStopped),
            Err(error @ StoreError::Ended(_)) => {
                tracing::error!(task = %task.id, %error, "a task was rendered twice");
                return Ok(());
            }
            Err(error) => {
                tracing::warn!(task = %task.id, %error, "the task's record cannot be written; the task waits");
                wait(stop)?;
            }
        }
    }
}

/// Waits until the next attempt at writing.
fn wait(stop: &AtomicBool) -> Result<(), ServiceStopped> {
    thread::sleep(RETRY_DELAY);
    if stop.load(Ordering::Acquire) { Err(ServiceStopped) } else { Ok(()) }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
