//! The status of a shot in one run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::RunId;
use crate::outcome::{Decision, Outcome};
use crate::timestamp::Timestamp;

/// The status of a shot in one run, with its data.
#[derive(Debug, Clone, PartialEq)]
pub enum ShotStatus {
    /// It waits for the shots that it depends on, or for its lookup.
    Pending,
    /// It waits to be submitted: for limits, or after a refusal.
    Waiting { not_before: Timestamp },
    /// Its task failed, and it waits for its next attempt.
    WaitingForRetry {
        /// The number of the next attempt, from 2.
        attempt: u32,
        /// The total number of attempts.
        of: u32,
        not_before: Timestamp,
    },
    /// Another live run is submitting it.
    ClaimedByOtherRun { run: RunId },
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
        /// The state of a shot.
        // The kinds of `ShotStatus` and `Outcome`. Also the type of a state in JSON and in its schemas.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum StatusKind {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
        }

        impl StatusKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name in output.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

status_kinds! {
    /// Its video was rendered and downloaded in this run; outside of a run, its video exists.
    Done = "done",
    /// Its video existed before this run.
    Reused = "reused",
    /// Its task is queued or rendered at the service.
    InFlight = "in-flight",
    /// Its intent is recorded and its POST has no response yet.
    Submitting = "submitting",
    /// Its task is finished; its video is being downloaded, or is about to be.
    Downloading = "downloading",
    /// Its task failed, and it waits for its next attempt.
    WaitingForRetry = "waiting-for-retry",
    /// It waits to be submitted: for limits, or after a refusal.
    Waiting = "waiting",
    /// It waits for the shots that it depends on, or for its lookup.
    Pending = "pending",
    /// Another live run is submitting it.
    ClaimedByOtherRun = "claimed-by-other-run",
    /// Its task is in flight, or finished and not downloaded, and is left to a later run.
    Detached = "detached",
    /// The same work is in flight, or may be, at another service than that of the run.
    AtOtherService = "at-other-service",
    /// A submission may or may not have been accepted; it is not repeated until it is resolved.
    Indeterminate = "indeterminate",
    /// The service does not know its task, which is paid for, or has no intact video of it.
    Missing = "missing",
    /// Its video is there, and the ledger does not know it.
    Unrecorded = "unrecorded",
    /// It failed.
    Failed = "failed",
    /// It was not started because something that it depends on did not succeed.
    Blocked = "blocked",
    /// It was not started because it depends on one of several takes or instances and none is picked.
    Unpicked = "unpicked",
    /// It was not started because its run ended first; outside of a run, because no run has started it yet.
    NotStarted = "not-started",
    /// The run did not select it.
    NotSelected = "not-selected",
}

impl StatusKind {
    /// Whether its video is there.
    pub const fn is_done(self) -> bool {
        matches!(self, Self::Done | Self::Reused)
    }

    /// Whether a person or a later run has to do something about it.
    pub const fn needs_action(self) -> bool {
        match self {
            Self::Indeterminate
            | Self::Detached
            | Self::AtOtherService
            | Self::Missing
            | Self::Unrecorded
            | Self::Unpicked => true,
            Self::Done
            | Self::Reused
            | Self::InFlight
            | Self::Submitting
            | Self::Downloading
            | Self::WaitingForRetry
            | Self::Waiting
            | Self::Pending
            | Self::ClaimedByOtherRun
            | Self::Failed
            | Self::Blocked
            | Self::NotStarted
            | Self::NotSelected => false,
        }
    }

    /// Whether its run may still submit it.
    pub(crate) const fn is_waiting(self) -> bool {
        matches!(self, Self::Pending | Self::Waiting | Self::WaitingForRetry)
    }
}

impl ShotStatus {
    /// Its kind; `decision` tells whether a video was reused.
    pub(super) fn kind(&self, decision: Option<Decision>) -> StatusKind {
        match self {
            Self::Pending => StatusKind::Pending,
            Self::Waiting { .. } => StatusKind::Waiting,
            Self::WaitingForRetry { .. } => StatusKind::WaitingForRetry,
            Self::ClaimedByOtherRun { .. } => StatusKind::ClaimedByOtherRun,
            Self::Submitting => StatusKind::Submitting,
            Self::InFlight => StatusKind::InFlight,
            Self::Downloading => StatusKind::Downloading,
            Self::Ended(outcome) => outcome.kind(decision),
        }
    }
}

impl Outcome {
    /// Its kind; `decision` tells whether a video was reused.
    pub(crate) fn kind(&self, decision: Option<Decision>) -> StatusKind {
        match self {
            Self::Done { .. } if decision == Some(Decision::Reuse) => StatusKind::Reused,
            Self::Done { .. } => StatusKind::Done,
            Self::Failed { .. } => StatusKind::Failed,
            Self::Indeterminate { .. } => StatusKind::Indeterminate,
            Self::Detached { .. } => StatusKind::Detached,
            Self::AtOtherService { .. } => StatusKind::AtOtherService,
            Self::Missing { .. } => StatusKind::Missing,
            Self::Unrecorded { .. } => StatusKind::Unrecorded,
            Self::Blocked { .. } => StatusKind::Blocked,
            Self::Unpicked { .. } => StatusKind::Unpicked,
            Self::NotStarted => StatusKind::NotStarted,
            Self::NotSelected { .. } => StatusKind::NotSelected,
        }
    }
}
