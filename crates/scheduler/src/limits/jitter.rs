//! Spreads what would otherwise come back at one instant, without rolling dice.

use std::time::Duration;

use rand_xoshiro::{
    SplitMix64,
    rand_core::{Rng as _, SeedableRng as _},
};
use workflow::plan::NodeIx;

/// The largest part that is added to a wait.
const SHARE: u32 = 4;

/// What a node adds to a wait on its `tries`th return: from nothing to a quarter of the wait, as evenly as a hash can. `seed` sets one run apart
/// from another.
pub(crate) fn jitter(seed: u64, node: NodeIx, tries: u32, wait: Duration) -> Duration {
    let mixed = mix(seed ^ mix((node.index() as u64) << 32 | u64::from(tries)));
    let most = u64::try_from((wait / SHARE).as_millis()).unwrap_or(u64::MAX).saturating_add(1);
    Duration::from_millis(mixed % most)
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
    fn a_hundred_shots_come_back_at_many_instants_and_never_too_early() {
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
