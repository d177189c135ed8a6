//! Policy of a run: limits, rates, timeouts and back-off.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The numbers by which the scheduler decides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Maximum number of tasks in flight (being submitted, queued or rendered). At least 1.
    pub max_in_flight: usize,
    /// Maximum submission rate; `None` leaves it to `max_in_flight` and to the service's throttling.
    pub submit_rate: Option<Rate>,
    /// Maximum poll rate, over all tasks.
    pub poll_rate: Rate,
    /// Maximum number of concurrent downloads.
    pub max_downloads: usize,
    /// Whether the service's own limits on submissions are learned from what it accepts and refuses.
    pub learns_limits: bool,
    /// Whether the scheduler paces concurrent POSTs until the limits are known ([`crate::PostRamp`]); `false` where whoever sends them does.
    #[serde(default)]
    pub paces_posts: bool,
    /// How long an indeterminate submission holds its slot, counted from its intent: it may have been accepted. At most the shot's timeout.
    pub indeterminate_slot_hold: Duration,
    /// The age at which a task is polled first where no task of its model has finished.
    pub first_poll: Duration,
    /// Minimum interval between two polls of one task.
    pub min_poll_interval: Duration,
    /// Maximum interval between two polls of one task.
    pub max_poll_interval: Duration,
    /// Maximum number of tries of a POST that was definitely not accepted (429, 503, or never sent).
    pub max_submit_attempts: u32,
    /// Maximum number of download tries of one video before the run detaches from it.
    pub max_download_attempts: u32,
    /// Back-off after the first refusal or failed download; it doubles up to `max_backoff`.
    pub backoff: Duration,
    /// Maximum back-off after a refusal or a failed download.
    pub max_backoff: Duration,
    /// Maximum time for which a Retry-After stops submissions, polls or downloads. If it asks for more, one request is tried then.
    pub max_retry_after: Duration,
    /// Rate below which a download is cut off and tried at the video's other address.
    pub min_download_rate: MinRate,
    /// Maximum size of a video. A download that goes on for longer is cut off and tried at the video's other address.
    #[serde(default = "max_video_bytes")]
    pub max_video_bytes: u64,
    /// How long every poll of a task must return 404 before the task counts as gone.
    pub not_found_grace: Duration,
    /// How long polls of a task may fail before the run detaches from it.
    pub unreachable_timeout: Duration,
    /// How long an interrupted run continues with downloads.
    pub shutdown_grace: Duration,
    /// Default task timeout, after which the run detaches from a task.
    pub task_timeout: Duration,
    /// Seed of the jitter; another number for each run.
    pub seed: u64,
}

/// Maximum size of a video, by default: 4 GiB, an hour at 9 Mb/s, of services that make minutes. Without a bound, a response that never ends
/// would fill the disk that the ledger is on.
pub const MAX_VIDEO_BYTES: u64 = 4 << 30;

fn max_video_bytes() -> u64 {
    MAX_VIDEO_BYTES
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Maximum number in any window of `per`. At least 1.
    pub count: u32,
    /// Length of the window.
    pub per: Duration,
}

impl Rate {
    pub const fn per_second(count: u32) -> Self {
        Self { count, per: Duration::from_secs(1) }
    }

    pub const fn per_minute(count: u32) -> Self {
        Self { count, per: Duration::from_mins(1) }
    }
}

/// A minimum rate of a download: the bytes that have to arrive in every window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinRate {
    /// Bytes in each window.
    pub bytes: u64,
    /// Length of the window.
    pub window: Duration,
}

impl MinRate {
    /// Whether a download of so many bytes in `elapsed` was slower. In less than a window it is not.
    pub(crate) fn exceeds(self, bytes: u64, elapsed: Duration) -> bool {
        elapsed >= self.window
            && (bytes as f64) * self.window.as_secs_f64() < self.bytes as f64 * elapsed.as_secs_f64()
    }
}

/// For how long a Retry-After is heeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeededWait {
    /// The wait: at most [`Policy::max_retry_after`].
    pub(crate) wait: Duration,
    /// Whether the service asked for more, so that a single request is tried first after the wait.
    pub(crate) is_capped: bool,
}

impl Policy {
    /// For a remote service whose tasks take minutes.
    pub fn remote() -> Self {
        Self {
            max_in_flight: 4,
            submit_rate: Some(Rate::per_minute(120)),
            poll_rate: Rate::per_second(10),
            max_downloads: 3,
            learns_limits: true,
            paces_posts: true,
            indeterminate_slot_hold: Duration::from_mins(10),
            first_poll: Duration::from_secs(5),
            min_poll_interval: Duration::from_secs(2),
            max_poll_interval: Duration::from_secs(15),
            max_submit_attempts: 8,
            max_download_attempts: 6,
            backoff: Duration::from_secs(1),
            max_backoff: Duration::from_mins(1),
            max_retry_after: Duration::from_mins(5),
            min_download_rate: MinRate { bytes: 60 << 10, window: Duration::from_mins(1) },
            max_video_bytes: MAX_VIDEO_BYTES,
            not_found_grace: Duration::from_mins(1),
            unreachable_timeout: Duration::from_mins(10),
            shutdown_grace: Duration::from_secs(20),
            task_timeout: Duration::from_hours(1),
            seed: 0,
        }
    }

    /// For a local service whose tasks take seconds: polls are cheap, waiting is not.
    pub fn local() -> Self {
        Self {
            submit_rate: None,
            poll_rate: Rate::per_second(10_000),
            // Each submission waits for the disk once, and they share it.
            max_downloads: 24,
            indeterminate_slot_hold: Duration::from_mins(1),
            first_poll: Duration::from_millis(30),
            min_poll_interval: Duration::from_millis(5),
            backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(5),
            max_retry_after: Duration::from_mins(1),
            min_download_rate: MinRate { bytes: 64 << 10, window: Duration::from_secs(5) },
            not_found_grace: Duration::from_secs(5),
            unreachable_timeout: Duration::from_mins(1),
            ..Self::remote()
        }
    }

    /// The wait before try number `tries + 1`: doubles from `backoff`, at most `max_backoff`.
    pub(crate) fn backoff_after(&self, tries: u32) -> Duration {
        let factor = 1_u32 << tries.saturating_sub(1).min(16);
        self.backoff.saturating_mul(factor).min(self.max_backoff)
    }

    /// For how long a Retry-After is heeded. `None` where there is none, and where it is shorter than the first back-off (0, negative or
    /// past): then the runner's own back-off counts.
    pub(crate) fn heeded(&self, retry_after: Option<Duration>) -> Option<HeededWait> {
        retry_after.filter(|wait| *wait >= self.backoff).map(|wait| HeededWait {
            wait: wait.min(self.max_retry_after),
            is_capped: wait > self.max_retry_after,
        })
    }
}
