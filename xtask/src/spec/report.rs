//! The comparison of two contracts and what it means to workflows, for people and for machines.

use std::fmt::Write as _;

use contract::diff::Diff;
use serde::Serialize;

use super::impact::{Impact, Outcome};

/// All that is said about two contracts.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    breaks: bool,
    contract: Diff,
    workflows: Vec<Impact>,
}

impl Report {
    pub(super) fn new(contract: Diff, workflows: Vec<Impact>) -> Self {
        Self { breaks: contract.breaks(), contract, workflows }
    }

    /// Whether a caller that was written against the older contract may stop working.
    pub(super) fn breaks(&self) -> bool {
        self.breaks
    }

    /// For a terminal, each line ended.
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

    /// For a review, each line ended.
    pub(super) fn to_markdown(&self) -> String {
        let mut out = self.contract.to_markdown();
        if !self.workflows.is_empty() {
            out.push_str("\n## Workflows\n\n");
        }
        for impact in &self.workflows {
            let _ = writeln!(out, "- `{}`: {}", impact.workflow, verdict(impact));
            for line in details(impact) {
                let _ = writeln!(out, "  - {line}");
            }
        }
        out
    }
}

fn verdict(impact: &Impact) -> &'static str {
    match impact.outcome {
        Outcome::Same => "the same requests",
        Outcome::Moved { .. } => "other requests",
        Outcome::Refused { .. } => "refused now",
        Outcome::Accepted => "refused before, accepted now",
        Outcome::StillRefused { .. } => "refused before and now",
    }
}

fn details(impact: &Impact) -> Vec<String> {
    let mut lines: Vec<String> = match &impact.outcome {
        Outcome::Same | Outcome::Accepted => Vec::new(),
        Outcome::Moved { shots } => {
            shots.iter().map(|moved| format!("{}: {}", moved.shot, moved.changes.join("; "))).collect()
        }
        Outcome::Refused { problems } | Outcome::StillRefused { problems } => problems.clone(),
    };
    lines.extend(impact.touched_by.iter().map(|touch| {
        let shots = if touch.shots == 1 { "shot" } else { "shots" };
        format!("{} by {} {shots}: {}", touch.how, touch.shots, touch.change)
    }));
    lines
}
