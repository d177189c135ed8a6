//! Arguments of `schema`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Which schema.
    #[arg(value_enum, default_value_t = SchemaKind::Workflow)]
    pub(crate) kind: SchemaKind,
    /// Of workflow files: a service whose models and fields shots may have, one of `services list`; more than once for several [default: the embedded one].
    #[arg(long = "service", value_name = "NAME")]
    pub(crate) services: Vec<String>,
    /// Workflow file, or the folder that contains it and `services.yaml`.
    #[arg(long = "in", value_name = "FILE|FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
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
