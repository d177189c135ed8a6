//! PCM audio in memory: of a movie's track, resampled, with other channels.

use crate::MediaError;
use crate::aac::{self, AudioDecoder};
use crate::mp4::Movie;
use crate::probe::{aac_config, audio_track};
use crate::rate::{greatest_common_divisor, rescale};

/// Bound on a buffer, in samples of all channels together: 46 minutes of 48 kHz stereo.
pub(crate) const MAX_SAMPLES: usize = 1 << 28;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AudioBuffer {
    /// Samples per second and channel.
    pub sample_rate: u32,
    pub channels: u16,
    /// Interleaved samples in -1..=1.
    pub samples: Vec<f32>,
}

/// The decoder of an audio track that can be decoded natively.
pub(crate) fn decoder(movie: &Movie) -> Result<Option<AudioDecoder>, MediaError> {
    let Some(track) = &movie.audio else { return Ok(None) };
    match aac_config(track) {
        Some(config) if config.object_type == 0x40 && track.has_one_entry => {
            AudioDecoder::new(&config.specific).map(Some)
        }
        _ => Err(MediaError::needs(format!("{} sound", audio_track(track).codec))),
    }
}

impl AudioBuffer {
    /// Samples of one channel.
    pub(crate) fn frames(&self) -> usize {
        self.samples.len() / usize::from(self.channels.max(1))
    }

    /// The presented part of a movie's audio track; `None` when there is no track.
    ///
    /// # Errors
    /// [`MediaError::NeedsFfmpeg`] for anything but AAC.
    pub(crate) fn from_movie(movie: &Movie) -> Result<Option<Self>, MediaError> {
        let Some(mut decoder) = decoder(movie)? else { return Ok(None) };
        let Some(track) = &movie.audio else { return Ok(None) };
        let mut media = Self::default();
        let mut bytes = Vec::new();
        for sample in &track.samples {
            movie.load_sample(sample, &mut bytes)?;
            if bytes.is_empty() {
                let silence = media.samples.len() + aac::FRAME as usize * usize::from(media.channels);
                media.samples.resize(silence, 0.0);
                continue;
            }
            let pcm = decoder.decode(&bytes)?;
            if media.channels == 0 {
                (media.sample_rate, media.channels) = (pcm.sample_rate, pcm.channels);
            }
            if (pcm.sample_rate, pcm.channels) != (media.sample_rate, media.channels) {
                return Err(MediaError::needs("sound that changes its rate or its channels on the way"));
            }
            if media.samples.len() + pcm.samples.len() > MAX_SAMPLES {
                return Err(too_long());
            }
            media.samples.extend_from_slice(&pcm.samples);
        }
        if media.channels == 0 || media.sample_rate == 0 {
            return Ok(None);
        }
        let origin = track.samples.first().map_or(0, |s| s.composition);
        let ticks = |t: i64| rescale(i128::from(t), track.timescale, media.sample_rate);
        let mut presented = Self { samples: Vec::new(), ..media };
        for edit in &track.edits {
            let length = usize::try_from(ticks(edit.length)).map_err(|_| too_long())?;
            let length = length.saturating_mul(usize::from(media.channels));
            let end = presented.samples.len().saturating_add(length);
            if end > MAX_SAMPLES {
                return Err(too_long());
            }
            if let Some(start) = edit.media {
                let start = usize::try_from(ticks(start.saturating_sub(origin))).unwrap_or(0);
                let from = start.saturating_mul(usize::from(media.channels)).min(media.samples.len());
                let until = from.saturating_add(length).min(media.samples.len());
                presented.samples.extend_from_slice(&media.samples[from..until]);
            }
            presented.samples.resize(end, 0.0);
        }
        Ok(Some(presented))
    }

    /// Converts the sample rate, and to one or two channels.
    pub(crate) fn converted(self, sample_rate: u32, channels: u16) -> Self {
        self.with_channels(channels).resampled(sample_rate)
    }

    fn with_channels(self, channels: u16) -> Self {
        if self.channels == channels {
            return self;
        }
        let from = usize::from(self.channels.max(1));
        let frames = self.samples.chunks_exact(from);
        let samples = match (from, channels) {
            (1, _) => frames.flat_map(|frame| [frame[0], frame[0]]).collect(),
            (_, 1) => frames.map(|frame| frame.iter().sum::<f32>() / from as f32).collect(),
            // The front pair at full weight, all others in the middle.
            _ => frames
                .flat_map(|frame| {
                    let others = frame[2..].iter().sum::<f32>() * 0.5;
                    let share = 1.0 / (1.0 + 0.5 * (from - 2) as f32);
                    [(frame[0] + others) * share, (frame[1] + others) * share]
                })
                .collect(),
        };
        Self { channels, samples, ..self }
    }

    /// Band-limited resampling: a windowed-sinc polyphase filter.
    fn resampled(self, sample_rate: u32) -> Self {
        if self.sample_rate == sample_rate || self.samples.is_empty() {
            return Self { sample_rate, ..self };
        }
        let divisor = greatest_common_divisor(u64::from(self.sample_rate), u64::from(sample_rate));
        let up = u64::from(sample_rate) / divisor;
        let down = u64::from(self.sample_rate) / divisor;
        let phases = up.min(4096) as usize;
        let cutoff = (up as f64 / down as f64).min(1.0) * 0.96;
        let reach = (16.0 / cutoff).ceil() as i64;
        let taps = (2 * reach) as usize;
        let mut weights = Vec::with_capacity(phases * taps);
        for phase in 0..phases {
            let fraction = phase as f64 / phases as f64;
            let row: Vec<f64> = (0..taps)
                .map(|tap| {
                    let distance = tap as f64 - (reach - 1) as f64 - fraction;
                    windowed_sinc(distance, cutoff, reach as f64)
                })
                .collect();
            let sum: f64 = row.iter().sum();
            weights.extend(row.iter().map(|w| (w / sum) as f32));
        }
        let channels = usize::from(self.channels);
        let frames = self.samples.len() / channels;
        let output_frames = (frames as u64 * up).div_ceil(down) as usize;
        let mut samples = vec![0.0; output_frames * channels];
        for channel in 0..channels {
            // Beyond its ends a signal goes on with its first and its last sample.
            let sample =
                |index: i64| self.samples[index.clamp(0, frames as i64 - 1) as usize * channels + channel];
            let signal: Vec<f32> = (1 - reach..frames as i64 + reach).map(sample).collect();
            let output = samples.iter_mut().skip(channel).step_by(channels);
            for (output, position) in output.zip((0_u64..).step_by(down as usize)) {
                let phase = ((position % up) * phases as u64 / up) as usize;
                let window = &signal[(position / up) as usize..][..taps];
                *output = dot_product(window, &weights[phase * taps..][..taps]);
            }
        }
        Self { sample_rate, samples, ..self }
    }
}

/// The sum of the products of two slices of the same length, in lanes that the compiler vectorizes.
fn dot_product(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a_lanes, b_lanes) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a_lanes.remainder().iter().zip(b_lanes.remainder()).map(|(a, b)| a * b).sum::<f32>();
    for (a, b) in a_lanes.zip(b_lanes) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f32>() + rest
}

fn windowed_sinc(distance: f64, cutoff: f64, reach: f64) -> f64 {
    if distance.abs() >= reach {
        return 0.0;
    }
    let window = 0.5 + 0.5 * (std::f64::consts::PI * distance / reach).cos();
    let x = std::f64::consts::PI * distance * cutoff;
    if x.abs() < 1e-9 { window } else { window * x.sin() / x }
}

pub(crate) fn too_long() -> MediaError {
    MediaError::TooLarge { what: "the sound track".to_owned(), limit: "46 minutes of stereo".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sine(sample_rate: u32, channels: u16, seconds: f32) -> AudioBuffer {
        let frames = (sample_rate as f32 * seconds) as usize;
        let samples = (0..frames)
            .flat_map(|i| {
                let value = (i as f32 * 440.0 * std::f32::consts::TAU / sample_rate as f32).sin() * 0.5;
                std::iter::repeat_n(value, usize::from(channels))
            })
            .collect();
        AudioBuffer { sample_rate, channels, samples }
    }

    #[test]
    fn resample_keeps_pitch_and_level() {
        for (from, to) in [(44_100, 48_000), (48_000, 44_100), (22_050, 48_000), (48_000, 16_000)] {
            let resampled = sine(from, 1, 0.5).converted(to, 1);
            let expected = sine(to, 1, 0.5);
            assert!(resampled.samples.len().abs_diff(expected.samples.len()) <= 1);
            let middle = 2000..expected.samples.len() - 2000;
            let worst = resampled.samples[middle.clone()]
                .iter()
                .zip(&expected.samples[middle])
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max);
            assert!(worst < 0.005, "{from} to {to} is off by {worst}");
        }
    }

    #[test]
    fn convert_channels_mixes_down_and_duplicates() {
        let stereo = sine(8000, 1, 0.1).converted(8000, 2);
        assert_eq!(stereo.samples[200].to_bits(), stereo.samples[201].to_bits());
        let six = AudioBuffer { sample_rate: 8000, channels: 6, samples: vec![0.5; 60] };
        let folded = six.converted(8000, 2);
        assert_eq!(folded.samples.len(), 20);
        assert!(folded.samples.iter().all(|s| (s - 0.5).abs() < 1e-6));
    }
}
