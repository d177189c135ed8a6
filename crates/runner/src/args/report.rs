//! Arguments of `report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::WorkflowArgs;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// Output folder of the run [default: out/NAME beside the workflow file].
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Format of the report.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ReportFormat::Md)]
    pub(crate) format: ReportFormat,
    /// File to write instead of standard output. An existing one is overwritten.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Markdown, for people and for summaries of CI jobs.
    Md,
    /// A table with one row per instance, for spreadsheets.
    Csv,
    /// The manifest (docs/manifest.schema.json), for programs.
    Json,
    /// JUnit XML, for test reports of CI systems.
    Junit,
}
