//! Loudness normalization (K-weighting of ITU-R BS.1770, ungated), soft clipping, and fades at both ends.

use super::{Mix, RATE};

/// Target loudness in LUFS.
const TARGET: f32 = -16.0;
/// Milliseconds of fade at each end: long enough against clicks, too short to be heard as a gap between shots of a chain.
const FADE: usize = 6;

struct Biquad {
    b: [f32; 3],
    a: [f32; 2],
    state: [f32; 2],
}

impl Biquad {
    #[inline]
    fn next(&mut self, x: f32) -> f32 {
        let y = self.b[0] * x + self.state[0];
        self.state[0] = self.b[1] * x - self.a[0] * y + self.state[1];
        self.state[1] = self.b[2] * x - self.a[1] * y;
        y
    }
}

/// The two stages of the K-weighting at 48 kHz.
fn weighting() -> [Biquad; 2] {
    [
        Biquad { b: [1.535_125, -2.691_696_2, 1.198_392_9], a: [-1.690_659_3, 0.732_480_8], state: [0.0; 2] },
        Biquad { b: [1.0, -2.0, 1.0], a: [-1.990_047_5, 0.990_072_25], state: [0.0; 2] },
    ]
}

/// The ungated loudness of the whole mix, in LUFS; very low for silence.
pub(super) fn measure(mix: &Mix) -> f32 {
    let mut power = 0.0_f64;
    for channel in 0..2 {
        let [mut shelf, mut high] = weighting();
        for sample in &mix.samples {
            let weighted = high.next(shelf.next(sample[channel]));
            power += f64::from(weighted * weighted);
        }
    }
    let mean = power / mix.samples.len().max(1) as f64;
    (-0.691 + 10.0 * (mean + 1e-12).log10()) as f32
}

/// Brings a mix of known loudness, in LUFS, to the target; peaks bend instead of clipping.
pub(super) fn level(mix: &mut Mix, loudness: f32) {
    let gain = 10.0_f32.powf(((TARGET - loudness) / 20.0).clamp(-2.0, 2.0));
    for sample in mix.samples.iter_mut().flatten() {
        *sample = bend(*sample * gain);
    }
}

/// Soft clipping: linear up to 0.6, then approaching 0.92.
fn bend(x: f32) -> f32 {
    const KNEE: f32 = 0.6;
    const ROOM: f32 = 0.32;
    let size = x.abs();
    if size <= KNEE { x } else { x.signum() * (KNEE + ROOM * ((size - KNEE) / ROOM).tanh()) }
}

/// Fades both ends from and to silence.
pub(super) fn fade_ends(mix: &mut Mix) {
    let count = mix.samples.len();
    let fade = (RATE as usize * FADE / 1000).min(count / 2);
    for i in 0..fade {
        let share = i as f32 / fade as f32;
        let gain = share * share * (3.0 - 2.0 * share);
        for index in [i, count - 1 - i] {
            mix.samples[index] = mix.samples[index].map(|s| s * gain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_scale_sine_measures_as_in_bs1770() {
        // A 997 Hz sine of full scale on one channel reads -3.01 LUFS.
        let samples = (0..RATE * 2)
            .map(|i| [(std::f32::consts::TAU * 997.0 * i as f32 / RATE as f32).sin(), 0.0])
            .collect();
        let loudness = measure(&Mix { samples });
        assert!((loudness + 3.01).abs() < 0.1, "{loudness}");
    }
}
