//! The last step of a film's sound: its loudness, its peaks, and AAC.
//!
//! AAC changes levels and peaks a little. What is encoded is decoded and measured, and encoded once more where it misses its aim.

use super::limiter::Limiter;
use super::loudness::{Loudness, LoudnessMeter};
use super::sound_spool::{SoundReader, SoundSpool};
use super::spool::{Spool, SpoolReader};
use crate::aac::{AudioDecoder, AudioEncoder};
use crate::{AudioSpec, Cancellation, MediaError};

/// The highest true peak of a film, in dBTP (EBU R 128).
const MAX_TRUE_PEAK: f64 = -1.0;
/// Peaks are reported in hundredths.
const ROUNDING: f64 = 0.005;
/// The first ceiling of the limiter, in dBTP: AAC adds some tenths to peaks.
const CEILING_DBTP: f64 = -1.5;
/// How far peaks may be lowered to make a film louder, in decibels: more would be audible.
const MAX_LIMITING: f64 = 8.0;
/// The largest gain, in decibels: more would only be noise.
const MAX_GAIN: f64 = 30.0;
/// A difference from the target that is worth another pass, in LU.
const TOLERANCE: f64 = 0.3;
/// Passes to find the gain at which limited sound has the target's loudness.
const MAX_MEASUREMENTS: usize = 3;
/// How often sound is encoded at most: it is the slowest step.
const MAX_ENCODINGS: usize = 2;

/// Takes sound, piece by piece.
pub(super) type TakeSound<'a> = &'a mut dyn FnMut(&[f32]) -> Result<(), MediaError>;
/// Produces the whole sound of a film, each time that it is called.
pub(super) type ProduceSound<'a> = &'a mut dyn FnMut(TakeSound<'_>) -> Result<(), MediaError>;

/// The encoded sound of a film.
pub(super) struct SpooledSound {
    /// Sizes of the packets in bytes.
    pub(super) sizes: Vec<u32>,
    pub(super) packets: SpoolReader,
    /// The `AudioSpecificConfig`.
    pub(super) config: Vec<u8>,
    /// As it is played; `None` for silence.
    pub(super) loudness: Option<Loudness>,
}

/// Encodes sound, at a loudness in LUFS where one is asked for.
pub(super) fn master(
    spec: AudioSpec,
    target: Option<f64>,
    mix: ProduceSound<'_>,
) -> Result<SpooledSound, MediaError> {
    let mut first = Settings { gain: 0.0, max_gain: 0.0, ceiling: CEILING_DBTP };
    let Some(target) = target else { return encode_until_right(spec, None, first, mix) };
    // The mix lies on disk meanwhile: its loudness is known at its end.
    let (mut mixed, loudness) = spooled(spec, mix)?;
    if let Some(loudness) = loudness {
        first.max_gain = (CEILING_DBTP + MAX_LIMITING - loudness.true_peak).min(MAX_GAIN);
        first.gain = (target - loudness.integrated).min(first.max_gain);
        for _ in 0..MAX_MEASUREMENTS {
            let Some(limited) = first.limited(spec, &mut mixed)? else { break };
            let difference = target - limited.integrated;
            if difference.abs() <= TOLERANCE / 2.0 || (difference > 0.0 && first.gain >= first.max_gain) {
                break;
            }
            first.gain = (first.gain + difference).min(first.max_gain);
        }
    }
    encode_until_right(spec, Some(target), first, &mut |take| mixed.pass_on(take))
}

fn spooled(spec: AudioSpec, mix: ProduceSound<'_>) -> Result<(SoundReader, Option<Loudness>), MediaError> {
    let mut meter = LoudnessMeter::new(spec)?;
    let mut mixed = SoundSpool::new()?;
    mix(&mut |samples| {
        meter.push(samples)?;
        mixed.push(samples)
    })?;
    Ok((mixed.into_reader()?, meter.finish()?))
}

fn encode_until_right(
    spec: AudioSpec,
    target: Option<f64>,
    mut settings: Settings,
    sound: ProduceSound<'_>,
) -> Result<SpooledSound, MediaError> {
    for _ in 1..MAX_ENCODINGS {
        let encoded = settings.encode(spec, sound)?;
        let next = encoded.loudness.and_then(|played| settings.corrected(target, played));
        match next {
            Some(next) => settings = next,
            None => return Ok(encoded),
        }
    }
    settings.encode(spec, sound)
}

/// Decibels.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Settings {
    gain: f64,
    /// The largest gain of this sound.
    max_gain: f64,
    ceiling: f64,
}

impl Settings {
    /// Other ones, if what is played misses its aim and can be nearer to it.
    fn corrected(self, target: Option<f64>, played: Loudness) -> Option<Self> {
        let excess = played.true_peak - MAX_TRUE_PEAK;
        let ceiling = if excess > 0.0 { self.ceiling - excess - 0.2 } else { self.ceiling };
        let missing = target.map_or(0.0, |target| target - played.integrated);
        let gain =
            if missing.abs() > TOLERANCE { (self.gain + missing).min(self.max_gain) } else { self.gain };
        let next = Self { gain, ceiling, ..self };
        (next != self).then_some(next)
    }

    /// The loudness of limited sound; `None` for silence.
    fn limited(self, spec: AudioSpec, sound: &mut SoundReader) -> Result<Option<Loudness>, MediaError> {
        let mut meter = LoudnessMeter::new(spec)?;
        self.limit(spec, &mut |take| sound.pass_on(take), &mut |samples| meter.push(samples))?;
        meter.finish()
    }

    fn encode(self, spec: AudioSpec, sound: ProduceSound<'_>) -> Result<SpooledSound, MediaError> {
        // Sound takes a fraction of the time that frames take.
        let mut spool = Spool::new(&Cancellation::default())?;
        let mut sizes = Vec::new();
        let mut encoder = AudioEncoder::new(spec.sample_rate, spec.channels)
            .with_max_peak(amplitude(MAX_TRUE_PEAK - ROUNDING));
        let mut decoder = AudioDecoder::new(&encoder.config())?;
        let mut meter = LoudnessMeter::new(spec)?;
        let mut keep = |packet: Vec<u8>| {
            meter.push(&decoder.decode(&packet)?.samples)?;
            sizes.push(spool.push(&packet)?);
            Ok(())
        };
        self.limit(spec, sound, &mut |samples| encoder.push(samples, &mut keep))?;
        let config = encoder.finish(&mut keep)?;
        Ok(SpooledSound { sizes, packets: spool.into_reader()?, config, loudness: meter.finish()? })
    }

    /// Passes sound on with its gain and with limited peaks.
    fn limit(self, spec: AudioSpec, sound: ProduceSound<'_>, take: TakeSound<'_>) -> Result<(), MediaError> {
        let mut limiter = Limiter::new(spec, amplitude(self.ceiling));
        let gain = amplitude(self.gain);
        let (mut changed, mut ready) = (Vec::new(), Vec::new());
        sound(&mut |samples| {
            changed.clear();
            changed.extend(samples.iter().map(|sample| sample * gain));
            limiter.push(&changed, &mut ready);
            take(&ready)?;
            ready.clear();
            Ok(())
        })?;
        limiter.finish(&mut ready);
        take(&ready)
    }
}

fn amplitude(decibels: f64) -> f32 {
    10_f64.powf(decibels / 20.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: AudioSpec = AudioSpec { sample_rate: 48_000, channels: 2 };

    /// Two seconds of a sine of 1 kHz, with short peaks.
    fn tone(amplitude: f32, peaks: f32) -> Vec<f32> {
        (0..2 * 48_000)
            .flat_map(|n| {
                let loud = if n % 12_000 < 96 { peaks } else { amplitude };
                let value = (n as f32 * 1_000.0 * std::f32::consts::TAU / 48_000.0).sin() * loud;
                [value, value]
            })
            .collect()
    }

    fn mastered(sound: &[f32], target: Option<f64>) -> SpooledSound {
        master(SPEC, target, &mut |take| sound.chunks(9_999 * 2).try_for_each(take)).unwrap()
    }

    #[test]
    fn target_is_met_and_peaks_are_limited() {
        for (sound, name) in
            [(tone(0.05, 0.05), "quiet"), (tone(0.9, 0.9), "loud"), (tone(0.2, 0.9), "with peaks")]
        {
            for target in [-14.0, -23.0] {
                let played = mastered(&sound, Some(target)).loudness.unwrap();
                assert!((played.integrated - target).abs() <= 0.5, "{name}: {played:?} for {target}");
                assert!(played.true_peak <= MAX_TRUE_PEAK, "{name}: {played:?}");
            }
        }
        let played = mastered(&tone(1.4, 1.4), None).loudness.unwrap();
        assert!(played.true_peak <= MAX_TRUE_PEAK, "without a target: {played:?}");
    }

    #[test]
    fn film_whose_peaks_do_not_allow_its_target_stays_quieter() {
        let played = mastered(&tone(0.02, 0.9), Some(-8.0)).loudness.unwrap();
        assert!(played.integrated < -10.0 && played.true_peak <= MAX_TRUE_PEAK, "{played:?}");
    }

    #[test]
    fn silence_stays_silent() {
        let encoded = mastered(&vec![0.0; 96_000], Some(-16.0));
        assert_eq!(encoded.loudness, None);
        assert_eq!(encoded.sizes.len(), 48);
    }
}
