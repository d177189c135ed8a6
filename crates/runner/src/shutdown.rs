//! Interrupts and SIGTERM: the first asks a command to end in good order, the second ends it at once and says what is kept.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use engine::Reporter;
use scheduler::{Event, Halt, Outcome, Phase, RunState, Timestamp};
use tokio::sync::watch;

use crate::report::live;

/// Becomes true with the first interrupt or SIGTERM. The second one ends the process at once: the ledger is good for that at any instant.
pub(crate) fn shutdown_signal() -> watch::Receiver<bool> {
    shutdown_signal_with(String::new)
}

/// As [`shutdown_signal`]; what `exit_message` says is said before the process ends.
pub(crate) fn shutdown_signal_with(
    exit_message: impl FnOnce() -> String + Send + 'static,
) -> watch::Receiver<bool> {
    let (sender, receiver) = watch::channel(false);
    tokio::spawn(async move {
        let mut signals = Signals::new();
        signals.next().await;
        sender.send_replace(true);
        signals.next().await;
        // With the live lines gone what is said last stays to be read.
        live::shut_down();
        let words = exit_message();
        if !words.is_empty() {
            // Past the live lines, whose lock may be held by what is to be ended.
            drop(std::io::stderr().write_all(format!("{words}\n").as_bytes()));
        }
        exit_now();
    });
    receiver
}

#[expect(clippy::exit, reason = "the user insists; every paid task is in the ledger")]
fn exit_now() {
    std::process::exit(130);
}

/// What a run leaves behind when it is ended at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlightTracker(Arc<Mutex<Option<InFlight>>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InFlight {
    /// Tasks that the service has taken and whose videos are not here.
    tasks: usize,
    /// Submissions that have no answer yet.
    unanswered: usize,
}

impl InFlightTracker {
    /// The same reports, watched for what is left behind.
    pub(crate) fn wrap<'r>(&self, reporter: &'r mut dyn Reporter) -> TrackingReporter<'r> {
        TrackingReporter { tracker: self.clone(), reporter }
    }

    /// One line about it. `file` is the workflow, as the user named it.
    pub(crate) fn exit_message(&self, file: &str) -> String {
        let count = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        exit_message(count, file)
    }
}

fn exit_message(count: Option<InFlight>, file: &str) -> String {
    let tasks = match count {
        None => "tasks that are out are kept".to_owned(),
        Some(InFlight { tasks: 0, .. }) => "no task is out".to_owned(),
        Some(InFlight { tasks: 1, .. }) => "1 task is kept".to_owned(),
        Some(InFlight { tasks, .. }) => format!("{tasks} tasks are kept"),
    };
    let unanswered = match count.map_or(0, |count| count.unanswered) {
        0 => String::new(),
        1 => "; 1 submission has no answer yet, and is held until it is accounted for".to_owned(),
        more => format!("; {more} submissions have no answer yet, and are held until they are accounted for"),
    };
    format!("ended at once: {tasks}{unanswered}; `runner run {file}` goes on from here")
}

/// A reporter that is watched for what its run would leave behind.
pub(crate) struct TrackingReporter<'r> {
    tracker: InFlightTracker,
    reporter: &'r mut dyn Reporter,
}

impl Reporter for TrackingReporter<'_> {
    fn on(&mut self, state: &RunState, event: &Event, now: Timestamp) {
        // Until it is asked to end, a run has better things to do than to count.
        if state.halt() == Some(&Halt::Interrupted) {
            *self.tracker.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(count(state));
        }
        self.reporter.on(state, event, now);
    }

    fn settled(&mut self) {
        self.reporter.settled();
    }
}

fn count(state: &RunState) -> InFlight {
    let mut count = InFlight { tasks: 0, unanswered: 0 };
    for node in state.nodes() {
        match &node.phase {
            Phase::Submitting { .. } => count.unanswered += 1,
            Phase::InFlight { .. }
            | Phase::ReadyToDownload(_)
            | Phase::Downloading(_)
            | Phase::Done(Outcome::Detached { .. }) => count.tasks += 1,
            Phase::Waiting
            | Phase::LookingUp
            | Phase::ClaimedByOtherRun
            | Phase::Ready { .. }
            | Phase::Preparing
            | Phase::Done(_) => {}
        }
    }
    count
}

/// The signals that ask for an end, listened to without a gap between one and the next.
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

    async fn next(&mut self) {
        async fn one(signal: &mut Option<tokio::signal::unix::Signal>) {
            match signal {
                Some(signal) => drop(signal.recv().await),
                None => std::future::pending().await,
            }
        }
        tokio::select! {
            () = one(&mut self.interrupt) => {}
            () = one(&mut self.terminate) => {}
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

    async fn next(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_message_counts_tasks_in_flight() {
        let said = |tasks, unanswered| exit_message(Some(InFlight { tasks, unanswered }), "film.yaml");
        assert_eq!(said(0, 0), "ended at once: no task is out; `runner run film.yaml` goes on from here");
        assert!(said(1, 0).contains("1 task is kept;") && said(3, 0).contains("3 tasks are kept;"));
        assert!(said(2, 1).contains("1 submission has no answer yet"));
        assert!(said(0, 2).contains("2 submissions have no answer yet"));
        assert!(exit_message(None, "film.yaml").contains("tasks that are out are kept"));
    }
}
