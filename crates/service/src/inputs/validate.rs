//! Checks that an input has the format of its field: its bytes are decoded, its declared media type is ignored.

use media::{Ffmpeg, InputInfo, MediaError, MediaKind, decode_audio, describe_content};

use super::REFERENCE_AUDIO;
use crate::{api_error::ApiError, limits::MediaLimits, render_spec::MediaRole, size::Size};

/// Validates a media input for its role; returns the frame size of images and videos.
pub(super) fn validate(
    role: MediaRole,
    bytes: &[u8],
    limits: &MediaLimits,
    ffmpeg: &Ffmpeg,
) -> Result<Option<Size>, ApiError> {
    match role {
        MediaRole::FirstFrame | MediaRole::LastFrame | MediaRole::ReferenceImage => {
            image(bytes, limits).map(Some)
        }
        MediaRole::ReferenceVideo => video(bytes, limits).map(Some),
        MediaRole::ReferenceAudio => audio(bytes, ffmpeg).map(|()| None),
    }
}

fn image(bytes: &[u8], limits: &MediaLimits) -> Result<Size, ApiError> {
    // The header first: an image of a size that is refused is not decoded.
    if let Ok(size) = media::image_size(bytes) {
        bounded(Some(size), "invalid_image_size", limits)?;
    }
    let info = inspect(bytes, MediaKind::Image, "a PNG, JPEG or WebP image")
        .map_err(|message| ApiError::invalid("invalid_image", message))?;
    bounded(info.size, "invalid_image_size", limits)
}

/// The media gate that `runner check` applies too, for one kind. The checks after it here are stricter, as docs/service.md says.
fn inspect(bytes: &[u8], kind: MediaKind, accepted: &str) -> Result<InputInfo, String> {
    match media::inspect(bytes) {
        Ok(info) if info.kind() == kind => Ok(info),
        Ok(_) | Err(MediaError::NotMedia(_)) => {
            Err(format!("expected {accepted}, found {}", describe_content(bytes)))
        }
        Err(error) => Err(public_message(&error)),
    }
}

/// The message of a media error without the paths of this machine.
fn public_message(error: &MediaError) -> String {
    error.root().to_string()
}

fn bounded(size: Option<(u32, u32)>, code: &'static str, limits: &MediaLimits) -> Result<Size, ApiError> {
    let (width, height) = size.unwrap_or_default();
    let size = Size { width, height };
    let (shorter, longer) = (size.width.min(size.height), size.width.max(size.height));
    if shorter < limits.min_side || longer > limits.max_side {
        let message = format!(
            "the image is {size}; its sides must have {} to {} pixels",
            limits.min_side, limits.max_side
        );
        return Err(ApiError::invalid(code, message));
    }
    Ok(size)
}

/// A reference video lends its first and last frame, which have to be decodable without ffmpeg.
fn video(bytes: &[u8], limits: &MediaLimits) -> Result<Size, ApiError> {
    let unusable = |message: String| ApiError::invalid("invalid_video", message);
    let info = inspect(bytes, MediaKind::Video, "an MP4 video").map_err(unusable)?;
    if !info.is_native {
        return Err(unusable("this service decodes H.264 (8-bit 4:2:0, progressive) in MP4 only".to_owned()));
    }
    bounded(info.size, "invalid_video", limits)
}

/// Audio is decoded before it is accepted, so that what is accepted is heard.
fn audio(bytes: &[u8], ffmpeg: &Ffmpeg) -> Result<(), ApiError> {
    let unusable = |message| ApiError::invalid("invalid_audio", message);
    inspect(bytes, MediaKind::Audio, "audio as WAV, M4A, MP3, AAC, Ogg or FLAC").map_err(unusable)?;
    match decode_audio(bytes, ffmpeg, REFERENCE_AUDIO) {
        Ok(_) => Ok(()),
        Err(error) if error.needs_ffmpeg() => Err(unusable(format!(
            "this service decodes WAV (PCM), AAC in MP4 (M4A), MP3 and FLAC; found {}",
            describe_content(bytes)
        ))),
        Err(error) if matches!(error.root(), MediaError::Io { .. }) => {
            Err(ApiError::internal("reference audio could not be decoded", &error))
        }
        Err(error) => Err(unusable(public_message(&error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use media::{RgbImage, encode_png};

    #[test]
    fn images_are_decoded_and_bounded() {
        let limits = MediaLimits { max_side: 64, ..MediaLimits::default() };
        let check = |width, height| {
            let png = encode_png(&RgbImage::new(width, height));
            validate(MediaRole::FirstFrame, &png, &limits, &Ffmpeg::default()).map_err(|error| error.code)
        };
        assert_eq!(check(40, 30), Ok(Some(Size { width: 40, height: 30 })));
        assert_eq!(check(15, 30), Err("invalid_image_size".into()));
        assert_eq!(check(40, 65), Err("invalid_image_size".into()));
        let mut truncated = encode_png(&RgbImage::new(40, 30));
        truncated.truncate(truncated.len() / 2);
        assert_eq!(
            validate(MediaRole::FirstFrame, &truncated, &limits, &Ffmpeg::default()).unwrap_err().code,
            "invalid_image"
        );
    }

    #[test]
    fn errors_name_the_detected_format() {
        let limits = MediaLimits::default();
        let message =
            |role, bytes: &[u8]| validate(role, bytes, &limits, &Ffmpeg::default()).unwrap_err().message;
        assert_eq!(
            message(MediaRole::ReferenceImage, b" <!doctype html>"),
            "expected a PNG, JPEG or WebP image, found a web page or XML"
        );
        assert_eq!(
            message(MediaRole::ReferenceAudio, b"GIF89a"),
            "expected audio as WAV, M4A, MP3, AAC, Ogg or FLAC, found a GIF image"
        );
        assert_eq!(
            message(MediaRole::ReferenceAudio, b"OggS"),
            "the file is damaged: it begins like Ogg audio and contains no audio frames"
        );
        assert_eq!(
            message(MediaRole::ReferenceAudio, b"RIFF\0\0\0\0WAVE"),
            "the file is damaged: the WAV file holds no samples"
        );
        assert!(validate(MediaRole::ReferenceVideo, b"OggS", &limits, &Ffmpeg::default()).is_err());
    }
}
