//! The result of `spec diff`: the contract diff and its impact on workflows.

use std::fmt::Write as _;

use contract::diff::Diff;

use super::impact::Impact;

/// The comparison of two contracts.
#[derive(Debug)]
pub(crate) struct Report {
    contract: Diff,
    workflows: Vec<Impact>,
}

impl Report {
    pub(super) fn new(contract: Diff, workflows: Vec<Impact>) -> Self {
        Self { contract, workflows }
    }

    /// Whether a client of the old contract may break.
    pub(super) fn breaks(&self) -> bool {
        self.contract.breaks()
    }

    /// Text for a terminal; every line ends with a newline.
    pub(super) fn to_text(&self) -> String {
        let mut out = self.contract.to_text();
        if !self.workflows.is_empty() {
            out.push_str("\nworkflows\n");
        }
        for impact in &self.workflows {
            let _ = writeln!(out, "  {}: {}", impact.workflow, impact.verdict);
            for line in &impact.details {
                let _ = writeln!(out, "    {line}");
            }
        }
        out
    }
}
