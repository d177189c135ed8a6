//! What `schema` is given.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Of what.
    #[arg(value_enum, default_value_t = SchemaKind::Workflow)]
    pub(crate) kind: SchemaKind,
}

/// What there are schemas of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaKind {
    /// Workflow files.
    Workflow,
    /// A line of `run --format ndjson`.
    Events,
}
