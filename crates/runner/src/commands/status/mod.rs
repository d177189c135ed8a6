//! `runner status`: what runs are doing and what is outstanding, from the ledger, which is only looked at.

mod query;
mod record;
mod text;
mod watch;

use std::collections::HashMap;
use std::path::Path;

use scheduler::Timestamp;
use serde_json::json;
use workflow::plan::Plan;

use crate::args::{Format, OverrideArgs, StatusArgs};
use crate::clock::now;
use crate::commands::print_error;
use crate::exit::Exit;
use crate::load;
use crate::project_paths::{ProjectPaths, display_path};
use query::{Snapshot, StatusQuery, Unpicked};

/// The version of the form that machines read.
const VERSION: u32 = 1;

pub(crate) async fn status(args: StatusArgs) -> Exit {
    let named = args.file.as_deref();
    let paths = match ProjectPaths::for_workflow(named.unwrap_or(Path::new("."))) {
        Ok(paths) => paths,
        Err(error) => {
            print_error(error);
            return Exit::InvalidInput;
        }
    };
    if let Some(file) = named.filter(|file| !file.exists()) {
        print_error(format!("there is no {}", file.display()));
        return Exit::InvalidInput;
    }
    let workflow = named.filter(|file| file.is_file());
    let mut query = StatusQuery {
        file: workflow.map_or_else(|| "FILE".to_owned(), |file| file.display().to_string()),
        ended: args.runs,
        unpicked: workflow.and_then(unpicked),
        histories: HashMap::new(),
    };
    let ledger = paths.ledger();
    if args.watch {
        return watch::watch(&mut query, &ledger, args.format).await;
    }
    match query.read(&ledger) {
        Ok(Some(snapshot)) => {
            print(&snapshot, args.format, now());
            exit(&snapshot)
        }
        Ok(None) => {
            match args.format {
                Format::Text => {
                    outln!("nothing has been run here: there is no ledger {}", display_path(&ledger));
                }
                Format::Json => outln!("{:#}", json!({ "version": VERSION, "at": now(), "ledger": null })),
                Format::Ndjson => {}
            }
            Exit::Done
        }
        Err(error) => {
            print_error(error);
            Exit::Unusable
        }
    }
}

/// The takes of which none is picked. What is wrong with the workflow is for other commands to say.
fn unpicked(file: &Path) -> Option<Unpicked> {
    let plan: Plan = load::check(file, &OverrideArgs::default()).ok()?.plan?;
    let open = plan.open_picks().into_iter().map(|takes| {
        let names = takes.iter().map(|take| plan.node(*take).name.clone()).collect();
        (plan.takes_name(takes).to_owned(), names)
    });
    Some(Unpicked { workflow: plan.name().to_owned(), shots: open.collect() })
}

fn print(snapshot: &Snapshot, format: Format, now: Timestamp) {
    match format {
        Format::Text => {
            for line in text::lines(snapshot, now, None) {
                outln!("{line}");
            }
        }
        Format::Json => outln!(
            "{:#}",
            json!({
                "version": VERSION,
                "at": now,
                "runs": snapshot.runs,
                "shots": snapshot.shots,
                "outstanding": snapshot.outstanding,
                "totals": snapshot.totals,
            })
        ),
        Format::Ndjson => {
            for record in snapshot.records() {
                outln!("{}", watch::numbered(&record, now));
            }
        }
    }
}

/// Something that nobody looks after is outstanding, or nothing is.
fn exit(snapshot: &Snapshot) -> Exit {
    if snapshot.outstanding.is_empty() { Exit::Done } else { Exit::Outstanding }
}

#[cfg(test)]
mod tests;
