//! Formats of files by magic bytes, those included that are named only to say what a file is. The only such table of the workspace.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Length of a packet of an MPEG transport stream, and the byte that begins each.
const TS_PACKET: (usize, u8) = (188, 0x47);

/// How many bytes of a file are enough to name its format.
pub(crate) const SNIFFED_BYTES: u64 = 512;

/// What [`video_extension`] gives: of MP4, `WebM` and `QuickTime`.
pub const VIDEO_EXTENSIONS: [&str; 3] = ["mp4", "webm", "mov"];

/// A media file format that is recognized, whether or not it is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MediaType {
    Png,
    Jpeg,
    WebP,
    Gif,
    Mp4,
    QuickTime,
    /// `WebM` or Matroska video.
    WebM,
    Wav,
    /// MPEG-4 audio (M4A).
    M4a,
    /// MPEG audio, layer III.
    Mp3,
    /// AAC audio in an ADTS stream.
    Aac,
    Ogg,
    Flac,
}

/// The kind of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MediaKind {
    Image,
    /// A video, with or without audio.
    Video,
    /// Audio only.
    Audio,
}

impl MediaType {
    /// The format that a file's magic bytes indicate. The rest of the file may still be damaged: see [`crate::inspect`].
    pub fn sniff(bytes: &[u8]) -> Option<Self> {
        Some(match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Self::Png,
            [0xff, 0xd8, 0xff, ..] => Self::Jpeg,
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Self::WebP,
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => Self::Wav,
            [b'G', b'I', b'F', b'8', ..] => Self::Gif,
            [_, _, _, _, b'f', b't', b'y', b'p', b'M', b'4', b'A', ..] => Self::M4a,
            [_, _, _, _, b'f', b't', b'y', b'p', b'q', b't', ..] => Self::QuickTime,
            [_, _, _, _, b'f', b't', b'y', b'p', ..] if coded_image(bytes).is_none() => Self::Mp4,
            [0x1a, 0x45, 0xdf, 0xa3, ..] => Self::WebM,
            [b'I', b'D', b'3', ..] => Self::Mp3,
            // The sync word of MPEG audio; layer 0 is ADTS.
            [0xff, second, ..] if second & 0xf6 == 0xf0 => Self::Aac,
            [0xff, second, ..] if second & 0xe6 == 0xe2 => Self::Mp3,
            [b'O', b'g', b'g', b'S', ..] => Self::Ogg,
            [b'f', b'L', b'a', b'C', ..] => Self::Flac,
            _ => return None,
        })
    }

    /// The IANA media type, as in a data URI.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::WebP => "image/webp",
            Self::Gif => "image/gif",
            Self::Mp4 => "video/mp4",
            Self::QuickTime => "video/quicktime",
            Self::WebM => "video/webm",
            Self::Wav => "audio/wav",
            Self::M4a => "audio/mp4",
            Self::Mp3 => "audio/mpeg",
            Self::Aac => "audio/aac",
            Self::Ogg => "audio/ogg",
            Self::Flac => "audio/flac",
        }
    }

    /// Whether it is an image, a video or audio.
    pub fn kind(self) -> MediaKind {
        match self {
            Self::Png | Self::Jpeg | Self::WebP | Self::Gif => MediaKind::Image,
            Self::Mp4 | Self::QuickTime | Self::WebM => MediaKind::Video,
            Self::Wav | Self::M4a | Self::Mp3 | Self::Aac | Self::Ogg | Self::Flac => MediaKind::Audio,
        }
    }

    /// The format with its article, for messages: `a PNG image`.
    pub fn description(self) -> &'static str {
        match self {
            Self::Png => "a PNG image",
            Self::Jpeg => "a JPEG image",
            Self::WebP => "a WebP image",
            Self::Gif => "a GIF image",
            Self::Mp4 => "an MP4 video",
            Self::QuickTime => "a QuickTime video",
            Self::WebM => "a WebM or Matroska video",
            Self::Wav => "WAV audio",
            Self::M4a => "M4A audio",
            Self::Mp3 => "MP3 audio",
            Self::Aac => "AAC audio",
            Self::Ogg => "Ogg audio",
            Self::Flac => "FLAC audio",
        }
    }
}

/// The name of an image in the container of MP4 (ISO/IEC 23008-12, the AV1 Image File Format), by its major brand.
fn coded_image(bytes: &[u8]) -> Option<&'static str> {
    match bytes.get(8..12)? {
        b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"mif1" | b"msf1" => Some("a HEIC image"),
        b"avif" | b"avis" => Some("an AVIF image"),
        _ => None,
    }
}

/// Whether a file begins as a video of any kind does, also of one that is decoded by ffmpeg alone. `bytes` are its beginning.
fn is_video(bytes: &[u8]) -> bool {
    match MediaType::sniff(bytes) {
        Some(media_type) => media_type.kind() == MediaKind::Video,
        None => name_content(bytes)
            .is_some_and(|name| name.contains("video") || name.contains("transport stream")),
    }
}

/// What a file is that does not begin as a video: a page, a message, an image, compressed data, nothing.
///
/// # Errors
/// The file cannot be read.
pub fn content_in_place_of_video(path: &Path) -> io::Result<Option<&'static str>> {
    let mut head = Vec::new();
    File::open(path)?.take(SNIFFED_BYTES).read_to_end(&mut head)?;
    Ok((!is_video(&head)).then(|| describe_content(&head)))
}

/// The extension of the name of a video, by its content: editors and players go by it.
///
/// # Errors
/// The file cannot be read.
pub fn video_extension(path: &Path) -> io::Result<&'static str> {
    let mut head = Vec::new();
    File::open(path)?.take(SNIFFED_BYTES).read_to_end(&mut head)?;
    Ok(match MediaType::sniff(&head) {
        Some(MediaType::WebM) => VIDEO_EXTENSIONS[1],
        Some(MediaType::QuickTime) => VIDEO_EXTENSIONS[2],
        _ => VIDEO_EXTENSIONS[0],
    })
}

/// A description of the content of a file, for messages; also names common files that are not media.
pub fn describe_content(bytes: &[u8]) -> &'static str {
    name_content(bytes).unwrap_or("an unknown format")
}

/// As [`describe_content`]; `None` for an unknown format.
pub(crate) fn name_content(bytes: &[u8]) -> Option<&'static str> {
    if let Some(media_type) = MediaType::sniff(bytes) {
        return Some(media_type.description());
    }
    let (packet, sync) = TS_PACKET;
    Some(match bytes {
        [] => "an empty file",
        [_, _, _, _, b'f', b't', b'y', b'p', ..] if let Some(image) = coded_image(bytes) => image,
        [b'%', b'P', b'D', b'F', ..] => "a PDF document",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'A', b'V', b'I', b' ', ..] => "an AVI video",
        [b'R', b'I', b'F', b'F', ..] => "a RIFF file of an unknown kind",
        // One byte is a letter of many a text.
        [first, ..] if *first == sync && bytes.get(packet) == Some(&sync) => "an MPEG transport stream",
        _ => match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'<') => "a web page or XML",
            Some(b'{' | b'[') => "JSON",
            _ => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{MediaKind, MediaType, TS_PACKET, describe_content, is_video};

    #[test]
    fn sniff_recognizes_magic_bytes() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n"[..], Some(MediaType::Png)),
            (b"\xff\xd8\xff\xe0", Some(MediaType::Jpeg)),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some(MediaType::WebP)),
            (b"RIFF\0\0\0\0WAVEfmt ", Some(MediaType::Wav)),
            (b"GIF89a", Some(MediaType::Gif)),
            (b"\0\0\0\x20ftypisom", Some(MediaType::Mp4)),
            (b"\0\0\0\x20ftypqt  ", Some(MediaType::QuickTime)),
            (b"\0\0\0\x20ftypM4A ", Some(MediaType::M4a)),
            (b"\x1a\x45\xdf\xa3", Some(MediaType::WebM)),
            (b"ID3\x04", Some(MediaType::Mp3)),
            (b"\xff\xfb\x90\x64", Some(MediaType::Mp3)),
            (b"\xff\xf3\x90\x64", Some(MediaType::Mp3)),
            (b"\xff\xf1\x50\x80", Some(MediaType::Aac)),
            (b"OggS\0", Some(MediaType::Ogg)),
            (b"fLaC\0", Some(MediaType::Flac)),
            (b"RIFF\0\0\0\0AVI ", None),
            (b"\0\0\0\x18ftypheic", None),
            (b"\0\0\0\x18ftypavif", None),
            (b"\x89PNG", None),
            (b"", None),
        ] {
            assert_eq!(MediaType::sniff(bytes), expected, "{bytes:?}");
        }
        assert_eq!(MediaType::M4a.kind(), MediaKind::Audio);
    }

    #[test]
    fn is_video_is_true_of_what_begins_as_one() {
        let mut stream = vec![0; 2 * TS_PACKET.0];
        (stream[0], stream[TS_PACKET.0]) = (TS_PACKET.1, TS_PACKET.1);
        for video in
            [&b"\0\0\0\x18ftypisom"[..], b"\x1a\x45\xdf\xa3", b"RIFF\0\0\0\0AVI LIST", stream.as_slice()]
        {
            assert!(is_video(video), "{video:?}");
        }
        for other in [
            &b""[..],
            b"<html>\r\n\t<body>",
            b"{\"error\":1}",
            "Zugang nötig".as_bytes(),
            b"\xff\xfe<\0h\0t\0m\0l\0",
            b"\x1f\x8b\x08\0\0\0\0\0",
            b"GIF89a",
            b"OggS",
            b"\0\0\0\x18ftypheic",
            b"\x89PNG\r\n\x1a\n",
            &[0; 5_000],
        ] {
            assert!(!is_video(other), "{other:?}");
        }
    }

    #[test]
    fn describe_content_names_what_is_no_media() {
        assert_eq!(describe_content(b" <!doctype html>"), "a web page or XML");
        assert_eq!(describe_content(b"\n{\"error\": {}}"), "JSON");
        assert_eq!(describe_content(b"[1, 2]"), "JSON");
        assert_eq!(describe_content(b"RIFF\0\0\0\0AVI LIST"), "an AVI video");
        assert_eq!(describe_content(b"RIFF\0\0\0\0CDXA"), "a RIFF file of an unknown kind");
        let mut stream = vec![0; 2 * TS_PACKET.0];
        (stream[0], stream[TS_PACKET.0]) = (TS_PACKET.1, TS_PACKET.1);
        assert_eq!(describe_content(&stream), "an MPEG transport stream");
        assert_eq!(describe_content(b"Good morning"), "an unknown format");
        assert_eq!(describe_content(b"%PDF-1.7"), "a PDF document");
        assert_eq!(describe_content(b""), "an empty file");
        assert_eq!(describe_content(b"GIF89a"), "a GIF image");
        assert_eq!(describe_content(b"text"), "an unknown format");
        assert_eq!(describe_content(b"\0\0\0\x18ftypheic\0\0\0\0mif1"), "a HEIC image");
        assert_eq!(describe_content(b"\0\0\0\x18ftypmif1"), "a HEIC image");
        assert_eq!(describe_content(b"\0\0\0\x1cftypavif"), "an AVIF image");
    }
}
