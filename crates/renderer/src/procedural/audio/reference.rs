//! Mixes reference audio (spec 2.3 `reference_audio`) in front of the sound of the scene.

use media::AudioBuffer;

use super::RATE;

/// Target level of the reference audio (root mean square).
const LEVEL: f32 = 0.12;
/// Maximum gain, so that near silence is not amplified.
const MAX_GAIN: f32 = 8.0;
/// Gain of the scene behind the reference audio.
const SCENE: f32 = 0.4;
/// The highest peak of the mix.
const PEAK: f32 = 0.95;
/// Fades at the ends and where a short piece begins again, in sample frames: 30 ms.
const FADE: usize = RATE as usize * 3 / 100;

/// Mixes `reference` (at [`RATE`], stereo) into `scene` (interleaved stereo): cut where it is longer, repeated where it is shorter.
pub(crate) fn lay(scene: &mut [f32], reference: &AudioBuffer) {
    let samples = &reference.samples;
    let (length, frames) = (samples.len() / 2, scene.len() / 2);
    if length == 0 || frames == 0 || (reference.sample_rate, reference.channels) != (RATE, 2) {
        return;
    }
    let gain = gain(&samples[..2 * length.min(frames)]);
    for (index, frame) in scene.chunks_exact_mut(2).enumerate() {
        let (turn, offset) = (index / length, index % length);
        let end = length.min(frames - turn * length);
        let fade = FADE.min(end / 2).max(1) as f32;
        let shape = ((offset as f32 + 0.5) / fade).min((end - offset) as f32 / fade).min(1.0);
        for (channel, sample) in frame.iter_mut().enumerate() {
            *sample = *sample * SCENE + samples[2 * offset + channel] * gain * shape;
        }
    }
    let peak = scene.iter().fold(0.0_f32, |peak, sample| peak.max(sample.abs()));
    if peak > PEAK {
        for sample in scene {
            *sample *= PEAK / peak;
        }
    }
}

fn gain(samples: &[f32]) -> f32 {
    let square = samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len().max(1) as f32;
    (LEVEL / square.sqrt().max(1e-6)).min(MAX_GAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(seconds: f32, amplitude: f32) -> AudioBuffer {
        let frames = (RATE as f32 * seconds) as usize;
        let samples = (0..frames)
            .flat_map(|i| [(i as f32 * 440.0 * std::f32::consts::TAU / RATE as f32).sin() * amplitude; 2])
            .collect();
        AudioBuffer { sample_rate: RATE, channels: 2, samples }
    }

    /// How much of 440 Hz is in the left channel.
    fn amplitude_at_440_hz(samples: &[f32]) -> f32 {
        let (mut sine, mut cosine) = (0.0, 0.0);
        for (i, frame) in samples.chunks_exact(2).enumerate() {
            let angle = i as f32 * 440.0 * std::f32::consts::TAU / RATE as f32;
            sine += frame[0] * angle.sin();
            cosine += frame[0] * angle.cos();
        }
        sine.hypot(cosine) * 2.0 / (samples.len() / 2) as f32
    }

    #[test]
    fn reference_tone_lasts_to_the_end_at_audible_level() {
        for reference in [tone(0.25, 0.9), tone(0.5, 0.05), tone(5.0, 0.5)] {
            let mut scene = vec![0.0; RATE as usize * 2];
            lay(&mut scene, &reference);
            let (begin, end) = scene.split_at(RATE as usize);
            assert!(
                amplitude_at_440_hz(begin) > 0.1 && amplitude_at_440_hz(end) > 0.1,
                "{} {}",
                amplitude_at_440_hz(begin),
                amplitude_at_440_hz(end)
            );
            assert!(scene[0].abs() < 0.01 && scene[scene.len() - 1].abs() < 0.01);
        }
    }

    #[test]
    fn reference_mix_never_clips_and_keeps_silence() {
        let mut scene = vec![0.96; 20_000];
        lay(&mut scene, &tone(1.0, 1.0));
        assert!(scene.iter().all(|sample| sample.abs() <= PEAK + 1e-6));
        let mut scene = vec![0.0; 20_000];
        lay(&mut scene, &AudioBuffer { sample_rate: RATE, channels: 2, samples: vec![0.0; 5_000] });
        assert!(scene.iter().all(|sample| *sample == 0.0));
        lay(&mut [], &tone(1.0, 1.0));
    }
}
