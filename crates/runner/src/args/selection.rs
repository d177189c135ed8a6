//! Flags that select a part of a workflow.

use clap::Args;

/// Selection. Shots that are not selected are reused if they have a video, and never submitted.
#[derive(Debug, Default, Args)]
#[group(id = "selection", multiple = true)]
#[command(group = clap::ArgGroup::new("extendable").args(["only", "failed"]).multiple(true))]
pub(crate) struct SelectionArgs {
    /// Render exactly these shots: `lamp`, some instances (`lamp@look=noir`), one instance, a take (`lamp#2`), or all of a
    /// group (`group:storm`). What they depend on must already have a video.
    #[arg(long, value_name = "SHOT", num_args = 1.., conflicts_with_all = ["from", "failed"])]
    pub(crate) only: Vec<String>,
    /// Render these shots, everything that depends on them, and missing dependencies.
    #[arg(long, value_name = "SHOT", num_args = 1.., conflicts_with = "failed")]
    pub(crate) from: Vec<String>,
    /// Render the shots that failed in the last run of this workflow, and those not started because of that.
    #[arg(long)]
    pub(crate) failed: bool,
    /// With --only or --failed: also render everything that depends on these shots.
    #[arg(long, conflicts_with = "from", requires = "extendable")]
    pub(crate) downstream: bool,
}
