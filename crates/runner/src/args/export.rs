//! Arguments of `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use media::DeliveryFormat;

use super::WorkflowArgs;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// The film, by its file name with or without `.mp4` [default: the only one].
    #[arg(long, value_name = "NAME")]
    pub(crate) film: Option<String>,
    #[command(flatten)]
    pub(crate) format: ExportFormatArgs,
    /// File to write, or folder of a draft [default: beside the clips, named as the film].
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the file or the draft if it exists.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// With --otio: refer to clips by absolute paths, as Premiere wants it. FCPXML and drafts always do. By default clips are referred to
    /// by paths relative to the exported file.
    #[arg(long, conflicts_with_all = ["srt", "vtt", "video"])]
    pub(crate) absolute: bool,
}

/// The format of the exported file.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[expect(clippy::doc_markdown, reason = "it is the help text")]
pub(crate) struct ExportFormatArgs {
    /// OpenTimelineIO: DaVinci Resolve, Kdenlive, Premiere, Flame. Clips, transitions, chapters, other takes.
    #[arg(long)]
    pub(crate) otio: bool,
    /// FCPXML 1.10: Final Cut Pro, DaVinci Resolve.
    #[arg(long)]
    pub(crate) fcpxml: bool,
    /// A draft of CapCut: a folder for its drafts. Clips, transitions, titles, subtitles, music and voices.
    #[arg(long)]
    pub(crate) capcut: bool,
    /// The same for Jianying, which is CapCut in China.
    #[arg(long)]
    pub(crate) jianying: bool,
    /// Subtitles of the shots' `dialogue` as SubRip: editors, players, video platforms.
    #[arg(long)]
    pub(crate) srt: bool,
    /// The same as WebVTT: web pages.
    #[arg(long)]
    pub(crate) vtt: bool,
    /// The finished film itself in another format, encoded with ffmpeg.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) video: Option<VideoFormat>,
}

/// Formats of the film itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(clippy::doc_markdown, reason = "it is the help text")]
pub(crate) enum VideoFormat {
    /// Apple ProRes 422 HQ with PCM in a .mov: for editing
    #[value(name = "prores")]
    ProRes,
    /// H.265 with AAC in an .mp4: smaller than the film
    H265,
    /// AV1 with AAC in an .mp4: smaller still, slow to encode
    Av1,
    /// VP9 with Opus in a .webm: for pages
    #[value(name = "webm")]
    WebM,
    /// An animated GIF without sound, at most 640 columns
    Gif,
}

impl From<VideoFormat> for DeliveryFormat {
    fn from(format: VideoFormat) -> Self {
        match format {
            VideoFormat::ProRes => Self::ProRes,
            VideoFormat::H265 => Self::H265,
            VideoFormat::Av1 => Self::Av1,
            VideoFormat::WebM => Self::WebM,
            VideoFormat::Gif => Self::Gif,
        }
    }
}
