//! The media gate with codecs: connects [`media::inspect`] to the compiler, which has none.

use media::MediaError;
use workflow::{MediaGate, MediaInfo, MediaKind};

/// What may be sent inside a request. `check`, `plan`, `run` and everything else that compiles workflows use this one.
pub const MEDIA_GATE: MediaGate = MediaGate {
    max_file_bytes: media::MAX_INPUT_BYTES,
    max_request_bytes: media::MAX_REQUEST_INPUT_BYTES,
    max_sound_bytes: media::MAX_SOUND_BYTES,
    inspect,
};

fn inspect(bytes: &[u8]) -> Result<MediaInfo, workflow::MediaError> {
    match media::inspect(bytes) {
        Ok(info) => {
            let kind = match info.kind() {
                media::MediaKind::Image => MediaKind::Image,
                media::MediaKind::Video => MediaKind::Video,
                media::MediaKind::Audio => MediaKind::Audio,
            };
            Ok(MediaInfo { media_type: info.media_type.as_str(), kind })
        }
        Err(error) => Err(workflow::MediaError { help: help(&error).to_owned(), message: message(error) }),
    }
}

/// The message without the clause about playback.
fn message(error: MediaError) -> String {
    match error {
        MediaError::NotMedia(reason) => reason,
        other => other.to_string(),
    }
}

fn help(error: &MediaError) -> &'static str {
    match error {
        MediaError::NotMedia(_) => {
            "convert it: images are sent as PNG, JPEG or WebP, video as MP4, audio as WAV, M4A, MP3, AAC, Ogg or FLAC"
        }
        MediaError::TooLarge { .. } => "scale it down",
        _ => "export or download the file again",
    }
}
