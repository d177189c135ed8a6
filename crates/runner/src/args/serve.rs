//! Arguments of `serve` and `serve keys`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use url::Url;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = SERVE_NOTES)]
pub(crate) struct ServeArgs {
    /// Data folder for tasks, keys and videos; created if missing.
    #[arg(long, value_name = "FOLDER", default_value = "video-service", global = true)]
    pub(crate) data: PathBuf,
    /// Address to listen on; port 0 picks a free port. The URL is printed once the service accepts requests.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// Maximum number of tasks rendered concurrently [default: number of cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) workers: Option<u16>,
    /// Fault profile (JSON): inject faults, to test clients (docs/service.md).
    #[arg(long, value_name = "FILE")]
    pub(crate) faults: Option<PathBuf>,
    /// Allow media URLs in requests to point to this machine and to private networks.
    #[arg(long)]
    pub(crate) allow_private_media: bool,
    /// Base URL of video URLs, where clients do not reach the service at its listen address.
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<Url>,
    /// External renderer: a command line, quoted as for a shell. It reads the task as JSON and writes output.mp4.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) renderer: Option<String>,
    /// With --renderer: timeout for one task, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 1_800, requires = "renderer", value_parser = clap::value_parser!(u64).range(1..=86_400))]
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

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err("expected a number above 0, for example 0.5".to_owned()),
    }
}
