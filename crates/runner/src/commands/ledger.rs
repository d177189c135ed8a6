//! `runner ledger adopt`: records work that was paid for and that the ledger does not know.

use std::collections::HashMap;
use std::sync::Arc;

use engine::Ledger;
use engine::adopt::{Adopted, Adoption, adopt};
use engine::ledger::ServiceAccount;
use scheduler::TaskId;
use serde_json::{Value, json};
use workflow::plan::{NodeIx, Plan};

use crate::args::{AdoptArgs, Format, LedgerArgs, LedgerCommand};
use crate::backend::Backend;
use crate::clock::now;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::project_paths::{ProjectPaths, display_path};
use crate::report::sanitize;
use crate::run_id::new_run_id;
use crate::{ffmpeg, load, task_owners, unknown_work};

use super::link_account;

pub(crate) async fn ledger(args: LedgerArgs) -> Result<Exit, CommandError> {
    match args.command {
        LedgerCommand::Adopt(args) => adopt_work(args).await,
        LedgerCommand::LinkAccount(args) => link_account::link_account(args).await,
    }
}

async fn adopt_work(args: AdoptArgs) -> Result<Exit, CommandError> {
    let plan = match load::load(&args.workflow.file, &args.workflow.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(error) => return Ok(error.report(args.format)),
    };
    let tasks = named_tasks(&args.tasks, &plan)?;
    let paths = ProjectPaths::for_workflow(&args.workflow.file)?;
    let backend = Backend::from_environment()?;
    let (service, account) = (backend.identity(), backend.account());
    let ledger = Ledger::open(&paths.ledger(), &paths.folder)?;
    let keys = ledger.key_resolver(&service)?.with_salt(args.salt.clone());
    let folder = paths.out_or(args.out.as_deref(), plan.name())?;
    let arguments = task_owners::plan_arguments(&args.workflow, args.salt.as_deref(), &paths);
    let adoption = Adoption {
        plan: &plan,
        ledger: &ledger,
        keys: &keys,
        at: ServiceAccount { service: &service, account: account.as_deref() },
        is_paid: !backend.is_free(),
        folder: &folder,
        tasks,
        ffmpeg: &ffmpeg::find(),
        arguments: Some(&arguments),
        run: new_run_id(),
        now: now(),
    };
    let adopted = adopt(adoption).await?;
    report(&args, &adopted);
    let unknown = ledger.unknown_runs()?;
    if !unknown.is_empty() {
        errln!("{}", unknown_work::about_runs(&args.workflow.file, &unknown));
        return Ok(Exit::ActionNeeded);
    }
    let is_recorded = |result: &Adopted| match result {
        Adopted::Video(_) | Adopted::Task(_) => true,
        Adopted::NotAVideo(..) | Adopted::TaskOfOther { .. } | Adopted::NotSubmitted { .. } => false,
    };
    Ok(if adopted.iter().all(|(_, result)| is_recorded(result)) { Exit::Done } else { Exit::ActionNeeded })
}

/// The arguments of `--task`, by node.
fn named_tasks(arguments: &[String], plan: &Plan) -> Result<HashMap<NodeIx, TaskId>, CommandError> {
    let mut tasks = HashMap::new();
    for argument in arguments {
        // Names of instances contain `=`, and tasks may: the longest name of a shot counts.
        let splits = argument.match_indices('=').map(|(at, _)| (&argument[..at], &argument[at + 1..]));
        let found = splits.filter_map(|(name, task)| Some((plan.find(name)?, task))).next_back();
        match found {
            Some((node, task)) if !task.is_empty() => {
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

fn report(args: &AdoptArgs, adopted: &[(String, Adopted)]) {
    let record = |(shot, result): &(String, Adopted)| match result {
        Adopted::Video(path) => json!({ "shot": shot, "outcome": "video", "file": path }),
        Adopted::Task(task) => json!({ "shot": shot, "outcome": "task", "task": task }),
        Adopted::NotAVideo(path, why) => {
            json!({ "shot": shot, "outcome": "not-a-video", "file": path, "reason": why })
        }
        Adopted::TaskOfOther { task, attempt, node } => {
            json!({ "shot": shot, "outcome": "task-of-other", "task": task, "attempt": attempt, "owner": node })
        }
        Adopted::NotSubmitted { task, decision, why } => {
            json!({ "shot": shot, "outcome": "not-submitted", "task": task, "decision": decision, "reason": why })
        }
    };
    match args.format {
        Format::Json => outln!("{:#}", adopted.iter().map(record).collect::<Value>()),
        Format::Ndjson => adopted.iter().for_each(|one| outln!("{}", record(one))),
        Format::Text if adopted.is_empty() => {
            outln!("nothing to adopt: the ledger knows every video of these shots");
        }
        Format::Text => {
            for (shot, result) in adopted {
                let shot = sanitize::line(shot);
                match result {
                    Adopted::Video(path) => outln!("{shot}: adopted {}", display_path(path)),
                    Adopted::Task(task) => {
                        outln!("{shot}: the next run adopts task {}", sanitize::line(task.as_str()));
                    }
                    Adopted::NotAVideo(path, why) => {
                        outln!("{shot}: left alone, {} is not a whole video: {why}", display_path(path));
                    }
                    Adopted::TaskOfOther { task, attempt, node } => {
                        outln!(
                            "{shot}: not recorded, task {} belongs to attempt {attempt} of {}",
                            sanitize::line(task.as_str()),
                            sanitize::line(node)
                        );
                    }
                    Adopted::NotSubmitted { task, decision, why } => {
                        let why = why.as_ref().map(|why| format!(" ({})", sanitize::line(why)));
                        outln!(
                            "{shot}: task {} is not recorded, a run would not submit this shot now: {}{}",
                            sanitize::line(task.as_str()),
                            decision.as_str(),
                            why.unwrap_or_default()
                        );
                    }
                }
            }
        }
    }
}
