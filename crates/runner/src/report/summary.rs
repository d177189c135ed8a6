//! A finished run as one document: `--format json`. docs/events.md describes it with the stream, whose words it shares.

use scheduler::RunSummary;
use scheduler::spending::Spending;
use serde::Serialize;
use serde_json::{Value, json};
use workflow::plan::Plan;

use super::stream::{self, Ended, Film, Halt};
use crate::price_table::PriceTable;

/// The form's version.
const VERSION: u32 = 1;

#[derive(Debug, Serialize)]
struct Pick<'a> {
    shot: &'a str,
    takes: usize,
}

/// A finished run as one document; with a table of prices, what it has cost.
pub(crate) fn summary_json(
    plan: &Plan,
    summary: &RunSummary,
    spent: Option<&(&PriceTable, Spending)>,
) -> Value {
    let shots: Vec<Ended<'_>> = summary.nodes.iter().map(|node| stream::ended(plan, node)).collect();
    let films: Vec<Film<'_>> = summary
        .films
        .iter()
        .map(|film| Film { name: &film.name, outcome: stream::film(&film.outcome) })
        .collect();
    let picks: Vec<Pick<'_>> =
        summary.to_pick.iter().map(|(shot, takes)| Pick { shot, takes: *takes }).collect();
    let halt: Option<Halt> = summary.halt.as_ref().map(stream::halt);
    json!({
        "version": VERSION,
        "run": summary.run,
        "submitted": summary.submitted(),
        "shots": shots,
        "films": films,
        "picks": picks,
        "spending": spending_json(spent),
        "halt": halt,
        "budget": stream::budget(summary),
    })
}

/// What is printed in its place where there is nothing to run.
pub(crate) fn nothing_json() -> Value {
    json!({ "version": VERSION, "run": null, "submitted": 0, "shots": [], "films": [], "picks": [] })
}

/// What a run has cost, where there is a table of prices.
pub(crate) fn spending_json(spent: Option<&(&PriceTable, Spending)>) -> Option<Value> {
    let (table, spending) = spent?;
    let mut spent = json!(spending);
    spent["currency"] = json!(table.prices.currency());
    spent["prices"] = json!({ "file": table.file, "as_of": table.prices.as_of() });
    Some(spent)
}
