//! For machines: events as they happen, one JSON document a line, and the summary of a run as one document. Alone on standard output.

use engine::spending::Spending;
use engine::state::{Event, FilmSummary, NodeSummary, Outcome, RunSummary};
use engine::{Millis, Reporter, RunState};
use serde::Serialize;
use serde_json::{Value, json};

use crate::prices::PriceTable;

/// One line an event.
pub(super) struct Lines;

impl Reporter for Lines {
    fn on(&mut self, state: &RunState, event: &Event, now: Millis) {
        if *event == Event::Woke {
            return;
        }
        let mut line = json!({ "at": now });
        if let Some(node) = event.node() {
            line["shot"] = json!(state.plan().node(node).name);
        }
        if let (Value::Object(line), Ok(Value::Object(event))) = (&mut line, serde_json::to_value(event)) {
            line.extend(event.into_iter().filter(|(name, _)| name != "node"));
        }
        println!("{line}");
    }
}

/// One shot in the summary.
#[derive(Debug, Serialize)]
pub(crate) struct Made<'a> {
    shot: &'a str,
    decision: Option<&'static str>,
    outcome: &'a Outcome,
    task: Option<&'a str>,
    /// From submission to the file on disk.
    took_seconds: Option<f64>,
}

impl<'a> From<&'a NodeSummary> for Made<'a> {
    fn from(node: &'a NodeSummary) -> Self {
        Self {
            shot: &node.name,
            decision: node.decision.map(engine::state::Decision::word),
            outcome: &node.outcome,
            task: node.task.as_ref().map(engine::TaskId::as_str),
            took_seconds: node.took.map(|took| took.as_secs_f64()),
        }
    }
}

/// What one film came to, under its name.
fn film(film: &FilmSummary) -> Value {
    let mut told = json!({ "name": film.name });
    if let (Value::Object(told), Value::Object(outcome)) = (&mut told, json!(film.outcome)) {
        told.extend(outcome);
    }
    told
}

/// What is printed in its place where there is nothing to run.
pub(crate) fn nothing_json() -> Value {
    json!({ "run": null, "submitted": 0, "shots": [], "films": [], "picks": [] })
}

/// A finished run as one document; with a table of prices, what it has cost.
pub(crate) fn summary_json(summary: &RunSummary, spent: Option<&(&PriceTable, Spending)>) -> Value {
    let spent = spent.map(|(table, spending)| {
        let mut spent = json!(spending);
        spent["currency"] = json!(table.prices.currency());
        spent["prices"] = json!({ "file": table.file, "as_of": table.prices.as_of() });
        spent
    });
    let picks: Vec<Value> =
        summary.to_pick.iter().map(|(shot, takes)| json!({ "shot": shot, "takes": takes })).collect();
    json!({
        "run": summary.run,
        "submitted": summary.submitted(),
        "shots": summary.nodes.iter().map(Made::from).collect::<Vec<_>>(),
        "films": summary.films.iter().map(film).collect::<Vec<_>>(),
        "picks": picks,
        "spending": spent,
        "halt": summary.halt,
        "budget": { "caps": summary.caps, "held": summary.held, "spent": summary.spent },
    })
}
