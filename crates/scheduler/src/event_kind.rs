//! Kinds of events, with their names in the ledger.

#[cfg(doc)]
use crate::event::Event;

/// Defines [`EventKind`]: one variant per event, with its name in the ledger.
macro_rules! event_kinds {
    ($($name:ident = $text:literal,)*) => {
        /// The kinds of [`Event`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum EventKind {
            $(
                #[doc = concat!("[`Event::", stringify!($name), "`].")]
                $name,
            )*
        }

        impl EventKind {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The value of `event` in stored events.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

event_kinds! {
    RunConfigured = "run-configured",
    Started = "started",
    LookupDone = "lookup-done",
    Prepared = "prepared",
    BudgetExceeded = "budget-exceeded",
    ClaimConflict = "claim-conflict",
    PrepareFailed = "prepare-failed",
    Submitted = "submitted",
    Refused = "refused",
    Indeterminate = "indeterminate",
    Polled = "polled",
    Downloaded = "downloaded",
    DownloadFailed = "download-failed",
    FilmJoined = "film-joined",
    JoinFailed = "join-failed",
    Reconciled = "reconciled",
    TaskExpired = "task-expired",
    Resolved = "resolved",
    RendersAsked = "renders-asked",
    RendersWithdrawn = "renders-withdrawn",
    TimerFired = "timer-fired",
    Interrupted = "interrupted",
}

impl std::fmt::Display for EventKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
