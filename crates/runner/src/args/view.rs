//! Arguments of `view`.

use std::path::PathBuf;

use clap::Args;

use super::{EngineAddressArgs, OverrideArgs};

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Workflow file; or an output folder with a manifest.json, for example one that somebody else has made.
    #[arg(value_name = "FILE|FOLDER")]
    pub(crate) target: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: OverrideArgs,
    /// Output folder of the run [default: out/NAME beside the workflow file].
    #[arg(short = 'o', long, value_name = "FOLDER")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Write the page without opening it. Without a terminal it is never opened.
    #[arg(long)]
    pub(crate) no_open: bool,
    #[command(flatten)]
    pub(crate) engine: EngineAddressArgs,
}
