//! `runner status`: what runs are doing and what needs action, read from the ledger.

mod query;
mod record;
mod source;
mod task_action;
mod text;
mod watch;

use std::collections::HashMap;
use std::path::Path;

use engine::ledger::PlanArguments;
use scheduler::Timestamp;
use serde_json::json;

use crate::args::{Format, OverrideArgs, StatusArgs};
use crate::clock::now;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load;
use crate::project_paths::ProjectPaths;
use crate::shell;
use crate::task_owners::TaskOwners;
use query::{StatusQuery, StatusSnapshot, WorkflowFile};
use record::{StatusDocument, VERSION};
use source::StatusSource;

pub(crate) use record::schema;

pub(crate) async fn status(args: StatusArgs) -> Result<Exit, CommandError> {
    let file = args.file.as_deref();
    let project = file.unwrap_or(Path::new("."));
    let paths = ProjectPaths::of_existing(project)?;
    let workflow = file.filter(|file| file.is_file());
    // Where a run has no arguments on record: as in one without arguments.
    let fallback = workflow
        .map(|file| PlanArguments { file: PlanArguments::file_name(file), ..PlanArguments::default() });
    let mut query = StatusQuery {
        file: workflow.map_or_else(|| "FILE".to_owned(), shell::path) + &args.engine.suffix(),
        project: shell::path(project) + &args.engine.suffix(),
        is_cluster: args.engine.is_cluster(),
        ended: args.runs,
        workflow: workflow
            .map(|file| WorkflowFile { name: PlanArguments::file_name(file), folder: paths.folder.clone() }),
        // An invalid workflow is ignored here; other commands report it.
        plan: workflow.and_then(|file| load::check(file, &OverrideArgs::default()).ok()?.plan),
        projections: HashMap::new(),
        owners: TaskOwners::new(project, &paths, fallback).with_suffix(args.engine.suffix()),
    };
    let source = StatusSource::open(&args, &paths, query.plan.as_ref()).await?;
    if args.watch {
        let no_ledger = paths.no_ledger(project);
        return watch::watch(&mut query, &source, args.format, &no_ledger).await;
    }
    let Some(snapshot) = query.read(&source).await? else {
        match args.format {
            Format::Text => outln!("{}", paths.no_ledger(project).note()),
            Format::Json => outln!("{:#}", json!({ "version": VERSION, "time": now(), "ledger": null })),
            Format::Ndjson => {}
        }
        return Ok(Exit::Done);
    };
    print(&snapshot, args.format, now());
    Ok(exit(&snapshot))
}

fn print(snapshot: &StatusSnapshot, format: Format, now: Timestamp) {
    match format {
        Format::Text => {
            for line in text::lines(snapshot, now, None) {
                outln!("{line}");
            }
        }
        Format::Json => outln!(
            "{:#}",
            json!(StatusDocument {
                version: VERSION,
                time: now,
                runs: &snapshot.runs,
                shots: &snapshot.shots,
                action_needed: &snapshot.action_needed,
                totals: &snapshot.totals,
                asked: snapshot.asked.as_ref().map_or(&[], |(instances, _)| instances.as_slice()),
            })
        ),
        Format::Ndjson => {
            for record in snapshot.records() {
                outln!("{}", watch::numbered(&record, now));
            }
        }
    }
}

/// Whether something needs action that no live run takes care of.
fn exit(snapshot: &StatusSnapshot) -> Exit {
    if snapshot.action_needed.is_empty() { Exit::Done } else { Exit::ActionNeeded }
}

#[cfg(test)]
mod tests;
