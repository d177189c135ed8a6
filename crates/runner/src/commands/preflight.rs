//! What is decided, checked and shown before a run submits anything.

use std::sync::Arc;

use engine::artifact_store::Verify;
use engine::preview::Preview;
use engine::records::WorkRecords;
use scheduler::{Decision, KeyResolver};
use workflow::plan::{NodeIx, Plan, Selection};

use crate::args::RunArgs;
use crate::budget::{self, BudgetAtStart};
use crate::commands::run::named_workflow;
use crate::error::CommandError;
use crate::ffmpeg;
use crate::hints;
use crate::price_table::PriceTable;
use crate::report::{self, RunEstimate};
use crate::selection;

/// How videos of earlier runs are verified.
pub(super) fn verification(args: &RunArgs) -> Verify {
    if args.verify { Verify::Content(Arc::new(ffmpeg::find())) } else { Verify::Metadata }
}

/// The decision for each shot, if something has to be checked or shown before the run starts.
pub(super) async fn preflight(
    args: &RunArgs,
    plan: &Plan,
    records: &dyn WorkRecords,
    keys: &KeyResolver,
    account: Option<&str>,
    selection: Option<&Selection>,
    table: Option<&PriceTable>,
) -> Result<Option<Vec<Preview>>, CommandError> {
    let caps = budget::caps(&args.budget);
    if table.is_none() && caps.is_none() && args.rerun.is_none() && selection.is_none() {
        return Ok(None);
    }
    let verify = verification(args);
    let mut previews =
        engine::preview::preview(plan, Some(records), keys, account, account.is_some(), &verify).await?;
    hints::name_commands(&mut previews, &named_workflow(args));
    if let Some(selection) = selection {
        selection::apply_selection(plan, selection, &mut previews)?;
    }
    Ok(Some(previews))
}

/// Prints what the run will submit and cost, after checking it against the caps. Returns the estimate if there is a price table.
pub(super) fn print_estimate(
    args: &RunArgs,
    plan: &Plan,
    keys: &KeyResolver,
    previews: &[Preview],
    service: &str,
    table: Option<&PriceTable>,
    budget: BudgetAtStart,
) -> Result<Option<RunEstimate>, CommandError> {
    let document = report::plan::PlanDocument::new(plan, previews, service, table);
    budget::check_minimum(&args.budget, budget, &document)?;
    let is_submitted = |ix: NodeIx| {
        matches!(
            previews[ix.index()].decision,
            Decision::Execute | Decision::Deferred | Decision::NotSelected
        )
    };
    let forced = plan.nodes().filter(|(ix, _)| keys.is_forced(*ix));
    let (reruns, continued): (Vec<_>, Vec<_>) = forced.partition(|(ix, _)| is_submitted(*ix));
    for (label, nodes) in [("renders again", &reruns), ("continues a rerun that has not ended", &continued)] {
        let names: Vec<&str> = nodes.iter().map(|(_, node)| node.name.as_str()).collect();
        if !names.is_empty() {
            errln!("{label} (--rerun): {}", names.join(", "));
        }
    }
    if table.is_some() || !reruns.is_empty() || args.selection.is_any() {
        for line in report::plan::estimate(&document) {
            errln!("{line}");
        }
    }
    let estimate = document.totals.cost;
    Ok(table.map(|table| RunEstimate { estimate, currency: table.prices.currency().to_owned() }))
}
