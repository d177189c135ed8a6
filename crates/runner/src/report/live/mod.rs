//! Live lines on a terminal: one for each shot that is under way, as many as fit, and two for the whole.
//!
//! An event costs what it changed, however many shots there are. A thread draws, a few times a second at most.

mod frame;
mod view;

use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::Reporter;
use scheduler::{Event, Millis, RunState};

use self::view::View;
use super::screen::Screen;
use super::story::{self, Weight};
use super::{Worth, clean};

/// The shortest time between two frames.
const BETWEEN: Duration = Duration::from_millis(100);
/// The longest time between two frames: times go on even when nothing happens.
const AT_LEAST: Duration = Duration::from_secs(1);
/// Up to so many shots each is told in a line of its own when it is done.
const FEW: usize = 24;

/// The live view that is drawn now, for whoever else has something to say on standard error.
static DRAWN: Mutex<Option<Arc<Shared>>> = Mutex::new(None);

#[derive(Debug)]
struct Shared {
    now: Mutex<Now>,
    changed: Condvar,
}

#[derive(Debug)]
struct Now {
    view: View,
    /// Lines that are to stay above the view.
    above: Vec<String>,
    /// The time of the latest event, and when that was.
    at: (Millis, Instant),
    is_dirty: bool,
    is_over: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Live lines on standard error.
pub(crate) struct Live {
    shared: Arc<Shared>,
    painter: Option<JoinHandle<()>>,
}

impl Live {
    pub(super) fn new(worth: Option<Worth>) -> Self {
        let now = Now {
            view: View::new(worth),
            above: Vec::new(),
            at: (Millis::default(), Instant::now()),
            is_dirty: false,
            is_over: false,
        };
        let shared = Arc::new(Shared { now: Mutex::new(now), changed: Condvar::new() });
        *drawn() = Some(Arc::clone(&shared));
        let painted = Arc::clone(&shared);
        let painter = std::thread::spawn(move || paint(&painted));
        Self { shared, painter: Some(painter) }
    }
}

impl Reporter for Live {
    fn on(&mut self, state: &RunState, event: &Event, now: Millis) {
        let said = story::told(state, event).filter(|told| match told.weight {
            Weight::Notable => true,
            Weight::Made => state.plan().len() <= FEW,
            Weight::Routine => false,
        });
        let mut known = self.shared.lock();
        known.view.on(state, event, now);
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
        if let Some(painter) = self.painter.take() {
            let _ = painter.join();
        }
        *drawn() = None;
    }
}

fn drawn() -> MutexGuard<'static, Option<Arc<Shared>>> {
    DRAWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws until the view is over.
fn paint(shared: &Shared) {
    let mut screen = Screen::stderr();
    let colour = crate::terminal::has_colour();
    let mut painted = Instant::now();
    loop {
        let mut known = shared.lock();
        while !known.is_over && !known.is_dirty && painted.elapsed() < AT_LEAST {
            let waited = shared.changed.wait_timeout(known, AT_LEAST.saturating_sub(painted.elapsed()));
            known = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let is_over = known.is_over;
        let above = std::mem::take(&mut known.above);
        let now = known.at.0.after(known.at.1.elapsed());
        let (rows, columns) = screen.size();
        let lines = if is_over { Vec::new() } else { frame::frame(&known.view, rows, columns, now, colour) };
        known.is_dirty = false;
        drop(known);
        screen.draw(&above, &lines);
        if is_over {
            return;
        }
        painted = Instant::now();
        std::thread::sleep(BETWEEN);
    }
}

/// Says something on standard error: above the live lines, where there are any.
pub(crate) fn say(text: &str) {
    let live = drawn().clone();
    match live {
        Some(shared) => {
            let lines = text.lines().map(clean_but_coloured);
            shared.lock().above.extend(lines);
            shared.changed.notify_one();
        }
        // Nobody to tell that standard error is gone.
        None => drop(std::io::stderr().write_all(text.as_bytes())),
    }
}

/// The log has colours of its own.
fn clean_but_coloured(line: &str) -> String {
    if line.contains('\u{1b}') { line.to_owned() } else { clean::line(line).into_owned() }
}

/// Takes the live lines away at once, because the process ends.
pub(crate) fn leave() {
    // Whoever holds a lock now may never let go of it.
    let Ok(mut live) = DRAWN.try_lock() else { return };
    if let Some(shared) = live.take() {
        if let Ok(mut known) = shared.now.try_lock() {
            known.is_over = true;
        }
        shared.changed.notify_one();
        std::thread::sleep(BETWEEN * 2);
    }
}

#[cfg(test)]
mod tests;
