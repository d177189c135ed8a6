//! Arguments of `runner fetch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{Format, duration};

#[derive(Debug, Clone, Args)]
#[command(override_usage = "runner fetch [OPTIONS] <TASK>...\n       runner fetch [OPTIONS] --all")]
pub(crate) struct FetchArgs {
    /// Tasks, by the service's id, as `status` lists them.
    #[arg(value_name = "TASK", required_unless_present = "all")]
    pub(crate) tasks: Vec<String>,
    /// Every recorded task of the service that has no video yet.
    #[arg(long)]
    pub(crate) all: bool,
    /// Workflow file, or the folder that contains it.
    #[arg(long = "in", value_name = "FILE|FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
    /// How long to wait for a task that is not finished [default: an hour].
    #[arg(long, value_name = "SECONDS", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}
