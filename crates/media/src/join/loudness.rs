//! The loudness of sound (ITU-R BS.1770, EBU R 128).

use ebur128::{EbuR128, Mode};

use crate::{AudioSpec, MediaError};

/// The loudness of the sound of a film, as it is played.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Loudness {
    /// Of the whole film, in LUFS.
    pub integrated: f64,
    /// The highest true peak, in dBTP.
    pub true_peak: f64,
}

/// Measures sound that arrives in pieces.
pub(super) struct LoudnessMeter {
    meter: EbuR128,
    channels: u32,
}

impl LoudnessMeter {
    pub(super) fn new(spec: AudioSpec) -> Result<Self, MediaError> {
        let channels = u32::from(spec.channels);
        // With a histogram its memory does not depend on the length of the sound.
        let mode = Mode::I | Mode::TRUE_PEAK | Mode::HISTOGRAM;
        Ok(Self { meter: EbuR128::new(channels, spec.sample_rate, mode).map_err(failed)?, channels })
    }

    /// Takes interleaved frames.
    pub(super) fn push(&mut self, samples: &[f32]) -> Result<(), MediaError> {
        self.meter.add_frames_f32(samples).map_err(failed)
    }

    /// `None` for silence, and for sound that is too short to be measured.
    pub(super) fn finish(self) -> Result<Option<Loudness>, MediaError> {
        let integrated = self.meter.loudness_global().map_err(failed)?;
        let mut peak = 0.0_f64;
        for channel in 0..self.channels {
            peak = peak.max(self.meter.true_peak(channel).map_err(failed)?);
        }
        let hundredths = |value: f64| (value * 100.0).round() / 100.0;
        let loudness =
            Loudness { integrated: hundredths(integrated), true_peak: hundredths(20.0 * peak.log10()) };
        Ok(Some(loudness).filter(|_| integrated.is_finite() && peak > 0.0))
    }
}

fn failed(error: ebur128::Error) -> MediaError {
    MediaError::Request(format!("the loudness cannot be measured: {error}"))
}
