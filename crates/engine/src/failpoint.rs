//! Places at which tests end the process: the boundaries of the ledger, where a crash must lose nothing and pay for nothing twice.
//!
//! Without the feature `failpoints`, which only the program under test is built with, nothing of this is compiled.

/// On which side of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// Nothing of it is on disk.
    Before,
    /// All of it is.
    After,
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
    if let Some(hook) = HOOK.get() {
        hook(side, kind);
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
