//! A media gate for tests: real decoding, limits so small that fixtures can cross them.

use std::collections::BTreeSet;

use workflow::units::VideoDuration;
use workflow::{InspectionError, MediaGate, MediaGateError, MediaInfo, MediaKind};

/// The gate. keeper.png has 69 bytes.
pub(crate) fn media_gate() -> MediaGate {
    MediaGate {
        max_file_bytes: 4096,
        max_request_bytes: 300,
        max_frame_bytes: |size| if size.is_some() { 40 } else { 30 },
        max_film_file_bytes: 100_000,
        max_sound_duration: VideoDuration::from_secs(60),
        has_ffmpeg: false,
        max_font_bytes: 100_000,
        inspect: |bytes| info(media::inspect(bytes)),
        inspect_file: |file| info(media::inspect_source(file)),
        inspect_font,
        missing_characters,
    }
}

fn info(inspected: Result<media::InputInfo, media::MediaError>) -> Result<MediaInfo, InspectionError> {
    let refuse = |error: media::MediaError| InspectionError {
        error: MediaGateError { message: error.to_string(), help: "convert it".to_owned() },
        was_decoded: true,
    };
    let info = inspected.map_err(refuse)?;
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

/// A font begins as TrueType does.
fn inspect_font(bytes: &[u8]) -> Result<(), MediaGateError> {
    if bytes.starts_with(b"\0\x01\0\0") {
        return Ok(());
    }
    Err(MediaGateError { message: "it is no font".to_owned(), help: "name a font".to_owned() })
}

/// The embedded fonts end with the basic multilingual plane; a font of one's own has everything.
fn missing_characters(font: Option<&[u8]>, text: &str) -> Vec<char> {
    let missing: BTreeSet<char> = text.chars().filter(|c| font.is_none() && *c > '\u{ffff}').collect();
    missing.into_iter().collect()
}

/// A small PNG.
#[allow(dead_code, reason = "not every test binary sends one from memory")]
pub(crate) fn png() -> Vec<u8> {
    media::encode_png(&media::RgbImage::new(2, 2))
}

/// A short sound: ten samples of 8 bits.
#[allow(dead_code, reason = "not every test binary needs one in memory")]
pub(crate) fn wav() -> Vec<u8> {
    let mut file = b"RIFF\x2e\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    file.extend(8_000_u32.to_le_bytes().repeat(2));
    file.extend(b"\x01\0\x08\0data\x0a\0\0\0");
    file.extend([128; 10]);
    file
}
