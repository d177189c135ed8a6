//! The media gate with codecs: connects [`media::inspect`] to the compiler, which has none.

use media::MediaError;
use text::Fonts;
use workflow::units::VideoDuration;
use workflow::{InspectionError, MediaGate, MediaInfo, MediaKind};

/// What may be sent inside a request, or be part of a film, without ffmpeg. `check`, `plan`, `run` and everything else that compiles workflows
/// use this one.
pub const MEDIA_GATE: MediaGate = MediaGate {
    max_file_bytes: media::MAX_INPUT_BYTES,
    max_request_bytes: media::MAX_REQUEST_INPUT_BYTES,
    max_frame_bytes,
    max_film_file_bytes: media::MAX_SOUND_BYTES,
    max_sound_duration: VideoDuration::from_secs(media::MAX_SOUND_DURATION.as_secs()),
    has_ffmpeg: false,
    max_font_bytes: text::MAX_FONT_BYTES as u64,
    inspect: |bytes| info(media::inspect(bytes)),
    inspect_file: |file| info(media::inspect_source(file)),
    inspect_font,
    missing_characters,
};

/// The largest video of the service (1080p).
const MAX_VIDEO_SIZE: (u32, u32) = (1920, 1080);
/// The most that PNG adds to a row of pixels that it cannot compress, and to the whole.
const PNG_BYTES: (u64, u64) = (2, 8 << 10);

/// Noise does not get smaller: three bytes a pixel.
fn max_frame_bytes(size: Option<(u32, u32)>) -> u64 {
    let (width, height) = size.unwrap_or(MAX_VIDEO_SIZE);
    (u64::from(width) * 3 + PNG_BYTES.0) * u64::from(height) + PNG_BYTES.1
}

fn info(inspected: Result<media::InputInfo, MediaError>) -> Result<MediaInfo, InspectionError> {
    match inspected {
        Ok(info) => {
            let kind = match info.kind() {
                media::MediaKind::Image => MediaKind::Image,
                media::MediaKind::Video => MediaKind::Video,
                media::MediaKind::Audio => MediaKind::Audio,
            };
            let duration = info.duration.map(|duration| VideoDuration::from_secs_f64(duration.as_secs_f64()));
            Ok(MediaInfo {
                media_type: info.media_type.as_str(),
                kind,
                duration,
                size: info.size,
                foreign: info.foreign,
                decoded: info.decoded,
            })
        }
        Err(error) => {
            let was_decoded = !matches!(error, MediaError::NotMedia(_) | MediaError::TooLarge { .. });
            let help = help(&error).to_owned();
            Err(InspectionError {
                error: workflow::MediaGateError { help, message: message(error) },
                was_decoded,
            })
        }
    }
}

fn inspect_font(bytes: &[u8]) -> Result<(), workflow::MediaGateError> {
    Fonts::embedded().add(bytes.to_vec()).map_err(|error| workflow::MediaGateError {
        message: error.to_string(),
        help: "name a TrueType or OpenType font from the workflow's folder, such as `fonts/Inter.ttf`"
            .to_owned(),
    })
}

fn missing_characters(font: Option<&[u8]>, text: &str) -> Vec<char> {
    let mut fonts = Fonts::embedded();
    // What is no font is reported where it is named.
    let _unusable = font.map(|font| fonts.add(font.to_vec()));
    fonts.missing(text)
}

/// The message without the clause about playback.
fn message(error: MediaError) -> String {
    match error {
        MediaError::NotMedia(reason) => reason,
        error => error.to_string(),
    }
}

fn help(error: &MediaError) -> &'static str {
    match error {
        MediaError::NotMedia(detected) if detected.contains("HEIC") => {
            "convert it to JPEG, PNG or WebP: `magick photo.heic photo.jpg`, or on macOS `sips -s format jpeg photo.heic --out photo.jpg`"
        }
        MediaError::NotMedia(detected) if detected.contains("AVIF") => {
            "convert it to PNG, JPEG or WebP: `magick image.avif image.png`"
        }
        MediaError::NotMedia(_) => {
            "convert it: images are sent as PNG, JPEG or WebP, video as MP4, audio as WAV, M4A, MP3, AAC, Ogg or FLAC"
        }
        MediaError::TooLarge { .. } => "scale it down",
        _ => "export or download the file again",
    }
}
