//! Waits that a service asks for, in words.

use std::time::Duration;

use scheduler::policy::Rate;
use scheduler::{Event, Phase, PollResult, RateWait, RunState, Timestamp};

use super::humanize;
use crate::clock::utc_time;

/// Waits from this time on are always shown.
pub(super) const NOTABLE_WAIT: Duration = Duration::from_secs(10);

/// The time before which no request is sent like the one that the event is about, because the service asked to wait.
pub(super) fn held_until(state: &RunState, event: &Event) -> Option<Timestamp> {
    match event {
        Event::Refused { .. } => state.submissions_held_until(),
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
    let is_asked = retry_after.is_some_and(|requested| requested >= Duration::from_secs(1));
    if wait < if is_asked { Duration::from_secs(1) } else { NOTABLE_WAIT } {
        return String::new();
    }
    let requested_wait = match retry_after {
        Some(requested) if requested > wait => format!("; the service asks to wait {}", humanize(requested)),
        _ => String::new(),
    };
    format!("{requested_wait}; {}", next(request, until, now))
}

/// `the next submission in 2 min, at 2026-11-21T10:02:00Z`
fn next(request: &str, until: Timestamp, now: Timestamp) -> String {
    let wait = until.since(now);
    let is_long = wait >= Duration::from_mins(1);
    let time = if is_long { format!(", at {}", utc_time(until)) } else { String::new() };
    format!("the next {request} in {}{time}", humanize(wait))
}

/// Reports waits for a rate of submissions, each once.
#[derive(Debug, Default)]
pub(super) struct RateWaits {
    /// The end of the last one.
    reported: Option<Timestamp>,
}

impl RateWaits {
    /// The message about a wait that has begun.
    pub(super) fn message(&mut self, state: &RunState, now: Timestamp) -> Option<String> {
        let RateWait { until, learned } = state.submission_rate_wait()?;
        // An end that moves a little is that of the same wait.
        let is_new = self.reported.is_none_or(|last| last <= now || until.since(last) >= NOTABLE_WAIT);
        if until.since(now) < NOTABLE_WAIT || !is_new {
            return None;
        }
        self.reported = Some(until);
        let reason = match learned {
            None => "submissions wait for --max-submits-per-minute".to_owned(),
            Some(Rate { count, per }) => {
                let noun = if count == 1 { "submission" } else { "submissions" };
                format!(
                    "submissions wait, because the service was observed to accept {count} {noun} in {}",
                    humanize(per)
                )
            }
        };
        Some(format!("{reason}; {}", next("submission", until, now)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use contract::Contract;
    use scheduler::{ExistingWork, ObservedLimits, ObservedRate, Policy, ServiceHistory};
    use workflow::plan::NodeIx;
    use workflow::{InMemory, Options};

    use super::*;

    /// The messages of a run of three shots, of which the first is submitted, at the beginning and a little later.
    fn messages(policy: Policy, observed: ObservedLimits) -> Vec<String> {
        let text = "version: 1\nname: sea\ndefaults: {model: modelb-video-480p, seconds: 1}\nshots:\n  \
                    - {id: a, prompt: a sea}\n  - {id: b, prompt: b sea}\n  - {id: c, prompt: c sea}\n";
        let (files, options) = (InMemory::default(), Options::default());
        let plan = workflow::load(text.as_bytes(), "sea.yaml", &files, &options, Contract::embedded());
        let plan = Arc::new(plan.unwrap_or_else(|report| panic!("{report}")));
        let mut state = RunState::new(plan, "test", policy.clone());
        let history = ServiceHistory { limits: observed, ..ServiceHistory::default() };
        state = state.with_service("test", policy, history, Timestamp(1_000_000));
        let now = Timestamp(1_000_000);
        let mut waits = RateWaits::default();
        let mut events = vec![(Event::Started, now)];
        for index in 0..3 {
            let (node, key) = (NodeIx::new(index), format!("{index:064}"));
            events.push((Event::LookupDone { node, key, existing: ExistingWork::None, render: 1 }, now));
        }
        events.push((Event::TimerFired, now.after(Duration::from_secs(2))));
        let apply = |(event, time)| {
            let _ = state.apply(event, time);
            waits.message(&state, time)
        };
        events.into_iter().filter_map(apply).collect()
    }

    #[test]
    fn wait_for_a_rate_is_reported_once_with_its_reason() {
        let learned = ObservedLimits {
            rate: Some(ObservedRate { count: 1, per: Duration::from_hours(1) }),
            in_flight: None,
        };
        let by_flag = Policy { submit_rate: Some(Rate::per_minute(1)), ..Policy::remote() };
        assert_eq!(
            messages(by_flag, ObservedLimits::default()),
            [
                "submissions wait for --max-submits-per-minute; the next submission in 1 min, at 1970-01-01T00:17:40Z"
            ]
        );
        assert_eq!(
            messages(Policy { submit_rate: None, ..Policy::remote() }, learned),
            [
                "submissions wait, because the service was observed to accept 1 submission in 1 h; the next submission in 5 min 3 s, at 1970-01-01T00:21:43Z"
            ]
        );
        let short = messages(Policy::remote(), ObservedLimits::default());
        assert!(short.is_empty(), "{short:?}");
    }
}
