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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procedural::noise::gradient;

    #[test]
    fn instructions_do_not_change_results() {
        let points: Vec<(f32, f32)> =
            (0..999).map(|i| (i as f32 * 0.731 - 300.0, i as f32 * 1.377 - 40.0)).collect();
        let noise = |seed: u32| points.iter().map(|(x, y)| gradient(*x, *y, seed)).collect::<Vec<_>>();
        let vector = vectorized(
            #[inline(always)]
            || points.iter().map(|(x, y)| gradient(*x, *y, 7)).collect::<Vec<_>>(),
        );
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        assert!(bits(vector) == bits(noise(7)));
    }
}
