//! Chance that is the same each time.

/// A small deterministic generator (`SplitMix64`).
#[derive(Debug, Clone)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    /// From 0 to 1, without either.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 + 1e-17
    }

    /// Seconds of one rendering, of a mixture of lognormal distributions.
    pub(super) fn rendering(&mut self, mixture: &[(f64, f64, f64)]) -> f64 {
        let mut pick = self.share();
        let chosen = mixture.iter().find(|(share, _, _)| {
            pick -= share;
            pick <= 0.0
        });
        let (_, median, deviation) = chosen.or(mixture.last()).copied().unwrap_or((1.0, 60.0, 0.0));
        let angle = std::f64::consts::TAU * self.share();
        let normal = (-2.0 * self.share().ln()).sqrt() * angle.cos();
        median * (deviation * normal).exp()
    }
}
