//! A true-peak limiter: no peak of the sound exceeds a ceiling, those between its samples included.
//!
//! Peaks are estimated at four times the sample rate by the filter of ITU-R BS.1770-5, annex 2. The gain falls before a peak and rises
//! after it; where nothing exceeds the ceiling, samples pass unchanged.

use std::collections::VecDeque;

use crate::AudioSpec;

/// The coefficients of the interpolation filter, phase by phase (ITU-R BS.1770-5, annex 2). The other two phases are these in reverse.
const PHASES: [[f32; 12]; 2] = [
    [
        0.001_708_984_4,
        0.010_986_328,
        -0.019_653_32,
        0.033_203_125,
        -0.059_448_242,
        0.137_329_1,
        0.972_167_97,
        -0.102_294_92,
        0.047_607_42,
        -0.026_611_328,
        0.014_892_578,
        -0.008_300_781,
    ],
    [
        -0.029_174_805,
        0.029_296_875,
        -0.051_757_813,
        0.089_111_33,
        -0.166_503_9,
        0.465_087_9,
        0.779_785_16,
        -0.200_317_38,
        0.101_562_5,
        -0.058_227_54,
        0.033_081_055,
        -0.018_920_898,
    ],
];
const TAPS: usize = 12;
/// More than the sum of the amplitudes of the coefficients of any phase.
const MAX_FILTER_GAIN: f32 = 2.1;
/// A sample lies between this tap and the next one of the filter that begins this many samples before it.
const CENTER: usize = 6;

/// Frames that are passed on together where none of them is loud.
const QUIET_FRAMES: usize = 256;

/// How long the gain falls before a peak, and at least stays low after it.
const ATTACK_SECONDS: f64 = 0.005;
/// The time constant with which the gain rises again.
const RELEASE_SECONDS: f64 = 0.080;

/// Limits sound that arrives in pieces.
pub(super) struct Limiter {
    channels: usize,
    ceiling: f32,
    /// frames in which the gain falls.
    window: usize,
    /// Share of the way to full gain per frame.
    release: f32,
    /// Interleaved frames that have not been passed on.
    waiting: VecDeque<f32>,
    /// The last [`TAPS`] frames of each channel, the newest last.
    history: Vec<[f32; TAPS]>,
    /// Necessary gains within the window: frame number and gain, rising.
    minima: VecDeque<(u64, f32)>,
    /// Gains after the release, of the last `window` frames, and their sum.
    smoothed: VecDeque<f32>,
    sum: f64,
    /// The gain after the release.
    level: f32,
    /// The last frames in a row with full gain after the release.
    unchanged: usize,
    /// Frames until all that the filter sees are too quiet to have a peak above the ceiling.
    loud: usize,
    /// Frames whose necessary gain is known.
    measured: u64,
    /// Frames that have arrived.
    arrived: u64,
}

impl Limiter {
    /// For sound of this form; `ceiling` is an amplitude.
    pub(super) fn new(spec: AudioSpec, ceiling: f32) -> Self {
        let rate = f64::from(spec.sample_rate);
        let window = ((rate * ATTACK_SECONDS) as usize).max(1);
        let channels = usize::from(spec.channels.max(1));
        Self {
            channels,
            ceiling,
            window,
            release: (1.0 - (-1.0 / (rate * RELEASE_SECONDS)).exp()) as f32,
            waiting: VecDeque::new(),
            history: vec![[0.0; TAPS]; channels],
            minima: VecDeque::new(),
            smoothed: std::iter::repeat_n(1.0, window).collect(),
            sum: window as f64,
            level: 1.0,
            unchanged: window,
            loud: 0,
            measured: 0,
            arrived: 0,
        }
    }

    /// Takes interleaved frames and appends those that are ready.
    pub(super) fn push(&mut self, samples: &[f32], out: &mut Vec<f32>) {
        for piece in samples.chunks(QUIET_FRAMES * self.channels) {
            if self.is_idle() && !piece.iter().any(|sample| self.is_loud(*sample)) {
                self.push_quiet(piece, out);
            } else {
                self.push_each(piece, out);
            }
        }
    }

    fn push_each(&mut self, samples: &[f32], out: &mut Vec<f32>) {
        for frame in samples.chunks_exact(self.channels) {
            self.waiting.extend(frame);
            self.arrive(|channel| frame[channel], out);
        }
    }

    /// As [`Limiter::push_each`], for frames without a loud sample while the limiter is idle.
    fn push_quiet(&mut self, samples: &[f32], out: &mut Vec<f32>) {
        let frames = samples.len() / self.channels;
        self.waiting.extend(&samples[..frames * self.channels]);
        for frame in samples.chunks_exact(self.channels).skip(frames.saturating_sub(TAPS)) {
            for (history, sample) in self.history.iter_mut().zip(frame) {
                history.rotate_left(1);
                history[TAPS - 1] = *sample;
            }
        }
        let passed_on = |measured: u64| (measured + 1).saturating_sub(2 * self.window as u64);
        let before = passed_on(self.measured);
        self.arrived += frames as u64;
        self.measured = self.arrived.saturating_sub(CENTER as u64);
        let ready = (passed_on(self.measured) - before) as usize * self.channels;
        if let Some(last) = self.measured.checked_sub(1) {
            self.minima.clear();
            self.minima.push_back((last, 1.0));
        }
        out.extend(self.waiting.drain(..ready));
    }

    /// Whether all frames that can still be changed have full gain.
    fn is_idle(&self) -> bool {
        self.loud == 0 && self.unchanged >= self.window
    }

    /// Whether a peak around a sample can be above the ceiling.
    fn is_loud(&self, sample: f32) -> bool {
        sample.abs() * MAX_FILTER_GAIN > self.ceiling
    }

    /// Appends the rest.
    pub(super) fn finish(mut self, out: &mut Vec<f32>) {
        while !self.waiting.is_empty() {
            self.arrive(|_| 0.0, out);
        }
    }

    /// One more frame; its peak concerns the frame that is in the middle of the filter.
    fn arrive(&mut self, frame: impl Fn(usize) -> f32, out: &mut Vec<f32>) {
        self.loud = self.loud.saturating_sub(1);
        for channel in 0..self.channels {
            let sample = frame(channel);
            if self.is_loud(sample) {
                self.loud = TAPS;
            }
            let history = &mut self.history[channel];
            history.rotate_left(1);
            history[TAPS - 1] = sample;
        }
        let peak = if self.loud == 0 { 0.0 } else { self.history.iter().map(true_peak).fold(0.0, f32::max) };
        self.arrived += 1;
        if self.arrived as usize > CENTER {
            let necessary = if peak > self.ceiling { self.ceiling / peak } else { 1.0 };
            self.necessary(necessary, out);
        }
    }

    /// The gain that the next frame needs at most.
    fn necessary(&mut self, gain: f32, out: &mut Vec<f32>) {
        let frame = self.measured;
        self.measured += 1;
        if gain < 1.0 || self.unchanged < self.window {
            self.follow(frame, gain);
        } else {
            // The gain stays full, and nothing else is known of the frames in the window.
            self.minima.clear();
            self.minima.push_back((frame, 1.0));
        }
        if frame + 1 >= 2 * self.window as u64 {
            let average = (self.sum / self.window as f64) as f32;
            self.pass_on(if average > 0.999_999 { 1.0 } else { average }, out);
        }
    }

    /// Lets the gain follow what a frame needs.
    fn follow(&mut self, frame: u64, gain: f32) {
        while self.minima.back().is_some_and(|(_, later_gain)| *later_gain >= gain) {
            self.minima.pop_back();
        }
        self.minima.push_back((frame, gain));
        // Two windows: the average over one of them is never above what a frame in its middle needs.
        while self
            .minima
            .front()
            .is_some_and(|(minimum_frame, _)| minimum_frame + 2 * self.window as u64 <= frame)
        {
            self.minima.pop_front();
        }
        let lowest = self.minima.front().map_or(1.0, |(_, gain)| *gain);
        self.level = lowest.min(self.level + (1.0 - self.level) * self.release);
        if self.level > 0.999_999 {
            self.level = 1.0;
        }
        self.unchanged = if self.level < 1.0 { 0 } else { self.unchanged + 1 };
        let oldest = self.smoothed.pop_front().unwrap_or(1.0);
        self.smoothed.push_back(self.level);
        self.sum += f64::from(self.level) - f64::from(oldest);
    }

    /// Passes the oldest frame on.
    fn pass_on(&mut self, gain: f32, out: &mut Vec<f32>) {
        for _ in 0..self.channels {
            let Some(sample) = self.waiting.pop_front() else { return };
            out.push(if gain < 1.0 { sample * gain } else { sample });
        }
    }
}

/// The largest amplitude around the middle of the samples, at four times their rate.
fn true_peak(samples: &[f32; TAPS]) -> f32 {
    let mut sums = [0.0_f32; 4];
    for (tap, sample) in samples.iter().enumerate() {
        for (phase, weights) in PHASES.iter().enumerate() {
            sums[phase] += sample * weights[TAPS - 1 - tap];
            sums[3 - phase] += sample * weights[tap];
        }
    }
    let between = sums.iter().fold(0.0_f32, |peak, value| peak.max(value.abs()));
    // The samples themselves, on both sides of the middle.
    between.max(samples[CENTER - 1].abs()).max(samples[CENTER].abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: AudioSpec = AudioSpec { sample_rate: 48_000, channels: 2 };
    const CEILING_LINEAR: f32 = 0.891;

    fn limited(samples: &[f32], piece: usize) -> Vec<f32> {
        let mut limiter = Limiter::new(SPEC, CEILING_LINEAR);
        let mut out = Vec::new();
        for piece in samples.chunks(piece) {
            limiter.push(piece, &mut out);
        }
        limiter.finish(&mut out);
        out
    }

    /// A sine at a quarter of the sample rate between whose samples there are peaks 3 dB above them.
    fn intersample(amplitude: f32, frames: usize) -> Vec<f32> {
        let value = |n: usize| amplitude * (std::f32::consts::FRAC_PI_2 * (n as f32 + 0.5)).sin();
        (0..frames).flat_map(|n| [value(n), -value(n)]).collect()
    }

    fn true_peak_of(samples: &[f32]) -> f64 {
        let mut meter = ebur128::EbuR128::new(2, 48_000, ebur128::Mode::TRUE_PEAK).unwrap();
        meter.add_frames_f32(samples).unwrap();
        meter.true_peak(0).unwrap().max(meter.true_peak(1).unwrap())
    }

    #[test]
    fn sound_below_the_ceiling_is_unchanged() {
        let quiet = intersample(0.85, 5_000);
        assert_eq!(limited(&quiet, 246), quiet);
        assert_eq!(limited(&[0.5, 0.25], 2), [0.5, 0.25], "shorter than the attack");
        assert_eq!(limited(&[], 2), []);
    }

    #[test]
    fn true_peaks_are_limited() {
        let mut sound = intersample(0.4, 48_000);
        for (from, to, gain) in [(9_000, 9_100, 4.0), (30_000, 60_000, 3.0), (95_900, 96_000, 6.0)] {
            sound[from..to].iter_mut().for_each(|sample| *sample *= gain);
        }
        assert!(true_peak_of(&sound) > 1.5);
        let out = limited(&sound, 1_000);
        assert_eq!(out.len(), sound.len());
        let peak = true_peak_of(&out);
        assert!(peak <= f64::from(CEILING_LINEAR) * 1.01, "{peak}");
        // Loud sound is at the ceiling and not far below it.
        assert!(true_peak_of(&out[40_000..50_000]) > f64::from(CEILING_LINEAR) * 0.95);
        // Far from peaks nothing changes.
        assert_eq!(out[..7_000], sound[..7_000]);
    }

    #[test]
    fn pieces_do_not_matter() {
        let sound: Vec<f32> =
            (0..20_000).map(|n| (n as f32 * 0.37).sin() * (n as f32 * 0.001).cos() * 1.7).collect();
        let expected = limited(&sound, sound.len());
        for piece in [2, 334, 1_024] {
            assert_eq!(limited(&sound, piece), expected);
        }
    }

    #[test]
    fn quiet_frames_are_passed_on_as_each_of_them_would_be() {
        // Quiet from the beginning, loud now and then, and quiet again until the gain is full.
        let sound: Vec<f32> = (0..200_000)
            .map(|n| (n as f32 * 0.37).sin() * if n % 60_000 > 59_000 || n == 31_111 { 1.5 } else { 0.3 })
            .collect();
        for piece in [2, 26, 512, 5_000] {
            let mut limiter = Limiter::new(SPEC, CEILING_LINEAR);
            let mut reference = Limiter::new(SPEC, CEILING_LINEAR);
            let (mut out, mut expected, mut quiet) = (Vec::new(), Vec::new(), 0);
            for piece in sound.chunks(piece) {
                quiet += usize::from(limiter.is_idle() && piece.iter().all(|s| !limiter.is_loud(*s)));
                limiter.push(piece, &mut out);
                for frame in piece.chunks(2) {
                    // It never counts as idle.
                    reference.unchanged = 0;
                    reference.push_each(frame, &mut expected);
                }
                assert_eq!(out.len(), expected.len());
            }
            assert!(quiet * piece > sound.len() / 10, "{quiet} pieces of {piece}");
            limiter.finish(&mut out);
            reference.finish(&mut expected);
            assert!(out == expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn gain_changes_gradually() {
        let mut sound = vec![0.5_f32; 20_000];
        sound[10_000..10_002].fill(2.0);
        let out = limited(&sound, 512);
        let steps = out.chunks(2).zip(out.chunks(2).skip(1)).map(|(a, b)| (a[0] - b[0]).abs());
        let largest =
            steps.enumerate().filter(|(index, _)| !(4_990..5_010).contains(index)).map(|(_, step)| step);
        assert!(largest.fold(0.0, f32::max) < 0.01);
    }
}
