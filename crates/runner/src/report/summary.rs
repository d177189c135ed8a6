//! The summary of a finished run as one JSON document: `run --format json` (docs/events.md). It shares its types with the event stream.

use scheduler::RunSummary;
use scheduler::spending::Spending;
use serde::Serialize;
use serde_json::{Value, json};
use workflow::plan::Plan;

use super::stream::{self, FinishedFilm, FinishedShot, Halt};
use crate::price_table::PriceTable;

/// Format version.
const VERSION: u32 = 2;

#[derive(Debug, Serialize)]
struct Pick<'a> {
    shot: &'a str,
    takes: usize,
}

/// The summary of a finished run; with a price table, its cost.
pub(crate) fn summary_json(
    plan: &Plan,
    summary: &RunSummary,
    spent: Option<&(&PriceTable, Spending)>,
) -> Value {
    let shots: Vec<FinishedShot<'_>> =
        summary.nodes.iter().map(|node| stream::finished_shot(plan, node)).collect();
    let films: Vec<FinishedFilm<'_>> = summary
        .films
        .iter()
        .map(|film| FinishedFilm { name: &film.name, outcome: stream::film(&film.outcome) })
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

/// The summary of a run with nothing to do.
pub(crate) fn nothing_json() -> Value {
    json!({ "version": VERSION, "run": null, "submitted": 0, "shots": [], "films": [], "picks": [] })
}

/// The cost of a run, if there is a price table.
pub(crate) fn spending_json(spent: Option<&(&PriceTable, Spending)>) -> Option<Value> {
    let (table, spending) = spent?;
    let mut spent = json!(spending);
    spent["currency"] = json!(table.prices.currency());
    spent["prices"] = json!({ "file": table.file, "as_of": table.prices.as_of() });
    Some(spent)
}
