//! [`WorkerPool`]: the threads that render.

use std::{
    any::Any,
    error::Error,
    io,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
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
    clock::Clock,
    digest::Digest,
    error::ServiceError,
    faults::Faults,
    id::{Randomness, token},
    metrics::Metrics,
    store::{Store, StoreError},
    task::{Failure, RenderedFiles, StoredFile},
};

/// Delays before each attempt at writing a rendered file; after the last one the task fails.
const WRITE_DELAYS: [Duration; 3] = [Duration::ZERO, Duration::from_millis(200), Duration::from_secs(1)];

/// State shared by the workers.
pub(crate) struct WorkerContext {
    pub(crate) store: Arc<Store>,
    pub(crate) active_tasks: Arc<ActiveTasks>,
    pub(crate) admission: Arc<AdmissionController>,
    pub(crate) renderer: Arc<dyn Renderer>,
    pub(crate) clock: Arc<dyn Clock>,
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
        match context.run(&active, stop) {
            Ok(()) => tracing::info!(task = %active.task().id, "completed"),
            Err(JobError::Stopped) => return,
            Err(JobError::Failed(failure)) => context.fail(&active, failure),
            Err(JobError::Store(error)) => {
                // The store is broken. The task stays unfinished and is resumed at the next start.
                tracing::error!(task = %active.task().id, %error, "the task store failed; the task waits for a restart");
                continue;
            }
        }
        context.admission.record_duration(begin.elapsed());
        // Release the permit before the end becomes visible: a client that sees it may submit the next task at once.
        active.release();
        context.active_tasks.remove(&active.task().id);
    }
}

/// Why a job ended without a video.
enum JobError {
    Stopped,
    Failed(Failure),
    Store(StoreError),
}

impl WorkerContext {
    fn run(&self, active: &ActiveTask, stop: &AtomicBool) -> Result<(), JobError> {
        let task = active.task();
        if task.starts >= self.max_starts {
            let message = "the service stopped each time it rendered this task; it is not retried";
            return Err(JobError::Failed(Failure::new("render_aborted", message)));
        }
        self.store.started(task.number).map_err(JobError::Store)?;
        active.set_progress(0);
        if let Some(failure) = self.faults.render_failure(&task.id) {
            return Err(JobError::Failed(failure));
        }
        let rendering = self.render(active, stop)?;
        let files = self.store_files(active, &rendering)?;
        let now = self.clock.now_ms();
        let expires_at = now.saturating_add(self.lifetime_ms);
        self.store.completed(task.number, files, now, expires_at).map_err(JobError::Store)?;
        self.metrics.completed();
        Ok(())
    }

    fn render(&self, active: &ActiveTask, stop: &AtomicBool) -> Result<Rendering, JobError> {
        let job = prepare(&active.task().spec, &self.store.files, &self.ffmpeg).map_err(JobError::Failed)?;
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
            Ok(Err(RenderError::Cancelled)) if stop.load(Ordering::Acquire) => Err(JobError::Stopped),
            Ok(Err(RenderError::Task { code, message })) => {
                Err(JobError::Failed(Failure::new(code, message)))
            }
            Ok(Err(error)) => {
                let cause: &(dyn Error + 'static) = &error;
                tracing::error!(task = %active.task().id, cause, "the renderer failed");
                Err(JobError::Failed(Failure::new("render_failed", error.to_string())))
            }
            Err(panic) => {
                let cause = panic_text(panic.as_ref());
                tracing::error!(task = %active.task().id, cause, "the renderer panicked");
                let message = "the renderer panicked; the service's log has details";
                Err(JobError::Failed(Failure::new("render_failed", message)))
            }
        }
    }

    /// Stores the files durably. Invariant: this precedes the database row that refers to them.
    fn store_files(&self, active: &ActiveTask, rendering: &Rendering) -> Result<RenderedFiles, JobError> {
        let id = &active.task().id;
        let video = self.store_file(&self.store.files.video(id), &rendering.mp4)?;
        let last_frame = if active.task().spec.return_last_frame {
            let png = encode_png(&rendering.last_frame);
            Some(self.store_file(&self.store.files.last_frame(id), &png)?)
        } else {
            None
        };
        Ok(RenderedFiles { video, last_frame })
    }

    fn store_file(&self, path: &std::path::Path, bytes: &[u8]) -> Result<StoredFile, JobError> {
        let failed = |code, message| JobError::Failed(Failure::new(code, message));
        let token = token(self.randomness.as_ref())
            .map_err(|_| failed("internal_error", "no URL could be generated for the video"))?;
        write_with_retries(|| self.store.files.write(path, bytes)).map_err(|error| {
            tracing::error!(%error, "a rendered file could not be stored");
            failed("storage_failed", "the video was rendered but could not be stored; submit the task again")
        })?;
        Ok(StoredFile { token, bytes: bytes.len() as u64, digest: Digest::sha256(bytes) })
    }

    fn fail(&self, active: &ActiveTask, failure: Failure) {
        let task = active.task();
        tracing::warn!(task = %task.id, code = failure.code, message = failure.message, "failed");
        let expires_at = self.clock.now_ms().saturating_add(self.lifetime_ms);
        self.metrics.failed();
        if let Err(error) = self.store.failed(task.clone(), active.progress().1, failure, expires_at) {
            tracing::error!(task = %task.id, %error, "a failure could not be stored; the task will be rendered again");
        }
    }
}

fn write_with_retries(write: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let mut result = Ok(());
    for delay in WRITE_DELAYS {
        thread::sleep(delay);
        result = write();
        if result.is_ok() {
            break;
        }
    }
    result
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
