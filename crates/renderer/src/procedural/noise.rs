//! Deterministic randomness: a seeded generator, lattice noise (Perlin's gradient noise), tileable noise textures.

use rand_xoshiro::{
    SplitMix64,
    rand_core::{Rng as _, SeedableRng as _},
};

use super::math::{Color, cell, floor, lerp, mix};
use media::vectorized;

/// A seeded generator, the only source of randomness in a rendering.
#[derive(Clone, Debug)]
pub(crate) struct Rng(SplitMix64);

impl Rng {
    /// A separate stream for each use, so that adding a consumer does not change the numbers of another.
    pub(crate) fn new(seed: u64, stream: &str) -> Self {
        Self(SplitMix64::seed_from_u64(seed ^ hash_words(stream)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in 0..1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / 16_777_216.0
    }

    pub(crate) fn range(&mut self, from: f32, to: f32) -> f32 {
        lerp(from, to, self.unit())
    }

    pub(crate) fn chance(&mut self, probability: f32) -> bool {
        self.unit() < probability
    }

    /// -1 or 1.
    pub(crate) fn sign(&mut self) -> f32 {
        if self.chance(0.5) { 1.0 } else { -1.0 }
    }

    /// One of `choices`, which is never empty.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[(self.next() % choices.len() as u64) as usize]
    }
}

/// FNV-1a hash.
pub(crate) fn hash_words(words: &str) -> u64 {
    words.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// An integer hash of a lattice point.
#[inline]
pub(crate) fn hash2(x: i32, y: i32, seed: u32) -> u32 {
    let mut h = (x as u32).wrapping_mul(0x85eb_ca6b) ^ (y as u32).wrapping_mul(0xc2b2_ae35) ^ seed;
    h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
    h = (h ^ (h >> 12)).wrapping_mul(0x297a_2d39);
    h ^ (h >> 15)
}

/// The hash of a lattice point as a number in 0..1.
#[inline]
pub(crate) fn unit2(x: i32, y: i32, seed: u32) -> f32 {
    (hash2(x, y, seed) >> 8) as f32 / 16_777_216.0
}

#[inline]
fn corner(x: i32, y: i32, seed: u32, dx: f32, dy: f32) -> f32 {
    // Eight directions are enough once octaves are rotated against each other.
    let h = hash2(x, y, seed) >> 13;
    let (u, v) = if h & 1 == 0 { (dx, dy) } else { (dy, dx) };
    let u = if h & 2 == 0 { u } else { -u };
    let v = if h & 4 == 0 { v } else { -v };
    u + 0.5 * v
}

/// Gradient noise, about -1..1, one feature per unit.
#[expect(clippy::inline_always, reason = "only where it is inlined are several points computed side by side")]
#[inline(always)]
pub(crate) fn gradient(x: f32, y: f32, seed: u32) -> f32 {
    let ((ix, fx), (iy, fy)) = (cell(x), cell(y));
    let sx = fx * fx * fx * (fx * (fx * 6.0 - 15.0) + 10.0);
    let sy = fy * fy * fy * (fy * (fy * 6.0 - 15.0) + 10.0);
    let a = lerp(corner(ix, iy, seed, fx, fy), corner(ix + 1, iy, seed, fx - 1.0, fy), sx);
    let b =
        lerp(corner(ix, iy + 1, seed, fx, fy - 1.0), corner(ix + 1, iy + 1, seed, fx - 1.0, fy - 1.0), sx);
    lerp(a, b, sy) * 1.1
}

/// How a sum of octaves is built: from `wavelength` metres down to the finest the caller can show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Octaves {
    pub(crate) seed: u32,
    pub(crate) wavelength: f32,
    pub(crate) max: u32,
    /// Amplitude of each octave relative to the one before.
    pub(crate) gain: f32,
}

impl Octaves {
    pub(crate) const fn new(seed: u32, wavelength: f32, max: u32) -> Self {
        Self { seed, wavelength, max, gain: 0.5 }
    }

    /// Rolling sum at `N` points, about -1..1. Octaves finer than `finest` metres are left out.
    pub(crate) fn rolling<const N: usize>(self, x: [f32; N], y: [f32; N], finest: f32) -> [f32; N] {
        let mut points = Points::new(self, x, y);
        let (mut sum, mut amplitude, mut total) = ([0.0; N], 1.0, 0.0);
        for octave in 0..self.max {
            // The whole sum is normalised over all octaves, so that leaving the fine ones out moves nothing else.
            total += amplitude;
            if points.wavelength >= finest {
                let noise = points.noise(self.octave_seed(octave));
                for (sum, n) in sum.iter_mut().zip(noise) {
                    *sum += n * amplitude;
                }
            }
            amplitude *= self.gain;
            points.next_octave();
        }
        sum.map(|sum| sum / total * 1.6)
    }

    /// The rolling sum at one point.
    pub(crate) fn rolling_at(self, x: f32, y: f32, finest: f32) -> f32 {
        let [value] = self.rolling([x], [y], finest);
        value
    }

    /// Ridged sum at `N` points, about 0..1: sharp crests, wide valleys; detail gathers on the crests.
    pub(crate) fn ridged<const N: usize>(self, x: [f32; N], y: [f32; N], finest: f32) -> [f32; N] {
        let mut points = Points::new(self, x, y);
        let (mut sum, mut weight) = ([0.0; N], [1.0_f32; N]);
        let (mut amplitude, mut total) = (1.0, 0.0);
        for octave in 0..self.max {
            if points.wavelength < finest {
                break;
            }
            let noise = points.noise(self.octave_seed(octave));
            for ((sum, weight), n) in sum.iter_mut().zip(&mut weight).zip(noise) {
                let n = 1.0 - n.abs();
                let n = n * n * *weight;
                *weight = (n * 1.8).clamp(0.0, 1.0);
                *sum += n * amplitude;
            }
            total += amplitude;
            amplitude *= self.gain;
            points.next_octave();
        }
        sum.map(|sum| sum / f32::max(total, 1e-6))
    }

    const fn octave_seed(self, octave: u32) -> u32 {
        self.seed.wrapping_add(octave * 0x9e37)
    }
}

/// Points in units of an octave's wavelength. Several at once take a fraction of the time: the compiler computes them side by side.
struct Points<const N: usize> {
    x: [f32; N],
    y: [f32; N],
    wavelength: f32,
}

impl<const N: usize> Points<N> {
    fn new(octaves: Octaves, x: [f32; N], y: [f32; N]) -> Self {
        let wavelength = octaves.wavelength;
        Self { x: x.map(|x| x / wavelength), y: y.map(|y| y / wavelength), wavelength }
    }

    fn noise(&self, seed: u32) -> [f32; N] {
        vectorized(
            #[inline(always)]
            || {
                let mut noise = [0.0; N];
                for ((noise, x), y) in noise.iter_mut().zip(self.x).zip(self.y) {
                    *noise = gradient(x, y, seed);
                }
                noise
            },
        )
    }

    /// Half the wavelength, turned against the octave before.
    fn next_octave(&mut self) {
        self.wavelength *= 0.5;
        for (x, y) in self.x.iter_mut().zip(&mut self.y) {
            (*x, *y) = (1.6 * *x - 1.2 * *y + 17.3, 1.2 * *x + 1.6 * *y - 9.1);
        }
    }
}

/// A square texture that repeats; the side is a power of two texels.
#[derive(Clone, Debug)]
pub(crate) struct Tile<T> {
    mask: i32,
    shift: u32,
    texels: Vec<T>,
}

impl<T: Copy> Tile<T> {
    /// Fills a tile of `1 << shift` texels a side.
    pub(crate) fn new(shift: u32, mut texel: impl FnMut(i32, i32) -> T) -> Self {
        let side = 1_i32 << shift;
        let mut texels = Vec::with_capacity(1 << (2 * shift));
        for y in 0..side {
            texels.extend((0..side).map(|x| texel(x, y)));
        }
        Self { mask: side - 1, shift, texels }
    }

    #[inline]
    pub(crate) fn at(&self, x: i32, y: i32) -> T {
        self.texels[(((y & self.mask) << self.shift) | (x & self.mask)) as usize]
    }

    /// The texels of a row, which repeat.
    pub(crate) fn row(&self, y: i32) -> &[T] {
        &self.texels[((y & self.mask) as usize) << self.shift..][..1 << self.shift]
    }
}

impl Tile<f32> {
    /// Bilinear, in texels.
    #[inline]
    pub(crate) fn sample(&self, u: f32, v: f32) -> f32 {
        let ((x, fx), (y, fy)) = (cell(u), cell(v));
        lerp(
            lerp(self.at(x, y), self.at(x + 1, y), fx),
            lerp(self.at(x, y + 1), self.at(x + 1, y + 1), fx),
            fy,
        )
    }

    /// Rolling noise 0..1 (mean about 0.5) whose coarsest features are a `1 / cells` part of the side.
    pub(crate) fn rolling(shift: u32, cells: i32, octaves: u32, gain: f32, seed: u32) -> Self {
        let side = 1_usize << shift;
        let mut sums = vec![0.0_f32; side * side];
        let (mut total, mut amplitude, mut period) = (0.0, 1.0, cells);
        for octave in 0..octaves {
            Lattice::new(period, seed ^ (octave * 0x51ed)).add(amplitude, side, &mut sums);
            total += amplitude;
            amplitude *= gain;
            period *= 2;
        }
        let raw =
            Tile { mask: side as i32 - 1, shift, texels: sums.into_iter().map(|sum| sum / total).collect() };
        raw.levelled()
    }

    /// The same texture stretched so that its values use 0..1 with mean one half.
    fn levelled(mut self) -> Self {
        let count = self.texels.len() as f32;
        let mean = self.texels.iter().sum::<f32>() / count;
        let spread =
            (self.texels.iter().map(|v| (v - mean) * (v - mean)).sum::<f32>() / count).sqrt().max(1e-6);
        for v in &mut self.texels {
            *v = ((*v - mean) / spread * 0.19 + 0.5).clamp(0.0, 1.0);
        }
        self
    }
}

impl Tile<Color> {
    /// Bilinear, in texels.
    #[inline]
    pub(crate) fn sample(&self, u: f32, v: f32) -> Color {
        let ((x, fx), (y, fy)) = (cell(u), cell(v));
        mix(mix(self.at(x, y), self.at(x + 1, y), fx), mix(self.at(x, y + 1), self.at(x + 1, y + 1), fx), fy)
    }
}

/// Gradient noise that repeats after `period` cells, with the gradients of all its points: each of them is used by many texels.
struct Lattice {
    period: usize,
    gradients: Vec<[f32; 2]>,
}

impl Lattice {
    fn new(period: i32, seed: u32) -> Self {
        let gradient_at = |x: i32, y: i32| [corner(x, y, seed, 1.0, 0.0), corner(x, y, seed, 0.0, 1.0)];
        let gradients = (0..period).flat_map(|y| (0..period).map(move |x| gradient_at(x, y))).collect();
        Self { period: period as usize, gradients }
    }

    /// Adds the noise times `amplitude` to a square of `side` texels, which it fills once.
    fn add(&self, amplitude: f32, side: usize, texels: &mut [f32]) {
        let scale = self.period as f32 / side as f32;
        // For each position along a side: the cell, the next one, the place in the cell and its weight.
        let positions: Vec<(usize, usize, f32, f32)> = (0..side)
            .map(|i| {
                let position = i as f32 * scale;
                let cell = floor(position);
                let f = position - cell as f32;
                let cell = cell as usize;
                (cell % self.period, (cell + 1) % self.period, f, f * f * f * (f * (f * 6.0 - 15.0) + 10.0))
            })
            .collect();
        let row = |y: usize| &self.gradients[y * self.period..][..self.period];
        let dot = |[gx, gy]: [f32; 2], dx: f32, dy: f32| gx * dx + gy * dy;
        for (line, (y0, y1, fy, sy)) in texels.chunks_exact_mut(side).zip(&positions) {
            let (upper, lower) = (row(*y0), row(*y1));
            for (texel, (x0, x1, fx, sx)) in line.iter_mut().zip(&positions) {
                let a = lerp(dot(upper[*x0], *fx, *fy), dot(upper[*x1], *fx - 1.0, *fy), *sx);
                let b = lerp(dot(lower[*x0], *fx, *fy - 1.0), dot(lower[*x1], *fx - 1.0, *fy - 1.0), *sx);
                *texel += lerp(a, b, *sy) * amplitude;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn tiles_repeat_seamlessly() {
        let tile = Tile::rolling(6, 4, 4, 0.5, 7);
        for y in 0..64 {
            let across = (tile.at(63, y) - tile.at(64, y)).abs();
            assert!(across < 0.25, "a jump of {across} at row {y}");
        }
        assert!((tile.sample(3.5, 9.25) - tile.sample(67.5, -54.75)).abs() < 1e-4);
    }

    #[test]
    fn streams_are_independent_and_repeatable() {
        let take = |seed, stream| Rng::new(seed, stream).next();
        assert_eq!(take(1, "sky"), take(1, "sky"));
        assert_ne!(take(1, "sky"), take(1, "sea"));
        assert_ne!(take(1, "sky"), take(2, "sky"));
    }

    #[test]
    fn noise_stays_in_range_and_varies() {
        let values: Vec<f32> = (0..4000)
            .flat_map(|i| Octaves::new(3, 40.0, 6).rolling([i as f32 * 1.7], [i as f32 * 0.9], 0.1))
            .collect();
        let low = values.iter().copied().fold(f32::INFINITY, f32::min);
        let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        assert!(low < -0.4 && high > 0.4 && low > -1.6 && high < 1.6, "{low}..{high}");
    }
}
