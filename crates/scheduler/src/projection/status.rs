//! The status of a shot in one run.

use crate::ids::RunId;
use crate::outcome::Outcome;
use crate::timestamp::Timestamp;

/// The status of a shot in one run, with its data.
#[derive(Debug, Clone, PartialEq)]
pub enum ShotStatus {
    /// It waits for the shots that it depends on, or for its lookup.
    Pending,
    /// It waits to be submitted: for limits, or after a refusal.
    Waiting {
        /// Earliest time.
        not_before: Timestamp,
    },
    /// Its task failed, and it waits for its next attempt.
    WaitingForRetry {
        /// The number of the next attempt, from 2.
        attempt: u32,
        /// The total number of attempts.
        of: u32,
        /// Earliest time.
        not_before: Timestamp,
    },
    /// Another live run is submitting it.
    ClaimedByOtherRun {
        /// That run.
        run: RunId,
    },
    /// Its intent is recorded and its POST has no response yet.
    Submitting,
    /// Its task is queued or rendered at the service.
    InFlight,
    /// Its task is finished; its video is being downloaded, or is about to be.
    Downloading,
    /// It has ended in this run.
    Ended(Outcome),
}

/// Defines [`StatusKind`]: one variant per status, with its name in output.
macro_rules! status_kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The kinds of [`ShotStatus`] and [`Outcome`], for counting, naming and comparing.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum StatusKind {
            $($(#[$doc])* $name,)*
        }

        impl StatusKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name in output.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

status_kinds! {
    /// Its video was rendered and downloaded in this run.
    Done = "done",
    /// Its video existed before this run.
    Reused = "reused",
    /// [`ShotStatus::InFlight`].
    InFlight = "in-flight",
    /// [`ShotStatus::Submitting`].
    Submitting = "submitting",
    /// [`ShotStatus::Downloading`].
    Downloading = "downloading",
    /// [`ShotStatus::WaitingForRetry`].
    WaitingForRetry = "waiting-for-retry",
    /// [`ShotStatus::Waiting`].
    Waiting = "waiting",
    /// [`ShotStatus::Pending`].
    Pending = "pending",
    /// [`ShotStatus::ClaimedByOtherRun`].
    ClaimedByOtherRun = "claimed-by-other-run",
    /// [`Outcome::Detached`].
    Detached = "detached",
    /// [`Outcome::Indeterminate`].
    Indeterminate = "indeterminate",
    /// [`Outcome::Missing`].
    Missing = "missing",
    /// [`Outcome::Failed`].
    Failed = "failed",
    /// [`Outcome::Blocked`].
    Blocked = "blocked",
    /// [`Outcome::Unpicked`].
    Unpicked = "unpicked",
    /// [`Outcome::NotBegun`].
    NotBegun = "not-begun",
    /// [`Outcome::NotSelected`].
    NotSelected = "not-selected",
}

impl StatusKind {
    /// Whether its run is working on it: a POST, a task or a download is in progress.
    #[must_use]
    pub const fn is_in_progress(self) -> bool {
        matches!(self, Self::Submitting | Self::InFlight | Self::Downloading)
    }

    /// Whether its video is there.
    #[must_use]
    pub const fn is_done(self) -> bool {
        matches!(self, Self::Done | Self::Reused)
    }

    /// Whether its run may still submit it.
    #[must_use]
    pub(crate) const fn is_waiting(self) -> bool {
        matches!(self, Self::Pending | Self::Waiting | Self::WaitingForRetry)
    }
}

impl ShotStatus {
    /// Its kind. Whether a video was reused follows from the shot's decision: see [`super::Shot::kind`].
    pub(super) fn kind(&self) -> StatusKind {
        match self {
            Self::Pending => StatusKind::Pending,
            Self::Waiting { .. } => StatusKind::Waiting,
            Self::WaitingForRetry { .. } => StatusKind::WaitingForRetry,
            Self::ClaimedByOtherRun { .. } => StatusKind::ClaimedByOtherRun,
            Self::Submitting => StatusKind::Submitting,
            Self::InFlight => StatusKind::InFlight,
            Self::Downloading => StatusKind::Downloading,
            Self::Ended(outcome) => match outcome {
                Outcome::Done { .. } => StatusKind::Done,
                Outcome::Failed { .. } => StatusKind::Failed,
                Outcome::Indeterminate { .. } => StatusKind::Indeterminate,
                Outcome::Detached { .. } => StatusKind::Detached,
                Outcome::Missing { .. } => StatusKind::Missing,
                Outcome::Blocked { .. } => StatusKind::Blocked,
                Outcome::Unpicked { .. } => StatusKind::Unpicked,
                Outcome::NotBegun => StatusKind::NotBegun,
                Outcome::NotSelected { .. } => StatusKind::NotSelected,
            },
        }
    }
}
