//! Which command adopts a recorded task: a run of its workflow file, as the file is now, with the arguments of the run that submitted it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use engine::LedgerError;
use engine::ledger::{LedgerReader, OpenAttempt, OpenTaskState, PlanArguments, PlanKeys, TaskOwnership};
use engine::records::RunRecords;
use scheduler::TaskId;
use workflow::plan::Plan;

use crate::args::{OverrideArgs, WorkflowArgs};
use crate::load;
use crate::named_workflow::NamedWorkflow;
use crate::project_paths::ProjectPaths;

/// Who adopts a task. Commands are complete, and quoted for a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TaskOwner {
    /// This command.
    Run(String),
    /// This command, if the videos that its shot depends on turn out as they were.
    Undecided(String),
    /// No shot asks for it any more in a run of this command.
    Nobody(String),
    /// It cannot be told: the arguments of its run were not recorded, or its workflow file is gone or invalid.
    Unknown,
}

/// Finds the owners of tasks. Workflow files are loaded once.
#[derive(Debug)]
pub(crate) struct TaskOwners {
    paths: ProjectPaths,
    /// The folder of the project as the user wrote it.
    shown_folder: PathBuf,
    /// The arguments for tasks whose own were not recorded.
    fallback: Option<PlanArguments>,
    plans: HashMap<PlanArguments, Option<Plan>>,
    /// The flags that name a cluster, in commands.
    suffix: String,
}

impl TaskOwners {
    /// `project` is the workflow file or the folder as the user wrote it; `fallback` are the arguments for tasks whose own were not recorded.
    pub(crate) fn new(project: &Path, paths: &ProjectPaths, fallback: Option<PlanArguments>) -> Self {
        let folder = if project.is_dir() { Some(project) } else { project.parent() };
        let shown_folder = folder.filter(|folder| *folder != Path::new(".")).unwrap_or(Path::new(""));
        Self {
            paths: paths.clone(),
            shown_folder: shown_folder.to_owned(),
            fallback,
            plans: HashMap::new(),
            suffix: String::new(),
        }
    }

    /// With these flags at the end of commands.
    pub(crate) fn with_suffix(self, suffix: String) -> Self {
        Self { suffix, ..self }
    }

    /// The owners of tasks, in their order.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) async fn find(
        &mut self,
        records: &dyn RunRecords,
        open: &[OpenAttempt],
    ) -> Result<Vec<TaskOwner>, LedgerError> {
        let mut keys: HashMap<(PlanArguments, &str), Option<PlanKeys>> = HashMap::new();
        let mut owners = Vec::with_capacity(open.len());
        for task in open {
            let Some(arguments) = task.arguments.clone().or_else(|| self.fallback.clone()) else {
                owners.push(TaskOwner::Unknown);
                continue;
            };
            let command = self.command(&arguments);
            let salt = arguments.salt.clone();
            let plan_keys = match keys.entry((arguments.clone(), &task.service)) {
                std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(match self.plan(&arguments) {
                        Some(plan) => Some(records.plan_keys(plan, &task.service, salt.as_deref()).await?),
                        None => None,
                    })
                }
            };
            let ownership = plan_keys.as_ref().map(|keys| keys.ownership(&task.key, &task.node));
            owners.push(match ownership {
                Some(TaskOwnership::Owned) => TaskOwner::Run(command),
                Some(TaskOwnership::Undecided) => TaskOwner::Undecided(command),
                Some(TaskOwnership::Unclaimed) if task.arguments.is_some() => TaskOwner::Nobody(command),
                Some(TaskOwnership::Unclaimed) | None => TaskOwner::Unknown,
            });
        }
        Ok(owners)
    }

    fn plan(&mut self, arguments: &PlanArguments) -> Option<&Plan> {
        if !self.plans.contains_key(arguments) {
            let overrides = OverrideArgs {
                params: arguments.params.clone(),
                param_files: arguments.param_files.iter().map(|file| self.paths.folder.join(file)).collect(),
                axes: arguments.axes.clone(),
                service: arguments.service.clone(),
                rehearse: arguments.rehearse,
                ..OverrideArgs::default()
            };
            // An invalid workflow is ignored here; other commands report it.
            let checked = load::check(&self.paths.folder.join(&arguments.file), &overrides);
            self.plans.insert(arguments.clone(), checked.ok().and_then(|checked| checked.plan));
        }
        self.plans.get(arguments)?.as_ref()
    }

    /// The command of a run with these arguments.
    fn command(&self, arguments: &PlanArguments) -> String {
        format!("runner run {}", self.named(arguments).in_full())
    }

    /// The workflow of a run with these arguments.
    pub(crate) fn named(&self, arguments: &PlanArguments) -> NamedWorkflow {
        let overrides = OverrideArgs {
            params: arguments.params.clone(),
            param_files: arguments.param_files.iter().map(|file| self.shown_folder.join(file)).collect(),
            axes: arguments.axes.clone(),
            service: arguments.service.clone(),
            rehearse: arguments.rehearse,
            ..OverrideArgs::default()
        };
        NamedWorkflow::new(&self.shown_folder.join(&arguments.file), &self.suffix).with_arguments(
            &overrides,
            arguments.salt.as_deref(),
            None,
        )
    }
}

/// Tasks of this workflow at the service that are paid for and that no shot adopts, whatever the arguments: the shot was edited, removed or
/// rendered again. Each with the instance that it was submitted for.
///
/// # Errors
/// When the ledger cannot be read.
pub(crate) async fn unclaimed_tasks(
    workflow: &WorkflowArgs,
    salt: Option<&str>,
    paths: &ProjectPaths,
    plan: &Plan,
    services: &[&str],
) -> Result<Vec<(String, TaskId)>, LedgerError> {
    let Some(reader) = LedgerReader::open(&paths.ledger())? else { return Ok(Vec::new()) };
    let own_arguments = plan_arguments(workflow, salt, paths);
    let is_of_workflow = |open: &OpenAttempt| match &open.arguments {
        Some(arguments) => arguments.file == own_arguments.file,
        None => open.workflow == plan.name(),
    };
    let mut open = reader.open_attempts()?;
    open.retain(|open| {
        is_of_workflow(open)
            && services.contains(&open.service.as_str())
            && open.task.is_some()
            // The run that replaced it said so.
            && open.state != OpenTaskState::Replaced
            && !reader.is_alive(&open.run)
    });
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let owners =
        TaskOwners::new(&workflow.file, paths, Some(own_arguments.clone())).find(&reader, &open).await?;
    let is_unclaimed = |owner: &TaskOwner, open: &OpenAttempt| match owner {
        TaskOwner::Nobody(_) => true,
        // Without recorded arguments: as far as this run can tell.
        TaskOwner::Unknown => open.arguments.is_none(),
        TaskOwner::Run(_) | TaskOwner::Undecided(_) => false,
    };
    let unclaimed = open.into_iter().zip(owners).filter(|(open, owner)| is_unclaimed(owner, open));
    Ok(unclaimed.filter_map(|(open, _)| Some((open.node, open.task?))).collect())
}

/// The arguments of a command that determine its plan and keys, for the record.
pub(crate) fn plan_arguments(
    workflow: &WorkflowArgs,
    salt: Option<&str>,
    paths: &ProjectPaths,
) -> PlanArguments {
    let OverrideArgs { params, param_files, axes, service, rehearse, .. } = &workflow.overrides;
    let below_project = |file: &PathBuf| {
        let absolute = std::path::absolute(file).unwrap_or_else(|_| file.clone());
        absolute.strip_prefix(&paths.folder).unwrap_or(&absolute).to_string_lossy().into_owned()
    };
    PlanArguments {
        file: PlanArguments::file_name(&workflow.file),
        salt: salt.map(str::to_owned),
        params: params.clone(),
        param_files: param_files.iter().map(below_project).collect(),
        axes: axes.clone(),
        service: service.clone(),
        rehearse: *rehearse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_has_every_argument_quoted() {
        let paths = ProjectPaths::for_workflow(Path::new("films/two.yaml")).unwrap();
        let owners = TaskOwners::new(Path::new("films/two.yaml"), &paths, None);
        let arguments = PlanArguments {
            file: "my two.yaml".to_owned(),
            salt: Some("a $b".to_owned()),
            params: vec![("keeper".to_owned(), "it's".to_owned())],
            param_files: vec!["cast.yaml".to_owned(), "/etc/all.yaml".to_owned()],
            axes: vec![("look".to_owned(), "noir,pastel".to_owned())],
            service: None,
            rehearse: true,
        };
        assert_eq!(
            owners.command(&arguments),
            r"runner run 'films/my two.yaml' --rehearse --salt 'a $b' -p 'keeper=it'\''s' --param-file films/cast.yaml --param-file /etc/all.yaml -a look=noir,pastel"
        );
        let stored = serde_json::to_string(&arguments).unwrap();
        assert_eq!(serde_json::from_str::<PlanArguments>(&stored).unwrap(), arguments);
    }
}
