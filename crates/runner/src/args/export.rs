//! Arguments of `export`.

use std::path::PathBuf;

use clap::Args;

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
    /// File to write [default: beside the clips, named as the film].
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the file if it exists.
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// With --otio: refer to clips by absolute paths, as Premiere wants it. FCPXML always does. By default they are found as long as their
    /// folder moves with the file.
    #[arg(long, conflicts_with_all = ["edl", "csv", "srt", "vtt"])]
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
    /// CMX 3600 edit decision list.
    #[arg(long)]
    pub(crate) edl: bool,
    /// A table for people and spreadsheets.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Subtitles of the shots' `dialogue` as SubRip: editors, players, video platforms.
    #[arg(long)]
    pub(crate) srt: bool,
    /// The same as WebVTT: web pages.
    #[arg(long)]
    pub(crate) vtt: bool,
}
