//! Arguments of `runner ledger`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::{Format, WorkflowArgs, duration};

#[derive(Debug, Args)]
pub(crate) struct LedgerArgs {
    #[command(subcommand)]
    pub(crate) command: LedgerCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Record work that was paid for and that the ledger does not know: videos with a sidecar in the artifact store, videos named by the
    /// key of a shot, and tasks that you name. Nothing is submitted.
    Adopt(AdoptArgs),
    /// Download the videos of recorded tasks, also of those that no shot asks for any more.
    Fetch(FetchArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AdoptArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// Folder with the videos [default: out/NAME beside the workflow file].
    #[arg(short = 'o', long, value_name = "FOLDER")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Also adopt videos from this folder: an output folder with its `manifest.json`, or a copy of an artifact store. Their hashes are
    /// verified, and they are copied into the artifact store.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) from_folder: Option<PathBuf>,
    /// List what would be adopted, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// A task that is in flight or finished at the service, for a shot without a video. The next run adopts it.
    #[arg(long = "task", value_name = "SHOT=TASK")]
    pub(crate) tasks: Vec<String>,
    /// Text that is part of every shot's key, as in `run`.
    #[arg(long, value_name = "TEXT")]
    pub(crate) salt: Option<String>,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Clone, Args)]
#[command(
    override_usage = "runner ledger fetch [OPTIONS] <TASK>...\n       runner ledger fetch [OPTIONS] --all"
)]
pub(crate) struct FetchArgs {
    /// Tasks, by the service's id, as `status` lists them.
    #[arg(value_name = "TASK", required_unless_present = "all")]
    pub(crate) tasks: Vec<String>,
    /// Every recorded task of the service that has no video yet.
    #[arg(long)]
    pub(crate) all: bool,
    /// Workflow file, or the folder that contains it.
    #[arg(long = "in", value_name = "FILE|FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Send keys where `services.yaml` says, although nobody has confirmed it on this machine (`services trust`).
    #[arg(long)]
    pub(crate) trust_services: bool,
    /// How long to wait for tasks that are not finished [default: an hour].
    #[arg(long, value_name = "SECONDS", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}
