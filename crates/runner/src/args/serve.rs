//! What `serve` and `serve keys` are given.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use url::Url;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = SERVE_NOTES)]
pub(crate) struct ServeArgs {
    /// The folder for tasks, keys and videos; it is made if it is not there.
    #[arg(long, value_name = "FOLDER", default_value = "video-service", global = true)]
    pub(crate) data: PathBuf,
    /// Where to listen; port 0 takes a free one. The address is printed when the service is up.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// Tasks rendered at once [default: as many as there are cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) workers: Option<u16>,
    /// Misbehaves as a fault profile (JSON) says, to try clients on.
    #[arg(long, value_name = "FILE")]
    pub(crate) faults: Option<PathBuf>,
    /// Lets media URLs in requests point to this machine and to private networks.
    #[arg(long)]
    pub(crate) allow_private_media: bool,
    /// What the addresses of videos begin with, where clients do not reach the service at the address it listens on.
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<Url>,
    /// Renders with this program: its words as one argument, quoted as for a shell. It gets the task as JSON and writes output.mp4.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) renderer: Option<String>,
    /// The longest that the program may take for one task, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 1_800, requires = "renderer", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) render_limit: u64,
    #[command(subcommand)]
    pub(crate) command: Option<ServeCommand>,
}

const SERVE_NOTES: &str = "\
Stop it with an interrupt or SIGTERM: open downloads get a few seconds, unfinished tasks go on at the next start, the exit code is 0.";

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Makes, lists and revokes the API keys of a service, also while it runs.
    #[command(subcommand)]
    Keys(KeysCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Makes a key and prints it, for the only time.
    Add(NewKeyArgs),
    /// Lists all keys and what was done with them.
    List,
    /// Takes a key back; its tasks stay and finish.
    Revoke {
        /// The key's name or id.
        key: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NewKeyArgs {
    /// What people call it.
    pub(crate) name: String,
    /// Permits 1080p.
    #[arg(long = "1080p")]
    pub(crate) full_hd: bool,
    /// Most unfinished tasks at once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) running_tasks: Option<u32>,
    /// Submissions a second in the long run.
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) submissions_per_second: Option<f64>,
    /// Submissions that may come at once after a quiet while.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) burst: Option<u32>,
    /// Seconds of video in all.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) quota_seconds: Option<u64>,
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err("write a number above 0, for example 0.5".to_owned()),
    }
}
