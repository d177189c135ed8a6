//! Arithmetic that gives the same result on every processor: hashes, easing, and a sine without the platform's mathematics.
//!
//! Invariant: of floating-point numbers only sums, products, quotients and square roots are taken, which IEEE 754 defines to the bit.

/// Numbers that depend on their seed alone (`SplitMix64`).
#[derive(Clone, Debug)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below 1.
    pub(super) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u32 << 24) as f32
    }

    /// From `low` to below `high`.
    pub(super) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }
}

/// A number for a text (FNV-1a).
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// From 0 at `from` to 1 at `to`, beginning and ending gently.
pub(super) fn ease(from: f32, to: f32, at: f32) -> f32 {
    let share = ((at - from) / (to - from).max(1e-6)).clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}

pub(super) fn lerp(from: f32, to: f32, share: f32) -> f32 {
    from + (to - from) * share
}

/// The sine of an angle in turns, to a thousandth.
pub(super) fn wave(turns: f32) -> f32 {
    let turned = turns - turns.floor();
    let half = 1.0 - 2.0 * turned;
    let arc = 4.0 * half * (1.0 - half.abs());
    arc + 0.225 * (arc * arc.abs() - arc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wave_is_a_sine() {
        for step in 0..400 {
            let turns = step as f32 / 100.0 - 2.0;
            let exact = (turns * std::f32::consts::TAU).sin();
            assert!((wave(turns) - exact).abs() < 2e-3, "{turns}: {} and {exact}", wave(turns));
        }
    }

    #[test]
    fn ease_is_flat_at_its_ends() {
        assert_eq!((ease(1.0, 2.0, 0.0), ease(1.0, 2.0, 1.5), ease(1.0, 2.0, 9.0)), (0.0, 0.5, 1.0));
        assert!(ease(0.0, 1.0, 0.05) < 0.01);
    }
}
