//! Rooms, engines, wheels on rails, voices without words.

use std::f32::consts::{PI, TAU};

use super::filter::{Band, Low, Wander, White, samples};
use super::{Mix, RATE};
use crate::procedural::noise::Rng;

/// The tone of a place in which nothing sounds: never digital silence.
pub(super) fn tone(mix: &mut Mix, level: f32, rng: &mut Rng) {
    for pan in [-0.5_f32, 0.5] {
        let mut white = White::new(rng);
        let (mut low, mut lower) = (Low::new(380.0), Low::new(140.0));
        for index in 0..mix.samples.len() {
            let noise = white.next();
            mix.add(index, (lower.next(low.next(noise)) * 1.2 + low.next(noise) * 0.05) * level, pan);
        }
    }
}

/// An engine: pulses through a low-pass, with the noise of tyres.
pub(super) fn engine(mix: &mut Mix, level: f32, rng: &mut Rng) {
    if level <= 0.0 {
        return;
    }
    let base = rng.range(46.0, 62.0);
    let (mut body, mut tyres) = (Low::new(420.0), Low::new(1_500.0));
    let mut white = White::new(rng);
    let mut unrest = Wander::new(0.7, rng);
    let mut phase = 0.0_f32;
    for index in 0..mix.samples.len() {
        phase = (phase + base * (0.94 + 0.12 * unrest.next()) / RATE as f32).fract();
        let pulse = 2.0 * phase - 1.0 + 0.5 * (TAU * phase * 2.0).sin();
        let value = body.next(pulse) * 0.42 + tyres.next(white.next()) * 0.12;
        mix.add(index, value * level, 0.0);
    }
}

/// Wheels over the joints of rails, in pairs.
pub(super) fn rails(mix: &mut Mix, level: f32, rng: &mut Rng) {
    if level <= 0.0 {
        return;
    }
    tone(mix, level * 1.4, rng);
    let seconds = mix.samples.len() as f32 / RATE as f32;
    let mut onset = rng.range(0.0, 0.5);
    while onset < seconds {
        for (delay, strength) in [(0.0, 1.0), (0.13, 0.8)] {
            let mut white = White::new(rng);
            let (mut thud, mut ring) = (Low::new(240.0), Band::default());
            let tuning = Band::tuning(1_150.0);
            let start = samples(onset + delay);
            for i in 0..samples(0.12) {
                let fall = (-(i as f32) / RATE as f32 * 44.0).exp();
                let noise = white.next() * fall;
                let value = thud.next(noise) * 1.5 + ring.next(noise, tuning, 0.3) * 0.10;
                mix.add(start + i, value * strength * level * 0.7, 0.0);
            }
        }
        onset += 0.72;
    }
}

/// Voices without words: syllables of a buzz through two moving formants. `voices` of them; one pauses between phrases.
pub(super) fn murmur(mix: &mut Mix, voices: u32, level: f32, rng: &mut Rng) {
    let seconds = mix.samples.len() as f32 / RATE as f32;
    for voice in 0..voices {
        let mut rng = Rng::new(rng.next(), "voice");
        let pitch = rng.range(95.0, 215.0);
        let pan = if voices == 1 { 0.0 } else { rng.range(-0.8, 0.8) };
        let strength = level / (voices as f32).sqrt();
        let mut onset = if voice == 0 { 0.35 } else { rng.range(0.0, 1.2) };
        let (mut first, mut second) = (Band::default(), Band::default());
        while onset < seconds {
            let syllables = 3 + (rng.next() % 6) as usize;
            for syllable in 0..syllables {
                let length = rng.range(0.11, 0.21);
                let (low, high) = (rng.range(300.0, 760.0), rng.range(950.0, 2_100.0));
                // Sentences fall.
                let tone = pitch * (1.12 - 0.22 * syllable as f32 / syllables as f32) * rng.range(0.96, 1.05);
                let (start, count) = (samples(onset), samples(length));
                let mut phase = 0.0_f32;
                for i in 0..count {
                    phase = (phase + tone / RATE as f32).fract();
                    let buzz = (1.0 - 2.0 * phase) * 0.5;
                    let envelope = (PI * i as f32 / count as f32).sin();
                    let value = first.next(buzz, Band::tuning(low), 0.25) * 0.5
                        + second.next(buzz, Band::tuning(high), 0.2) * 0.18;
                    mix.add(start + i, value * envelope * strength, pan);
                }
                onset += length * rng.range(0.85, 1.1);
            }
            onset += rng.range(0.3, 0.9);
        }
    }
}
