//! A deterministic random number generator, so that the figures are reproducible.

use rand_xoshiro::{
    SplitMix64,
    rand_core::{Rng as _, SeedableRng as _},
};

/// The generator of a simulation.
#[derive(Debug, Clone)]
pub(in crate::bench) struct Rng(SplitMix64);

impl Rng {
    pub(in crate::bench) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// Uniform in the open interval (0, 1).
    pub(in crate::bench) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 + 1e-17
    }

    /// Render time in seconds, from a mixture of lognormal distributions: weight, median, standard deviation of the logarithm.
    pub(in crate::bench) fn render_time(&mut self, mixture: &[(f64, f64, f64)]) -> f64 {
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
