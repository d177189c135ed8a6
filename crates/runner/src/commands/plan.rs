//! `runner plan`: what a run would do, or the exact requests that it would send. Nothing is submitted, nothing written.

use std::sync::Arc;

use engine::preview::{Preview, preview};
use engine::state::Decision;
use engine::{Ledger, LedgerError};
use serde_json::{Value, json};

use crate::args::{Format, Plan};
use crate::commands::complain;
use crate::exit::Exit;
use crate::load;
use crate::place::Place;
use crate::report::Table;
use crate::service_choice::Choice;

pub(crate) async fn plan(args: Plan) -> Exit {
    let plan = match load::load(&args.input.file, &args.input.params) {
        Ok(plan) => Arc::new(plan),
        Err(refused) => return refused.exit(args.format),
    };
    if args.requests {
        print_requests(&plan, args.format);
        return Exit::Done;
    }
    let choice = match Choice::from_environment() {
        Ok(choice) => choice,
        Err(why) => {
            complain(why);
            return Exit::Unusable;
        }
    };
    match decisions(&args, &plan, &choice.identity()).await {
        Ok(previews) => {
            print_decisions(&plan, &previews, args.format);
            Exit::Done
        }
        Err(error) => {
            complain(error);
            Exit::Unusable
        }
    }
}

async fn decisions(
    args: &Plan,
    plan: &Arc<workflow::plan::Plan>,
    service: &str,
) -> Result<Vec<Preview>, LedgerError> {
    let place = Place::of(&args.input.file)?;
    let ledger = Ledger::open_existing(&place.ledger(), &place.folder)?;
    preview(plan, ledger.as_ref(), service).await
}

fn print_requests(plan: &workflow::plan::Plan, format: Format) {
    let requests = plan.nodes().map(|(_, node)| json!({ "shot": node.name, "request": node.request }));
    match format {
        Format::Ndjson => requests.for_each(|request| println!("{request}")),
        Format::Text | Format::Json => println!("{:#}", requests.collect::<Value>()),
    }
}

fn print_decisions(plan: &workflow::plan::Plan, previews: &[Preview], format: Format) {
    match format {
        Format::Json => println!("{:#}", json!({ "workflow": plan.name(), "shots": previews })),
        Format::Ndjson => previews.iter().for_each(|preview| println!("{}", json!(preview))),
        Format::Text => {
            let mut table = Table::new(["shot", "decision", "after", "model", "seconds", "why"]);
            for ((ix, node), preview) in plan.nodes().zip(previews) {
                let after = plan
                    .predecessors(ix)
                    .iter()
                    .map(|before| plan.node(*before).name.clone())
                    .collect::<Vec<_>>();
                table.row([
                    node.name.clone(),
                    preview.decision.word().to_owned(),
                    if after.is_empty() { "-".to_owned() } else { after.join(", ") },
                    node.model.clone(),
                    format!("{}", node.seconds),
                    preview.why.clone().unwrap_or_default(),
                ]);
            }
            print!("{}", table.render());
            let count = |decision| previews.iter().filter(|preview| preview.decision == decision).count();
            let submit = count(Decision::Execute) + count(Decision::Deferred);
            let seconds: f64 = plan
                .nodes()
                .zip(previews)
                .filter(|(_, preview)| matches!(preview.decision, Decision::Execute | Decision::Deferred))
                .map(|((_, node), _)| node.seconds)
                .sum();
            println!();
            match submit {
                0 => println!("nothing to submit"),
                _ => println!(
                    "to submit: at most {submit} tasks, {seconds} seconds of video; their price is not known here"
                ),
            }
            if let Some(film) = plan.film() {
                println!("film: {} from {} shots", film.output, film.clips.len());
            }
        }
    }
}
