//! [`MediaError`]: failures of files, frames and external programs, with help where there is one.

use std::path::{Path, PathBuf};

/// Every failure of this crate. Bad input ends here: nothing in it panics, hangs or leaves half a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MediaError {
    /// The operating system refused to read or write.
    #[error("{action}: {source}")]
    Io {
        /// What was being done, e.g. `cannot open the file`.
        action: &'static str,
        /// The system's own reason.
        #[source]
        source: std::io::Error,
    },
    /// Not a supported media file: another container, an HTML page, an empty file.
    #[error("not a playable file: {0}")]
    NotMedia(String),
    /// The file claims to be media but contradicts itself, or ends too early.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    /// Valid media in a codec that is not handled natively; ffmpeg, if available, handles it.
    #[error(
        "{coding} is not decoded natively: install ffmpeg, which handles it, or convert the file to H.264 (8-bit 4:2:0, progressive) with AAC in MP4"
    )]
    NeedsFfmpeg {
        /// What was found, e.g. `HEVC video`.
        coding: String,
    },
    /// Larger than this crate is willing to load.
    #[error("{what} is too large: the limit is {limit}")]
    TooLarge {
        /// The kind of size that is too large, with its value.
        what: String,
        /// The limit, with its unit.
        limit: String,
    },
    /// An invalid argument: an odd size, a frame of the wrong size, no clips.
    #[error("{0}")]
    Request(String),
    /// An encoder refused its input. Not expected for a [`crate::ClipSpec`] that was accepted.
    #[error("the {codec} encoder failed: {reason}")]
    Encode {
        /// `H.264`, `AAC` or `PNG`.
        codec: &'static str,
        /// The encoder's own reason.
        reason: String,
    },
    /// ffmpeg or ffprobe was run and did not deliver.
    #[error("{tool} {reason}")]
    Tool {
        /// `ffmpeg` or `ffprobe`.
        tool: &'static str,
        /// The failure, with the last line of the tool's output.
        reason: String,
    },
    /// [`crate::Cancellation`] ended it.
    #[error("it was cancelled")]
    Cancelled,
    /// Any of the above, in this file.
    #[error("{}: {source}", path.display())]
    At {
        /// The file that was read or written.
        path: PathBuf,
        /// The error of the operating system or the file.
        #[source]
        source: Box<MediaError>,
    },
}

impl MediaError {
    /// The same failure with the file's name, unless it has one already.
    pub fn at(self, path: &Path) -> Self {
        match self {
            Self::At { .. } => self,
            source => Self::At { path: path.to_owned(), source: Box::new(source) },
        }
    }

    /// The failure itself, without the file.
    pub fn root(&self) -> &Self {
        match self {
            Self::At { source, .. } => source.root(),
            error => error,
        }
    }

    /// Whether ffmpeg might handle what this crate does not support natively.
    pub fn needs_ffmpeg(&self) -> bool {
        matches!(self.root(), Self::NeedsFfmpeg { .. })
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }

    pub(crate) fn needs(coding: impl Into<String>) -> Self {
        Self::NeedsFfmpeg { coding: coding.into() }
    }

    /// For `map_err` on file operations.
    pub(crate) fn io(action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action, source }
    }
}
