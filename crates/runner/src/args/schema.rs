//! What `schema` is given.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Of what.
    #[arg(value_enum, default_value_t = SchemaOf::Workflow)]
    pub(crate) of: SchemaOf,
}

/// What there are schemas of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// Workflow files.
    Workflow,
    /// A line of `run --format ndjson`.
    Events,
}
