//! `runner plan`: what a run would do and cost, or the exact requests that it would send. Nothing is submitted, nothing written.

use std::sync::Arc;

use engine::preview::{Preview, preview};
use engine::{Ledger, LedgerError};
use serde_json::json;
use workflow::plan::Selection;

use crate::args::{Format, Plan, PlanFormat};
use crate::choosing::{self, Chosen, NotChosen};
use crate::commands::complain;
use crate::exit::Exit;
use crate::load;
use crate::place::Place;
use crate::prices::PriceTable;
use crate::report::plan::{Document, dot, mermaid, table};
use crate::service_choice::Choice;

pub(crate) async fn plan(args: Plan) -> Exit {
    let format = if args.format == PlanFormat::Json { Format::Json } else { Format::Text };
    let plan = match load::load(&args.input.file, &args.input.given) {
        Ok(plan) => Arc::new(plan),
        Err(refused) => return refused.exit(format),
    };
    if args.requests {
        for (ix, node) in plan.nodes() {
            outln!("{}", json!({ "shot": node.name, "request": plan.request_outline(ix) }));
        }
        return Exit::Done;
    }
    let prices = match PriceTable::load(args.prices.as_deref(), &args.input.file) {
        Ok(prices) => prices,
        Err(refused) => return refused.exit(format),
    };
    let service = match Choice::from_environment() {
        Ok(choice) => choice.identity(),
        Err(why) => {
            complain(why);
            return Exit::Unusable;
        }
    };
    let previews = match decisions(&args, &plan, &service).await {
        Ok(previews) => previews,
        Err((why, exit)) => {
            complain(why);
            return exit;
        }
    };
    let document = Document::new(&plan, &previews, &service, prices.as_ref());
    match written(&document, args.format) {
        Ok(text) => {
            out!("{text}");
            Exit::Done
        }
        Err(why) => {
            complain(why);
            Exit::Unusable
        }
    }
}

fn written(document: &Document, format: PlanFormat) -> Result<String, String> {
    Ok(match format {
        PlanFormat::Table => table(document),
        PlanFormat::Json => format!("{:#}\n", json!(document)),
        PlanFormat::Yaml => workflow::to_yaml(document)?,
        PlanFormat::Mermaid => mermaid(document),
        PlanFormat::Dot => dot(document),
    })
}

async fn decisions(
    args: &Plan,
    plan: &Arc<workflow::plan::Plan>,
    service: &str,
) -> Result<Vec<Preview>, (String, Exit)> {
    let unusable = |error: LedgerError| (error.to_string(), Exit::Unusable);
    let place = Place::of(&args.input.file).map_err(|error| unusable(error.into()))?;
    let ledger = Ledger::open_existing(&place.ledger(), &place.folder).map_err(unusable)?;
    let selection = match args.choosing.of(plan, ledger.as_ref()) {
        Ok(Chosen::All) => None,
        Ok(Chosen::Some(selection)) => Some(selection),
        Ok(Chosen::Nothing(why)) => {
            errln!("{why}");
            Some(Selection::only([]))
        }
        Err(NotChosen::Unknown(why)) => return Err((why, Exit::InvalidInput)),
        Err(NotChosen::Ledger(error)) => return Err(unusable(error)),
    };
    let mut previews = preview(plan, ledger.as_ref(), service).await.map_err(unusable)?;
    if let Some(selection) = selection {
        choosing::mark(plan, &selection, &mut previews).map_err(|why| (why, Exit::InvalidInput))?;
    }
    Ok(previews)
}
