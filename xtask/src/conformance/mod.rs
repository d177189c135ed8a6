//! Conformance of the service with its document, from outside: generated requests (schemathesis) and a walk of docs/spec.md; and that
//! of the document with other tools.

mod schemathesis;
mod tools;
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
    /// Give openapi.yaml to linters and generators of clients instead. Needs Python, Node.js and the network.
    #[arg(long, conflicts_with_all = ["walk", "sample"])]
    tools: bool,
}

/// Checks the service against openapi.yaml with schemathesis, or walks the document. Without Python or its package index the former says
/// that nothing was checked.
pub(crate) fn run(root: &Path, args: &Conformance) -> Result<String, String> {
    if args.tools {
        return tools::run(root);
    }
    if args.walk { walk::run(root) } else { schemathesis::run(root, args.sample) }
}
