//! Places at which tests end the process: the boundaries of the ledger, where a crash must lose nothing and pay for nothing twice.
//!
//! Without the feature `failpoints`, which only the program under test is built with, nothing of this is compiled but the list.

use crate::state::Event;

/// On which side of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// Nothing of it is on disk.
    Before,
    /// All of it is.
    After,
}

/// The list, as an enum with its words.
macro_rules! written {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// Everything that the ledger writes, in a transaction of its own or with others. Closed: each is a boundary at which a process may
        /// die, and `tests/cli/boundaries.rs` tries each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Written {
            $($(#[$doc])* $name,)*
        }

        impl Written {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The word that stands for it: of an event, its kind.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

written! {
    /// That a run begins, before its events.
    Begin = "begin",
    /// [`Event::Scoped`].
    Scoped = "scoped",
    /// [`Event::Started`].
    Started = "started",
    /// [`Event::Looked`].
    Looked = "looked",
    /// [`Event::Prepared`], with the attempt.
    Prepared = "prepared",
    /// [`Event::Taken`]: the place of an intent that was not written.
    Taken = "taken",
    /// [`Event::Capped`]: the place of an intent that was not written.
    Capped = "capped",
    /// [`Event::Unprepared`].
    Unprepared = "unprepared",
    /// [`Event::Submitted`].
    Submitted = "submitted",
    /// [`Event::Refused`].
    Refused = "refused",
    /// [`Event::Lost`].
    Lost = "lost",
    /// [`Event::Answered`].
    Answered = "answered",
    /// [`Event::Downloaded`], with the artifact.
    Downloaded = "downloaded",
    /// [`Event::NotDownloaded`].
    NotDownloaded = "not-downloaded",
    /// [`Event::Joined`], with the film.
    Joined = "joined",
    /// [`Event::NotJoined`].
    NotJoined = "not-joined",
    /// [`Event::Woke`], where it ends the grace of an interrupted run.
    Woke = "woke",
    /// [`Event::Interrupted`].
    Interrupted = "interrupted",
    /// That an attempt's task is gone.
    Forget = "forget",
    /// What the service says became of a submission.
    Accounted = "accounted",
    /// What a person says became of a submission.
    Resolved = "resolved",
    /// That a run has ended in good order.
    End = "end",
}

impl From<&Event> for Written {
    fn from(event: &Event) -> Self {
        match event {
            Event::Scoped { .. } => Self::Scoped,
            Event::Started => Self::Started,
            Event::Looked { .. } => Self::Looked,
            Event::Prepared { .. } => Self::Prepared,
            Event::Taken { .. } => Self::Taken,
            Event::Capped { .. } => Self::Capped,
            Event::Unprepared { .. } => Self::Unprepared,
            Event::Submitted { .. } => Self::Submitted,
            Event::Refused { .. } => Self::Refused,
            Event::Lost { .. } => Self::Lost,
            Event::Answered { .. } => Self::Answered,
            Event::Downloaded { .. } => Self::Downloaded,
            Event::NotDownloaded { .. } => Self::NotDownloaded,
            Event::Joined { .. } => Self::Joined,
            Event::NotJoined { .. } => Self::NotJoined,
            Event::Woke => Self::Woke,
            Event::Interrupted => Self::Interrupted,
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
            Written::ALL.iter().any(|written| written.word() == kind),
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
