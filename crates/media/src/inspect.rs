//! The media gate: whether a file can be sent to a service as an input.
//!
//! `runner check` and `runner plan` apply it to every local file and data URI that a workflow names, so that a file that cannot be sent
//! is reported before anything is paid for. The embedded service applies the same function to every input that it receives.

use std::time::Duration;

use crate::audio_stream;
use crate::image_decode::check_image;
use crate::mp4::Movie;
use crate::probe::describe;
use crate::sniff::{MediaKind, MediaType, describe_content};
use crate::whole::decode_sound;
use crate::{MediaError, first_frame_bytes, last_frame_bytes, wav};

/// The largest input file, in bytes (20 MiB).
pub const MAX_INPUT_BYTES: u64 = 20 << 20;
/// The largest sum of the inputs of one request, in bytes (23 MiB): Base64 and the rest of the request keep it below 32 MiB.
pub const MAX_REQUEST_INPUT_BYTES: u64 = 23 << 20;

/// A file that can be sent as an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputInfo {
    /// The format.
    pub media_type: MediaType,
    /// Width and height in pixels; `None` for audio.
    pub size: Option<(u32, u32)>,
    /// How long the pictures of a video last.
    pub duration: Option<Duration>,
    /// Whether this crate decodes it without ffmpeg.
    pub is_native: bool,
}

/// Checks that a file is in an accepted format and undamaged. The bytes decide, not a name or a claimed media type.
///
/// Images (PNG, JPEG, WebP) are decoded whole. Of a video (MP4, `QuickTime`) the index is read, and the first and last frame are decoded
/// where the codec is H.264. Audio: WAV and AAC in M4A are decoded whole, the checksums of Ogg are verified, the frames of MP3 and AAC are
/// followed to the end, of FLAC the header is read.
///
/// # Errors
/// [`MediaError::NotMedia`] for a format that is not accepted, [`MediaError::TooLarge`] above [`crate::MAX_IMAGE_PIXELS`],
/// [`MediaError::Damaged`] for contents that contradict the format. The size of the file is for the caller to check.
pub fn inspect(bytes: &[u8]) -> Result<InputInfo, MediaError> {
    let refuse = |accepted: &str| {
        MediaError::NotMedia(format!("expected {accepted}, found {}", describe_content(bytes)))
    };
    let media_type = MediaType::sniff(bytes).ok_or_else(|| refuse("an image, a video or audio"))?;
    let audio = |is_native| InputInfo { media_type, size: None, duration: None, is_native };
    match media_type {
        MediaType::Png | MediaType::Jpeg | MediaType::WebP => {
            let size = Some(check_image(bytes)?);
            Ok(InputInfo { media_type, size, duration: None, is_native: true })
        }
        MediaType::Gif => Err(refuse("a PNG, JPEG or WebP image")),
        MediaType::Mp4 | MediaType::QuickTime | MediaType::M4a => inspect_movie(media_type, bytes),
        MediaType::WebM => Err(refuse("an MP4 or QuickTime video")),
        MediaType::Wav => match wav::decode(bytes) {
            Ok(decoded) if decoded.samples.is_empty() => {
                Err(MediaError::damaged("the WAV file has no samples"))
            }
            Ok(_) => Ok(audio(true)),
            Err(MediaError::NeedsFfmpeg { .. }) => Ok(audio(false)),
            Err(error) => Err(error),
        },
        MediaType::Mp3 | MediaType::Aac | MediaType::Ogg | MediaType::Flac => {
            audio_stream::check(media_type, bytes).map(|()| audio(false))
        }
    }
}

/// Inspects an MP4 file by its tracks. One without a video track is audio, whatever its brand.
fn inspect_movie(media_type: MediaType, bytes: &[u8]) -> Result<InputInfo, MediaError> {
    let mut movie = Movie::from_bytes(bytes.to_vec())?;
    let probe = describe(&movie)?;
    let Some(video) = probe.video.filter(|_| media_type != MediaType::M4a) else {
        if probe.audio.is_none() {
            return Err(MediaError::NotMedia("it has no audio track".to_owned()));
        }
        let is_native = match decode_sound(&mut movie) {
            Ok(()) => true,
            Err(MediaError::NeedsFfmpeg { .. }) => false,
            Err(error) => return Err(error),
        };
        return Ok(InputInfo { media_type: MediaType::M4a, size: None, duration: None, is_native });
    };
    let mut is_native = true;
    for frame in [first_frame_bytes(bytes), last_frame_bytes(bytes)] {
        match frame {
            Ok(_) => {}
            // In another codec than H.264 the index has to suffice.
            Err(MediaError::NeedsFfmpeg { .. }) => is_native = false,
            Err(error) => return Err(error),
        }
    }
    let (size, duration) = (Some((video.width, video.height)), Some(video.duration));
    Ok(InputInfo { media_type, size, duration, is_native })
}

impl InputInfo {
    /// Whether it is an image, a video or audio.
    #[must_use]
    pub fn kind(&self) -> MediaKind {
        self.media_type.kind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClipSpec, ClipWriter, FrameRate, RgbImage, encode_png};

    fn clip(frames: usize) -> Vec<u8> {
        let mut clip = ClipWriter::new(ClipSpec::new(64, 48, FrameRate::CINEMA)).unwrap();
        (0..frames).for_each(|_| clip.push_frame(&RgbImage::new(64, 48)).unwrap());
        clip.finish().unwrap()
    }

    #[test]
    fn inspect_accepts_images_video_and_audio() {
        let png = inspect(&encode_png(&RgbImage::new(40, 30))).unwrap();
        assert_eq!((png.kind(), png.size, png.is_native), (MediaKind::Image, Some((40, 30)), true));
        let video = inspect(&clip(4)).unwrap();
        assert_eq!((video.media_type, video.size), (MediaType::Mp4, Some((64, 48))));
        let mut wav = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\0\0\0\0\x02\0\x10\0".to_vec();
        wav.extend(b"data\x04\0\0\0abcd");
        assert_eq!(inspect(&wav).unwrap().kind(), MediaKind::Audio);
    }

    #[test]
    fn inspect_refuses_other_formats_and_damage() {
        let message = |bytes: &[u8]| inspect(bytes).unwrap_err().to_string();
        assert!(message(b"GIF89a").ends_with("expected a PNG, JPEG or WebP image, found a GIF image"));
        assert!(message(b"%PDF-1.7").ends_with("expected an image, a video or audio, found a PDF document"));
        assert!(message(b"\x1a\x45\xdf\xa3").ends_with("found a WebM or Matroska video"));
        assert!(matches!(inspect(b"\x89PNG\r\n\x1a\nnonsense"), Err(MediaError::Damaged(_))));
        let png = encode_png(&RgbImage::new(40, 30));
        assert!(matches!(inspect(&png[..png.len() / 2]), Err(MediaError::Damaged(_))));
        let video = clip(4);
        assert!(inspect(&video[..video.len() - 20]).is_err());
    }

    #[test]
    fn inspect_decodes_the_sound_of_m4a() {
        let mut clip =
            ClipWriter::new(ClipSpec::new(64, 48, FrameRate::CINEMA).with_audio(16_000, 1)).unwrap();
        (0..24).for_each(|_| clip.push_frame(&RgbImage::new(64, 48)).unwrap());
        clip.push_audio(&(0..16_000).map(|i| (i as f32 * 0.1).sin() * 0.5).collect::<Vec<_>>()).unwrap();
        let mut m4a = clip.finish().unwrap();
        m4a[8..12].copy_from_slice(b"M4A ");
        let intact = inspect(&m4a).unwrap();
        assert_eq!((intact.kind(), intact.is_native), (MediaKind::Audio, true));
        let data = m4a.windows(4).position(|name| name == b"mdat").unwrap() + 4;
        let (middle, end) = (data + (m4a.len() - data) / 3, m4a.len());
        m4a[middle..end].fill(0xff);
        assert!(matches!(inspect(&m4a), Err(MediaError::Damaged(_))));
    }
}
