//! Places at which tests end the process: the boundaries of the ledger, where a crash must lose nothing and pay for nothing twice.
//!
//! Without the feature `failpoints`, which only the program under test is built with, nothing of this is compiled but the list.

use scheduler::EventKind;

/// On which side of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// Nothing of it is on disk.
    Before,
    /// All of it is.
    After,
}

/// Everything that the ledger writes, in a transaction of its own or with others. Closed: each is a boundary at which a process may
/// die, and `tests/cli/crash_points.rs` tries each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Written {
    /// An event of this kind, with what follows from it for attempts, artifacts and films.
    Event(EventKind),
    /// That a run begins, before its events.
    Begin,
    /// That an attempt's task is gone.
    Forget,
    /// What the service says became of a submission.
    Accounted,
    /// What a person says became of a submission.
    Resolved,
    /// That a run has ended in good order.
    End,
}

impl Written {
    /// Those that are not events.
    const OTHERS: [Self; 5] = [Self::Begin, Self::Forget, Self::Accounted, Self::Resolved, Self::End];

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        EventKind::ALL.iter().copied().map(Self::Event).chain(Self::OTHERS)
    }

    /// The word that stands for it: of an event, its kind.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Event(kind) => kind.as_str(),
            Self::Begin => "begin",
            Self::Forget => "forget",
            Self::Accounted => "accounted",
            Self::Resolved => "resolved",
            Self::End => "end",
        }
    }
}

/// What is done at a boundary: it is given the side and the kind of what is written, such as `prepared`.
#[cfg(feature = "failpoints")]
pub type Hook = fn(Boundary, &str);

#[cfg(feature = "failpoints")]
static HOOK: std::sync::OnceLock<Hook> = std::sync::OnceLock::new();

/// Sets what is done at every boundary from now on. The first call counts.
#[cfg(feature = "failpoints")]
pub fn install(hook: Hook) {
    // A second call finds the first in place.
    let _ = HOOK.set(hook);
}

/// Called by the ledger on both sides of each commit.
#[inline]
pub(crate) fn reach(side: Boundary, kind: &str) {
    #[cfg(feature = "failpoints")]
    {
        assert!(
            Written::all().any(|written| written.word() == kind),
            "`{kind}` is a boundary that is not on the list"
        );
        if let Some(hook) = HOOK.get() {
            hook(side, kind);
        }
    }
    #[cfg(not(feature = "failpoints"))]
    let _ = (side, kind);
}

#[cfg(feature = "failpoints")]
thread_local! {
    static IN_LINE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Has runs on this thread do all of their work on it, in order: two runs of the same simulation are then the same to the last event.
#[cfg(feature = "failpoints")]
pub fn work_in_line() {
    IN_LINE.set(true);
}

#[cfg(feature = "failpoints")]
pub(crate) fn is_in_line() -> bool {
    IN_LINE.get()
}

/// Lets ledgers that are opened from now on grow to so many pages and no further: what a full disk is like. The first call counts.
#[cfg(feature = "failpoints")]
pub fn bound_pages(pages: u32) {
    let _ = PAGES.set(pages);
}

#[cfg(feature = "failpoints")]
static PAGES: std::sync::OnceLock<u32> = std::sync::OnceLock::new();

/// How many pages a ledger may have; nothing where there is no bound.
#[cfg(feature = "failpoints")]
pub(crate) fn pages() -> Option<u32> {
    PAGES.get().copied()
}
