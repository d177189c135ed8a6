//! Which shots a command is about, where it is not all of them.

use clap::Args;

/// Which shots are made. All others are reused where they are made, and never submitted.
#[derive(Debug, Default, Args)]
#[group(id = "selection", multiple = true)]
#[command(group = clap::ArgGroup::new("extendable").args(["only", "failed"]).multiple(true))]
pub(crate) struct SelectionArgs {
    /// Makes exactly these shots: `lamp`, some of its instances (`lamp@look=noir`), one, or a take (`lamp#2`). What they need has to be made
    /// already.
    #[arg(long, value_name = "SHOT", num_args = 1.., conflicts_with_all = ["from", "failed"])]
    pub(crate) only: Vec<String>,
    /// Makes these shots, all that depends on them, and whatever that needs that is not made.
    #[arg(long, value_name = "SHOT", num_args = 1.., conflicts_with = "failed")]
    pub(crate) from: Vec<String>,
    /// Makes what failed in the last run of this workflow, and what was not begun because of that.
    #[arg(long)]
    pub(crate) failed: bool,
    /// With --only or --failed: makes all that depends on these shots as well.
    #[arg(long, conflicts_with = "from", requires = "extendable")]
    pub(crate) downstream: bool,
}
