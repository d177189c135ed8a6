//! Arguments of `report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{EngineAddressArgs, WorkflowArgs};

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// Output folder of the run [default: out/NAME beside the workflow file].
    #[arg(short = 'o', long, value_name = "FOLDER")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Format of the report.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ReportFormat::Md)]
    pub(crate) format: ReportFormat,
    /// Only the clips of this shot.
    #[arg(long, value_name = "SHOT")]
    pub(crate) shot: Option<String>,
    /// Clips in a row of a contact sheet [default: one row per value of the first axis, or about as many rows as columns].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) columns: Option<u32>,
    /// File to write instead of standard output; required for a contact sheet. An existing one is overwritten, unless it is a clip.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) engine: EngineAddressArgs,
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Markdown, for people and for summaries of CI jobs.
    Md,
    /// A table with one row per instance, for spreadsheets.
    Csv,
    /// The manifest, for programs.
    Json,
    /// JUnit XML, for test reports of CI systems.
    Junit,
    /// A PNG with a frame of each clip, labelled.
    ContactSheet,
}
