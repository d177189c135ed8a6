//! `runner plan`: what a run would do and cost, or the exact requests that it would send. Submits and writes nothing.

use std::sync::Arc;

use engine::Ledger;
use engine::ledger::ServiceAccount;
use engine::preview::{Preview, preview};
use scheduler::KeyResolver;
use serde_json::json;
use workflow::plan::Selection;

use crate::args::{Format, PlanArgs, PlanFormat};
use crate::backend::Backend;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load;
use crate::price_table::PriceTable;
use crate::project_paths::ProjectPaths;
use crate::remedies;
use crate::report::plan::{Document, dot, mermaid, table};
use crate::selection::{self, Selected};
use crate::unknown_work;

pub(crate) async fn plan(args: PlanArgs) -> Result<Exit, CommandError> {
    let format = if args.format == PlanFormat::Json { Format::Json } else { Format::Text };
    let plan = match load::load(&args.workflow.file, &args.workflow.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(error) => return Ok(error.report(format)),
    };
    if args.requests {
        for (ix, node) in plan.nodes() {
            outln!("{}", json!({ "shot": node.name, "request": plan.request_outline(ix) }));
        }
        return Ok(Exit::Done);
    }
    let prices = match PriceTable::load(args.prices.as_deref(), &args.workflow.file) {
        Ok(prices) => prices,
        Err(error) => return Ok(error.report(format)),
    };
    let backend = Backend::from_environment()?;
    let (service, account) = (backend.identity(), backend.account());
    let at = ServiceAccount { service: &service, account: account.as_deref() };
    let previews = decisions(&args, &plan, at, backend.is_free()).await?;
    let document = Document::new(&plan, &previews, &service, prices.as_ref());
    out!("{}", render(&document, args.format)?);
    Ok(Exit::Done)
}

fn render(document: &Document, format: PlanFormat) -> Result<String, CommandError> {
    Ok(match format {
        PlanFormat::Table => table(document),
        PlanFormat::Json => format!("{:#}\n", json!(document)),
        PlanFormat::Yaml => workflow::to_yaml(document).map_err(CommandError::unusable)?,
        PlanFormat::Mermaid => mermaid(document),
        PlanFormat::Dot => dot(document),
    })
}

/// The decision for each node, in the plan's order.
async fn decisions(
    args: &PlanArgs,
    plan: &Arc<workflow::plan::Plan>,
    at: ServiceAccount<'_>,
    is_free: bool,
) -> Result<Vec<Preview>, CommandError> {
    let paths = ProjectPaths::for_workflow(&args.workflow.file)?;
    let ledger = Ledger::open_existing(&paths.ledger(), &paths.folder)?;
    let selection = match args.selection.resolve(plan, ledger.as_ref())? {
        Selected::All => None,
        Selected::Some(selection) => Some(selection),
        Selected::NoneFailed(reason) => {
            errln!("{reason}");
            Some(Selection::only([]))
        }
    };
    let mut previews = preview(plan, ledger.as_ref(), at).await?;
    remedies::name_commands(&mut previews, &args.workflow.file);
    if !is_free {
        let salts = ledger.as_ref().map(Ledger::salts).transpose()?.unwrap_or_default();
        let keys = KeyResolver::new(at.service).with_recorded_salts(salts);
        let folder = paths.out(plan.name());
        let file = &args.workflow.file;
        unknown_work::mark(plan, ledger.as_ref(), &keys, &folder, file, &mut previews).await?;
    }
    if let Some(selection) = selection {
        selection::apply_selection(plan, &selection, &mut previews)?;
    }
    Ok(previews)
}
