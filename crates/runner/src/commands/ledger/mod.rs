//! `runner ledger adopt`: records work that was paid for and that the ledger does not know.

mod descriptions;
pub(crate) mod fetch;
mod report;

use std::collections::HashMap;
use std::sync::Arc;

use engine::Ledger;
use engine::adopt::{Adoption, AdoptionResult, adopt, preview};
use engine::preview::key_resolver;
use scheduler::TaskId;
use workflow::plan::{NodeIx, Plan};

use crate::args::AdoptArgs;
use crate::backend::{Backends, PlannedServices};
use crate::clock::now;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output_folder;
use crate::price_table::PriceTable;
use crate::project_paths::ProjectPaths;
use crate::run_id::new_run_id;
use crate::trust::Trust;
use crate::{budget, ffmpeg, load, services, task_owners};

pub(crate) async fn adopt_work(args: AdoptArgs) -> Result<Exit, CommandError> {
    let plan = match load::load(&args.workflow.file, &args.workflow.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(error) => return Ok(error.report(args.format)),
    };
    let tasks = named_tasks(&args.tasks, &plan)?;
    let table = match PriceTable::load(None, &args.workflow.file) {
        Ok(table) => table,
        Err(error) => return Ok(error.report(args.format)),
    };
    let paths = ProjectPaths::for_workflow(&args.workflow.file)?;
    let backends = Backends::of_plan(&plan, &services::of_project(&paths)?, Trust::All)?;
    let planned = backends.planned();
    let folder = output_folder::of(&paths, &plan, &planned, args.output_dir.as_deref())?;
    let PlannedServices { identity: service, accounts, .. } = planned;
    let descriptions =
        descriptions::Descriptions::read(&paths, args.from_folder.as_deref(), &args.workflow.file)?;
    let ledger = Ledger::open_existing(&paths.ledger(), &paths.folder)?;
    let keys = key_resolver(&plan, ledger.as_ref(), &service)?;
    let keys = keys.with_salt(args.salt.clone());
    let arguments = task_owners::plan_arguments(&args.workflow, args.salt.as_deref(), &paths);
    let adoption = Adoption {
        plan: &plan,
        keys: &keys,
        accounts: &accounts,
        prices: &*budget::prices(&service, table.as_ref().map(|table| &table.prices)),
        folder: &folder,
        described: &descriptions.videos,
        tasks,
        ffmpeg: &ffmpeg::find(),
        arguments: Some(&arguments),
        run: new_run_id(),
        now: now(),
    };
    let is_recorded = |result: &AdoptionResult| match result {
        AdoptionResult::Video(..) | AdoptionResult::Task(_) => true,
        AdoptionResult::NotAVideo(..)
        | AdoptionResult::TaskOfOther { .. }
        | AdoptionResult::NotSubmitted { .. } => false,
    };
    let mut adopted = preview(&adoption, ledger.as_ref()).await?;
    // A ledger is created, and a run begun, for something to record only.
    if !args.dry_run && adopted.shots.iter().any(|(_, result)| is_recorded(result)) {
        let ledger = match ledger {
            Some(ledger) => ledger,
            None => Ledger::open(&paths.ledger(), &paths.folder)?,
        };
        adopted = adopt(adoption, &ledger).await?;
    }
    adopted.unused.splice(0..0, descriptions.unused);
    report::report(&args, &adopted);
    let is_done = adopted.shots.iter().all(|(_, result)| is_recorded(result))
        && !adopted.unused.iter().any(|unused| unused.is_refused);
    Ok(if is_done { Exit::Done } else { Exit::ActionNeeded })
}

/// The arguments of `--task`, by node.
fn named_tasks(arguments: &[String], plan: &Plan) -> Result<HashMap<NodeIx, TaskId>, CommandError> {
    let mut tasks: HashMap<NodeIx, TaskId> = HashMap::new();
    for argument in arguments {
        // Names of instances contain `=`, and tasks may: the longest name of a shot counts.
        let splits =
            argument.match_indices('=').map(|(index, _)| (&argument[..index], &argument[index + 1..]));
        let assignment = splits.filter_map(|(name, task)| Some((plan.find(name)?, task))).next_back();
        match assignment {
            Some((node, task)) if !task.is_empty() => {
                let other =
                    tasks.iter().find(|(other, other_task)| **other == node || other_task.as_str() == task);
                if let Some((other, other_task)) = other {
                    return Err(CommandError::invalid(format!(
                        "--task {argument}: {} has task {other_task} already; a shot has one task, and a task one shot",
                        plan.node(*other).name
                    )));
                }
                tasks.insert(node, TaskId(task.to_owned()));
            }
            _ => {
                return Err(CommandError::invalid(format!(
                    "--task {argument}: expected SHOT=TASK with a shot or an instance of the workflow, as `plan` names it"
                )));
            }
        }
    }
    Ok(tasks)
}
