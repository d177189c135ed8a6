//! What `--rerun` asks for: one more render of shots. What is asked for and not done is continued by every later run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use scheduler::KeyResolver;
use scheduler::renders::Renders;
use workflow::AskedRenders;
use workflow::plan::{PickKind, Plan, Selection};

use crate::args::OverrideArgs;
use crate::clock::now;
use crate::error::CommandError;
use crate::input_file::LoadError;
use crate::load;
use crate::named_workflow::NamedWorkflow;
use crate::selection::nodes_by_name;
use crate::shell;

/// `--rerun` and what goes with it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RerunRequest<'a> {
    /// The shots; all selected ones if there is none. `None` without the flag.
    pub(crate) names: Option<&'a [String]>,
    /// `--new`: one more although one is asked for already.
    pub(crate) asks_for_another: bool,
}

impl RerunRequest<'_> {
    /// The instances of which one more render is asked for, in file order.
    ///
    /// # Errors
    /// A name matches nothing, names a take, or is not selected.
    pub(crate) fn instances(
        &self,
        plan: &Plan,
        selection: Option<&Selection>,
        file: &Path,
    ) -> Result<Vec<String>, CommandError> {
        let Some(names) = self.names else { return Ok(Vec::new()) };
        if let Some((shot, _)) = names.iter().find_map(|name| name.split_once('#')) {
            let shot = shell::quote(shot);
            return Err(CommandError::invalid("`--rerun` asks for one more render of a shot, not of a take")
                .hint(format!(
                    "write `--rerun {shot}`; `runner pick {} {shot}` lists its renders",
                    shell::path(file)
                )));
        }
        let mut nodes = nodes_by_name(names, plan, file)?;
        if names.is_empty() {
            nodes.extend(plan.nodes().map(|(ix, _)| ix));
            nodes.retain(|ix| selection.is_none_or(|selection| selection.contains(*ix)));
        }
        nodes.sort_unstable();
        let mut instances: Vec<String> = Vec::new();
        let mut listed = BTreeSet::new();
        for ix in nodes {
            let instance = plan.node(ix).name_without_take();
            if selection.is_some_and(|selection| !selection.contains(ix)) {
                let message = format!("--rerun {instance}: the shot is not selected for this run");
                return Err(CommandError::invalid(message));
            }
            if listed.insert(instance) {
                instances.push(instance.to_owned());
            }
        }
        Ok(instances)
    }

    /// The plan and the keys of a run that asks for these renders, without recording that. `selection` is by name, because the plan may get a node
    /// for each of them.
    ///
    /// # Errors
    /// The file is invalid meanwhile.
    pub(crate) fn apply(
        &self,
        plan: &Arc<Plan>,
        mut keys: KeyResolver,
        instances: &[String],
        file: &Path,
        overrides: &OverrideArgs,
    ) -> Result<(Arc<Plan>, KeyResolver), LoadError> {
        if instances.is_empty() {
            return Ok((Arc::clone(plan), keys));
        }
        keys.renders_mut().ask(plan, instances, self.asks_for_another, now());
        // Only there is a render that was asked for another node than the one that counts.
        let needs_nodes = instances
            .iter()
            .any(|instance| plan.find(instance).is_none_or(|ix| plan.node(ix).picked.is_some()));
        if !needs_nodes {
            return Ok((Arc::clone(plan), keys));
        }
        let plan = load::load_asked(file, overrides, plan.name(), asked(keys.renders()))?;
        Ok((Arc::new(plan), keys))
    }
}

/// What was asked for, as the compiler needs it.
pub(crate) fn asked(renders: &Renders) -> BTreeMap<String, AskedRenders> {
    renders.wishes().iter().map(|(instance, wishes)| (instance.clone(), wishes.asked())).collect()
}

/// The instances of which a render is asked for that is not done.
pub(crate) fn open<'r>(plan: &Plan, renders: &'r Renders) -> BTreeSet<&'r str> {
    let wishes = renders.wishes().iter().filter(|(_, wishes)| wishes.open.is_some());
    wishes
        .map(|(instance, _)| instance.as_str())
        .filter(|instance| scheduler::renders::is_instance_of(plan, instance))
        .collect()
}

/// Picks that are older than a render that was asked for and is done, each with the command that picks that.
pub(crate) fn older_picks(plan: &Plan, renders: &Renders, file: &NamedWorkflow) -> Vec<String> {
    let take_groups = || plan.pick_groups().iter().filter(|group| group.kind == PickKind::Take);
    let picked = |instance: &str| {
        if let Some(node) = plan.find(instance) {
            return plan.node(node).picked;
        }
        let group = take_groups().find(|group| group.name == instance)?;
        plan.node(*group.picked.first()?).take
    };
    let mut notes: Vec<String> = Vec::new();
    for (instance, wishes) in renders.wishes() {
        if let Some((done, picked)) = wishes.done.last().zip(picked(instance))
            && picked < *done
        {
            let command = format!("runner pick {} {} {done}", file, shell::quote(instance));
            notes.push(format!(
                "{instance}: render {picked} is picked, and render {done} was asked for since; to use that: {command}"
            ));
        }
    }
    notes.sort();
    notes
}
