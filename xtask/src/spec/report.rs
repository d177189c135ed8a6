//! The result of `spec diff`: the contract diff and its impact on workflows.

use std::fmt::Write as _;

use contract::diff::Diff;

use super::impact::{Impact, Outcome};

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
            let _ = writeln!(out, "  {}: {}", impact.workflow, verdict(impact));
            for line in details(impact) {
                let _ = writeln!(out, "    {line}");
            }
        }
        out
    }
}

fn verdict(impact: &Impact) -> &'static str {
    match impact.outcome {
        Outcome::Unchanged => "unchanged requests",
        Outcome::Changed { .. } => "changed requests",
        Outcome::Rejected { .. } => "now invalid",
        Outcome::Accepted => "now valid",
        Outcome::StillRejected { .. } => "still invalid",
    }
}

fn details(impact: &Impact) -> Vec<String> {
    let mut lines: Vec<String> = match &impact.outcome {
        Outcome::Unchanged | Outcome::Accepted => Vec::new(),
        Outcome::Changed { shots } => {
            shots.iter().map(|shot| format!("{}: {}", shot.shot, shot.changes.join("; "))).collect()
        }
        Outcome::Rejected { problems } | Outcome::StillRejected { problems } => problems.clone(),
    };
    lines.extend(impact.relevant_changes.iter().map(|change| {
        let shots = if change.shots == 1 { "shot" } else { "shots" };
        format!("{} by {} {shots}: {}", change.usage, change.shots, change.change)
    }));
    lines
}
