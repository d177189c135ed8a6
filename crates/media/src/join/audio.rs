//! The audio track of a film: that of each clip, truncated or padded to exactly the duration of its video.

use super::{Clip, EncodedAudio, most_common};
use crate::audio::AudioBuffer;
use crate::clip::audio_track;
use crate::mp4::Movie;
use crate::rate::rescale;
use crate::{AudioSpec, Ffmpeg, MediaError, aac};

/// Long enough to avoid a click at a cut, short enough to be inaudible as a fade.
const FADE_SECONDS: f64 = 0.010;

/// The form of the film's sound: the rate that most clips have, two channels where any clip has them. `None` for a silent film.
pub(super) fn form(clips: &[Clip]) -> Option<AudioSpec> {
    let sounds = clips.iter().filter_map(|clip| clip.probe.audio.as_ref());
    let rates = sounds.clone().map(|sound| sound.sample_rate).filter(|rate| aac::SAMPLE_RATES.contains(rate));
    let stereo = sounds.clone().any(|sound| sound.channels != 1);
    sounds.clone().next()?;
    Some(AudioSpec {
        sample_rate: most_common(&rates).unwrap_or(48_000),
        channels: if stereo { 2 } else { 1 },
    })
}

/// Encodes the sound of the whole film. `ends` is where each clip's pictures end, on a clock of `timescale` per second from the film's beginning.
pub(super) fn track(
    clips: &[Clip],
    ends: &[u64],
    timescale: u32,
    spec: AudioSpec,
    ffmpeg: &Ffmpeg,
) -> Result<EncodedAudio, MediaError> {
    audio_track(&lay(clips, ends, timescale, spec, ffmpeg)?, spec)
}

/// The interleaved samples of the whole film.
pub(super) fn lay(
    clips: &[Clip],
    ends: &[u64],
    timescale: u32,
    spec: AudioSpec,
    ffmpeg: &Ffmpeg,
) -> Result<Vec<f32>, MediaError> {
    let fade = (f64::from(spec.sample_rate) * FADE_SECONDS) as usize;
    let mut film = Vec::new();
    for (clip, &end) in clips.iter().zip(ends) {
        let until = rescale(i128::from(end), timescale, spec.sample_rate) as usize;
        let frames = until.saturating_sub(film.len() / usize::from(spec.channels));
        let sound = of_clip(clip, spec, ffmpeg).map_err(|error| error.at(&clip.path))?;
        let silence =
            AudioBuffer { sample_rate: spec.sample_rate, channels: spec.channels, samples: Vec::new() };
        film.extend(sound.unwrap_or(silence).fit(frames, fade));
    }
    Ok(film)
}

fn of_clip(clip: &Clip, spec: AudioSpec, ffmpeg: &Ffmpeg) -> Result<Option<AudioBuffer>, MediaError> {
    if clip.probe.audio.is_none() {
        return Ok(None);
    }
    if clip.foreign {
        return ffmpeg.sound(&clip.path, spec.sample_rate, spec.channels).map(Some);
    }
    let sound = AudioBuffer::from_movie(&mut Movie::open(&clip.path)?)?;
    Ok(sound.map(|sound| sound.converted(spec.sample_rate, spec.channels)))
}
