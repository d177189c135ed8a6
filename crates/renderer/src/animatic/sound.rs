//! The sound: a soft bed of what the prompt names, a murmur where somebody speaks, and a tick on each beat.

use media::AudioBuffer;

use super::numbers::{Rng, ease, lerp, wave};

/// Samples per second and channel.
pub const RATE: u32 = 48_000;

/// A sound that lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bed {
    Rain,
    Wind,
    Sea,
    City,
    /// Nothing is heard but what is said.
    Silence,
}

impl Bed {
    /// The sound of a name in the table of words.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "rain" | "storm" => Some(Self::Rain),
            "wind" => Some(Self::Wind),
            "sea" => Some(Self::Sea),
            "city" => Some(Self::City),
            "silence" => Some(Self::Silence),
            _ => None,
        }
    }

    fn level(self) -> f32 {
        match self {
            Self::Rain => 0.10,
            Self::Wind => 0.14,
            Self::Sea => 0.16,
            Self::City => 0.12,
            Self::Silence => 0.0,
        }
    }
}

/// What is to be heard in a shot.
#[derive(Clone, Debug, Default)]
pub(super) struct Score {
    pub(super) beds: Vec<Bed>,
    /// When each beat begins, in seconds.
    pub(super) ticks: Vec<f32>,
    /// From when to when somebody speaks.
    pub(super) speech: Vec<(f32, f32)>,
}

/// Fades at the ends, in seconds: cuts do not click.
const FADE: f32 = 0.03;
/// How loud the bed is below reference audio and speech.
const DUCKED: f32 = 0.4;
/// The highest peak.
const PEAK: f32 = 0.9;

impl Score {
    /// The sound track: one channel of so many samples.
    pub(super) fn play(&self, samples: usize, reference: Option<&AudioBuffer>, rng: &mut Rng) -> Vec<f32> {
        let mut track = vec![0.0; samples];
        if !self.beds.contains(&Bed::Silence) {
            for bed in &self.beds {
                lay_bed(*bed, &mut track, rng);
            }
        }
        let reference = reference.filter(|audio| audio.sample_rate == RATE && !audio.samples.is_empty());
        if reference.is_some() {
            for sample in &mut track {
                *sample *= DUCKED;
            }
        }
        for (from, until) in &self.speech {
            murmur(*from, *until, &mut track, rng);
        }
        for tick in &self.ticks {
            lay_tick(*tick, &mut track);
        }
        if let Some(reference) = reference {
            lay_reference(reference, &mut track);
        }
        finish(&mut track);
        track
    }
}

/// Noise through filters that move slowly.
fn lay_bed(bed: Bed, track: &mut [f32], rng: &mut Rng) {
    let (phase, level) = (rng.unit(), bed.level());
    let (mut low, mut lower, mut high) = (0.0_f32, 0.0_f32, 0.0_f32);
    let (mut gain, mut cutoff) = (0.0, 0.0);
    for (index, sample) in track.iter_mut().enumerate() {
        // What changes slowly is computed a hundred times a second.
        if index % (RATE as usize / 100) == 0 {
            let time = index as f32 / RATE as f32;
            let swell = |pace: f32| 0.5 + 0.5 * wave(time * pace + phase);
            (gain, cutoff) = match bed {
                Bed::Rain => (lerp(0.9, 1.0, swell(0.4)), 0.55),
                Bed::Wind => (lerp(0.45, 1.0, swell(0.23) * swell(0.11)), lerp(0.02, 0.05, swell(0.17))),
                Bed::Sea => (lerp(0.3, 1.0, swell(0.13) * swell(0.13)), lerp(0.04, 0.13, swell(0.13))),
                Bed::City => (lerp(0.8, 1.0, swell(0.19)), 0.012),
                Bed::Silence => (0.0, 0.0),
            };
        }
        let noise = rng.unit() * 2.0 - 1.0;
        low += (noise - low) * cutoff;
        lower += (low - lower) * cutoff;
        high += (noise - high) * 0.08;
        let voice = match bed {
            Bed::Rain => (noise - high) * 0.35 + lower * 0.2,
            Bed::Wind => lower * 5.0,
            Bed::Sea => lower * 2.2,
            Bed::City => lower * 9.0,
            Bed::Silence => 0.0,
        };
        *sample += voice * gain * level;
    }
}

/// Syllables without words: a tone with a vowel's color, which rises and falls as a voice does.
fn murmur(from: f32, until: f32, track: &mut [f32], rng: &mut Rng) {
    let (mut at, pitch) = (from, rng.between(110.0, 190.0));
    while at + 0.12 < until {
        let length = rng.between(0.11, 0.24);
        let (tone, bright) = (pitch * rng.between(0.88, 1.16), rng.between(2.0, 5.0));
        let begin = (at * RATE as f32) as usize;
        let count = (length * RATE as f32) as usize;
        for (index, sample) in track.iter_mut().skip(begin).take(count).enumerate() {
            let time = index as f32 / RATE as f32;
            let shape = ease(0.0, 0.03, time) * ease(0.0, 0.06, length - time);
            let turns = time * tone;
            let voice = wave(turns) + 0.5 * wave(turns * 2.0) + 0.3 * wave(turns * bright.floor());
            *sample = *sample * lerp(1.0, 0.7, shape) + voice * shape * 0.055;
        }
        // A pause after some words.
        at += length + if rng.unit() < 0.18 { rng.between(0.15, 0.35) } else { 0.02 };
    }
}

fn lay_tick(at: f32, track: &mut [f32]) {
    let begin = (at * RATE as f32) as usize;
    let mut decay = 1.0_f32;
    for (index, sample) in track.iter_mut().skip(begin).take(RATE as usize / 25).enumerate() {
        let time = index as f32 / RATE as f32;
        *sample += wave(time * 1_400.0) * decay * ease(0.0, 0.002, time) * 0.05;
        decay *= 0.9975;
    }
}

/// In front of everything: cut where it is longer, repeated where it is shorter.
fn lay_reference(reference: &AudioBuffer, track: &mut [f32]) {
    const LEVEL: f32 = 0.12;
    const MAX_GAIN: f32 = 8.0;
    let channels = usize::from(reference.channels.max(1));
    let mono: Vec<f32> = reference
        .samples
        .chunks_exact(channels)
        .take(track.len())
        .map(|frame| frame.iter().sum::<f32>() / channels as f32)
        .collect();
    if mono.is_empty() {
        return;
    }
    let square = mono.iter().map(|sample| sample * sample).sum::<f32>() / mono.len() as f32;
    let gain = (LEVEL / square.sqrt().max(1e-6)).min(MAX_GAIN);
    let (total, fade) = (track.len(), (FADE * RATE as f32).min(mono.len() as f32 / 2.0).max(1.0));
    for (index, sample) in track.iter_mut().enumerate() {
        let (turn, offset) = (index / mono.len(), index % mono.len());
        let end = mono.len().min(total - turn * mono.len());
        let shape = ((offset as f32 + 0.5) / fade).min((end - offset) as f32 / fade).min(1.0);
        *sample += mono[offset] * gain * shape;
    }
}

/// Fades at the ends, and no peak above the limit.
fn finish(track: &mut [f32]) {
    let (count, peak) = (track.len(), track.iter().fold(0.0_f32, |peak, sample| peak.max(sample.abs())));
    let gain = if peak > PEAK { PEAK / peak } else { 1.0 };
    let fade = FADE * RATE as f32;
    for (index, sample) in track.iter_mut().enumerate() {
        let edge = index.min(count - 1 - index) as f32;
        *sample *= gain * (edge / fade).min(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loudness(track: &[f32]) -> f32 {
        (track.iter().map(|sample| sample * sample).sum::<f32>() / track.len() as f32).sqrt()
    }

    fn played(beds: &[Bed]) -> Vec<f32> {
        let score = Score { beds: beds.to_vec(), ..Score::default() };
        score.play(RATE as usize * 2, None, &mut Rng::new(1))
    }

    #[test]
    fn beds_are_heard_and_silence_is_not() {
        for bed in [Bed::Rain, Bed::Wind, Bed::Sea, Bed::City] {
            let level = loudness(&played(&[bed]));
            assert!((0.004..0.08).contains(&level), "{bed:?}: {level}");
        }
        for silent in [&[Bed::Rain, Bed::Silence][..], &[]] {
            assert!(played(silent).iter().all(|sample| sample.abs() < f32::EPSILON));
        }
    }

    #[test]
    fn beats_speech_and_reference_are_where_they_belong() {
        let score = Score { ticks: vec![0.5], speech: vec![(1.0, 1.8)], ..Score::default() };
        let track = score.play(RATE as usize * 2, None, &mut Rng::new(1));
        let part =
            |from: f32, to: f32| loudness(&track[(from * RATE as f32) as usize..(to * RATE as f32) as usize]);
        assert!(
            part(0.0, 0.45) == 0.0
                && part(0.5, 0.54) > 0.005
                && part(1.0, 1.8) > 0.01
                && part(1.85, 2.0) == 0.0
        );
        let tone = AudioBuffer { sample_rate: RATE, channels: 2, samples: vec![0.3; RATE as usize] };
        let track = Score::default().play(RATE as usize * 2, Some(&tone), &mut Rng::new(1));
        assert!((loudness(&track) - 0.12).abs() < 0.02, "{}", loudness(&track));
    }
}
