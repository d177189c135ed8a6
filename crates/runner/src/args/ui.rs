//! Arguments of `runner ui`.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use clap::Args;

use super::WorkflowArgs;

#[derive(Debug, Args)]
pub(crate) struct UiArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// Output folder of runs [default: out/NAME beside the workflow file].
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Port to listen on [default: a free one].
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Address to listen on. Others than loopback need `--origin`.
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub(crate) address: IpAddr,
    /// Where browsers reach the page if not at the address that is listened on, such as `https://films.example.org` for a proxy with TLS in front.
    #[arg(long, value_name = "URL")]
    pub(crate) origin: Option<String>,
    /// Accept an origin without TLS: everybody on the way can read the token, and spend money with it.
    #[arg(long, requires = "origin")]
    pub(crate) insecure: bool,
    /// Print the address without opening it. Without a terminal it is never opened.
    #[arg(long)]
    pub(crate) no_open: bool,
}
