//! Slow chords and sparse single notes, in a key chosen by the seed.

use super::filter::{Low, Turn, samples};
use super::{Mix, Mood, RATE};
use crate::procedural::noise::Rng;

/// Semitones above the root for each chord of a mood.
const fn progressions(mood: Mood) -> [[[i32; 4]; 3]; 2] {
    match mood {
        Mood::Warm => [
            [[0, 7, 14, 16], [-3, 4, 12, 16], [5, 9, 12, 19]],
            [[0, 4, 11, 19], [5, 9, 16, 19], [-3, 7, 12, 16]],
        ],
        Mood::Bright => [
            [[0, 7, 14, 19], [7, 11, 14, 21], [5, 12, 16, 19]],
            [[0, 4, 14, 19], [2, 9, 14, 18], [7, 14, 16, 21]],
        ],
        Mood::Grave => [
            [[0, 7, 12, 15], [-4, 3, 12, 15], [-2, 5, 10, 14]],
            [[0, 7, 10, 15], [5, 8, 12, 15], [-5, 2, 10, 14]],
        ],
        Mood::Tense => [
            [[0, 7, 13, 15], [-4, 3, 8, 15], [1, 8, 12, 13]],
            [[0, 6, 12, 15], [-2, 5, 13, 15], [-4, 6, 8, 15]],
        ],
    }
}

const fn scale(mood: Mood) -> [i32; 5] {
    match mood {
        Mood::Warm | Mood::Bright => [0, 2, 4, 7, 9],
        Mood::Grave | Mood::Tense => [0, 3, 5, 7, 10],
    }
}

fn pitch(root: f32, semitones: i32) -> f32 {
    root * (semitones as f32 / 12.0).exp2()
}

const CHORD_SECONDS: f32 = 4.0;

/// Adds chords under the whole sound, and sparse notes over them.
pub(super) fn chords(mix: &mut Mix, mood: Mood, rng: &mut Rng) {
    let root = 98.0 * ((rng.next() % 9) as f32 / 12.0).exp2();
    let progression = rng.pick(&progressions(mood));
    let seconds = mix.samples.len() as f32 / RATE as f32;
    let mut pads = Rng::new(rng.next(), "pads");
    // Of equal length in every shot, so that they go on in one that continues it.
    for index in 0..(seconds / CHORD_SECONDS).ceil().max(1.0) as usize {
        let chord = progression[index % progression.len()];
        pad(mix, index as f32 * CHORD_SECONDS, CHORD_SECONDS, chord.map(|s| pitch(root, s)), &mut pads);
    }
    let notes = scale(mood);
    let mut onset = rng.range(0.5, 1.2);
    let mut degree = rng.next() as usize % 5;
    while onset < seconds {
        let octave = if rng.chance(0.3) { 24 } else { 12 };
        note(mix, onset, pitch(root, notes[degree] + octave), rng.range(0.4, 1.0), rng.range(-0.4, 0.4));
        degree = (degree + rng.pick(&[1, 1, 2, 3, 4])) % 5;
        onset += rng.pick(&[0.6_f32, 0.9, 1.2, 1.2, 1.8]);
    }
}

/// A chord of soft strings, overlapping its neighbours.
fn pad(mix: &mut Mix, onset: f32, length: f32, pitches: [f32; 4], rng: &mut Rng) {
    let (attack, release) = (1.1_f32.min(length * 0.4), 1.3);
    let start = samples(onset);
    for (voice, hertz) in pitches.into_iter().enumerate() {
        for (detune, pan) in [(0.9985, -0.5), (1.0017, 0.5)] {
            let mut tones = [1.0, 2.0, 3.0].map(|k| Turn::new(hertz * detune * k, rng.unit()));
            let mut soft = Low::new(900.0);
            for i in 0..samples(length + release) {
                let time = i as f32 / RATE as f32;
                let rise = (time / attack).min(1.0);
                let fall = ((length + release - time) / release).clamp(0.0, 1.0);
                let envelope = rise * rise * (3.0 - 2.0 * rise) * fall * fall;
                let [a, b, c] = &mut tones;
                let value = soft.next(a.next() + 0.38 * b.next() + 0.16 * c.next());
                mix.add(start + i, value * envelope * if voice == 0 { 0.052 } else { 0.036 }, pan);
            }
        }
    }
}

/// One struck note, felt on strings.
fn note(mix: &mut Mix, onset: f32, hertz: f32, strength: f32, pan: f32) {
    let start = samples(onset);
    let mut tones = [1.0, 2.002, 3.008].map(|k| Turn::new(hertz * k, 0.0));
    for i in 0..samples(2.6) {
        let time = i as f32 / RATE as f32;
        let attack = (time / 0.014).min(1.0);
        let [a, b, c] = &mut tones;
        let value = a.next() * (-time * 1.9).exp()
            + b.next() * 0.3 * (-time * 3.6).exp()
            + c.next() * 0.1 * (-time * 6.0).exp();
        mix.add(start + i, value * attack * strength * 0.075, pan);
    }
}
