//! Waits that a service asks for, in words.

use std::time::Duration;

use scheduler::{Event, Phase, PollResult, RunState, Timestamp};

use super::humanize;

/// Waits from this time on are always shown.
pub(super) const NOTABLE_WAIT: Duration = Duration::from_secs(10);

/// The time before which no request is sent like the one that the event is about, because the service asked to wait.
pub(super) fn held_until(state: &RunState, event: &Event) -> Option<Timestamp> {
    match event {
        Event::Refused { .. } | Event::QuotaReported { .. } => state.submissions_held_until(),
        Event::Polled { result: PollResult::Throttled { .. }, .. } => state.polls_held_until(),
        Event::DownloadFailed { node, .. } => match &state.node(*node).phase {
            Phase::ReadyToDownload(download) | Phase::Downloading(download) => Some(download.not_before),
            _ => None,
        },
        _ => None,
    }
}

/// The end of a message about a request that is retried: what the service asks for, and when the next one is sent. Empty for waits that the
/// service did not ask for, unless they are long.
pub(super) fn wait(state: &RunState, event: &Event, now: Timestamp, request: &str) -> String {
    let retry_after = match event {
        Event::Refused { refusal, .. } => refusal.retry_after,
        Event::Polled { result: PollResult::Throttled { retry_after, .. }, .. } => *retry_after,
        Event::DownloadFailed { failure, .. } => failure.retry_after,
        _ => None,
    };
    let Some(until) = held_until(state, event) else { return String::new() };
    let wait = until.since(now);
    let is_asked = retry_after.is_some_and(|asked| asked >= Duration::from_secs(1));
    if wait < if is_asked { Duration::from_secs(1) } else { NOTABLE_WAIT } {
        return String::new();
    }
    let asked = match retry_after {
        Some(asked) if asked > wait => format!("; the service asks to wait {}", humanize(asked)),
        _ => String::new(),
    };
    let time = match jiff::Timestamp::from_millisecond(until.0) {
        Ok(time) if wait >= Duration::from_mins(1) => format!(", at {time:.0}"),
        _ => String::new(),
    };
    format!("{asked}; the next {request} in {}{time}", humanize(wait))
}
