//! The summary of a finished run as one JSON document: `run --format json` (docs/events.md). It shares its types with the event stream.

use scheduler::spending::Spending;
use scheduler::{NodeSummary, RunId, RunSummary};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use workflow::plan::Plan;

use super::stream::{self, Budget, FilmResult, Halt};
use crate::price_table::PriceTable;

const VERSION: u32 = 4;

#[derive(Serialize)]
struct Pick<'a> {
    shot: &'a str,
    candidates: usize,
}

/// The summary of a finished run. Shots are converted while they are written: there may be a hundred thousand.
#[derive(Serialize)]
pub(crate) struct SummaryDocument<'a> {
    version: u32,
    run: &'a RunId,
    submitted: usize,
    #[serde(serialize_with = "write_shots")]
    shots: (&'a Plan, &'a [NodeSummary]),
    films: Vec<FilmResult<'a>>,
    picks: Vec<Pick<'a>>,
    spending: Option<Value>,
    halt: Option<Halt>,
    budget: Budget,
}

fn write_shots<S: Serializer>(
    (plan, nodes): &(&Plan, &[NodeSummary]),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(nodes.iter().map(|node| stream::finished_shot(plan, node)))
}

/// The summary of a finished run; with a price table, its cost.
pub(crate) fn summary_json<'a>(
    plan: &'a Plan,
    summary: &'a RunSummary,
    spent: Option<&(&PriceTable, Spending)>,
) -> SummaryDocument<'a> {
    SummaryDocument {
        version: VERSION,
        run: &summary.run,
        submitted: summary.submitted(),
        shots: (plan, &summary.nodes),
        films: summary
            .films
            .iter()
            .map(|film| FilmResult { name: &film.name, outcome: stream::film(&film.outcome) })
            .collect(),
        picks: summary
            .picks
            .iter()
            .map(|pick| Pick { shot: &pick.name, candidates: pick.candidates })
            .collect(),
        spending: spending_json(spent),
        halt: summary.halt.as_ref().map(stream::halt),
        budget: stream::budget(summary),
    }
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
