//! The lint of `when`: a file of which no shot is left. That some shots are left out is what `when` is for.

use super::expansion::Expansion;
use crate::diagnostic::{Diagnostic, Problems};
use crate::plan::Node;
use crate::syntax::Workflow;

/// Warns if `when` excludes everything.
pub(super) fn run(workflow: &Workflow, expansion: &Expansion<'_>, nodes: &[Node], problems: &mut Problems) {
    let excluding = workflow.shots.iter().find_map(|shot| shot.when.as_ref());
    if let Some(when) = excluding.filter(|_| nodes.is_empty() && !expansion.instances.is_empty()) {
        let message = if workflow.shots.len() == 1 {
            "no shot is left to render: its `when` is false"
        } else {
            "no shot is left to render: every `when` is false"
        };
        let help = "`runner run` has nothing to do; change the condition, or remove it";
        problems.push(Diagnostic::warning("never-true", when.span(), message).help(help));
    }
}
