//! What `status` is given.

use std::path::PathBuf;

use clap::Args;

use super::Format;

#[derive(Debug, Args)]
#[command(after_help = STATUS_NOTES)]
pub(crate) struct StatusArgs {
    /// A workflow file, or the folder that it is in: all runs of that folder are meant [default: the current folder].
    pub(crate) file: Option<PathBuf>,
    /// Goes on showing, until no run is alive any more or it is interrupted: redrawn on a terminal, as lines of what changed elsewhere.
    #[arg(short, long)]
    pub(crate) watch: bool,
    /// How many runs that have ended are shown, the latest first.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) runs: u32,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

const STATUS_NOTES: &str = "\
Looks at the ledger and changes nothing, nor asks the service. Polls that bring no news are not on record: of a task that is out it says for
how long, and how long such tasks usually take.

Exit code: 3 when something is outstanding that no living run looks after, else 0; with --watch, as things stand at the end.";
