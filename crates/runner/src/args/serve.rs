//! Arguments of `serve` and `serve keys`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use url::Url;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = SERVE_NOTES)]
pub(crate) struct ServeArgs {
    /// Data folder for tasks, keys and videos. `serve` and `serve keys add` create it if missing.
    #[arg(long, value_name = "FOLDER", default_value = "video-service", global = true)]
    pub(crate) data: PathBuf,
    /// Address to listen on; port 0 picks a free port. The URL is printed once the service accepts requests.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// Maximum number of tasks rendered concurrently [default: number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MAX_WORKERS))]
    pub(crate) workers: Option<u16>,
    /// Limits (JSON): of the queue and of keys without their own.
    #[arg(long, value_name = "FILE")]
    pub(crate) limits: Option<PathBuf>,
    /// Fault profile (JSON): inject faults, to test clients.
    #[arg(long, value_name = "FILE")]
    pub(crate) faults: Option<PathBuf>,
    /// Allow media URLs in requests to point to this machine and to private networks.
    #[arg(long)]
    pub(crate) allow_private_media: bool,
    /// Accept misspelled request fields, without effect; by default they are refused with the nearest name.
    #[arg(long)]
    pub(crate) lenient_fields: bool,
    /// Base URL of video URLs, where clients do not reach the service at its listen address.
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<Url>,
    /// External renderer: a command line, quoted as for a shell. It reads the task as JSON and writes output.mp4.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) renderer: Option<String>,
    /// With --renderer: timeout for one task, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_RENDER_TIMEOUT, requires = "renderer", value_parser = clap::value_parser!(u64).range(1..=MAX_RENDER_TIMEOUT))]
    pub(crate) render_timeout: u64,
    #[command(subcommand)]
    pub(crate) command: Option<ServeCommand>,
}

const SERVE_NOTES: &str = "\
On an interrupt or SIGTERM the service stops: open downloads get a few seconds, unfinished tasks resume at the next start, the exit code is 0.";

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Create, list and revoke API keys, also while the service runs.
    #[command(subcommand)]
    Keys(KeysCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Create a key and print it. It is shown only once.
    Add(NewKeyArgs),
    /// Change permissions and limits of a key; settings without a flag are unchanged.
    Set(SetKeyArgs),
    /// List all keys and their usage.
    List,
    /// Revoke a key. Its tasks are kept and finish.
    Revoke {
        /// Name or ID of the key.
        key: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NewKeyArgs {
    /// Name of the key.
    pub(crate) name: String,
    /// Permit 1080p.
    #[arg(long = "1080p")]
    pub(crate) full_hd: bool,
    #[command(flatten)]
    pub(crate) limits: KeyLimitArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SetKeyArgs {
    /// Name or ID of the key.
    pub(crate) key: String,
    /// Permit 1080p.
    #[arg(long = "1080p")]
    pub(crate) full_hd: bool,
    /// Permit at most 720p.
    #[arg(long = "no-1080p", conflicts_with = "full_hd")]
    pub(crate) no_full_hd: bool,
    #[command(flatten)]
    pub(crate) limits: KeyLimitArgs,
    /// Remove the quota.
    #[arg(long, conflicts_with = "quota_seconds")]
    pub(crate) no_quota: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KeyLimitArgs {
    /// Maximum number of unfinished tasks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) running_tasks: Option<u32>,
    /// Sustained submission rate.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) submissions_per_second: Option<f64>,
    /// Burst size: submissions accepted at once after an idle period.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) burst: Option<u32>,
    /// Quota: seconds of video in total.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) quota_seconds: Option<u64>,
}

/// Seconds: a day.
const MAX_RENDER_TIMEOUT: u64 = 24 * 60 * 60;
/// Seconds: half an hour.
const DEFAULT_RENDER_TIMEOUT: u64 = 30 * 60;
/// Threads.
const MAX_WORKERS: i64 = 256;

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err("expected a number above 0, for example 0.5".to_owned()),
    }
}
