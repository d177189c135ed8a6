//! The numbers that a run is conducted by: how much at once, how often to ask, how long to insist.

use std::time::Duration;

/// Limits and patience of a run. The scheduler takes all of its numbers from here.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Most tasks out at the service at once (being submitted, queued or rendered). At least 1.
    pub max_in_flight: usize,
    /// Most submissions in a stretch of time; `None` leaves that to `in_flight` and to what the service refuses.
    pub submit_rate: Option<Rate>,
    /// Most polls in a stretch of time, over all tasks.
    pub poll_rate: Rate,
    /// Most downloads at once.
    pub max_downloads: usize,
    /// For how long a submission that nobody has accounted for keeps its place among the tasks out, counted from its intent: it may have been
    /// accepted. At most for as long as its shot may take.
    pub indeterminate_slot_hold: Duration,
    /// How much waiting a poll has to save, in expectation, to be worth making. Where past durations are known, it decides when to ask.
    pub poll_cost: Duration,
    /// Shortest wait between two polls of one task.
    pub min_poll_interval: Duration,
    /// Longest wait between two polls of one task.
    pub max_poll_interval: Duration,
    /// How often a POST that surely was not accepted (refused with 429 or 503, or never sent) is tried in all.
    pub max_submit_attempts: u32,
    /// How often one finished video is fetched before the run leaves it for a later one.
    pub max_download_attempts: u32,
    /// First wait after a refusal or a failed download; it doubles up to `max_backoff`.
    pub backoff: Duration,
    /// Longest wait after a refusal or a failed download.
    pub max_backoff: Duration,
    /// For how long a task must be unknown to the service (404), at every poll, before it counts as gone.
    pub not_found_grace: Duration,
    /// For how long polls of a task may fail before the run detaches from it and leaves it for a later run.
    pub unreachable_timeout: Duration,
    /// How long an interrupted run goes on fetching what is finished.
    pub shutdown_grace: Duration,
    /// For how long a task may be out before the run detaches from it, where the shot says nothing.
    pub task_timeout: Duration,
    /// Spreads what comes back after a refusal; another number for each run sets processes apart.
    pub seed: u64,
}

/// How often something may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// So often at most, in any stretch of `per`. At least 1.
    pub count: u32,
    /// The length of the stretch.
    pub per: Duration,
}

impl Rate {
    /// So often in any second.
    #[must_use]
    pub const fn per_second(count: u32) -> Self {
        Self { count, per: Duration::from_secs(1) }
    }

    /// So often in any minute.
    #[must_use]
    pub const fn per_minute(count: u32) -> Self {
        Self { count, per: Duration::from_mins(1) }
    }
}

impl Policy {
    /// For a service across the internet whose tasks take minutes.
    #[must_use]
    pub fn remote() -> Self {
        Self {
            max_in_flight: 4,
            submit_rate: Some(Rate::per_minute(120)),
            poll_rate: Rate::per_second(10),
            max_downloads: 3,
            indeterminate_slot_hold: Duration::from_mins(10),
            poll_cost: Duration::from_millis(500),
            min_poll_interval: Duration::from_secs(2),
            max_poll_interval: Duration::from_secs(15),
            max_submit_attempts: 8,
            max_download_attempts: 6,
            backoff: Duration::from_secs(1),
            max_backoff: Duration::from_mins(1),
            not_found_grace: Duration::from_mins(1),
            unreachable_timeout: Duration::from_mins(10),
            shutdown_grace: Duration::from_secs(20),
            task_timeout: Duration::from_hours(1),
            seed: 0,
        }
    }

    /// For a service on this machine whose tasks take seconds: polls are cheap, and waiting is what costs.
    #[must_use]
    pub fn local() -> Self {
        Self {
            submit_rate: None,
            poll_rate: Rate::per_second(10_000),
            // Each ends with a wait for the disk, which many share.
            max_downloads: 24,
            indeterminate_slot_hold: Duration::from_mins(1),
            poll_cost: Duration::from_millis(2),
            min_poll_interval: Duration::from_millis(10),
            max_poll_interval: Duration::from_millis(60),
            backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(5),
            not_found_grace: Duration::from_secs(5),
            unreachable_timeout: Duration::from_mins(1),
            ..Self::remote()
        }
    }

    /// The wait before try number `tries + 1`: doubling from `backoff`, at most `max_backoff`.
    #[must_use]
    pub fn backoff_after(&self, tries: u32) -> Duration {
        let factor = 1_u32 << tries.saturating_sub(1).min(16);
        self.backoff.saturating_mul(factor).min(self.max_backoff)
    }

    /// When to ask next about a task that has been out for `elapsed` and reports `progress` percent: half of what seems
    /// to remain, or a tenth of what has passed, within the bounds.
    #[must_use]
    pub fn fallback_poll_interval(&self, elapsed: Duration, progress: Option<u8>) -> Duration {
        let guess = match progress {
            Some(percent @ 1..=99) => elapsed.mul_f64(f64::from(100 - percent) / f64::from(percent) / 2.0),
            _ => elapsed / 10,
        };
        guess.clamp(self.min_poll_interval, self.max_poll_interval)
    }
}
