//! A deterministic random number generator, so that the figures are reproducible.

/// `SplitMix64` (Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub(super) struct Rng(pub(super) u64);

impl Rng {
    /// Uniform in the open interval (0, 1).
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 + 1e-17
    }

    /// Render time in seconds, from a mixture of lognormal distributions: weight, median, standard deviation of the logarithm.
    pub(super) fn render_time(&mut self, mixture: &[(f64, f64, f64)]) -> f64 {
        let mut pick = self.uniform();
        let chosen = mixture.iter().find(|(weight, _, _)| {
            pick -= weight;
            pick <= 0.0
        });
        let (_, median, deviation) = chosen.or(mixture.last()).copied().unwrap_or((1.0, 60.0, 0.0));
        let angle = std::f64::consts::TAU * self.uniform();
        let normal = (-2.0 * self.uniform().ln()).sqrt() * angle.cos();
        median * (deviation * normal).exp()
    }
}
