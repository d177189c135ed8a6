//! The arguments of `runner plan`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{EngineAddressArgs, SelectionArgs, WorkflowArgs};

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// Output folder of the run [default: out/NAME beside the workflow file].
    #[arg(short = 'o', long, value_name = "FOLDER")]
    pub(crate) output_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// What `run --dry-run` would render again.
    #[arg(skip)]
    pub(crate) rerun: Option<Vec<String>>,
    /// `run --dry-run --new`.
    #[arg(skip)]
    pub(crate) new: bool,
    /// The salt of `run --dry-run`.
    #[arg(skip)]
    pub(crate) salt: Option<String>,
    /// Print the exact requests instead, one JSON object per line; inputs that do not exist yet are {"$input": …}.
    #[arg(long, conflicts_with_all = ["format", "prices"])]
    pub(crate) requests: bool,
    /// Price table [default: prices.yaml beside the workflow file, if it exists].
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = PlanFormat::Table)]
    pub(crate) format: PlanFormat,
    #[command(flatten)]
    pub(crate) engine: EngineAddressArgs,
}

/// Output formats of `plan`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// A table.
    Table,
    /// One JSON document.
    Json,
}
