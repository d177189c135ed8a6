//! Arguments of `runner ui`.

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
    /// Port on this machine (127.0.0.1) [default: a free one].
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Print the address without opening it. Without a terminal it is never opened.
    #[arg(long)]
    pub(crate) no_open: bool,
}
