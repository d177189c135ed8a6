//! Shutdown on SIGINT and SIGTERM: the first signal asks for a graceful end, the second ends the process at once and reports what is kept.
//! SIGTERM twice within a second is one wish: GNU `timeout` sends it to the process, and again to its group.

use std::io::Write as _;
use std::time::Duration;

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
}
