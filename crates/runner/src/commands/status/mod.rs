//! `runner status`: what runs are doing and what is outstanding, from the ledger, which is only looked at.

mod record;
mod survey;
mod text;
mod watch;

use std::collections::HashMap;
use std::path::Path;

use scheduler::Millis;
use serde_json::json;
use workflow::plan::Plan;

use super::resolve::now;
use crate::args::{Format, Given, Status};
use crate::commands::complain;
use crate::exit::Exit;
use crate::load;
use crate::place::{Place, shown};
use survey::{Found, Survey, ToPick};

/// The version of the form that machines read.
const VERSION: u32 = 1;

pub(crate) async fn status(args: Status) -> Exit {
    let named = args.file.as_deref();
    let place = match Place::of(named.unwrap_or(Path::new("."))) {
        Ok(place) => place,
        Err(error) => {
            complain(error);
            return Exit::InvalidInput;
        }
    };
    if let Some(file) = named.filter(|file| !file.exists()) {
        complain(format!("there is no {}", file.display()));
        return Exit::InvalidInput;
    }
    let workflow = named.filter(|file| file.is_file());
    let mut survey = Survey {
        file: workflow.map_or_else(|| "FILE".to_owned(), |file| file.display().to_string()),
        ended: args.runs,
        to_pick: workflow.and_then(to_pick),
        histories: HashMap::new(),
    };
    let ledger = place.ledger();
    if args.watch {
        return watch::watch(&mut survey, &ledger, args.format).await;
    }
    match survey.look(&ledger) {
        Ok(Some(found)) => {
            tell(&found, args.format, now());
            exit(&found)
        }
        Ok(None) => {
            match args.format {
                Format::Text => outln!("nothing has been run here: there is no ledger {}", shown(&ledger)),
                Format::Json => outln!("{:#}", json!({ "version": VERSION, "at": now(), "ledger": null })),
                Format::Ndjson => {}
            }
            Exit::Done
        }
        Err(error) => {
            complain(error);
            Exit::Unusable
        }
    }
}

/// The takes of which none is picked. What is wrong with the workflow is for other commands to say.
fn to_pick(file: &Path) -> Option<ToPick> {
    let plan: Plan = load::check(file, &Given::default()).ok()?.plan?;
    let open = plan.open_picks().into_iter().map(|takes| {
        let names = takes.iter().map(|take| plan.node(*take).name.clone()).collect();
        (plan.takes_name(takes).to_owned(), names)
    });
    Some(ToPick { workflow: plan.name().to_owned(), shots: open.collect() })
}

fn tell(found: &Found, format: Format, now: Millis) {
    match format {
        Format::Text => {
            for line in text::lines(found, now, None) {
                outln!("{line}");
            }
        }
        Format::Json => outln!(
            "{:#}",
            json!({
                "version": VERSION,
                "at": now,
                "runs": found.runs,
                "shots": found.shots,
                "outstanding": found.outstanding,
                "totals": found.totals,
            })
        ),
        Format::Ndjson => {
            for record in found.records() {
                outln!("{}", watch::numbered(&record, now));
            }
        }
    }
}

/// Something that nobody looks after is outstanding, or nothing is.
fn exit(found: &Found) -> Exit {
    if found.outstanding.is_empty() { Exit::Done } else { Exit::Outstanding }
}

#[cfg(test)]
mod tests;
