//! The media gate, as the compiler sees it: limits, and a function that inspects the bytes of a medium.
//!
//! Decoding needs codecs, which this crate does not depend on, so that it and the scheduler stay free of them. Whoever provides the
//! files provides the gate: `engine::MEDIA_GATE` in the product. A [`crate::Files`] cannot be built on disk without one.

use std::fmt;
use std::io::{Read, Seek};

use crate::limits;
use crate::units::VideoDuration;

/// A file that is read in parts.
pub trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// The kind of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    Image,
    Video,
    Audio,
}

impl MediaKind {
    /// As the key `type` has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Image, Self::Video, Self::Audio].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A medium that can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaInfo {
    /// The media type, such as `image/png`.
    pub media_type: &'static str,
    pub kind: MediaKind,
    /// How long a video is, or sound that is decoded without other programs.
    pub duration: Option<VideoDuration>,
    /// Width and height of an image or a video, in pixels.
    pub size: Option<(u32, u32)>,
    /// What is decoded with ffmpeg alone, such as `HEVC video`.
    pub foreign: Option<String>,
    /// How long it took to decode, whatever the machine: in pixels, or samples of all channels, of a format that is decoded quickly.
    pub decoded: u64,
}

/// A medium that was inspected and cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectionError {
    pub error: MediaGateError,
    /// Whether it may have been decoded nearly to its end. Otherwise its beginning tells.
    pub was_decoded: bool,
}

/// Why a medium cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaGateError {
    /// What is wrong, as a lower-case fragment.
    pub message: String,
    pub help: String,
}

impl MediaGateError {
    /// The error for media that take too long to inspect, all together.
    pub(crate) fn too_much_media() -> Self {
        let message = format!(
            "the media of this workflow are too large together: {} billion pixels, audio samples and bytes are read",
            limits::MAX_MEDIA_SAMPLES / 1_000_000_000
        );
        Self { message, help: "scale the images down, shorten the sounds, or split the workflow".to_owned() }
    }

    fn not_here() -> Self {
        let message = "media cannot be inspected here".to_owned();
        Self { message, help: "run `runner check`".to_owned() }
    }
}

/// The rules for media that are sent inside a request.
#[derive(Clone, Copy)]
pub struct MediaGate {
    /// The largest file, in bytes.
    pub max_file_bytes: u64,
    /// The largest sum of the files of one request, in bytes.
    pub max_request_bytes: u64,
    /// The most that a frame of a video may have in a request, in bytes, by the width and height of the video; `None` is a video of the service.
    pub max_frame_bytes: fn(Option<(u32, u32)>) -> u64,
    /// The largest sound or clip of one's own in a film, in bytes.
    pub max_film_file_bytes: u64,
    /// The longest sound of a film.
    pub max_sound_duration: VideoDuration,
    /// Whether ffmpeg decodes what is not decoded without it ([`MediaInfo::foreign`]).
    pub has_ffmpeg: bool,
    /// The largest font, in bytes.
    pub max_font_bytes: u64,
    /// Decodes a medium.
    pub inspect: fn(&[u8]) -> Result<MediaInfo, InspectionError>,
    /// Decodes a medium that is read in parts.
    pub inspect_file: fn(Box<dyn ReadSeek>) -> Result<MediaInfo, InspectionError>,
    pub inspect_font: fn(&[u8]) -> Result<(), MediaGateError>,
    /// The characters of a text that neither this font nor an embedded one has.
    pub missing_characters: fn(Option<&[u8]>, &str) -> Vec<char>,
}

impl MediaGate {
    /// Refuses every medium: for callers that have no codecs.
    pub(crate) const CLOSED: Self = Self {
        max_file_bytes: 0,
        max_request_bytes: 0,
        max_frame_bytes: |_| 0,
        max_film_file_bytes: 0,
        max_sound_duration: VideoDuration::from_secs(0),
        has_ffmpeg: false,
        max_font_bytes: 0,
        inspect: |_| Err(InspectionError { error: MediaGateError::not_here(), was_decoded: false }),
        inspect_file: |_| Err(InspectionError { error: MediaGateError::not_here(), was_decoded: false }),
        inspect_font: |_| {
            let message = "fonts cannot be inspected here".to_owned();
            Err(MediaGateError { message, help: "run `runner check`".to_owned() })
        },
        missing_characters: |_, _| Vec::new(),
    };

    /// Checks size and contents.
    pub(crate) fn check(&self, bytes: &[u8]) -> Result<MediaInfo, InspectionError> {
        if bytes.len() as u64 > self.max_file_bytes {
            return Err(InspectionError { error: self.too_large(), was_decoded: false });
        }
        (self.inspect)(bytes)
    }

    /// The error for a file above [`Self::max_file_bytes`].
    pub fn too_large(&self) -> MediaGateError {
        let message =
            format!("this file is larger than {}, the most that is sent", mebibytes(self.max_file_bytes));
        MediaGateError { message, help: SMALLER.to_owned() }
    }

    /// The error for a file of a film above this size.
    pub fn film_file_too_large(max: u64) -> MediaGateError {
        let max_size = mebibytes(max);
        let message = format!("this file is larger than {max_size}, the most that a file of a film may have");
        MediaGateError {
            message,
            help: "shorten it, or compress it: sound as M4A or MP3, video as H.264".to_owned(),
        }
    }

    /// The error for a sound above [`Self::max_sound_duration`].
    pub(crate) fn sound_too_long(&self) -> MediaGateError {
        let message = format!("it is longer than {} min", self.max_sound_duration.as_millis() / 60_000);
        MediaGateError { message, help: "shorten it in a sound editor".to_owned() }
    }

    /// What is reported of media that may be above [`Self::max_request_bytes`] together, with the frames that are taken of videos.
    pub(crate) fn sum_may_be_too_large(&self, bytes: u64) -> MediaGateError {
        let (sum, limit) = (mebibytes(bytes), mebibytes(self.max_request_bytes));
        let message = format!(
            "with its frames, this shot may send {sum} of media; one request carries at most {limit}"
        );
        MediaGateError { message, help: SMALLER.to_owned() }
    }

    /// The error for media of one request above [`Self::max_request_bytes`] together.
    pub fn sum_too_large(&self, bytes: u64) -> MediaGateError {
        let (sum, limit) = (mebibytes(bytes), mebibytes(self.max_request_bytes));
        let message =
            format!("the media of this shot have {sum} together; one request carries at most {limit}");
        MediaGateError { message, help: SMALLER.to_owned() }
    }
}

/// How many bytes a data URI has that are decoded from Base64 (RFC 4648, section 4).
pub fn inline_bytes(uri: &str) -> u64 {
    let data = uri.split_once(',').map_or(uri, |(_, data)| data).trim_end_matches('=');
    data.len() as u64 * 3 / 4
}

impl fmt::Debug for MediaGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MediaGate")
            .field("max_file_bytes", &self.max_file_bytes)
            .field("max_request_bytes", &self.max_request_bytes)
            .finish_non_exhaustive()
    }
}

const SMALLER: &str = "compress or scale it down, or upload it and give its `https://` URL";

/// A number of bytes in MiB, rounded up to a tenth.
fn mebibytes(bytes: u64) -> String {
    let tenths = u128::from(bytes).saturating_mul(10).div_ceil(1 << 20);
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} MiB"),
        (whole, tenth) => format!("{whole}.{tenth} MiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::{inline_bytes, mebibytes};

    #[test]
    fn inline_bytes_are_those_of_the_contents() {
        for (uri, bytes) in [
            ("data:image/png;base64,", 0),
            ("data:image/png;base64,QQ==", 1),
            ("data:image/png;base64,QUE=", 2),
            ("data:image/png;base64,QUFB", 3),
            ("data:,QUFBQQ==", 4),
        ] {
            assert_eq!(inline_bytes(uri), bytes, "{uri}");
        }
    }

    #[test]
    fn mebibytes_round_up_to_a_tenth() {
        for (bytes, text) in
            [(0, "0 MiB"), (1, "0.1 MiB"), (20 << 20, "20 MiB"), ((20 << 20) + 1, "20.1 MiB")]
        {
            assert_eq!(mebibytes(bytes), text);
        }
    }
}
