//! Crickets, birds, gulls, footsteps, traffic, the fog horn.

use std::f32::consts::{PI, TAU};

use super::filter::{Band, Low, Turn, Wander, White, samples};
use super::{Mix, RATE};
use crate::procedural::noise::Rng;

fn seconds(mix: &Mix) -> f32 {
    mix.samples.len() as f32 / RATE as f32
}

/// A few crickets, each with its own pitch, beat and place.
pub(super) fn crickets(mix: &mut Mix, level: f32, rng: &mut Rng) {
    if level <= 0.0 {
        return;
    }
    for _ in 0..5 {
        let (pan, pitch) = (rng.range(-0.9, 0.9), rng.range(3900.0, 4900.0));
        let (every, offset, strength) = (rng.range(0.42, 0.75), rng.unit(), rng.range(0.3, 1.0));
        let mut tone = Turn::new(pitch, 0.0);
        for index in 0..mix.samples.len() {
            let time = index as f32 / RATE as f32;
            let beat = (time / every + offset).fract() * every;
            let value = tone.next();
            if beat < 0.105 {
                let pulse = (PI * (beat / 0.035).fract()).sin().powi(2);
                mix.add(index, value * pulse * strength * level * 0.045, pan);
            }
        }
    }
}

/// Songbirds: short phrases of gliding whistles.
pub(super) fn songbirds(mix: &mut Mix, level: f32, rng: &mut Rng) {
    if level <= 0.0 {
        return;
    }
    let mut onset = rng.range(0.2, 0.9);
    while onset < seconds(mix) {
        let (pan, base, strength) = (rng.range(-0.9, 0.9), rng.range(2300.0, 4300.0), rng.range(0.25, 1.0));
        let notes = 2 + (rng.next() % 5) as usize;
        let mut start = onset;
        for _ in 0..notes {
            let (length, from, to) = (rng.range(0.05, 0.13), rng.range(0.85, 1.2), rng.range(0.8, 1.3));
            glide(mix, start, length, (base * from, base * to), strength * level * 0.06, pan);
            start += length + rng.range(0.015, 0.07);
        }
        onset = start + rng.range(0.3, 1.5) / level.max(0.2) * 0.5;
    }
}

fn glide(mix: &mut Mix, onset: f32, length: f32, (from, to): (f32, f32), level: f32, pan: f32) {
    let (start, count) = (samples(onset), samples(length));
    let mut phase = 0.0_f32;
    for i in 0..count {
        let share = i as f32 / count as f32;
        phase = (phase + (from + (to - from) * share) / RATE as f32).fract();
        let envelope = (PI * share).sin().powi(2);
        mix.add(start + i, (TAU * phase).sin() * envelope * level, pan);
    }
}

/// Gulls, near and far.
pub(super) fn gulls(mix: &mut Mix, level: f32, rng: &mut Rng) {
    if level <= 0.0 {
        return;
    }
    let mut onset = rng.range(0.4, 1.6);
    while onset < seconds(mix) {
        let (pan, base, strength) = (rng.range(-0.8, 0.8), rng.range(820.0, 1080.0), rng.range(0.3, 1.0));
        let calls = 1 + (rng.next() % 4) as usize;
        for call in 0..calls {
            let (start, count) = (samples(onset), samples(rng.range(0.22, 0.36)));
            let mut phase = 0.0_f32;
            for i in 0..count {
                let share = i as f32 / count as f32;
                let pitch = base * (0.82 + 0.36 * (PI * share.powf(0.6)).sin());
                phase = (phase + pitch / RATE as f32).fract();
                let voice =
                    (TAU * phase).sin() + 0.55 * (2.0 * TAU * phase).sin() + 0.35 * (3.0 * TAU * phase).sin();
                let envelope = (PI * share).sin().powf(1.5);
                mix.add(start + i, voice * envelope * strength * level * 0.05, pan);
            }
            onset += 0.34 + 0.03 * call as f32;
        }
        onset += rng.range(1.2, 3.6);
    }
}

/// Footsteps at a walker's cadence; `hardness` 0 is snow, 1 is stone.
pub(super) fn steps(mix: &mut Mix, cadence: f32, hardness: f32, rng: &mut Rng) {
    let every = 1.0 / cadence.max(0.5);
    let mut onset = every * 0.5;
    let mut side = 1.0_f32;
    while onset < seconds(mix) {
        let mut white = White::new(rng);
        let start = samples(onset + rng.range(-0.012, 0.012));
        let strength = rng.range(0.75, 1.05);
        let mut heel = Low::new(160.0 + 420.0 * hardness);
        let mut grit = Band::default();
        let tuning = Band::tuning(1500.0 + 1300.0 * hardness);
        for i in 0..samples(0.16) {
            let time = i as f32 / RATE as f32;
            let attack = (time / 0.003).min(1.0);
            let noise = white.next();
            let thud = heel.next(noise) * attack * (-time * (38.0 + 30.0 * hardness)).exp();
            let late = ((time - 0.03) / 0.01).clamp(0.0, 1.0) * (-(time - 0.03).max(0.0) * 42.0).exp();
            let crunch = grit.next(noise, tuning, 0.9)
                * (0.10 * late * (1.4 - hardness) + 0.08 * attack * (-time * 90.0).exp());
            mix.add(start + i, (thud * 0.55 + crunch) * strength * 0.42, side * 0.12);
        }
        side = -side;
        onset += every;
    }
}

/// A city: a low hum, and now and then a car that passes.
pub(super) fn traffic(mix: &mut Mix, level: f32, rng: &mut Rng) {
    if level <= 0.0 {
        return;
    }
    for pan in [-0.6_f32, 0.6] {
        let mut white = White::new(rng);
        let (mut low, mut lower) = (Low::new(260.0), Low::new(120.0));
        let mut unrest = Wander::new(0.5, rng);
        for index in 0..mix.samples.len() {
            let value = lower.next(low.next(white.next()));
            mix.add(index, value * level * 1.9 * (0.7 + 0.6 * unrest.next()), pan);
        }
    }
    let mut onset = rng.range(-0.5, 1.0);
    while onset < seconds(mix) {
        let (length, strength, direction) = (rng.range(1.8, 3.2), rng.range(0.3, 1.0), rng.sign());
        let mut white = White::new(rng);
        let (mut body, mut tyres) = (Low::new(420.0), Low::new(2400.0));
        let start = (onset * RATE as f32) as i64;
        let count = samples(length);
        for i in 0..count {
            let share = i as f32 / count as f32;
            let noise = white.next();
            let envelope = (PI * share).sin().powi(4);
            let value = body.next(noise) * 0.6 + tyres.next(noise) * 0.14;
            if let Ok(index) = usize::try_from(start + i as i64) {
                mix.add(
                    index,
                    value * envelope * strength * level * 0.5,
                    direction * (share * 2.0 - 1.0) * 0.9,
                );
            }
        }
        onset += rng.range(0.8, 2.6);
    }
}

/// One blast of a fog horn across the water.
pub(super) fn horn(mix: &mut Mix, onset: f32) {
    let (start, count) = (samples(onset), samples(2.3));
    let mut tones = [1.0_f32, 2.0, 3.0, 4.0, 5.01, 1.498].map(|k| Turn::new(92.5 * k, 0.0));
    let shares = [1.0_f32, 0.7, 0.42, 0.2, 0.1, 0.35];
    for i in 0..count {
        let share = i as f32 / count as f32;
        let envelope = (share / 0.12).min(1.0).powi(2) * ((1.0 - share) / 0.25).min(1.0).powi(2);
        let value: f32 = tones.iter_mut().zip(shares).map(|(tone, share)| tone.next() * share).sum();
        mix.add(start + i, value * envelope * 0.075, 0.2);
    }
}
