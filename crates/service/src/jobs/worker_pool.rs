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
    time::{Duration, Instant},
};

use media::{Ffmpeg, encode_png};
use renderer::{RenderError, Renderer, Rendering};

use super::{
    active_tasks::{ActiveTask, ActiveTasks},
    prepare::prepare,
};
use crate::{
    admission::AdmissionController,
    digest::Digest,
    error::ServiceError,
    faults::Faults,
    id::{Randomness, token},
    metrics::Metrics,
    service_clock::ServiceClock,
    store::{Store, StoreError},
    task::{Failure, RenderedFiles, StoredFile, Task},
};

/// Delays before each attempt at writing a file that fails although the storage is available; after the last one the
/// task fails.
const WRITE_DELAYS: [Duration; 3] = [Duration::ZERO, Duration::from_millis(200), Duration::from_secs(1)];

/// Codes of failures that may be those of the storage: a working directory that is full or gone, an input that cannot be
/// read, a video that cannot be written.
const STORAGE_CODES: [&str; 3] = ["render_failed", "input_unavailable", "storage_failed"];

/// Bytes that must be free for a failed rendering to be the task's own fault: more than an external renderer writes for
/// most videos.
const RENDER_BYTES: usize = 16 << 20;

/// Delay before the next attempt at storing what became of a task.
const RECORD_DELAY: Duration = Duration::from_millis(500);

/// State shared by the workers.
pub(crate) struct WorkerContext {
    pub(crate) store: Arc<Store>,
    pub(crate) active_tasks: Arc<ActiveTasks>,
    pub(crate) admission: Arc<AdmissionController>,
    pub(crate) renderer: Arc<dyn Renderer>,
    pub(crate) clock: Arc<ServiceClock>,
    pub(crate) randomness: Arc<dyn Randomness>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) faults: Arc<Faults>,
    /// Milliseconds from the end of a task to its expiry.
    pub(crate) lifetime_ms: i64,
    /// Starts after which a task is considered the cause of the crashes.
    pub(crate) max_starts: u32,
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
        let begin = Instant::now();
        if context.run(&active, stop).is_err() {
            return;
        }
        context.admission.record_duration(begin.elapsed());
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
        self.record(task, stop, || self.store.started(task.number))?;
        loop {
            let failure = match self.attempt(active, stop) {
                Ok(files) => {
                    self.record(task, stop, || {
                        let now = self.clock.now_ms().max(task.created_at);
                        let expires_at = now.saturating_add(self.lifetime_ms);
                        self.store.completed(task.number, files.clone(), now, expires_at)
                    })?;
                    self.metrics.completed();
                    tracing::info!(task = %task.id, "completed");
                    return Ok(());
                }
                Err(AttemptError::Stopped) => {
                    // Best effort: an uncounted start matters only to a task that is suspected already.
                    if let Err(error) = self.store.interrupted(task.number) {
                        tracing::debug!(task = %task.id, %error, "the interruption is not recorded");
                    }
                    return Err(ServiceStopped);
                }
                Err(AttemptError::Failed(failure)) => failure,
            };
            if STORAGE_CODES.contains(&failure.code.as_str()) && self.store.check(Some(RENDER_BYTES)).is_err()
            {
                tracing::warn!(task = %task.id, code = failure.code, "rendered again once the storage is available");
                self.wait_for_storage(stop)?;
                continue;
            }
            self.record(task, stop, || {
                let expires_at = self.clock.now_ms().saturating_add(self.lifetime_ms);
                self.store.failed(task.clone(), active.progress().1, failure.clone(), expires_at)
            })?;
            self.metrics.failed();
            tracing::warn!(task = %task.id, code = failure.code, message = failure.message, "failed");
            return Ok(());
        }
    }

    /// Writes to the task's record until that succeeds.
    fn record(
        &self,
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
                    // Bounds the attempts at what fails although the storage is available.
                    thread::sleep(RECORD_DELAY);
                    self.wait_for_storage(stop)?;
                }
            }
        }
    }

    fn wait_for_storage(&self, stop: &AtomicBool) -> Result<(), ServiceStopped> {
        if self.store.health.wait(stop) { Ok(()) } else { Err(ServiceStopped) }
    }

    /// Renders a task and stores its files.
    fn attempt(&self, active: &ActiveTask, stop: &AtomicBool) -> Result<RenderedFiles, AttemptError> {
        let task = active.task();
        if task.starts >= self.max_starts {
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
        let mut counted_frames = 0;
        let mut progress = |progress: renderer::Progress| {
            let percent = u64::from(progress.frames_done) * 100 / u64::from(progress.frames_total.max(1));
            active.set_progress(u8::try_from(percent).unwrap_or(u8::MAX));
            // Renderers may call without a new frame, to ask whether to stop.
            self.metrics.frames(progress.frames_done.saturating_sub(counted_frames));
            counted_frames = counted_frames.max(progress.frames_done);
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
        let mut delays = WRITE_DELAYS.iter();
        while let Some(delay) = delays.next() {
            thread::sleep(*delay);
            match self.store.store_file(path, bytes) {
                Ok(()) => {
                    return Ok(StoredFile {
                        token,
                        bytes: bytes.len() as u64,
                        digest: Digest::sha256(bytes),
                    });
                }
                Err(StoreError::Unavailable(_)) => {
                    self.wait_for_storage(stop)?;
                    delays = WRITE_DELAYS.iter();
                }
                Err(error) => tracing::error!(%error, "a rendered file could not be stored"),
            }
        }
        Err(failed("storage_failed", "the video was rendered but could not be stored; submit the task again"))
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
