//! Building blocks: white noise, filters, slow random modulation, oscillators.

use std::f32::consts::TAU;

use super::RATE;
use crate::procedural::noise::Rng;

/// Cheap white noise, -1..1.
pub(super) struct White(u32);

impl White {
    pub(super) fn new(rng: &mut Rng) -> Self {
        Self(rng.next() as u32 | 1)
    }

    #[inline]
    pub(super) fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        (self.0 as i32) as f32 / 2_147_483_648.0
    }
}

/// A first-order low-pass.
#[derive(Clone, Copy)]
pub(super) struct Low {
    share: f32,
    state: f32,
}

impl Low {
    pub(super) fn new(hertz: f32) -> Self {
        Self { share: 1.0 - (-TAU * hertz / RATE as f32).exp(), state: 0.0 }
    }

    #[inline]
    pub(super) fn next(&mut self, input: f32) -> f32 {
        self.state += (input - self.state) * self.share;
        self.state
    }
}

/// A resonant band-pass whose centre may move.
#[derive(Clone, Copy, Default)]
pub(super) struct Band {
    low: f32,
    band: f32,
}

impl Band {
    /// `tuning` is from [`Band::tuning`]; `damping` 0.1 rings, 1 is broad.
    #[inline]
    pub(super) fn next(&mut self, input: f32, tuning: f32, damping: f32) -> f32 {
        self.low += tuning * self.band;
        let high = input - self.low - damping * self.band;
        self.band += tuning * high;
        self.band
    }

    pub(super) fn tuning(hertz: f32) -> f32 {
        2.0 * (std::f32::consts::PI * hertz / RATE as f32).sin()
    }
}

/// Smooth random modulation, 0..1, with a frequency of about `hertz`.
pub(super) struct Wander {
    rng: Rng,
    from: f32,
    to: f32,
    position: f32,
    step: f32,
}

impl Wander {
    pub(super) fn new(hertz: f32, rng: &mut Rng) -> Self {
        let mut rng = Rng::new(rng.next(), "wander");
        let (from, to) = (rng.unit(), rng.unit());
        Self { position: rng.unit(), rng, from, to, step: hertz / RATE as f32 }
    }

    #[inline]
    pub(super) fn next(&mut self) -> f32 {
        self.position += self.step;
        if self.position >= 1.0 {
            self.position -= 1.0;
            self.from = self.to;
            self.to = self.rng.unit();
        }
        let s = self.position * self.position * (3.0 - 2.0 * self.position);
        self.from + (self.to - self.from) * s
    }
}

/// A sine oscillator by complex rotation.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    re: f32,
    im: f32,
    cos: f32,
    sin: f32,
}

impl Turn {
    pub(super) fn new(hertz: f32, phase: f32) -> Self {
        let (sin, cos) = (TAU * hertz / RATE as f32).sin_cos();
        let (im, re) = (TAU * phase).sin_cos();
        Self { re, im, cos, sin }
    }

    #[inline]
    pub(super) fn next(&mut self) -> f32 {
        let re = self.re * self.cos - self.im * self.sin;
        let im = self.re * self.sin + self.im * self.cos;
        // Rounding would let it grow or die over minutes.
        let normalization = 1.5 - 0.5 * (re * re + im * im);
        self.re = re * normalization;
        self.im = im * normalization;
        self.im
    }
}

pub(super) fn samples(seconds: f32) -> usize {
    (seconds.max(0.0) * RATE as f32) as usize
}
