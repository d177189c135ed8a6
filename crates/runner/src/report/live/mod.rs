//! Live lines on a terminal: one for each shot that is under way, as many as fit, and two for the whole.
//!
//! An event costs what it changed, however many shots there are. A thread draws, a few times a second at most.

mod frame;
mod progress;

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::Reporter;
use scheduler::{Event, RunState, Timestamp};

use self::progress::RunProgress;
use super::messages::{self, Importance};
use super::screen::Screen;
use super::{CostEstimate, sanitize};

/// The shortest time between two frames.
const MIN_FRAME_INTERVAL: Duration = Duration::from_millis(100);
/// The longest time between two frames: times go on even when nothing happens.
const MAX_FRAME_INTERVAL: Duration = Duration::from_secs(1);
/// Up to so many shots each is told in a line of its own when it is done.
const MAX_SHOTS_WITH_LINES: usize = 24;

/// The live view that is drawn now, for whoever else has something to say on standard error.
static ACTIVE: Mutex<Option<Arc<Shared>>> = Mutex::new(None);

#[derive(Debug)]
struct Shared {
    now: Mutex<ViewState>,
    changed: Condvar,
}

#[derive(Debug)]
struct ViewState {
    progress: RunProgress,
    /// Lines that are to stay above the view.
    above: Vec<String>,
    /// The time of the latest event, and when that was.
    at: (Timestamp, Instant),
    is_dirty: bool,
    is_over: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, ViewState> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Live lines on standard error.
pub(crate) struct Live {
    shared: Arc<Shared>,
    drawer: Option<JoinHandle<()>>,
}

impl Live {
    pub(super) fn new(estimate: Option<CostEstimate>) -> Self {
        let now = ViewState {
            progress: RunProgress::new(estimate),
            above: Vec::new(),
            at: (Timestamp::default(), Instant::now()),
            is_dirty: false,
            is_over: false,
        };
        let shared = Arc::new(Shared { now: Mutex::new(now), changed: Condvar::new() });
        *active() = Some(Arc::clone(&shared));
        let painted = Arc::clone(&shared);
        let drawer = std::thread::spawn(move || draw_loop(&painted));
        Self { shared, drawer: Some(drawer) }
    }
}

impl Reporter for Live {
    fn on(&mut self, state: &RunState, event: &Event, now: Timestamp) {
        let said = messages::message_for(state, event).filter(|told| match told.importance {
            Importance::Notable => true,
            Importance::ShotDone => state.plan().len() <= MAX_SHOTS_WITH_LINES,
            Importance::Routine => false,
        });
        let mut known = self.shared.lock();
        known.progress.on(state, event, now);
        known.above.extend(said.map(|told| told.line));
        known.at = (now, Instant::now());
        known.is_dirty = true;
        drop(known);
        self.shared.changed.notify_one();
    }
}

impl Drop for Live {
    /// Takes the live lines away; what was said above them stays.
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_one();
        if let Some(drawer) = self.drawer.take() {
            let _ = drawer.join();
        }
        *active() = None;
    }
}

fn active() -> MutexGuard<'static, Option<Arc<Shared>>> {
    ACTIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws until the view is over.
fn draw_loop(shared: &Shared) {
    let mut screen = Screen::stderr();
    let color = crate::terminal::has_color();
    let mut painted = Instant::now();
    loop {
        let mut known = shared.lock();
        while !known.is_over && !known.is_dirty && painted.elapsed() < MAX_FRAME_INTERVAL {
            let waited =
                shared.changed.wait_timeout(known, MAX_FRAME_INTERVAL.saturating_sub(painted.elapsed()));
            known = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let is_over = known.is_over;
        let above = std::mem::take(&mut known.above);
        let now = known.at.0.after(known.at.1.elapsed());
        let (rows, columns) = screen.size();
        let lines =
            if is_over { Vec::new() } else { frame::frame(&known.progress, rows, columns, now, color) };
        known.is_dirty = false;
        drop(known);
        screen.draw(&above, &lines);
        if is_over {
            return;
        }
        painted = Instant::now();
        std::thread::sleep(MIN_FRAME_INTERVAL);
    }
}

/// Says something on standard error: above the live lines, where there are any.
pub(crate) fn print(text: &str) {
    let live = active().clone();
    match live {
        Some(shared) => {
            let lines = text.lines().map(sanitize_keeping_color);
            shared.lock().above.extend(lines);
            shared.changed.notify_one();
        }
        // Nobody to tell that standard error is gone.
        None => drop(std::io::stderr().write_all(text.as_bytes())),
    }
}

/// The log has colours of its own.
fn sanitize_keeping_color(line: &str) -> String {
    if line.contains('\u{1b}') { line.to_owned() } else { sanitize::line(line).into_owned() }
}

/// Takes the live lines away at once, because the process ends.
pub(crate) fn shut_down() {
    // Whoever holds a lock now may never let go of it.
    let Ok(mut live) = ACTIVE.try_lock() else { return };
    if let Some(shared) = live.take() {
        if let Ok(mut known) = shared.now.try_lock() {
            known.is_over = true;
        }
        shared.changed.notify_one();
        std::thread::sleep(MIN_FRAME_INTERVAL * 2);
    }
}

#[cfg(test)]
mod tests;
