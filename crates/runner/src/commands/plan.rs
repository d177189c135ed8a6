//! `runner plan`: what a run would do and cost, or the exact requests that it would send. Nothing is submitted, nothing written.

use std::sync::Arc;

use engine::preview::{Preview, preview};
use engine::{Ledger, LedgerError};
use serde_json::json;
use workflow::plan::Selection;

use crate::args::{Format, PlanArgs, PlanFormat};
use crate::backend::Backend;
use crate::commands::print_error;
use crate::exit::Exit;
use crate::load;
use crate::price_table::PriceTable;
use crate::project_paths::ProjectPaths;
use crate::report::plan::{Document, dot, mermaid, table};
use crate::selection::{self, Selected, SelectionError};

pub(crate) async fn plan(args: PlanArgs) -> Exit {
    let format = if args.format == PlanFormat::Json { Format::Json } else { Format::Text };
    let plan = match load::load(&args.workflow.file, &args.workflow.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(refused) => return refused.exit(format),
    };
    if args.requests {
        for (ix, node) in plan.nodes() {
            outln!("{}", json!({ "shot": node.name, "request": plan.request_outline(ix) }));
        }
        return Exit::Done;
    }
    let prices = match PriceTable::load(args.prices.as_deref(), &args.workflow.file) {
        Ok(prices) => prices,
        Err(refused) => return refused.exit(format),
    };
    let service = match Backend::from_environment() {
        Ok(backend) => backend.identity(),
        Err(why) => {
            print_error(why);
            return Exit::Unusable;
        }
    };
    let previews = match decisions(&args, &plan, &service).await {
        Ok(previews) => previews,
        Err((why, exit)) => {
            print_error(why);
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
            print_error(why);
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
    args: &PlanArgs,
    plan: &Arc<workflow::plan::Plan>,
    service: &str,
) -> Result<Vec<Preview>, (String, Exit)> {
    let unusable = |error: LedgerError| (error.to_string(), Exit::Unusable);
    let paths = ProjectPaths::for_workflow(&args.workflow.file).map_err(|error| unusable(error.into()))?;
    let ledger = Ledger::open_existing(&paths.ledger(), &paths.folder).map_err(unusable)?;
    let selection = match args.selection.resolve(plan, ledger.as_ref()) {
        Ok(Selected::All) => None,
        Ok(Selected::Some(selection)) => Some(selection),
        Ok(Selected::NoneFailed(why)) => {
            errln!("{why}");
            Some(Selection::only([]))
        }
        Err(SelectionError::Unknown(why)) => return Err((why, Exit::InvalidInput)),
        Err(SelectionError::Ledger(error)) => return Err(unusable(error)),
    };
    let mut previews = preview(plan, ledger.as_ref(), service).await.map_err(unusable)?;
    if let Some(selection) = selection {
        selection::apply_selection(plan, &selection, &mut previews)
            .map_err(|why| (why, Exit::InvalidInput))?;
    }
    Ok(previews)
}
