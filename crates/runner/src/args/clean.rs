//! Arguments of `runner clean`.

use std::path::PathBuf;

use clap::Args;

use super::Format;

#[derive(Debug, Args)]
#[command(after_help = CLEAN_NOTES)]
pub(crate) struct CleanArgs {
    /// Workflow file, or the folder that contains it. All workflows of a folder share their partial downloads; earlier cuts and clips
    /// are those of the workflow file.
    pub(crate) file: PathBuf,
    /// Remove the files. Without this flag they are listed only.
    #[arg(long)]
    pub(crate) delete: bool,
    /// Include what was paid for: originals of clips that the workflow does not use, and what is left of videos that the service no longer has.
    #[arg(long)]
    pub(crate) paid: bool,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

const CLEAN_NOTES: &str = "\
A clip that the workflow uses, one of a shot that has no other video, a file that a task in flight needs or that another process has open is never removed.";
