//! Sound files: decoding of what is in them, and how long they play.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::Duration;

use crate::audio_buffer::AudioBuffer;
use crate::mp4::Movie;
use crate::probe::describe;
use crate::{Ffmpeg, MediaError, MediaType, aac, compressed_audio, wav};

/// The largest file of music or of a voice, in bytes.
pub const MAX_SOUND_BYTES: u64 = 512 << 20;

/// The highest sample rate, for bounds (Hz).
const MAX_SAMPLE_RATE: u64 = 96_000;

/// Output format and bound of [`decode_audio`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AudioDecodeSpec {
    /// Samples per second and channel.
    pub sample_rate: u32,
    /// 1 or 2.
    pub channels: u16,
    /// Longer audio is refused.
    pub max_duration: Duration,
}

/// Decodes the audio of a file in memory: WAV, AAC in MP4, MP3 and FLAC natively, other formats with ffmpeg if it is available. Video tracks
/// are ignored.
///
/// # Errors
/// [`MediaError::NeedsFfmpeg`] for other codings without ffmpeg, [`MediaError::NotMedia`] for what has no sound,
/// [`MediaError::TooLarge`] for more than `spec.max_duration`, [`MediaError::Damaged`] for what cannot be decoded.
pub fn decode_audio(bytes: &[u8], ffmpeg: &Ffmpeg, spec: AudioDecodeSpec) -> Result<AudioBuffer, MediaError> {
    let longer = || MediaError::TooLarge {
        what: "the sound".to_owned(),
        limit: format!("{} s", spec.max_duration.as_secs()),
    };
    let native = match MediaType::sniff(bytes) {
        Some(MediaType::Wav) => wav::decode(bytes),
        Some(MediaType::Mp4 | MediaType::QuickTime | MediaType::M4a) => Movie::from_bytes(bytes.to_vec())
            .and_then(|movie| {
                // The index is checked before anything is decoded: a small file may claim hours.
                let duration = describe(&movie)?.audio.map_or(Duration::ZERO, |audio| audio.duration);
                let packets = movie.audio.as_ref().map_or(0, |track| track.samples.len() as u64);
                let most_packets = spec.max_duration.as_secs() * MAX_SAMPLE_RATE / u64::from(aac::FRAME) + 8;
                if duration > spec.max_duration || packets > most_packets {
                    return Err(longer());
                }
                AudioBuffer::from_movie(&movie)?
                    .ok_or_else(|| MediaError::NotMedia("it has no sound".to_owned()))
            }),
        Some(media_type @ (MediaType::Mp3 | MediaType::Flac)) => {
            compressed_audio::decode(media_type, bytes, spec.max_duration)
        }
        _ => Err(MediaError::needs("audio in this format")),
    };
    let sound = match native {
        Err(MediaError::NeedsFfmpeg { .. }) if ffmpeg.ffmpeg.is_some() => {
            let mut file =
                tempfile::NamedTempFile::new().map_err(MediaError::io("cannot create a temporary file"))?;
            file.write_all(bytes).map_err(MediaError::io("cannot write a temporary file"))?;
            // A little more than is used, so that a longer one is detected.
            let end = spec.max_duration + Duration::from_secs(1);
            ffmpeg.audio_until(file.path(), spec.sample_rate, spec.channels, Some(end))?
        }
        native => native?,
    };
    let frames = sound.samples.len() as u64 / u64::from(sound.channels.max(1));
    if frames > spec.max_duration.as_secs().saturating_mul(u64::from(sound.sample_rate)) {
        return Err(longer());
    }
    if frames == 0 {
        return Err(MediaError::NotMedia("it has no sound".to_owned()));
    }
    Ok(sound.converted(spec.sample_rate, spec.channels))
}

/// How long the sound of a WAV, MP3, FLAC, MP4 or M4A file plays; of other files with ffprobe. MP3 and FLAC are read into memory, at most
/// [`crate::MAX_SOUND_BYTES`].
///
/// # Errors
/// When the file cannot be read or has no sound, and [`MediaError::NeedsFfmpeg`] for other files without ffprobe.
pub fn sound_duration(path: &Path, ffmpeg: &Ffmpeg) -> Result<Duration, MediaError> {
    let at_path = |error: MediaError| error.at(path);
    let mut file = File::open(path).map_err(MediaError::io("cannot open the file")).map_err(at_path)?;
    let mut head = [0; 16];
    let length = file.read(&mut head).map_err(MediaError::io("cannot read the file")).map_err(at_path)?;
    let native = match MediaType::sniff(&head[..length]) {
        Some(MediaType::Wav) => Some(wav::duration(&mut file)),
        Some(media_type @ (MediaType::Mp3 | MediaType::Flac)) => {
            let read = || MediaError::io("cannot read the file");
            let mut bytes = Vec::new();
            file.rewind().map_err(read()).map_err(at_path)?;
            file.take(MAX_SOUND_BYTES).read_to_end(&mut bytes).map_err(read()).map_err(at_path)?;
            Some(compressed_audio::duration(media_type, &bytes))
        }
        _ => None,
    };
    match native {
        Some(Err(error)) if error.needs_ffmpeg() && ffmpeg.ffprobe.is_some() => {}
        Some(outcome) => return outcome.map_err(at_path),
        None => {}
    }
    let probe = ffmpeg.probe(path)?;
    probe
        .audio
        .map(|sound| sound.duration)
        .ok_or_else(|| MediaError::damaged("the file has no sound").at(path))
}
