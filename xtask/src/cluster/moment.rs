//! Moments of a submission that only the service sees. A test that waits for one stops the service there, and learns which connection it is.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A moment at which the service can stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// A POST has arrived and is not accepted yet.
    PostArrived,
    /// It is accepted and not answered yet.
    PostAccepted,
    /// The answer is on its way.
    Answered,
    /// A poll has arrived and is not answered yet.
    Poll,
    /// Half of a video is sent.
    HalfOfVideo,
    /// All of a video is sent: it is verified and uploaded now.
    VideoSent,
}

#[derive(Default)]
pub(super) struct Moments {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
enum State {
    /// Nobody waits for a moment.
    #[default]
    Idle,
    Awaited(Moment),
    /// The service is there, with a connection from this port.
    Reached(u16),
}

impl Moments {
    /// Waits until the service is at a moment, and stays there until [`Moments::release`]. Returns the port of the connection; `None` if it
    /// does not get there in time.
    pub(super) fn wait_for(&self, moment: Moment, timeout: Duration) -> Option<u16> {
        let end = Instant::now() + timeout;
        let mut state = self.lock();
        *state = State::Awaited(moment);
        loop {
            if let State::Reached(port) = *state {
                return Some(port);
            }
            let remaining = end.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                *state = State::Idle;
                return None;
            }
            state = self.changed.wait_timeout(state, remaining).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Lets the service go on.
    pub(super) fn release(&self) {
        *self.lock() = State::Idle;
    }

    /// The service is at a moment, and stays there if somebody waits for it.
    pub(super) async fn reach(&self, moment: Moment, port: u16) {
        if self.announce(moment, port) {
            while matches!(*self.lock(), State::Reached(_)) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    }

    /// The service passes a moment, and goes on.
    pub(super) fn pass(&self, moment: Moment, port: u16) {
        self.announce(moment, port);
    }

    fn announce(&self, moment: Moment, port: u16) -> bool {
        let mut state = self.lock();
        let is_awaited = matches!(*state, State::Awaited(awaited) if awaited == moment);
        if is_awaited {
            *state = State::Reached(port);
            self.changed.notify_all();
        }
        is_awaited
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
