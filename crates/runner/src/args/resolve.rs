//! Arguments of `resolve`.

use std::path::PathBuf;

use clap::Args;

#[cfg(feature = "cluster")]
use super::cluster::RecordedRunArgs;
use super::{EngineAddressArgs, Format};

#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    /// Workflow file, or the folder that contains it.
    pub(crate) file: PathBuf,
    /// Shots, attempts or tasks, as `resolve FILE` lists them.
    #[arg(value_name = "SHOT", group = "submissions")]
    pub(crate) shots: Vec<String>,
    /// Every submission of the workflow that `resolve FILE` lists (with --cancel: every task in flight); with a folder, of all its workflows.
    #[arg(long, group = "submissions", conflicts_with = "adopt", requires = "resolution")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) resolution: ResolutionArgs,
    /// With --adopt: do not ask the service whether the task matches the attempt.
    #[arg(long, requires = "adopt")]
    pub(crate) no_verify: bool,
    /// Send keys where `services.yaml` says, although nobody has confirmed it on this machine (`services trust`).
    #[arg(long)]
    pub(crate) trust_services: bool,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) engine: EngineAddressArgs,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    pub(crate) cluster: RecordedRunArgs,
}

#[derive(Debug, Args)]
#[group(id = "resolution", multiple = false)]
pub(crate) struct ResolutionArgs {
    /// The service accepted the submission as this task: the next run adopts it. The service is asked whether the task matches.
    #[arg(long, value_name = "TASK", requires = "submissions")]
    pub(crate) adopt: Option<String>,
    /// The service did not accept the submission: the next run submits it again.
    #[arg(long, requires = "submissions")]
    pub(crate) resubmit: bool,
    /// The outcome cannot be determined, or the task has no video any more: count the submission as spent and never submit it again, unless
    /// `run --rerun` asks for it.
    #[arg(long, requires = "submissions")]
    pub(crate) abandon: bool,
    /// Cancel the task at the service, where it does that: many cancel only what is queued. The next run learns what came of it.
    #[arg(long, requires = "submissions")]
    pub(crate) cancel: bool,
}
