//! Commit points of the ledger and of files, at which tests kill the process: a crash there must lose nothing and pay for nothing twice.
//!
//! Without the feature `failpoints`, which only test builds enable, only the list of commit points is compiled.

#[cfg(feature = "failpoints")]
mod testing;

use scheduler::EventKind;

#[cfg(feature = "failpoints")]
pub use testing::{Hook, install, limit_pages, run_blocking_inline, set_frame_time};
#[cfg(feature = "failpoints")]
pub(crate) use testing::{hit, is_blocking_inline, join_time, max_pages};

/// Before or after a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// Nothing of the transaction is durable.
    Before,
    /// The whole transaction is durable.
    After,
}

/// Everything that the ledger writes, and the files that others rely on. Closed: the process may die on either side of each, and the crash tests of the command line try all
/// of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommitPoint {
    /// An event of this kind, with the changes of attempts, artifacts and films that follow from it.
    Event(EventKind),
    /// The start of a run, before its events.
    Begin,
    /// The regular end of a run.
    End,
    /// The sidecar of a paid video. It is a file, and comes before the event that records the video.
    Sidecar,
    /// The current cut of a film gets its second name, under which it stays.
    EarlierCut,
    /// A new cut takes the name of the film.
    Cut,
}

impl CommitPoint {
    /// Commit points that are not events.
    const OTHERS: [Self; 5] = [Self::Begin, Self::End, Self::Sidecar, Self::EarlierCut, Self::Cut];

    pub fn all() -> impl Iterator<Item = Self> {
        let recorded = EventKind::ALL.iter().copied();
        recorded.map(Self::Event).chain(Self::OTHERS)
    }

    /// Its name; for an event, the event's kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Event(kind) => kind.as_str(),
            Self::Begin => "begin",
            Self::End => "end",
            Self::Sidecar => "sidecar",
            Self::EarlierCut => "earlier-cut",
            Self::Cut => "cut",
        }
    }
}

/// Called on both sides of each commit.
#[cfg(not(feature = "failpoints"))]
pub(crate) fn hit(_: Boundary, _: &str) {}

/// How long the first frames of a film have taken, if a test says so; otherwise it is measured.
#[cfg(not(feature = "failpoints"))]
pub(crate) fn join_time(_: u64) -> Option<std::time::Duration> {
    None
}
