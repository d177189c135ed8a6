//! The threads that render.

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
    board::{Board, Live},
    job::job,
};
use crate::{
    clock::Clock,
    digest::Digest,
    error::ServiceError,
    faults::Faults,
    id::{Randomness, token},
    limits::Gate,
    metrics::Metrics,
    store::{Store, StoreError},
    task::{Failure, Product, StoredFile},
};

/// How often, and after what wait, a result is put on a disk that refuses it before the task is failed.
const STORE_TRIES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(200), Duration::from_secs(1)];

/// What a worker needs.
pub(crate) struct Workshop {
    pub(crate) store: Arc<Store>,
    pub(crate) board: Arc<Board>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) renderer: Arc<dyn Renderer>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) randomness: Arc<dyn Randomness>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) faults: Arc<Faults>,
    /// From the end of a task to its expiry, in milliseconds.
    pub(crate) lifetime_ms: i64,
    /// Starts after which a task is taken for the cause of the crashes.
    pub(crate) starts: u32,
    /// For inputs in codings that are not handled natively.
    pub(crate) ffmpeg: Ffmpeg,
}

/// The running threads. Dropping them stops them, without waiting.
pub(crate) struct Workers {
    board: Arc<Board>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    pub(crate) fn start(count: usize, workshop: Workshop) -> Result<Self, ServiceError> {
        let workshop = Arc::new(workshop);
        let stop = Arc::new(AtomicBool::new(false));
        let mut workers = Self { board: Arc::clone(&workshop.board), stop, threads: Vec::new() };
        for number in 0..count.max(1) {
            let (workshop, stop) = (Arc::clone(&workshop), Arc::clone(&workers.stop));
            let thread = thread::Builder::new()
                .name(format!("render-{number}"))
                .spawn(move || work(&workshop, &stop))
                .map_err(|error| ServiceError::Start(format!("no thread to render on: {error}")))?;
            workers.threads.push(thread);
        }
        Ok(workers)
    }

    /// Breaks off what is being rendered and waits for the threads. Tasks that have not ended go on at the next
    /// start of the service.
    pub(crate) fn stop(mut self) {
        self.signal();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a render thread ended by a panic");
            }
        }
    }

    fn signal(&self) {
        self.stop.store(true, Ordering::Release);
        self.board.queue.close();
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.signal();
    }
}

fn work(workshop: &Workshop, stop: &AtomicBool) {
    while let Some(live) = workshop.board.queue.next() {
        let begin = Instant::now();
        match workshop.make(&live, stop) {
            Ok(()) => tracing::info!(task = %live.task().id, "completed"),
            Err(Unmade::Stopped) => return,
            Err(Unmade::Failed(failure)) => workshop.fail(&live, failure),
            Err(Unmade::Store(error)) => {
                // The store stands still. The task stays as it is and is taken up at the next start.
                tracing::error!(task = %live.task().id, %error, "the task store fails; the task waits for a restart");
                continue;
            }
        }
        workshop.gate.finished_in(begin.elapsed());
        // First the place, then the news: whoever sees the end may submit the next task at once.
        live.leave();
        workshop.board.remove(&live.task().id);
    }
}

/// Why a task has no video now.
enum Unmade {
    Stopped,
    Failed(Failure),
    Store(StoreError),
}

impl Workshop {
    fn make(&self, live: &Live, stop: &AtomicBool) -> Result<(), Unmade> {
        let task = live.task();
        if task.starts >= self.starts {
            let message = "the service stopped each time it rendered this task; it is not tried again";
            return Err(Unmade::Failed(Failure::new("render_aborted", message)));
        }
        self.store.started(task.number).map_err(Unmade::Store)?;
        live.reached(0);
        if let Some(failure) = self.faults.render_failure(&task.id) {
            return Err(Unmade::Failed(failure));
        }
        let rendering = self.render(live, stop)?;
        let product = self.keep(live, &rendering)?;
        let now = self.clock.now_ms();
        let expires_at = now.saturating_add(self.lifetime_ms);
        self.store.completed(task.number, product, now, expires_at).map_err(Unmade::Store)?;
        self.metrics.completed();
        Ok(())
    }

    fn render(&self, live: &Live, stop: &AtomicBool) -> Result<Rendering, Unmade> {
        let job = job(&live.task().order, &self.store.files, &self.ffmpeg).map_err(Unmade::Failed)?;
        let mut counted = 0;
        let mut progress = |progress: renderer::Progress| {
            let percent = u64::from(progress.frames_done) * 100 / u64::from(progress.frames_total.max(1));
            live.reached(u8::try_from(percent).unwrap_or(u8::MAX));
            // A renderer may call just to ask whether to stop.
            self.metrics.frames(progress.frames_done.saturating_sub(counted));
            counted = counted.max(progress.frames_done);
            if stop.load(Ordering::Acquire) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // A renderer that panics costs its own task, not the thread and with it all later tasks.
        let rendered = catch_unwind(AssertUnwindSafe(|| self.renderer.render(&job, &mut progress)));
        match rendered {
            Ok(Ok(rendering)) => Ok(rendering),
            Ok(Err(RenderError::Cancelled)) if stop.load(Ordering::Acquire) => Err(Unmade::Stopped),
            Ok(Err(RenderError::Task { code, message })) => Err(Unmade::Failed(Failure::new(code, message))),
            Ok(Err(error)) => {
                let cause: &(dyn Error + 'static) = &error;
                tracing::error!(task = %live.task().id, cause, "the renderer failed");
                Err(Unmade::Failed(Failure::new("render_failed", error.to_string())))
            }
            Err(panic) => {
                let cause = panic_text(panic.as_ref());
                tracing::error!(task = %live.task().id, cause, "the renderer panicked");
                let message = "the renderer broke down; the service's log says more";
                Err(Unmade::Failed(Failure::new("render_failed", message)))
            }
        }
    }

    /// Puts the files in place, durably, before the row speaks of them.
    fn keep(&self, live: &Live, rendering: &Rendering) -> Result<Product, Unmade> {
        let id = &live.task().id;
        let video = self.keep_one(&self.store.files.video(id), &rendering.mp4)?;
        let last_frame = if live.task().order.return_last_frame {
            let png = encode_png(&rendering.last_frame);
            Some(self.keep_one(&self.store.files.last_frame(id), &png)?)
        } else {
            None
        };
        Ok(Product { video, last_frame })
    }

    fn keep_one(&self, path: &std::path::Path, bytes: &[u8]) -> Result<StoredFile, Unmade> {
        let failed = |code, message| Unmade::Failed(Failure::new(code, message));
        let token = token(self.randomness.as_ref())
            .map_err(|_| failed("internal_error", "the video could not be given an address"))?;
        write_patiently(|| self.store.files.write(path, bytes)).map_err(|error| {
            tracing::error!(%error, "a finished file could not be stored");
            failed("storage_failed", "the video was made but could not be stored; submit the task again")
        })?;
        Ok(StoredFile { token, bytes: bytes.len() as u64, digest: Digest::of(bytes) })
    }

    fn fail(&self, live: &Live, failure: Failure) {
        let task = live.task();
        tracing::warn!(task = %task.id, code = failure.code, message = failure.message, "failed");
        let expires_at = self.clock.now_ms().saturating_add(self.lifetime_ms);
        self.metrics.failed();
        if let Err(error) = self.store.failed(task.clone(), live.standing().1, failure, expires_at) {
            tracing::error!(task = %task.id, %error, "a failure could not be stored; the task is tried again");
        }
    }
}

fn write_patiently(write: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let mut result = Ok(());
    for wait in STORE_TRIES {
        thread::sleep(wait);
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
