//! Water, wind, rain, thunder and fire from modulated filtered noise.

use std::f32::consts::TAU;

use super::filter::{Band, Low, Wander, White, samples};
use super::{Mix, RATE};
use crate::procedural::noise::Rng;

/// Waves running up a shore, one after the other.
pub(super) fn surf(mix: &mut Mix, level: f32, rng: &mut Rng) {
    if level <= 0.0 {
        return;
    }
    for pan in [-0.55_f32, 0.5] {
        let mut white = White::new(rng);
        let (mut deep, mut body, mut hiss) = (Low::new(170.0), Low::new(680.0), Low::new(5200.0));
        let period = rng.range(4.6, 7.2);
        let phase = rng.unit();
        let mut unrest = Wander::new(0.5, rng);
        for index in 0..mix.samples.len() {
            let time = index as f32 / RATE as f32;
            let swell = 0.5 + 0.5 * (TAU * (time / period + phase)).sin();
            let crash = swell * swell * swell;
            let late = (0.5 + 0.5 * (TAU * (time / period + phase - 0.09)).sin()).powi(6);
            let noise = white.next();
            let low = deep.next(noise) * 2.6;
            let mid = body.next(noise);
            let air = hiss.next(noise) - mid;
            let value = low * (0.35 + 0.65 * swell) + mid * (0.22 + 1.1 * crash) + air * (0.03 + 0.30 * late);
            mix.add(index, value * level * 0.34 * (0.8 + 0.4 * unrest.next()), pan);
        }
    }
}

/// Moments scattered over the whole sound, so many a second. A longer sound begins with those of a shorter one.
fn scattered(mix: &Mix, per_second: f32, rng: &mut Rng) -> Vec<f32> {
    let mut rng = Rng::new(rng.next(), "scattered");
    let seconds = mix.samples.len().div_ceil(RATE as usize);
    let moments = (0..seconds).flat_map(|second| (0..per_second as usize).map(move |_| second as f32));
    moments.map(|second| second + rng.unit()).collect()
}

/// Small waves against stone and wood.
pub(super) fn lapping(mix: &mut Mix, level: f32, rng: &mut Rng) {
    if level <= 0.0 {
        return;
    }
    let mut onset = rng.range(0.0, 0.4);
    let seconds = mix.samples.len() as f32 / RATE as f32;
    while onset < seconds {
        let (pan, pitch, length) = (rng.range(-0.8, 0.8), rng.range(260.0, 620.0), rng.range(0.12, 0.35));
        let mut white = White::new(rng);
        let mut band = Band::default();
        let (start, count) = (samples(onset), samples(length));
        for i in 0..count {
            let share = i as f32 / count as f32;
            let envelope = (std::f32::consts::PI * share).sin().powi(2);
            let value = band.next(white.next(), Band::tuning(pitch * (1.0 + 0.9 * share)), 0.35);
            mix.add(start + i, value * envelope * level * 0.16, pan);
        }
        onset += rng.range(0.12, 0.55);
    }
}

/// Wind that rises and falls, and whistles a little when it is strong.
pub(super) fn wind(mix: &mut Mix, level: f32, rng: &mut Rng) {
    if level <= 0.01 {
        return;
    }
    for pan in [-0.6_f32, 0.6] {
        let mut white = White::new(rng);
        let mut gust = Wander::new(0.42, rng);
        let mut flutter = Wander::new(2.3, rng);
        let mut low = Low::new(320.0);
        let (mut band, mut whistle) = (Band::default(), Band::default());
        let pitch = rng.range(420.0, 560.0);
        let (mut centre, mut high) = (Band::tuning(pitch), Band::tuning(pitch * 2.1));
        let mut strength = 0.0;
        for index in 0..mix.samples.len() {
            let g = gust.next();
            let f = flutter.next();
            if index % 32 == 0 {
                centre = Band::tuning(pitch * (0.6 + 0.8 * g));
                high = Band::tuning(pitch * (1.7 + 0.9 * g));
                strength = 0.3 + 0.7 * g * g;
            }
            let noise = white.next();
            let value = low.next(noise) * 0.9 + band.next(noise, centre, 0.5) * 0.16 * (0.7 + 0.6 * f);
            let edge = whistle.next(noise, high, 0.06) * 0.012 * g * level;
            mix.add(index, (value * strength + edge) * level * 0.55, pan);
        }
    }
}

/// A bed of rain with single drops in front.
pub(super) fn rain(mix: &mut Mix, level: f32, rng: &mut Rng) {
    if level <= 0.0 {
        return;
    }
    for pan in [-0.7_f32, 0.7] {
        let mut white = White::new(rng);
        let (mut low, mut top) = (Low::new(900.0), Low::new(7800.0));
        let mut unrest = Wander::new(0.7, rng);
        for index in 0..mix.samples.len() {
            let noise = white.next();
            let value = top.next(noise) - low.next(noise) * 0.8;
            mix.add(index, value * level * 0.14 * (0.85 + 0.3 * unrest.next()), pan);
        }
    }
    for onset in scattered(mix, 90.0 * level, rng) {
        let start = samples(onset);
        let (pan, pitch, strength) = (rng.range(-0.9, 0.9), rng.range(1400.0, 4800.0), rng.unit().powi(3));
        let mut tone = super::filter::Turn::new(pitch, 0.0);
        for i in 0..260 {
            let envelope = (-(i as f32) / 55.0).exp() * (i as f32 / 8.0).min(1.0);
            mix.add(start + i, tone.next() * envelope * strength * level * 0.10, pan);
        }
    }
}

/// One roll of thunder.
pub(super) fn thunder(mix: &mut Mix, onset: f32, rng: &mut Rng) {
    let start = samples(onset);
    let mut white = White::new(rng);
    let mut roll = Wander::new(7.0, rng);
    let pan = rng.range(-0.5, 0.5);
    let (mut deep, mut deeper, mut crack) = (Low::new(130.0), Low::new(75.0), Low::new(1600.0));
    for i in 0..samples(4.2) {
        let time = i as f32 / RATE as f32;
        let noise = white.next();
        let rumble = deeper.next(deep.next(noise))
            * (0.25 + 1.1 * roll.next())
            * (time / 0.08).min(1.0)
            * (-time * 0.95).exp();
        let snap = crack.next(noise) * (time / 0.012).min(1.0) * (-time * 9.0).exp();
        mix.add(start + i, rumble * 9.0 + snap * 0.5, pan);
    }
}

pub(super) fn fire(mix: &mut Mix, level: f32, rng: &mut Rng) {
    if level <= 0.0 {
        return;
    }
    let mut white = White::new(rng);
    let mut low = Low::new(240.0);
    let mut breath = Wander::new(2.0, rng);
    for index in 0..mix.samples.len() {
        mix.add(index, low.next(white.next()) * level * 0.5 * (0.5 + breath.next()), 0.0);
    }
    let mut white = White::new(rng);
    for onset in scattered(mix, 22.0, rng) {
        let start = samples(onset);
        let (pan, strength, length) = (rng.range(-0.5, 0.5), rng.unit().powi(4), rng.range(20.0, 90.0));
        for i in 0..400 {
            let envelope = (i as f32 / 4.0).min(1.0) * (-(i as f32) / length).exp();
            mix.add(start + i, white.next() * envelope * strength * level * 0.7, pan);
        }
    }
}
