//! The numbers that a run is conducted by: how much at once, how often to ask, how long to insist.

use std::time::Duration;

/// Limits and patience of a run. The scheduler takes all of its numbers from here.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Most tasks out at the service at once (being submitted, queued or rendered). At least 1.
    pub in_flight: usize,
    /// Most submissions in a stretch of time; `None` leaves that to `in_flight` and to what the service refuses.
    pub submits: Option<Rate>,
    /// Most polls in a stretch of time, over all tasks.
    pub polls: Rate,
    /// Most downloads at once.
    pub downloads: usize,
    /// For how long a submission that nobody has accounted for keeps its place among the tasks out, counted from its intent: it may have been
    /// accepted. At most for as long as its shot may take.
    pub unaccounted: Duration,
    /// How much waiting a poll has to save, in expectation, to be worth making. Where past durations are known, it decides when to ask.
    pub poll_worth: Duration,
    /// Shortest wait between two polls of one task.
    pub poll_min: Duration,
    /// Longest wait between two polls of one task.
    pub poll_max: Duration,
    /// How often a POST that surely was not accepted (refused with 429 or 503, or never sent) is tried in all.
    pub submit_tries: u32,
    /// How often one finished video is fetched before the run leaves it for a later one.
    pub download_tries: u32,
    /// First wait after a refusal or a failed download; it doubles up to `backoff_max`.
    pub backoff: Duration,
    /// Longest wait after a refusal or a failed download.
    pub backoff_max: Duration,
    /// For how long a task must be unknown to the service (404), at every poll, before it counts as gone.
    pub settle_in: Duration,
    /// For how long polls of a task may fail before the run detaches from it and leaves it for a later run.
    pub unreachable: Duration,
    /// How long an interrupted run goes on fetching what is finished.
    pub grace: Duration,
    /// For how long a task may be out before the run detaches from it, where the shot says nothing.
    pub timeout: Duration,
    /// Spreads what comes back after a refusal; another number for each run sets processes apart.
    pub seed: u64,
}

/// How often something may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// So often at most, in any stretch of `per`. At least 1.
    pub most: u32,
    /// The length of the stretch.
    pub per: Duration,
}

impl Rate {
    /// So often in any second.
    #[must_use]
    pub const fn a_second(most: u32) -> Self {
        Self { most, per: Duration::from_secs(1) }
    }

    /// So often in any minute.
    #[must_use]
    pub const fn a_minute(most: u32) -> Self {
        Self { most, per: Duration::from_mins(1) }
    }
}

impl Policy {
    /// For a service across the internet whose tasks take minutes.
    #[must_use]
    pub fn remote() -> Self {
        Self {
            in_flight: 4,
            submits: Some(Rate::a_minute(120)),
            polls: Rate::a_second(10),
            downloads: 3,
            unaccounted: Duration::from_mins(10),
            poll_worth: Duration::from_millis(500),
            poll_min: Duration::from_secs(2),
            poll_max: Duration::from_secs(15),
            submit_tries: 8,
            download_tries: 6,
            backoff: Duration::from_secs(1),
            backoff_max: Duration::from_mins(1),
            settle_in: Duration::from_mins(1),
            unreachable: Duration::from_mins(10),
            grace: Duration::from_secs(20),
            timeout: Duration::from_hours(1),
            seed: 0,
        }
    }

    /// For a service on this machine whose tasks take seconds: polls are cheap, and waiting is what costs.
    #[must_use]
    pub fn local() -> Self {
        Self {
            submits: None,
            polls: Rate::a_second(10_000),
            // Each ends with a wait for the disk, which many share.
            downloads: 24,
            unaccounted: Duration::from_mins(1),
            poll_worth: Duration::from_millis(2),
            poll_min: Duration::from_millis(10),
            poll_max: Duration::from_millis(60),
            backoff: Duration::from_millis(100),
            backoff_max: Duration::from_secs(5),
            settle_in: Duration::from_secs(5),
            unreachable: Duration::from_mins(1),
            ..Self::remote()
        }
    }

    /// The wait before try number `tries + 1`: doubling from `backoff`, at most `backoff_max`.
    #[must_use]
    pub fn wait_after(&self, tries: u32) -> Duration {
        let factor = 1_u32 << tries.saturating_sub(1).min(16);
        self.backoff.saturating_mul(factor).min(self.backoff_max)
    }

    /// When to ask next about a task that has been out for `elapsed` and reports `progress` percent: half of what seems
    /// to remain, or a tenth of what has passed, within the bounds.
    #[must_use]
    pub fn poll_after(&self, elapsed: Duration, progress: Option<u8>) -> Duration {
        let guess = match progress {
            Some(percent @ 1..=99) => elapsed.mul_f64(f64::from(100 - percent) / f64::from(percent) / 2.0),
            _ => elapsed / 10,
        };
        guess.clamp(self.poll_min, self.poll_max)
    }
}
