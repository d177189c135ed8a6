//! Arguments of `worker`, and of commands that work on a cluster.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use url::Url;

use super::BudgetArgs;

/// A run on a cluster: it is executed by workers, and followed from here. An interrupt detaches; the run continues.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// With --engine: follow this run instead of starting one.
    #[arg(long, value_name = "RUN", requires = "engine")]
    pub(crate) attach: Option<String>,
    /// With --attach: end the run. Nothing more is submitted; tasks in flight are left to later runs.
    #[arg(long, requires = "attach")]
    pub(crate) cancel: bool,
}

/// The run whose submissions are resolved.
#[derive(Debug, Args)]
pub(crate) struct RecordedRunArgs {
    /// With --engine: only submissions of this run [default: of all runs of the workflow; with a folder, of all workflows].
    #[arg(long, value_name = "RUN", requires = "engine")]
    pub(crate) run: Option<String>,
}

/// Execute runs of a cluster: prepare, submit, poll, download and join what Restate asks this process for.
///
/// `RUNNER_BASE_URL` and `RUNNER_API_KEY` (or --api-key-file) name the service. A worker keeps no state of its own and may be killed at any time.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Ingress of Restate.
    #[arg(long, value_name = "URL", env = "RUNNER_ENGINE")]
    pub(crate) engine: Url,
    /// The store that clients and workers share, `file:///FOLDER`, `s3://BUCKET/PREFIX`, `gs://…` or `az://…`.
    #[arg(long, value_name = "URL", env = "RUNNER_STORE")]
    pub(crate) store: Url,
    /// File with the API key of the service, instead of `RUNNER_API_KEY`, as a mounted secret is.
    #[arg(long, value_name = "FILE")]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Address to listen on; port 0 picks a free port. The URL is printed once requests are accepted.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9080")]
    pub(crate) listen: SocketAddr,
    /// Let several workers of this machine listen on the same address; the system spreads connections over them.
    #[cfg(unix)]
    #[arg(long)]
    pub(crate) share_port: bool,
    /// Admin address of Restate: register this worker there. A new version needs a new address.
    #[arg(long, value_name = "URL")]
    pub(crate) register: Option<Url>,
    /// URL at which Restate reaches this worker [default: that of the listen address].
    #[arg(long, value_name = "URL", requires = "register")]
    pub(crate) advertise: Option<Url>,
    /// Public key of Restate's request identity; requests that none of these keys signed are refused. May be repeated.
    #[arg(long = "identity-key", value_name = "KEY")]
    pub(crate) identity_keys: Vec<String>,
    /// Maximum number of the account's tasks in flight, over all runs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) max_in_flight: Option<u16>,
    /// Maximum submissions of the account in any minute, over all runs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) max_submits_per_minute: Option<u32>,
    /// Maximum polls of the account in any second, over all runs and workers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) max_polls_per_second: Option<u32>,
    /// Maximum number of concurrent downloads of the account, over all runs and workers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub(crate) max_downloads: Option<u16>,
    #[command(flatten, next_help_heading = "Caps of the account, over all runs")]
    pub(crate) caps: BudgetArgs,
    /// Minimum time between two polls of a task: each one is an entry in the journal [default: 2, and 0.05 for a service on this machine].
    #[arg(long, value_name = "SECONDS", value_parser = super::duration)]
    pub(crate) min_poll_interval: Option<Duration>,
    /// How long after a submission whose outcome is unknown a service that can be asked is asked a second time.
    #[arg(long, value_name = "SECONDS", value_parser = super::duration, default_value = "150")]
    pub(crate) reconcile_after: Duration,
    /// How long a submission whose outcome is unknown counts as in flight.
    #[arg(long, value_name = "SECONDS", value_parser = super::duration, default_value = "600")]
    pub(crate) hold_indeterminate: Duration,
    /// Free all permits of the account, and end. Needed after invocations were killed by hand.
    #[arg(long)]
    pub(crate) reset_permits: bool,
}
