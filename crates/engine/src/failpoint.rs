//! Commit points of the ledger and of files, at which tests kill the process: a crash there must lose nothing and pay for nothing twice.
//!
//! Without the feature `failpoints`, which only test builds enable, only the list of commit points is compiled.

use scheduler::EventKind;

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

/// Called at each commit point with its name, such as `prepared`.
#[cfg(feature = "failpoints")]
pub type Hook = fn(Boundary, &str);

#[cfg(feature = "failpoints")]
static HOOK: std::sync::OnceLock<Hook> = std::sync::OnceLock::new();

/// Installs the hook for the process. Only the first call has an effect.
#[cfg(feature = "failpoints")]
pub fn install(hook: Hook) {
    let _ = HOOK.set(hook);
}

/// Called on both sides of each commit.
#[inline]
pub(crate) fn hit(side: Boundary, kind: &str) {
    #[cfg(feature = "failpoints")]
    {
        assert!(CommitPoint::all().any(|point| point.as_str() == kind), "`{kind}` is not a commit point");
        if let Some(hook) = HOOK.get() {
            hook(side, kind);
        }
    }
    #[cfg(not(feature = "failpoints"))]
    let _ = (side, kind);
}

#[cfg(feature = "failpoints")]
thread_local! {
    static INLINE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Makes runs on this thread do blocking work on it too, so that a simulation is deterministic.
#[cfg(feature = "failpoints")]
pub fn run_blocking_inline() {
    INLINE.set(true);
}

#[cfg(feature = "failpoints")]
pub(crate) fn is_blocking_inline() -> bool {
    INLINE.get()
}

/// Limits the size of ledgers opened from now on, as a full disk would. Only the first call has an effect.
#[cfg(feature = "failpoints")]
pub fn limit_pages(pages: u32) {
    let _ = MAX_PAGES.set(pages);
}

/// Measures the time of joining a film by its frames, each of which takes this long, so that what is reported of it does not depend on the
/// machine. Only the first call has an effect.
#[cfg(feature = "failpoints")]
pub fn set_frame_time(time: std::time::Duration) {
    let _ = FRAME_TIME.set(time);
}

#[cfg(feature = "failpoints")]
static FRAME_TIME: std::sync::OnceLock<std::time::Duration> = std::sync::OnceLock::new();

/// How long the first `frames` of a film have taken, if [`set_frame_time`] says so; otherwise it is measured.
#[inline]
pub(crate) fn join_time(frames: u64) -> Option<std::time::Duration> {
    #[cfg(feature = "failpoints")]
    let time = FRAME_TIME.get().map(|time| time.saturating_mul(u32::try_from(frames).unwrap_or(u32::MAX)));
    #[cfg(not(feature = "failpoints"))]
    let (time, _) = (None, frames);
    time
}

#[cfg(feature = "failpoints")]
static MAX_PAGES: std::sync::OnceLock<u32> = std::sync::OnceLock::new();

/// The limit set by [`limit_pages`].
#[cfg(feature = "failpoints")]
pub(crate) fn max_pages() -> Option<u32> {
    MAX_PAGES.get().copied()
}
