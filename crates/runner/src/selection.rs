//! From names on the command line, or from what failed last time, to the nodes that are made.

use engine::preview::Preview;
use engine::{Ledger, LedgerError};
use scheduler::Decision;
use workflow::plan::{NodeIx, Plan, Selection};

use crate::args::SelectionArgs;

/// Most lines about what is missing.
const MAX_MISSING_LINES: usize = 5;

/// Which nodes are made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Selected {
    /// All.
    All,
    /// These.
    Some(Selection),
    /// None, because nothing failed: in words.
    NoneFailed(String),
}

/// Why nothing can be chosen.
#[derive(Debug)]
pub(crate) enum SelectionError {
    /// Nothing is named so.
    Unknown(String),
    /// The ledger cannot be read.
    Ledger(LedgerError),
}

impl SelectionArgs {
    /// Whether anything was said.
    pub(crate) fn is_any(&self) -> bool {
        self.failed || !self.only.is_empty() || !self.from.is_empty()
    }

    /// The nodes of `plan` that are meant. Without a ledger there was no run yet.
    pub(crate) fn resolve(&self, plan: &Plan, ledger: Option<&Ledger>) -> Result<Selected, SelectionError> {
        let selection = if !self.from.is_empty() {
            Selection::from(plan, nodes_by_name(&self.from, plan).map_err(SelectionError::Unknown)?)
        } else if !self.only.is_empty() {
            Selection::only(nodes_by_name(&self.only, plan).map_err(SelectionError::Unknown)?)
        } else if self.failed {
            match failed_nodes(plan, ledger).map_err(SelectionError::Ledger)? {
                Ok(nodes) => Selection::only(nodes),
                Err(why) => return Ok(Selected::NoneFailed(why)),
            }
        } else {
            return Ok(Selected::All);
        };
        Ok(Selected::Some(if self.downstream { selection.with_downstream(plan) } else { selection }))
    }
}

/// The nodes that several names stand for.
pub(crate) fn nodes_by_name(names: &[String], plan: &Plan) -> Result<Vec<NodeIx>, String> {
    let mut nodes = Vec::new();
    for name in names {
        nodes.extend(plan.select(name)?);
    }
    Ok(nodes)
}

/// What failed in the last run, or why there is nothing to make again.
fn failed_nodes(plan: &Plan, ledger: Option<&Ledger>) -> Result<Result<Vec<NodeIx>, String>, LedgerError> {
    let record = match ledger {
        Some(ledger) => ledger.last_run(plan.name())?,
        None => None,
    };
    let Some(record) = record else {
        return Ok(Err(format!("there is no run of `{}` on record yet, so nothing failed", plan.name())));
    };
    let found = record.failed(plan);
    if !found.nodes.is_empty() {
        return Ok(Ok(found.nodes));
    }
    let others = match found.others {
        0 => String::new(),
        1 => "; 1 shot is not done for another reason, and a run without --failed goes on with it".to_owned(),
        others => {
            format!(
                "; {others} shots are not done for other reasons, and a run without --failed goes on with them"
            )
        }
    };
    Ok(Err(format!("nothing failed in the last run, {}{others}", record.run)))
}

/// Marks what is not selected, and says what keeps the selected nodes from being made, if anything does.
pub(crate) fn apply_selection(
    plan: &Plan,
    selection: &Selection,
    previews: &mut [Preview],
) -> Result<(), String> {
    let missing = selection.missing(plan, |node| previews[node.index()].decision == Decision::Reuse);
    let out = |node: NodeIx| {
        let preview = &previews[node.index()];
        preview.task.as_ref().map(|task| format!(" (its task {task} is out)")).unwrap_or_default()
    };
    let name = |node: NodeIx| plan.node(node).name.as_str();
    if let Some((_, first)) = missing.first() {
        let mut lines: Vec<String> = missing
            .iter()
            .take(MAX_MISSING_LINES)
            .map(|(before, node)| format!("\n  {} needs {}{}", name(*node), name(*before), out(*before)))
            .collect();
        if missing.len() > MAX_MISSING_LINES {
            lines.push(format!("\n  and {} more", missing.len() - MAX_MISSING_LINES));
        }
        return Err(format!(
            "what is selected needs what is neither made nor selected; nothing was submitted:{}\n\
             say `--from {}` to make what it needs as well, or name that with --only too",
            lines.concat(),
            name(*first)
        ));
    }
    for (ix, _) in plan.nodes().filter(|(ix, _)| !selection.contains(*ix)) {
        let preview = &mut previews[ix.index()];
        if preview.decision != Decision::Reuse {
            preview.why =
                preview.task.as_ref().map(|task| format!("not selected; its task {task} stays out"));
            preview.decision = Decision::Unselected;
        }
    }
    Ok(())
}
