//! Validation of media inputs by decoding them; declared media types are not trusted.

use media::{Ffmpeg, decode_audio, decode_image, image_media_type};

use super::REFERENCE_AUDIO;
use crate::{api_error::ApiError, limits::MediaLimits, render_spec::MediaRole, size::Size};

/// Validates a media input for its role; returns the picture size of images and videos.
pub(super) fn validate(
    role: MediaRole,
    bytes: &[u8],
    limits: &MediaLimits,
    ffmpeg: &Ffmpeg,
) -> Result<Option<Size>, ApiError> {
    match role {
        MediaRole::FirstFrame | MediaRole::LastFrame | MediaRole::ReferenceImage => {
            picture(bytes, limits).map(Some)
        }
        MediaRole::ReferenceVideo => video(bytes, limits).map(Some),
        MediaRole::ReferenceAudio => audio(bytes, ffmpeg).map(|()| None),
    }
}

fn picture(bytes: &[u8], limits: &MediaLimits) -> Result<Size, ApiError> {
    if image_media_type(bytes).is_none() {
        let message = format!("expected a PNG, JPEG or WebP picture, found {}", description(bytes));
        return Err(ApiError::invalid("invalid_image", message));
    }
    let image = decode_image(bytes).map_err(|error| ApiError::invalid("invalid_image", error.to_string()))?;
    bounded(Size { width: image.width(), height: image.height() }, "invalid_image_size", limits)
}

fn bounded(size: Size, code: &'static str, limits: &MediaLimits) -> Result<Size, ApiError> {
    let (shorter, longer) = (size.width.min(size.height), size.width.max(size.height));
    if shorter < limits.min_side || longer > limits.max_side {
        let message = format!(
            "the picture is {size}; its sides must have {} to {} pixels",
            limits.min_side, limits.max_side
        );
        return Err(ApiError::invalid(code, message));
    }
    Ok(size)
}

/// A video is usable if its first and last frames can be decoded.
fn video(bytes: &[u8], limits: &MediaLimits) -> Result<Size, ApiError> {
    let unusable = |error: media::MediaError| ApiError::invalid("invalid_video", error.to_string());
    let first = media::first_frame_bytes(bytes).map_err(unusable)?;
    media::last_frame_bytes(bytes).map_err(unusable)?;
    bounded(Size { width: first.width(), height: first.height() }, "invalid_video", limits)
}

/// Audio is usable if it can be decoded now: what is accepted must be heard in the video.
fn audio(bytes: &[u8], ffmpeg: &Ffmpeg) -> Result<(), ApiError> {
    let unusable = |message| ApiError::invalid("invalid_audio", message);
    match description(bytes) {
        "WAV sound" | "MP3 sound" | "Ogg sound" | "FLAC sound" | "an MP4 file" | "AAC sound" => {}
        other => {
            return Err(unusable(format!(
                "expected sound as WAV, M4A, MP3, AAC, Ogg or FLAC, found {other}"
            )));
        }
    }
    match decode_audio(bytes, ffmpeg, REFERENCE_AUDIO) {
        Ok(_) => Ok(()),
        Err(error) if error.needs_ffmpeg() => Err(unusable(format!(
            "this service decodes WAV (PCM) and AAC in MP4 (M4A); found {}",
            description(bytes)
        ))),
        Err(error) => Err(unusable(error.to_string())),
    }
}

/// A description of the format by its signature, for errors.
fn description(bytes: &[u8]) -> &'static str {
    match bytes {
        [] => "nothing",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => "WAV sound",
        [b'I', b'D', b'3', ..] => "MP3 sound",
        [0xff, second, ..] if second & 0xf6 == 0xf0 => "AAC sound",
        [0xff, second, ..] if second & 0xe0 == 0xe0 => "MP3 sound",
        [b'O', b'g', b'g', b'S', ..] => "Ogg sound",
        [b'f', b'L', b'a', b'C', ..] => "FLAC sound",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => "an MP4 file",
        [b'G', b'I', b'F', b'8', ..] => "a GIF picture",
        [b'%', b'P', b'D', b'F', ..] => "a PDF document",
        _ if image_media_type(bytes).is_some() => "a picture",
        _ if looks_like_markup(bytes) => "a web page or XML",
        _ => "something else",
    }
}

fn looks_like_markup(bytes: &[u8]) -> bool {
    bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'<')
}

#[cfg(test)]
mod tests {
    use super::*;
    use media::{RgbImage, encode_png};

    #[test]
    fn pictures_are_decoded_and_bounded() {
        let limits = MediaLimits { max_side: 64, ..MediaLimits::default() };
        let check = |width, height| {
            let png = encode_png(&RgbImage::new(width, height));
            validate(MediaRole::FirstFrame, &png, &limits, &Ffmpeg::default()).map_err(|error| error.code)
        };
        assert_eq!(check(40, 30), Ok(Some(Size { width: 40, height: 30 })));
        assert_eq!(check(15, 30), Err("invalid_image_size".into()));
        assert_eq!(check(40, 65), Err("invalid_image_size".into()));
        let mut half = encode_png(&RgbImage::new(40, 30));
        half.truncate(half.len() / 2);
        assert_eq!(
            validate(MediaRole::FirstFrame, &half, &limits, &Ffmpeg::default()).unwrap_err().code,
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
            "expected a PNG, JPEG or WebP picture, found a web page or XML"
        );
        assert_eq!(
            message(MediaRole::ReferenceAudio, b"GIF89a"),
            "expected sound as WAV, M4A, MP3, AAC, Ogg or FLAC, found a GIF picture"
        );
        assert_eq!(
            message(MediaRole::ReferenceAudio, b"OggS"),
            "this service decodes WAV (PCM) and AAC in MP4 (M4A); found Ogg sound"
        );
        assert_eq!(
            message(MediaRole::ReferenceAudio, b"RIFF\0\0\0\0WAVE"),
            "the file is damaged: the WAV file holds no samples"
        );
        assert!(validate(MediaRole::ReferenceVideo, b"OggS", &limits, &Ffmpeg::default()).is_err());
    }
}
