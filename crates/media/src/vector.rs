//! Run-time dispatch to the vector instructions of the processor.
//!
//! Loops over numbers are compiled once for each set of instructions. None of them fuses or reorders operations, so the results are the same bytes.

use std::sync::LazyLock;

use fearless_simd::{Level, dispatch};

static LEVEL: LazyLock<Level> = LazyLock::new(Level::new);

/// Runs `work` as compiled for this processor: what is inlined into it, that is.
#[expect(clippy::inline_always, reason = "what is not inlined is compiled for the oldest processor only")]
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    dispatch!(*LEVEL, _simd => work())
}
