//! Ducking: music gets quieter while somebody speaks. Speech is known before anything is mixed, so the level falls before it begins.

use std::ops::Range;

use crate::audio_buffer::AudioBuffer;

/// The level falls within this time, so that it is low where speech begins.
const ATTACK_SECONDS: f64 = 0.150;
/// The level rises within this time after speech.
const RELEASE_SECONDS: f64 = 0.400;
/// Pauses up to this length do not raise the level.
const HOLD_SECONDS: f64 = 0.300;
/// Speech is what is louder than this, as an amplitude: -40 dBFS.
const THRESHOLD: f32 = 0.01;
/// The time over which the level of a voice is measured.
const BLOCK_SECONDS: f64 = 0.010;

/// The level of music over a film.
pub(super) struct Ducking {
    /// Speech in sample frames of the film: in order, with pauses longer than the level takes to rise and fall apart from each other
    /// or not at all.
    speech: Vec<Range<usize>>,
    /// Decibels of the lowest level; negative.
    decibels: f32,
    attack: usize,
    release: usize,
}

impl Ducking {
    /// `level` is the factor of the amplitude while somebody speaks.
    pub(super) fn new(speech: Vec<Range<usize>>, level: f32, sample_rate: u32) -> Self {
        let frames = |seconds: f64| (f64::from(sample_rate) * seconds).max(1.0) as usize;
        let hold = frames(HOLD_SECONDS);
        let decibels = 20.0 * level.clamp(1e-5, 1.0).log10();
        let speech = if level < 1.0 { merged(speech, hold) } else { Vec::new() };
        Self { speech, decibels, attack: frames(ATTACK_SECONDS), release: frames(RELEASE_SECONDS) }
    }

    /// The factor of the amplitude at a sample frame of the film.
    pub(super) fn level(&self, frame: usize) -> f32 {
        // The first that ends after it.
        let next = self.speech.partition_point(|range| range.end <= frame);
        let share_before = match self.speech.get(next) {
            Some(range) if range.start <= frame => return amplitude(self.decibels),
            Some(range) => 1.0 - (range.start - frame) as f32 / self.attack as f32,
            None => 0.0,
        };
        let share_after = match next.checked_sub(1).and_then(|last| self.speech.get(last)) {
            Some(range) => 1.0 - (frame - range.end) as f32 / self.release as f32,
            None => 0.0,
        };
        let share = share_before.max(share_after);
        if share <= 0.0 { 1.0 } else { amplitude(self.decibels * share) }
    }
}

fn amplitude(decibels: f32) -> f32 {
    10_f32.powf(decibels / 20.0)
}

/// When a voice is heard, in sample frames of its sound.
pub(super) fn spoken(sound: &AudioBuffer, gain: f32, sample_rate: u32) -> Vec<Range<usize>> {
    let channels = usize::from(sound.channels.max(1));
    let block = ((f64::from(sample_rate) * BLOCK_SECONDS) as usize).max(1);
    let frames = sound.samples.len() / channels;
    let is_loud = |samples: &[f32]| {
        let power = samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len().max(1) as f32;
        power.sqrt() * gain > THRESHOLD
    };
    let blocks = sound.samples.chunks(block * channels).enumerate();
    let loud = blocks.filter(|(_, samples)| is_loud(samples));
    let ranges = loud.map(|(index, _)| index * block..((index + 1) * block).min(frames)).collect();
    merged(ranges, block)
}

/// In order, with those that are at most `pause` apart as one.
fn merged(mut ranges: Vec<Range<usize>>, pause: usize) -> Vec<Range<usize>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(pause) => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_is_low_while_somebody_speaks() {
        // At 1000 frames per second: attack 150, release 400, hold 300.
        let ducking = Ducking::new(vec![3_000..3_500, 1_000..2_000, 2_200..2_400], 0.25, 1_000);
        let level = |frame| (ducking.level(frame) * 100.0).round() as u32;
        assert_eq!((level(0), level(849)), (100, 100));
        assert_eq!((level(925), level(1_000), level(2_399)), (50, 25, 25));
        assert_eq!(level(2_100), 25, "a pause");
        assert_eq!((level(2_600), level(2_805)), (50, 100));
        assert_eq!((level(3_499), level(3_900), level(100_000)), (25, 100, 100));
        let none = Ducking::new(vec![0..10, 900..910], 1.0, 1_000);
        assert_eq!(none.level(5).to_bits(), 1.0_f32.to_bits());
    }

    #[test]
    fn level_does_not_jump() {
        let ducking = Ducking::new(vec![500..600, 1_000..1_100], 0.1, 1_000);
        let levels: Vec<f32> = (0..2_000).map(|frame| ducking.level(frame)).collect();
        let largest = levels.windows(2).map(|pair| (pair[0] - pair[1]).abs()).fold(0.0, f32::max);
        assert!(largest < 0.02, "{largest}");
    }

    #[test]
    fn spoken_is_what_is_loud() {
        let mut samples = vec![0.001; 1_000];
        samples[200..300].fill(0.2);
        samples[600..605].fill(0.5);
        let sound = AudioBuffer { sample_rate: 1_000, channels: 1, samples };
        assert_eq!(spoken(&sound, 1.0, 1_000), [200..300, 600..610]);
        assert!(spoken(&sound, 0.01, 1_000).is_empty());
    }
}
