//! Arguments of `status`.

use std::path::PathBuf;

use clap::Args;

use super::{EngineAddressArgs, Format};

#[derive(Debug, Args)]
#[command(after_help = STATUS_NOTES)]
pub(crate) struct StatusArgs {
    /// Workflow file: shows its runs. Or a folder: shows the runs of all of its files [default: the current folder].
    pub(crate) file: Option<PathBuf>,
    /// Keep updating until no run is alive: redraws on a terminal, otherwise prints a line per change.
    #[arg(short, long)]
    pub(crate) watch: bool,
    /// How many finished runs to show, latest first.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) runs: u32,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) engine: EngineAddressArgs,
}

const STATUS_NOTES: &str = "\
Reads the ledger only: nothing is changed, and no service is asked. Polls without news are not recorded, so for a task in \
flight it shows the time since submission. Open picks are listed, and need action, \
where FILE is named: a folder has no plan.

Exit code: 3 when something needs action that no live run takes care of, otherwise 0; with --watch, the state at the end.";
