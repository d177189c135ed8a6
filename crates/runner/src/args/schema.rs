//! Arguments of `schema`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Which schema.
    #[arg(value_enum, default_value_t = SchemaKind::Workflow)]
    pub(crate) kind: SchemaKind,
}

/// The schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaKind {
    /// Workflow files.
    Workflow,
    /// A line of `run --format ndjson`.
    Events,
    /// A line of `status --format ndjson`.
    Status,
    /// `manifest.json`, which `view` writes.
    Manifest,
    /// What is beside each paid video in `.runner/artifacts`.
    Sidecar,
}
