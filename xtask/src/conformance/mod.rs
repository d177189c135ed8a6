//! Conformance of the service with its document, from outside: generated requests (schemathesis) and a walk of docs/spec.md.

mod schemathesis;
mod walk;

use std::path::Path;

use clap::Args;

/// Arguments of `cargo xtask conformance`.
#[derive(Debug, Args)]
pub(crate) struct Conformance {
    /// Walk docs/spec.md instead: list every sentence with what was sent for it and its verdict.
    #[arg(long)]
    walk: bool,
    /// Some five hundred generated requests instead of some thousands.
    #[arg(long, conflicts_with = "walk")]
    sample: bool,
}

/// Checks the service against openapi.yaml with schemathesis, or walks the document. Without Python or its package index the former says
/// that nothing was checked.
pub(crate) fn run(root: &Path, args: &Conformance) -> Result<String, String> {
    if args.walk { walk::run(root) } else { schemathesis::run(root, args.sample) }
}
