//! Arguments of `runner edit`.

use clap::Args;

use super::{EngineAddressArgs, Format, WorkflowArgs};

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// Shot, by its id in the file.
    pub(crate) shot: String,
    #[command(flatten)]
    pub(crate) fields: EditFields,
    /// Show the difference and what a run would then do and cost, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Refuse if the file is not the one with this SHA-256.
    #[arg(long, value_name = "SHA256")]
    pub(crate) digest: Option<String>,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) engine: EngineAddressArgs,
}

/// The fields to change.
#[derive(Debug, Clone, Default, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct EditFields {
    /// The prompt, as it is written in the file: `{{ … }}` is a template.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) prompt: Option<String>,
    /// The seed: a number, or a template such as "{{ base + take }}".
    #[arg(long, value_name = "SEED", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
}
