//! Sound that is played slower or faster at its own pitch: overlap-add of segments that are moved a little, so that their waveforms fit
//! (WSOLA: W. Verhelst and M. Roelands, "An overlap-add technique based on waveform similarity", ICASSP 1993).
//!
//! The position of each segment follows from its place in the output, so that the sound never drifts from the frames: the middle of a
//! segment is off by the search radius at most.

use std::ops::Range;

use crate::audio_buffer::AudioBuffer;

/// The length of a segment in seconds: two periods of a low voice.
const SEGMENT_SECONDS: f64 = 0.030;
/// How far a segment may be moved, in seconds: half a period of a low voice.
const RADIUS_SECONDS: f64 = 0.008;
/// Waveforms are compared at a lower rate first, of so many samples in one.
const COARSE: usize = 4;

/// The sample frames `output` of a sound that is played at a speed. Frame 0 is the sound's first one; what lies outside of it is silent.
pub(super) fn stretched(sound: &AudioBuffer, speed: f64, output: Range<i64>) -> AudioBuffer {
    let rate = f64::from(sound.sample_rate);
    let half = ((SEGMENT_SECONDS * rate / 2.0) as i64).max(1);
    let radius = (RADIUS_SECONDS * rate) as i64;
    let channels = usize::from(sound.channels.max(1));
    let wave = Waveform::new(sound);
    let length = usize::try_from(output.end - output.start).unwrap_or(0);
    let mut samples = vec![0.0_f32; length * channels];
    // Segments begin at multiples of half their length: each sample lies in two of them, whose windows add up to one.
    let mut segment = output.start.div_euclid(half) - 1;
    let mut before: Option<i64> = None;
    while segment * half < output.end {
        let begin = segment * half;
        let nominal = ((begin + half) as f64 * speed).round() as i64 - half;
        let source = match before {
            // What would follow the last segment is what this one should be like.
            Some(last) => wave.most_similar(last + half, nominal, half as usize, radius),
            None => nominal,
        };
        before = Some(source);
        for offset in 0..2 * half {
            let (target, from) = (begin + offset, source + offset);
            let inside = output.contains(&target) && (0..sound.frames() as i64).contains(&from);
            if !inside {
                continue;
            }
            let phase = (offset as f32 + 0.5) / (2 * half) as f32;
            let weight = (phase * std::f32::consts::PI).sin().powi(2);
            let (target, from) = ((target - output.start) as usize * channels, from as usize * channels);
            for channel in 0..channels {
                samples[target + channel] += sound.samples[from + channel] * weight;
            }
        }
        segment += 1;
    }
    AudioBuffer { samples, ..*sound }
}

/// All channels as one, at two rates.
struct Waveform {
    fine: Vec<f32>,
    coarse: Vec<f32>,
}

impl Waveform {
    fn new(sound: &AudioBuffer) -> Self {
        let channels = usize::from(sound.channels.max(1));
        let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
        let fine: Vec<f32> = sound.samples.chunks_exact(channels).map(mean).collect();
        let coarse = fine.chunks(COARSE).map(mean).collect();
        Self { fine, coarse }
    }

    /// The position within `radius` of `nominal` from which `length` samples are most like those from `reference` on. Where several are,
    /// the nearest to `nominal`.
    fn most_similar(&self, reference: i64, nominal: i64, length: usize, radius: i64) -> i64 {
        let step = COARSE as i64;
        let coarse = best(
            &self.coarse,
            reference / step,
            nominal / step,
            length / COARSE,
            (-(radius / step)..=radius / step).map(|offset| nominal / step + offset),
        );
        let around = coarse * step;
        let near = (around - step..=around + step).filter(|position| (position - nominal).abs() <= radius);
        best(&self.fine, reference, nominal, length, near)
    }
}

/// The candidate whose samples correlate most with those from `reference` on, relative to their power.
fn best(
    wave: &[f32],
    reference: i64,
    nominal: i64,
    length: usize,
    candidates: impl Iterator<Item = i64>,
) -> i64 {
    let slice = |position: i64| {
        usize::try_from(position).ok().and_then(|position| wave.get(position..position + length))
    };
    let Some(reference) = slice(reference) else { return nominal };
    let mut best = (f32::MIN, i64::MAX, nominal);
    for position in candidates {
        let Some(candidate) = slice(position) else { continue };
        let (mut product, mut power) = (0.0_f32, 1e-9_f32);
        for (a, b) in reference.iter().zip(candidate) {
            product += a * b;
            power += b * b;
        }
        let (likeness, distance) = (product / power.sqrt(), (position - nominal).abs());
        if likeness > best.0 || (likeness >= best.0 && distance < best.1) {
            best = (likeness, distance, position);
        }
    }
    best.2
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u32 = 48_000;

    fn sound(seconds: f64, channels: u16, value: impl Fn(f64) -> f32) -> AudioBuffer {
        let frames = (seconds * f64::from(RATE)) as usize;
        let samples = (0..frames)
            .flat_map(|n| std::iter::repeat_n(value(n as f64 / f64::from(RATE)), usize::from(channels)))
            .collect();
        AudioBuffer { sample_rate: RATE, channels, samples }
    }

    fn sine(hertz: f64) -> impl Fn(f64) -> f32 {
        move |seconds| (seconds * hertz * std::f64::consts::TAU).sin() as f32 * 0.5
    }

    fn at_speed(sound: &AudioBuffer, speed: f64) -> AudioBuffer {
        stretched(sound, speed, 0..(sound.frames() as f64 / speed).round() as i64)
    }

    /// Rising passages through zero per second.
    fn pitch(samples: &[f32]) -> f64 {
        let rising = samples.windows(2).filter(|pair| pair[0] < 0.0 && pair[1] >= 0.0).count();
        rising as f64 / samples.len() as f64 * f64::from(RATE)
    }

    #[test]
    fn pitch_and_level_stay_at_every_speed() {
        for hertz in [110.0, 440.0, 1_000.0] {
            let tone = sound(2.0, 1, sine(hertz));
            for speed in [0.25, 0.5, 0.8, 1.25, 1.5, 2.0, 4.0] {
                let played = at_speed(&tone, speed);
                assert_eq!(played.frames(), (f64::from(2 * RATE) / speed) as usize);
                // Nothing follows the last segments.
                let margin = (2_000.0 / speed.min(1.0)) as usize;
                let middle = &played.samples[margin..played.frames() - margin];
                assert!(
                    (pitch(middle) / hertz - 1.0).abs() < 0.02,
                    "{hertz} Hz at {speed}: {}",
                    pitch(middle)
                );
                for piece in middle.chunks_exact(960) {
                    let power: f32 = piece.iter().map(|sample| sample * sample).sum::<f32>() / 960.0;
                    let level = 10.0 * (power / 0.125).log10();
                    assert!(level.abs() < 1.0, "{hertz} Hz at {speed}: {level} dB");
                }
            }
        }
    }

    #[test]
    fn sound_stays_with_its_frames() {
        // Bursts of 20 ms every half second: each is where its frame is, to within a film frame.
        let bursts = sound(4.0, 1, |seconds| if seconds % 0.5 < 0.02 { sine(700.0)(seconds) } else { 0.0 });
        for speed in [0.4, 0.5, 1.3, 2.0] {
            let played = at_speed(&bursts, speed);
            for number in 1..8 {
                let expected = f64::from(number) * 0.5 / speed;
                let from = ((expected - 0.1 / speed) * f64::from(RATE)) as usize;
                let begins = played.samples[from..].iter().position(|sample| sample.abs() > 0.05).unwrap();
                let off = (from + begins) as f64 / f64::from(RATE) - expected;
                assert!(off.abs() < 1.0 / 24.0, "burst {number} at {speed}: {off} s");
            }
        }
    }

    #[test]
    fn channels_stay_together_and_parts_are_those_of_the_whole() {
        let stereo = sound(1.0, 2, |seconds| sine(300.0)(seconds) + sine(523.0)(seconds));
        let played = at_speed(&stereo, 0.7);
        assert!(played.samples.chunks_exact(2).all(|pair| pair[0].to_bits() == pair[1].to_bits()));
        let before = stretched(&stereo, 0.7, -4_000..-2_000);
        assert!(before.samples.iter().all(|sample| *sample == 0.0), "silent before it begins");
        let beyond = stretched(&stereo, 2.0, 30_000..31_000);
        assert!(beyond.samples.iter().all(|sample| *sample == 0.0), "silent after its end");
    }

    #[test]
    fn silence_and_short_sounds_are_played() {
        for seconds in [0.0, 0.001, 0.02] {
            let silent = at_speed(&sound(seconds, 1, |_| 0.0), 0.1);
            assert!(silent.samples.iter().all(|sample| *sample == 0.0));
        }
    }
}
