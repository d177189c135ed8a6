//! The live view on a terminal: a line per active shot, as many as fit, and two for the whole run.
//!
//! O(changed nodes) per event. A thread of its own draws at most ten frames a second.

mod frame;
pub(super) mod progress;

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::{FilmProgress, Reporter};
use scheduler::{Event, RunState, Timestamp};

use self::progress::RunProgress;
use super::messages::{self, Importance};
use super::repeat_filter::RepeatFilter;
use super::screen::{self, Screen};
use super::waits::RateWaits;
use super::{RunEstimate, sanitize};
use crate::named_workflow::NamedWorkflow;
use crate::project_paths::display_path;

/// Minimum time between two frames.
const MIN_FRAME_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum time between two frames, so that displayed times advance.
const MAX_FRAME_INTERVAL: Duration = Duration::from_secs(1);
/// Up to this many shots, each finished shot is printed on a permanent line.
const MAX_SHOTS_WITH_LINES: usize = 24;

/// The active live view, for other output on standard error.
static ACTIVE: Mutex<Option<Arc<Shared>>> = Mutex::new(None);

#[derive(Debug)]
struct Shared {
    state: Mutex<ViewState>,
    changed: Condvar,
}

/// A line above the view.
#[derive(Debug)]
struct PermanentLine {
    text: String,
    /// The file that it ends with.
    file: Option<PathBuf>,
}

impl PermanentLine {
    fn rendered(&self, columns: usize) -> String {
        match &self.file {
            Some(file) => screen::file_line(&self.text, &display_path(file), file, columns),
            None => self.text.clone(),
        }
    }
}

#[derive(Debug)]
struct ViewState {
    progress: RunProgress,
    /// Permanent lines above the view.
    above: Vec<PermanentLine>,
    /// Time of the latest event, by the run's clock and by this process's.
    event_time: (Timestamp, Instant),
    is_dirty: bool,
    is_ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, ViewState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A live view on standard error.
pub(crate) struct LiveView {
    shared: Arc<Shared>,
    /// The workflow file, quoted for a shell.
    file: NamedWorkflow,
    repeats: RepeatFilter,
    rate_waits: RateWaits,
    draw_thread: Option<JoinHandle<()>>,
}

impl LiveView {
    pub(super) fn new(file: NamedWorkflow, estimate: Option<RunEstimate>) -> Self {
        let state = ViewState {
            progress: RunProgress::new(estimate),
            above: Vec::new(),
            event_time: (Timestamp::default(), Instant::now()),
            is_dirty: false,
            is_ended: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        *active() = Some(Arc::clone(&shared));
        let thread_shared = Arc::clone(&shared);
        let draw_thread = std::thread::spawn(move || draw_loop(&thread_shared));
        Self {
            shared,
            file,
            repeats: RepeatFilter::default(),
            rate_waits: RateWaits::default(),
            draw_thread: Some(draw_thread),
        }
    }
}

impl Reporter for LiveView {
    fn on(&mut self, state: &RunState, event: &Event, now: Timestamp) {
        let passes = self.repeats.passes(event, now);
        let message = messages::message_for(state, event, now, &self.file).filter(|_| passes);
        let message = message.filter(|message| match message.importance {
            Importance::Notable => true,
            Importance::ShotDone => state.plan().len() <= MAX_SHOTS_WITH_LINES,
            Importance::Routine => false,
        });
        let mut view = self.shared.lock();
        view.progress.on_event(state, event, now);
        view.above.extend(message.map(|message| PermanentLine { text: message.line, file: message.file }));
        let wait = self.rate_waits.message(state, now);
        view.above.extend(wait.map(|text| PermanentLine { text, file: None }));
        view.event_time = (now, Instant::now());
        view.is_dirty = true;
        drop(view);
        self.shared.changed.notify_one();
    }

    fn on_join(&mut self, _state: &RunState, progress: FilmProgress, now: Timestamp) {
        let mut view = self.shared.lock();
        view.progress.on_join(progress);
        view.event_time = (now, Instant::now());
        view.is_dirty = true;
        drop(view);
        self.shared.changed.notify_one();
    }
}

impl Drop for LiveView {
    /// Removes the view; permanent lines stay.
    fn drop(&mut self) {
        self.shared.lock().is_ended = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.draw_thread.take() {
            let _ = thread.join();
        }
        *active() = None;
    }
}

fn active() -> MutexGuard<'static, Option<Arc<Shared>>> {
    ACTIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws frames until the view ends.
fn draw_loop(shared: &Shared) {
    let mut screen = Screen::stderr();
    let color = crate::terminal::has_color();
    let mut last_drawn = Instant::now();
    loop {
        let mut view = shared.lock();
        while !view.is_ended && !view.is_dirty && last_drawn.elapsed() < MAX_FRAME_INTERVAL {
            let waited =
                shared.changed.wait_timeout(view, MAX_FRAME_INTERVAL.saturating_sub(last_drawn.elapsed()));
            view = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let is_ended = view.is_ended;
        let above = std::mem::take(&mut view.above);
        let now = view.event_time.0.after(view.event_time.1.elapsed());
        let (rows, columns) = screen.size();
        let lines =
            if is_ended { Vec::new() } else { frame::frame(&view.progress, rows, columns, now, color) };
        view.is_dirty = false;
        drop(view);
        let above: Vec<String> = above.iter().map(|line| line.rendered(columns)).collect();
        screen.draw(&above, &lines);
        if is_ended {
            return;
        }
        last_drawn = Instant::now();
        std::thread::sleep(MIN_FRAME_INTERVAL);
    }
}

/// Prints to standard error, above the live view if there is one.
pub(crate) fn print(text: &str) {
    let live = active().clone();
    match live {
        Some(shared) => {
            let line = |line| PermanentLine { text: sanitize_keeping_color(line), file: None };
            let lines = text.lines().map(line);
            shared.lock().above.extend(lines);
            shared.changed.notify_one();
        }
        // A closed standard error is ignored.
        None => drop(std::io::stderr().write_all(text.as_bytes())),
    }
}

/// Log lines contain their own colors.
fn sanitize_keeping_color(line: &str) -> String {
    if line.contains('\u{1b}') { line.to_owned() } else { sanitize::line(line).into_owned() }
}

/// Removes the live view at once, because the process exits.
pub(crate) fn shut_down() {
    // Never block here: a lock may be held forever.
    let Ok(mut live) = ACTIVE.try_lock() else { return };
    if let Some(shared) = live.take() {
        if let Ok(mut view) = shared.state.try_lock() {
            view.is_ended = true;
        }
        shared.changed.notify_one();
        std::thread::sleep(MIN_FRAME_INTERVAL * 2);
    }
}

#[cfg(test)]
mod tests;
