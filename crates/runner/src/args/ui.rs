//! Arguments of `runner ui`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use url::Url;

use super::{EngineAddressArgs, WorkflowArgs};

#[derive(Debug, Args)]
pub(crate) struct UiArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// Output folder of runs [default: out/NAME beside the workflow file].
    #[arg(short = 'o', long, value_name = "FOLDER")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Address to listen on; port 0 picks a free port. Others than loopback need `--public-url`.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Where browsers reach the page if not at its listen address: `https://films.example.org` for a proxy with TLS in front.
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<Url>,
    /// Accept a public URL without TLS: everybody on the way can read the token, and spend money with it.
    #[arg(long, requires = "public_url")]
    pub(crate) insecure: bool,
    /// Print the address without opening it. Without a terminal it is never opened.
    #[arg(long)]
    pub(crate) no_open: bool,
    #[command(flatten)]
    pub(crate) engine: EngineAddressArgs,
}
