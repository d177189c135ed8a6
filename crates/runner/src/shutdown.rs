//! Shutdown on SIGINT and SIGTERM: the first signal asks for a graceful end, the second ends the process at once and reports what is kept.
//! SIGTERM twice within a second is one wish: GNU `timeout` sends it to the process, and again to its group.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::{FilmProgress, Reporter};
use scheduler::{Event, Halt, Phase, RunState, StatusKind, Timestamp};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::error::CommandError;
use crate::ffmpeg;
use crate::report::live;

/// Becomes true with the first SIGINT or SIGTERM. The second one exits the process at once, which the ledger allows at any instant.
pub(crate) fn shutdown_signal() -> watch::Receiver<bool> {
    shutdown_signal_with(String::new)
}

/// As [`shutdown_signal`]; `exit_message` is printed before the second signal exits the process.
pub(crate) fn shutdown_signal_with(
    exit_message: impl FnOnce() -> String + Send + 'static,
) -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(false);
    // Before the task first runs: a signal until then would end the process.
    let mut signals = Signals::new();
    tokio::spawn(async move {
        let first = signals.next().await;
        let begin = Instant::now();
        sender.send_replace(true);
        while is_repeated(first, signals.next().await, begin.elapsed()) {}
        // Without the live view the last message stays visible.
        live::shut_down();
        let message = exit_message();
        if !message.is_empty() {
            // Not through the live view: its lock may be held.
            drop(std::io::stderr().write_all(format!("{message}\n").as_bytes()));
        }
        exit_now();
    });
    receiver
}

/// Within this time a second SIGTERM is the first one again.
const REPEATED_WITHIN: Duration = Duration::from_secs(1);

/// A signal that asks for the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShutdownSignal {
    Interrupt,
    #[cfg(unix)]
    Terminate,
}

/// Whether the second signal, so long after the first, is the same wish. Somebody who presses Ctrl-C twice wants the end at once.
fn is_repeated(first: ShutdownSignal, second: ShutdownSignal, after: Duration) -> bool {
    first == second && second != ShutdownSignal::Interrupt && after < REPEATED_WITHIN
}

/// Runs work with media on a thread of its own. An interrupt ends it early, and it removes its temporary files; `None` where that happened.
pub(crate) async fn interruptible<T: Send + 'static>(
    work: impl FnOnce(&media::Ffmpeg) -> Result<T, CommandError> + Send + 'static,
) -> Result<Option<T>, CommandError> {
    let tools = ffmpeg::find();
    let cancellation = tools.cancellation.clone();
    let mut interrupt = shutdown_signal();
    let mut working = tokio::task::spawn_blocking(move || work(&tools));
    let result = tokio::select! {
        result = &mut working => result,
        Ok(_) = interrupt.wait_for(|is_interrupted| *is_interrupted) => {
            cancellation.cancel();
            working.await
        }
    };
    match result.map_err(CommandError::unusable)? {
        Err(_) if cancellation.is_cancelled() => Ok(None),
        result => result.map(Some),
    }
}

#[expect(clippy::exit, reason = "second signal; every paid task is in the ledger")]
fn exit_now() {
    std::process::exit(130);
}

/// Counts the tasks that a run leaves in flight when it is ended at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlightTracker(Arc<Mutex<Option<InFlight>>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InFlight {
    /// Tasks that the service accepted and whose videos are not downloaded.
    tasks: usize,
    /// Submissions without a response.
    submitting: usize,
}

impl InFlightTracker {
    /// Wraps a reporter to count tasks in flight.
    pub(crate) fn wrap<'r>(&self, reporter: &'r mut dyn Reporter) -> TrackingReporter<'r> {
        TrackingReporter { tracker: self.clone(), reporter }
    }

    /// The message of an immediate exit. `file` is the workflow file, as the user wrote it.
    pub(crate) fn exit_message(&self, file: &str) -> String {
        let count = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        exit_message(count, file)
    }
}

fn exit_message(count: Option<InFlight>, file: &str) -> String {
    let tasks = match count {
        None => "tasks in flight are kept".to_owned(),
        Some(InFlight { tasks: 0, .. }) => "no task is in flight".to_owned(),
        Some(InFlight { tasks: 1, .. }) => "1 task in flight is kept".to_owned(),
        Some(InFlight { tasks, .. }) => format!("{tasks} tasks in flight are kept"),
    };
    let submitting = match count.map_or(0, |count| count.submitting) {
        0 => String::new(),
        1 => "; 1 submission has no response yet and is indeterminate".to_owned(),
        more => format!("; {more} submissions have no response yet and are indeterminate"),
    };
    format!("exiting at once: {tasks}{submitting}; `runner run {file}` continues")
}

/// A reporter that counts tasks in flight once its run is interrupted.
pub(crate) struct TrackingReporter<'r> {
    tracker: InFlightTracker,
    reporter: &'r mut dyn Reporter,
}

impl Reporter for TrackingReporter<'_> {
    fn on(&mut self, state: &RunState, event: &Event, now: Timestamp) {
        // Counting is O(shots), so only once the run is asked to end.
        if state.halt() == Some(&Halt::Interrupted) {
            *self.tracker.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(count(state));
        }
        self.reporter.on(state, event, now);
    }

    fn on_join(&mut self, state: &RunState, progress: FilmProgress, now: Timestamp) {
        self.reporter.on_join(state, progress, now);
    }

    fn flush(&mut self) {
        self.reporter.flush();
    }
}

fn count(state: &RunState) -> InFlight {
    let mut count = InFlight { tasks: 0, submitting: 0 };
    for node in state.nodes() {
        match node.kind() {
            StatusKind::Submitting if node.phase != Phase::Preparing => count.submitting += 1,
            StatusKind::InFlight | StatusKind::Downloading | StatusKind::Detached => count.tasks += 1,
            StatusKind::Submitting
            | StatusKind::Done
            | StatusKind::Reused
            | StatusKind::WaitingForRetry
            | StatusKind::Waiting
            | StatusKind::Pending
            | StatusKind::ClaimedByOtherRun
            | StatusKind::AtOtherService
            | StatusKind::Indeterminate
            | StatusKind::Missing
            | StatusKind::Unrecorded
            | StatusKind::Failed
            | StatusKind::Blocked
            | StatusKind::Unpicked
            | StatusKind::NotStarted
            | StatusKind::NotSelected => {}
        }
    }
    count
}

/// SIGINT and SIGTERM; none is missed between two calls of `next`.
#[cfg(unix)]
struct Signals {
    interrupt: Option<tokio::signal::unix::Signal>,
    terminate: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
        }
    }

    async fn next(&mut self) -> ShutdownSignal {
        async fn receive(signal: &mut Option<tokio::signal::unix::Signal>) {
            match signal {
                Some(signal) => drop(signal.recv().await),
                None => std::future::pending().await,
            }
        }
        tokio::select! {
            () = receive(&mut self.interrupt) => ShutdownSignal::Interrupt,
            () = receive(&mut self.terminate) => ShutdownSignal::Terminate,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> Self {
        Self
    }

    async fn next(&mut self) -> ShutdownSignal {
        drop(tokio::signal::ctrl_c().await);
        ShutdownSignal::Interrupt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As from a script that waits for what `ui` prints. Without a handler it would end this process.
    #[cfg(unix)]
    #[tokio::test]
    async fn signal_before_the_first_wait_asks_for_an_end() {
        let mut interrupt = shutdown_signal();
        let kill_status =
            std::process::Command::new("kill").args(["-INT", &std::process::id().to_string()]).status();
        assert!(kill_status.unwrap().success());
        assert!(*interrupt.wait_for(|is_interrupted| *is_interrupted).await.unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn terminate_twice_within_a_second_is_one_wish() {
        use ShutdownSignal::{Interrupt, Terminate};
        let (soon, later) = (Duration::from_millis(1), Duration::from_secs(1));
        assert!(is_repeated(Terminate, Terminate, soon));
        assert!(!is_repeated(Terminate, Terminate, later));
        assert!(!is_repeated(Interrupt, Interrupt, soon));
        assert!(!is_repeated(Terminate, Interrupt, soon) && !is_repeated(Interrupt, Terminate, soon));
    }

    #[test]
    fn exit_message_counts_tasks_in_flight() {
        let message = |tasks, submitting| exit_message(Some(InFlight { tasks, submitting }), "film.yaml");
        assert_eq!(message(0, 0), "exiting at once: no task is in flight; `runner run film.yaml` continues");
        assert!(
            message(1, 0).contains("1 task in flight is kept;")
                && message(3, 0).contains("3 tasks in flight are kept;")
        );
        assert!(message(2, 1).contains("1 submission has no response yet"));
        assert!(message(0, 2).contains("2 submissions have no response yet"));
        assert!(exit_message(None, "film.yaml").contains("tasks in flight are kept"));
    }
}
