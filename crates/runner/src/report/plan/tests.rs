//! The forms of a plan, pinned; text from a workflow cannot break any of them.

use contract::Contract;
use engine::preview::Preview;
use engine::provider::{Account, Accounts};
use scheduler::{Decision, TaskId};
use workflow::plan::Plan;
use workflow::{InMemory, Options};

use super::*;
use crate::backend::PlannedServices;
use crate::price_table::PriceTable;
use workflow::services::is_rehearsal;

const PLAN: &str = "version: 1
name: lighthouse
defaults: {model: modela-video-2-0-260128, resolution: 480p, seconds: 5}
shots:
  - {id: mole, prompt: one, note: wide and quiet}
  - {id: door, continues: mole, prompt: two}
  - {id: lamp, continues: door, prompt: three, resolution: 720p}
  - {id: sea, prompt: four, needs: [lamp], takes: 2}
  - {id: gull, model: modelb-video-480p, prompt: five, first_frame: {shot: door, frame: first}}
film: {output: light & house.mp4, shots: [mole, door, gull]}
";

const PRICES: &str = "version: 1
currency: EUR
as_of: 2026-01-31
source: a test
prices:
  - {model: modela-video-2-0-260128, resolution: 480p, per_second: 0.1}
  - {model: modelb-video-480p, per_second: 0.123456}
";

fn plan(text: &str) -> Plan {
    workflow::load(text.as_bytes(), "p.yaml", &InMemory::default(), &Options::default(), Contract::embedded())
        .unwrap_or_else(|report| panic!("{report}"))
}

fn prices() -> PriceTable {
    let checked = workflow::prices::check(PRICES.as_bytes(), "prices.yaml", &[Contract::embedded()]);
    let Some(prices) = checked.prices else { panic!("{}", checked.report) };
    PriceTable { file: "prices.yaml".to_owned(), prices }
}

fn preview(name: &str, decision: Decision) -> Preview {
    let (reason, task) = match decision {
        Decision::Adopt => {
            (Some("its file is missing or modified; it will be downloaded again"), Some("task-1"))
        }
        Decision::Reuse => (None, Some("task-2")),
        Decision::Deferred => (Some("waits for another"), None),
        Decision::Blocked => {
            (Some("the answer to attempt 1.2 was lost; `runner resolve` accounts for it"), None)
        }
        Decision::Execute | Decision::NotSelected => (None, None),
    };
    Preview {
        name: name.to_owned(),
        decision,
        basis: engine::preview::StateBasis::Fixed(scheduler::StatusKind::NotStarted),
        why: reason.map(str::to_owned),
        task: task.map(|task| TaskId(task.to_owned())),
        key: (decision != Decision::Deferred).then(|| "0123456789ab".to_owned()),
        full_key: None,
        render: None,
        is_certain: decision == Decision::Execute,
        may_be_retried: true,
        known_at: None,
        hint: None,
    }
}

/// The services of a plan that names none.
fn services(identity: &str) -> PlannedServices {
    let account = Account { digest: None, is_paid: !is_rehearsal(identity) };
    let accounts = Accounts::default().with(identity, account);
    PlannedServices { identity: identity.to_owned(), accounts, shown: identity.to_owned() }
}

fn document(service: &str, priced: bool) -> PlanDocument {
    use Decision::{Adopt, Blocked, Deferred, Execute, Reuse};
    let plan = plan(PLAN);
    let decisions = [Reuse, Adopt, Deferred, Blocked, Execute, Execute];
    let previews: Vec<Preview> =
        plan.nodes().zip(decisions).map(|((_, node), decision)| preview(&node.name, decision)).collect();
    assert_eq!(previews.len(), plan.len());
    let table = prices();
    PlanDocument::new(&plan, &previews, &services(service), priced.then_some(&table))
}

fn all(text: &str, decision: Decision, service: &str) -> PlanDocument {
    let plan = plan(text);
    let previews: Vec<Preview> = plan.nodes().map(|(_, node)| preview(&node.name, decision)).collect();
    PlanDocument::new(&plan, &previews, &services(service), None)
}

#[test]
fn plan_table_is_complete_and_fits_80_columns() {
    let text = table(&document("https://api.example.com", true));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn cost_without_prices_is_unknown_except_embedded() {
    insta::assert_snapshot!(table(&document("https://api.example.com", false)));
    let embedded = table(&document("rehearsal", true));
    insta::assert_snapshot!(embedded);
    let done = table(&all(PLAN, Decision::Reuse, "https://api.example.com"));
    assert!(done.contains("nothing to submit") && !done.contains("cost"), "{done}");
}

#[test]
fn retries_raise_only_the_upper_estimate() {
    let text = PLAN
        .replace("prompt: one", "prompt: one, retry: 3")
        .replace("prompt: four", "prompt: four, retry: 2");
    let shots = plan(&text);
    // `mole` and `sea#1` are to be submitted; `sea#2` is in flight, and may fail.
    let decisions =
        [Decision::Execute, Decision::Blocked, Decision::Blocked, Decision::Execute, Decision::Adopt];
    let previews: Vec<Preview> = shots
        .nodes()
        .zip(decisions.into_iter().chain([Decision::NotSelected]))
        .map(|((_, node), decision)| preview(&node.name, decision))
        .collect();
    let table_of_prices = prices();
    let document =
        PlanDocument::new(&shots, &previews, &services("https://api.example.com"), Some(&table_of_prices));
    let totals = &document.totals;
    assert_eq!((totals.tasks.min, totals.tasks.max, totals.retries), (2, 6, 4));
    assert_eq!(totals.cost.to_string(), "1.00 to 3.00");
    let estimates = estimate(&document);
    assert_eq!(estimates[0], "to submit: 2 to 6 tasks, 10 to 30 seconds of video");
    assert_eq!(estimates[1], "retries: up to 4 of them, if attempts fail");
}

#[test]
fn plan_json_round_trips() {
    let document = document("https://api.example.com", true);
    insta::assert_json_snapshot!(document);
    let json = serde_json::to_string(&document).expect("it can be written");
    assert_eq!(serde_json::from_str::<PlanDocument>(&json).expect("it can be read"), document);
}

#[test]
fn plan_json_has_each_row_once() {
    let text = "version: 1
defaults: {model: modela-video-2-0-260128, seconds: 5}
shots: [{id: a, prompt: '{{ look.name }} {{ s }}', matrix: {look: [{name: noir}, {name: dawn}], s: [1, 2]}}]
";
    let json = serde_json::to_value(all(text, Decision::Execute, "rehearsal")).expect("it can be written");
    let cells: Vec<_> = json["shots"].as_array().into_iter().flatten().map(|shot| &shot["cell"]).collect();
    assert_eq!(json["rows"], serde_json::json!([{ "name": "noir" }, { "name": "dawn" }]));
    assert_eq!(cells[2], &serde_json::json!({ "look": { "row": 1 }, "s": 1 }));
}

#[test]
fn plan_table_counts_many_dependencies() {
    let text = "version: 1
defaults: {model: modela-video-2-0-260128, seconds: 5}
shots: [{id: a, prompt: 'x {{ i }}', matrix: {i: {from: 1, to: 6}}}, {id: b, prompt: x, needs: a}]
";
    let text = table(&all(text, Decision::Execute, "rehearsal"));
    assert!(text.contains("a@i=1, a@i=2, a@i=3, a@i=4 and 2 more"), "{text}");
}
