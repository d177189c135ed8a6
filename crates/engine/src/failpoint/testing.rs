//! What tests do at commit points, and what they make deterministic.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::Duration;

use super::{Boundary, CommitPoint};

/// Called at each commit point with its name, such as `prepared`.
pub type Hook = fn(Boundary, &str);

static HOOK: OnceLock<Hook> = OnceLock::new();
static FRAME_TIME: OnceLock<Duration> = OnceLock::new();
static MAX_PAGES: OnceLock<u32> = OnceLock::new();

thread_local! {
    static INLINE: Cell<bool> = const { Cell::new(false) };
}

/// Installs the hook for the process. Only the first call has an effect.
pub fn install(hook: Hook) {
    let _ = HOOK.set(hook);
}

/// Called on both sides of each commit.
pub(crate) fn hit(side: Boundary, kind: &str) {
    assert!(CommitPoint::all().any(|point| point.as_str() == kind), "`{kind}` is not a commit point");
    if let Some(hook) = HOOK.get() {
        hook(side, kind);
    }
}

/// Makes runs on this thread do blocking work on it too, so that a simulation is deterministic.
pub fn run_blocking_inline() {
    INLINE.set(true);
}

pub(crate) fn is_blocking_inline() -> bool {
    INLINE.get()
}

/// Limits the size of ledgers opened from now on, as a full disk would. Only the first call has an effect.
pub fn limit_pages(pages: u32) {
    let _ = MAX_PAGES.set(pages);
}

/// The limit set by [`limit_pages`].
pub(crate) fn max_pages() -> Option<u32> {
    MAX_PAGES.get().copied()
}

/// Measures the time of joining a film by its frames, each of which takes this long, so that what is reported of it does not depend on the
/// machine. Only the first call has an effect.
pub fn set_frame_time(time: Duration) {
    let _ = FRAME_TIME.set(time);
}

/// How long the first `frames` of a film have taken, if [`set_frame_time`] says so; otherwise it is measured.
pub(crate) fn join_time(frames: u64) -> Option<Duration> {
    FRAME_TIME.get().map(|time| time.saturating_mul(u32::try_from(frames).unwrap_or(u32::MAX)))
}
