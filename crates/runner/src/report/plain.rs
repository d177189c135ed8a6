//! Plain progress lines on standard error with the time of day, for pipes, logs and dumb terminals. While nothing happens, a heartbeat says
//! that the run is alive: some systems end a job that is silent for ten minutes.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::Reporter;
use scheduler::{Event, ExistingWork, RunState, Timestamp};

use super::live::progress::RunProgress;
use super::repeat_filter::RepeatFilter;
use super::waits::RateWaits;
use super::{RunEstimate, humanize, live, messages};
use crate::named_workflow::NamedWorkflow;

/// The longest silence.
const HEARTBEAT_INTERVAL: Duration = Duration::from_mins(1);

/// Up to so many shots that are up to date are named.
const MAX_UP_TO_DATE: usize = 3;

/// Buffers the lines of events that happen together.
pub(crate) struct PlainReporter {
    /// The workflow file, quoted for a shell.
    file: NamedWorkflow,
    buffer: String,
    /// Lines of shots that are up to date: of many, their number is enough.
    up_to_date: Vec<String>,
    repeats: RepeatFilter,
    rate_waits: RateWaits,
    shared: Arc<Shared>,
    heartbeat_thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<PlainState>,
    changed: Condvar,
}

struct PlainState {
    progress: RunProgress,
    /// Time of the latest event, by the run's clock and by this process's.
    event_time: (Timestamp, Instant),
    /// When a line was printed.
    printed: Instant,
    is_ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, PlainState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlainReporter {
    pub(super) fn new(file: NamedWorkflow, estimate: Option<RunEstimate>) -> Self {
        let state = PlainState {
            progress: RunProgress::new(estimate),
            event_time: (Timestamp::default(), Instant::now()),
            printed: Instant::now(),
            is_ended: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let thread_shared = Arc::clone(&shared);
        let heartbeat_thread = std::thread::spawn(move || print_heartbeats(&thread_shared));
        Self {
            file,
            buffer: String::new(),
            up_to_date: Vec::new(),
            repeats: RepeatFilter::default(),
            rate_waits: RateWaits::default(),
            shared,
            heartbeat_thread: Some(heartbeat_thread),
        }
    }
}

impl Reporter for PlainReporter {
    fn on(&mut self, state: &RunState, event: &Event, now: Timestamp) {
        let mut shared = self.shared.lock();
        shared.progress.on_event(state, event, now);
        shared.event_time = (now, Instant::now());
        let passes = self.repeats.passes(event, now);
        let message = messages::message_for(state, event, now, &self.file).filter(|_| passes);
        if let Event::LookupDone { existing: ExistingWork::Completed { .. }, .. } = event {
            self.up_to_date.extend(message.map(|message| with_time(&message.line, now)));
            return;
        }
        for line in message.map(|message| message.line).into_iter().chain(self.rate_waits.message(state, now))
        {
            shared.printed = Instant::now();
            let up_to_date = std::mem::take(&mut self.up_to_date);
            self.buffer.push_str(&up_to_date_lines(&up_to_date, now));
            self.buffer.push_str(&with_time(&line, now));
        }
    }

    fn flush(&mut self) {
        if !self.buffer.is_empty() {
            live::print(&self.buffer);
            self.buffer.clear();
        }
    }
}

impl Drop for PlainReporter {
    /// An aborted run may leave lines in the buffer.
    fn drop(&mut self) {
        self.shared.lock().is_ended = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.heartbeat_thread.take() {
            let _ = thread.join();
        }
        let now = self.shared.lock().event_time.0;
        self.buffer.push_str(&up_to_date_lines(&self.up_to_date, now));
        self.flush();
    }
}

fn up_to_date_lines(lines: &[String], now: Timestamp) -> String {
    match lines.len() {
        0..=MAX_UP_TO_DATE => lines.concat(),
        count => with_time(&format!("{count} shots: up to date, nothing to submit"), now),
    }
}

/// A line with the time of day in UTC.
fn with_time(line: &str, now: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(now.0) {
        Ok(time) => format!("{} {line}\n", time.strftime("%H:%M:%SZ")),
        Err(_) => format!("{line}\n"),
    }
}

/// Prints a heartbeat after each interval without a line, until the run ends.
fn print_heartbeats(shared: &Shared) {
    let mut state = shared.lock();
    while !state.is_ended {
        let remaining = HEARTBEAT_INTERVAL.saturating_sub(state.printed.elapsed());
        if remaining.is_zero() {
            state.printed = Instant::now();
            let time = state.event_time.0.after(state.event_time.1.elapsed());
            let line = heartbeat(&state.progress, time);
            drop(state);
            live::print(&with_time(&line, time));
            state = shared.lock();
            continue;
        }
        let waited = shared.changed.wait_timeout(state, remaining);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// `still running after 3 min: 2/6 shots done, 2 active, 2 waiting; about 4 min left`
fn heartbeat(progress: &RunProgress, now: Timestamp) -> String {
    let since = progress
        .started_at
        .map_or_else(String::new, |started_at| format!(" after {}", humanize(now.since(started_at))));
    let counts =
        [(progress.in_progress(), "active"), (progress.waiting(), "waiting"), (progress.failed(), "failed")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| format!(", {count} {word}")).collect();
    let submission_wait = progress.submissions_held_until.map(|until| until.since(now)).unwrap_or_default();
    let remaining = progress
        .remaining(now)
        .map(|remaining| format!("; about {} left", humanize(remaining.max(submission_wait))));
    format!(
        "still running{since}: {}/{} shots done{}{}",
        progress.done(),
        progress.all(),
        counts.concat(),
        remaining.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_time_and_a_heartbeat_the_counts() {
        assert_eq!(with_time("a: done", Timestamp(1_790_000_000_000)), "14:13:20Z a: done\n");
        let mut progress = RunProgress::new(None);
        progress.started_at = Some(Timestamp(1_000));
        assert_eq!(heartbeat(&progress, Timestamp(181_000)), "still running after 3 min: 0/0 shots done");
    }
}
