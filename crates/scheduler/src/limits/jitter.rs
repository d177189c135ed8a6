//! Jitter: spreads retries that would otherwise coincide. A hash, not a random number.

use std::time::Duration;

use rand_xoshiro::{
    SplitMix64,
    rand_core::{Rng as _, SeedableRng as _},
};
use workflow::plan::NodeIx;

/// The largest jitter, as a part of the wait.
const SHARE: u32 = 4;

/// Jitter of a node's wait before try number `tries`: uniform in zero to a quarter of the wait. `seed` differs per run.
pub(crate) fn jitter(seed: u64, node: NodeIx, tries: u32, wait: Duration) -> Duration {
    let mixed = mix(seed ^ mix((node.index() as u64) << 32 | u64::from(tries)));
    let bound = u64::try_from((wait / SHARE).as_millis()).unwrap_or(u64::MAX).saturating_add(1);
    Duration::from_millis(mixed % bound)
}

/// A 64-bit hash: the first output of `SplitMix64` seeded with `value`.
fn mix(value: u64) -> u64 {
    SplitMix64::seed_from_u64(value).next_u64()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn jitter_spreads_retries_and_never_shortens_a_wait() {
        let wait = Duration::from_secs(10);
        let mut instants: HashMap<Duration, usize> = HashMap::new();
        for node in 0..100 {
            let added = jitter(7, NodeIx::new(node), 1, wait);
            assert!(added <= wait / 4);
            *instants.entry(added).or_default() += 1;
        }
        assert!(instants.len() > 90, "{} instants", instants.len());
        assert_ne!(jitter(7, NodeIx::new(3), 1, wait), jitter(8, NodeIx::new(3), 1, wait));
        assert_eq!(jitter(7, NodeIx::new(3), 1, Duration::ZERO), Duration::ZERO);
    }
}
