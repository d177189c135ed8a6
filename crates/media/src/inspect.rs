//! The media gate: whether a file can be sent to a service as an input.
//!
//! `runner check` and `runner plan` apply it to every local file and data URI that a workflow names, so that a file that cannot be sent
//! is reported before anything is paid for. The embedded service applies the same function to every input that it receives.

use std::io::{Cursor, Read, Seek, SeekFrom};
use std::time::Duration;

use crate::audio_stream;
use crate::frames::FrameReader;
use crate::image_decode::{MAX_IMAGE_BYTES, check_image, decoding_work, too_many_bytes};
use crate::mp4::Movie;
use crate::probe::describe;
use crate::sniff::{MediaKind, MediaType, describe_content};
use crate::verify::decode_sound;
use crate::{MediaError, audio_buffer, compressed_audio, wav};

/// The largest input file, in bytes (20 MiB).
pub const MAX_INPUT_BYTES: u64 = 20 << 20;
/// The largest sum of the inputs of one request, in bytes (23 MiB): Base64 and the rest of the request keep it below 32 MiB.
pub const MAX_REQUEST_INPUT_BYTES: u64 = 23 << 20;

/// How much of a file tells its format, and what it is instead.
const HEAD_BYTES: u64 = 4 << 10;

/// A file that can be sent as an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputInfo {
    pub media_type: MediaType,
    /// Width and height in pixels; `None` for audio.
    pub size: Option<(u32, u32)>,
    /// How long the frames of a video last, or the sound of a format that this crate decodes.
    pub duration: Option<Duration>,
    /// How long it took to decode, whatever the machine: in pixels, or samples of all channels, of a format that is decoded quickly. Those of a WebP
    /// or a progressive JPEG count more.
    pub decoded: u64,
    /// Whether this crate decodes it without ffmpeg: of a video its frames.
    pub is_native: bool,
    /// What is decoded with ffmpeg alone, such as `HEVC video`; of a video its frames before its sound.
    pub foreign: Option<String>,
}

/// Checks that a file is in an accepted format and undamaged. The bytes decide, not a name or a claimed media type.
///
/// Images (PNG, JPEG, WebP) are decoded whole. Of a video (MP4, `QuickTime`) the index is read, and the first and last frame are decoded
/// where the codec is H.264. Audio: AAC in M4A, MP3 and FLAC are decoded whole, of WAV the headers are read, the checksums of Ogg are verified, the
/// frames of AAC in ADTS are followed to the end.
///
/// # Errors
/// [`MediaError::NotMedia`] for a format that is not accepted, [`MediaError::TooLarge`] above [`crate::MAX_IMAGE_PIXELS`],
/// [`MediaError::Damaged`] for contents that contradict the format. The size of the file is for the caller to check.
pub fn inspect(bytes: &[u8]) -> Result<InputInfo, MediaError> {
    let refuse = |accepted: &str| {
        MediaError::NotMedia(format!("expected {accepted}, found {}", describe_content(bytes)))
    };
    let media_type = MediaType::sniff(bytes).ok_or_else(|| refuse("an image, a video or audio"))?;
    match media_type {
        MediaType::Png | MediaType::Jpeg | MediaType::WebP => {
            let (width, height) = check_image(bytes)?;
            let decoded = decoding_work(bytes, u64::from(width) * u64::from(height));
            Ok(InputInfo {
                media_type,
                size: Some((width, height)),
                duration: None,
                decoded,
                is_native: true,
                foreign: None,
            })
        }
        MediaType::Gif => Err(refuse("a PNG, JPEG or WebP image")),
        MediaType::Mp4 | MediaType::QuickTime | MediaType::M4a => {
            inspect_movie(media_type, Movie::from_bytes(bytes.to_vec())?)
        }
        MediaType::WebM => Err(refuse("an MP4 or QuickTime video")),
        MediaType::Wav => inspect_wav(&mut Cursor::new(bytes)),
        MediaType::Mp3 | MediaType::Flac => inspect_stream(media_type, bytes),
        MediaType::Aac | MediaType::Ogg => audio_stream::check(media_type, bytes)
            .map(|()| InputInfo::foreign(media_type, media_type.description().to_owned())),
    }
}

/// As [`inspect`], for a file of a film, which may also be `WebM`, and is read in parts: of a video or of WAV, what is in memory does not depend on its size. Images above
/// [`MAX_IMAGE_BYTES`] are refused unread; other audio is read into memory once.
///
/// # Errors
/// As [`inspect`], and when it cannot be read.
pub fn inspect_source(mut source: impl Read + Seek + 'static) -> Result<InputInfo, MediaError> {
    let io = || MediaError::io("cannot read the file");
    let length = source.seek(SeekFrom::End(0)).map_err(io())?;
    let mut bytes = Vec::new();
    source.rewind().and_then(|()| source.by_ref().take(HEAD_BYTES).read_to_end(&mut bytes)).map_err(io())?;
    match MediaType::sniff(&bytes) {
        Some(media_type @ (MediaType::Mp4 | MediaType::QuickTime | MediaType::M4a)) => {
            inspect_movie(media_type, Movie::from_source(source, length)?)
        }
        Some(MediaType::Wav) => inspect_wav(&mut source),
        Some(MediaType::Png | MediaType::Jpeg | MediaType::WebP) if length > MAX_IMAGE_BYTES as u64 => {
            Err(too_many_bytes(length))
        }
        // Nothing of it is read here.
        Some(media_type @ MediaType::WebM) => {
            Ok(InputInfo::foreign(media_type, "the format WebM or Matroska".to_owned()))
        }
        // Its beginning says why it is refused.
        None | Some(MediaType::Gif) => inspect(&bytes),
        Some(_) => {
            let rest = length.saturating_sub(bytes.len() as u64);
            source.take(rest).read_to_end(&mut bytes).map_err(io())?;
            inspect(&bytes)
        }
    }
}

fn inspect_wav(source: &mut (impl Read + Seek)) -> Result<InputInfo, MediaError> {
    match wav::duration(source) {
        Ok(Duration::ZERO) => Err(MediaError::damaged("the WAV file has no samples")),
        Ok(duration) => Ok(InputInfo::native_audio(MediaType::Wav, duration, 0)),
        Err(MediaError::NeedsFfmpeg { coding }) => Ok(InputInfo::foreign(MediaType::Wav, coding)),
        Err(error) => Err(error),
    }
}

/// Inspects MP3 or FLAC.
fn inspect_stream(media_type: MediaType, bytes: &[u8]) -> Result<InputInfo, MediaError> {
    audio_stream::check(media_type, bytes)?;
    match compressed_audio::decode_whole(media_type, bytes) {
        Ok((duration, samples)) => Ok(InputInfo::native_audio(media_type, duration, samples)),
        Err(MediaError::NeedsFfmpeg { coding }) => Ok(InputInfo::foreign(media_type, coding)),
        Err(error) => Err(error),
    }
}

/// Inspects an MP4 file by its tracks. One without a video track is audio, whatever its brand.
fn inspect_movie(media_type: MediaType, movie: Movie) -> Result<InputInfo, MediaError> {
    let probe = describe(&movie)?;
    let Some(video) = probe.video.filter(|_| media_type != MediaType::M4a) else {
        let Some(audio) = probe.audio else {
            return Err(MediaError::NotMedia("it has no audio track".to_owned()));
        };
        return match decode_sound(&movie) {
            Ok(0) => Err(MediaError::damaged("it has no samples")),
            Ok(samples) => Ok(InputInfo::native_audio(MediaType::M4a, audio.duration, samples)),
            Err(MediaError::NeedsFfmpeg { coding }) => Ok(InputInfo::foreign(MediaType::M4a, coding)),
            Err(error) => Err(error),
        };
    };
    let mut foreign = match audio_buffer::decoder(&movie) {
        Err(MediaError::NeedsFfmpeg { coding }) => Some(coding),
        // Its damage is found when it is heard.
        Ok(_) | Err(_) => None,
    };
    let frames = FrameReader::new(movie).and_then(|mut frames| frames.first().and_then(|_| frames.last()));
    let is_native = match frames {
        Ok(_) => true,
        // In another codec than H.264 the index has to suffice.
        Err(MediaError::NeedsFfmpeg { coding }) => {
            foreign = Some(coding);
            false
        }
        Err(error) => return Err(error),
    };
    let (size, duration) = (Some((video.width, video.height)), Some(video.duration));
    // The first frame and the last one.
    let decoded = if is_native { 2 * u64::from(video.width) * u64::from(video.height) } else { 0 };
    Ok(InputInfo { media_type, size, duration, decoded, is_native, foreign })
}

impl InputInfo {
    /// What was not decoded, of this coding.
    fn foreign(media_type: MediaType, coding: String) -> Self {
        let foreign = Some(coding);
        Self { media_type, size: None, duration: None, decoded: 0, is_native: false, foreign }
    }

    /// Audio that lasts this long, of which so many samples were decoded.
    fn native_audio(media_type: MediaType, duration: Duration, decoded: u64) -> Self {
        let duration = Some(duration);
        Self { media_type, size: None, duration, decoded, is_native: true, foreign: None }
    }

    /// Whether it is an image, a video or audio.
    pub fn kind(&self) -> MediaKind {
        self.media_type.kind()
    }
}

#[cfg(test)]
#[path = "inspect_tests.rs"]
mod tests;
