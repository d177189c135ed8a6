//! Resolves the selection flags to nodes of the plan.

use std::path::Path;

use engine::LedgerError;
use engine::preview::{Preview, StateBasis};
use engine::records::WorkRecords;
use scheduler::{Decision, StatusKind};
use workflow::plan::{NodeIx, Plan, Selection, UnknownName};

use crate::args::SelectionArgs;
use crate::error::CommandError;
use crate::report::sanitize;
use crate::shell;

/// Maximum number of missing dependencies that are listed.
const MAX_MISSING_LINES: usize = 5;

/// The nodes that a run may submit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SelectedNodes {
    All,
    Some(Selection),
    /// None: `--failed`, and nothing failed. Says why.
    NoneFailed(String),
}

impl SelectionArgs {
    /// Whether a selection flag is present.
    pub(crate) fn is_any(&self) -> bool {
        self.failed || !self.only.is_empty() || !self.from.is_empty()
    }

    /// The nodes of `plan`, which is that of `file`, that the flags select. Without records there was no run yet.
    ///
    /// # Errors
    /// A name matches no node, or the records cannot be read.
    pub(crate) async fn resolve(
        &self,
        plan: &Plan,
        records: Option<&dyn WorkRecords>,
        file: &Path,
    ) -> Result<SelectedNodes, CommandError> {
        let selection = if !self.from.is_empty() {
            Selection::from(plan, nodes_by_name(&self.from, plan, file)?)
        } else if !self.only.is_empty() {
            Selection::only(nodes_by_name(&self.only, plan, file)?)
        } else if self.failed {
            match failed_nodes(plan, records, file).await? {
                Ok(nodes) => Selection::only(nodes),
                Err(reason) => return Ok(SelectedNodes::NoneFailed(reason)),
            }
        } else {
            return Ok(SelectedNodes::All);
        };
        Ok(SelectedNodes::Some(if self.downstream { selection.with_downstream(plan) } else { selection }))
    }
}

/// The nodes that the names match. `file` is the workflow file.
pub(crate) fn nodes_by_name(names: &[String], plan: &Plan, file: &Path) -> Result<Vec<NodeIx>, CommandError> {
    let mut nodes = Vec::new();
    for name in names {
        nodes.extend(select(plan, name, file)?);
    }
    Ok(nodes)
}

/// The nodes that a name matches. `file` is the workflow file.
pub(crate) fn select(plan: &Plan, name: &str, file: &Path) -> Result<Vec<NodeIx>, CommandError> {
    plan.select(name).map_err(|UnknownName { message, help }| unknown_name(message, help, file))
}

/// A shot that neither the workflow nor the records have. `file` is the workflow file, or the folder that contains it.
pub(crate) fn unknown_shot(shot: &str, help: Option<String>, file: &Path) -> CommandError {
    unknown_name(format!("there is no shot `{}`", sanitize::line(shot)), help, file)
}

/// An unknown name, with the command that lists the names.
pub(crate) fn unknown_name(message: String, help: Option<String>, file: &Path) -> CommandError {
    let file = if file.is_dir() { "FILE".to_owned() } else { shell::path(file) };
    let error = help.into_iter().fold(CommandError::invalid(message), CommandError::hint);
    error.hint(format!("`runner plan {file}` lists the shots"))
}

/// The nodes that failed in the last run, or why there are none.
async fn failed_nodes(
    plan: &Plan,
    records: Option<&dyn WorkRecords>,
    file: &Path,
) -> Result<Result<Vec<NodeIx>, String>, LedgerError> {
    let record = match records {
        Some(records) => records.last_run(plan.name(), file).await?,
        None => None,
    };
    let Some(record) = record else {
        return Ok(Err(format!("no run of `{}` is recorded, so nothing failed", plan.name())));
    };
    let failed = record.failed(plan);
    if !failed.nodes.is_empty() {
        return Ok(Ok(failed.nodes));
    }
    let others = match failed.others {
        0 => String::new(),
        1 => "; 1 shot is unfinished for another reason: a run without --failed continues it".to_owned(),
        others => {
            format!(
                "; {others} shots are unfinished for other reasons: a run without --failed continues them"
            )
        }
    };
    Ok(Err(format!("nothing failed in the last run, {}{others}", record.run)))
}

/// Marks the nodes that are not selected.
///
/// # Errors
/// A selected node depends on one that has no video and is not selected.
pub(crate) fn apply_selection(
    plan: &Plan,
    selection: &Selection,
    previews: &mut [Preview],
) -> Result<(), CommandError> {
    let missing = selection.missing(plan, |node| previews[node.index()].decision == Decision::Reuse);
    let in_flight = |node: NodeIx| {
        let preview = &previews[node.index()];
        let task = preview.task.as_ref().map(|task| sanitize::line(task.as_str()));
        task.map(|task| format!(" (its task {task} is in flight)")).unwrap_or_default()
    };
    let name = |node: NodeIx| plan.node(node).name.as_str();
    if let Some((_, first)) = missing.first() {
        let mut lines: Vec<String> = missing
            .iter()
            .take(MAX_MISSING_LINES)
            .map(|(before, node)| {
                format!("\n  {} depends on {}{}", name(*node), name(*before), in_flight(*before))
            })
            .collect();
        if missing.len() > MAX_MISSING_LINES {
            lines.push(format!("\n  and {} more", missing.len() - MAX_MISSING_LINES));
        }
        return Err(CommandError::invalid(format!(
            "selected shots depend on shots that have no video and are not selected; nothing was submitted:{}",
            lines.concat(),
        ))
        .hint(format!("use `--from {}` to include its dependencies, or add them to --only", name(*first))));
    }
    for (ix, _) in plan.nodes().filter(|(ix, _)| !selection.contains(*ix)) {
        let preview = &mut previews[ix.index()];
        if preview.decision != Decision::Reuse {
            let task = preview.task.as_ref().map(|task| sanitize::line(task.as_str()));
            preview.why = task.map(|task| format!("not selected; its task {task} stays in flight"));
            preview.decision = Decision::NotSelected;
            preview.basis = StateBasis::Fixed(StatusKind::NotSelected);
            preview.is_certain = false;
        }
    }
    Ok(())
}
