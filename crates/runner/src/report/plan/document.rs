//! The plan document: what a run would do. docs/output.md describes its JSON form.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use engine::preview::Preview;
use scheduler::Decision;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use workflow::plan::{self, Cell, Clip, Frame, Location, MediaSource, Node, NodeIx, Plan};
use workflow::prices::{CostEstimate, EstimateKind, Interval, PriceInputs};
use workflow::units::Money;

use crate::backend::PlannedServices;
use crate::price_table::{self, PriceTable};

/// Format version. Incremented when a reader of the previous version would misread the new one.
const VERSION: u32 = 5;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanDocument {
    pub(crate) version: u32,
    pub(crate) workflow: String,
    /// The workflow's file, for commands in messages.
    #[serde(skip)]
    pub(crate) file: String,
    /// The service's identity: `embedded`, or its base URL.
    pub(crate) service: String,
    /// Whether all tasks are free, whatever the price table says.
    #[serde(skip)]
    pub(crate) is_free: bool,
    /// The source of prices; `null` without a price table.
    pub(crate) prices: Option<PriceTableInfo>,
    /// The mappings of matrices, such as rows of tables, each once.
    pub(crate) rows: Vec<Arc<Value>>,
    /// Every instance in file order.
    pub(crate) shots: Vec<PlannedShot>,
    pub(crate) films: Vec<PlannedFilm>,
    /// Shots or instances without a pick that is needed, with the number of their candidates.
    pub(crate) picks: BTreeMap<String, usize>,
    /// Totals of what would be submitted; upper bounds include all retries.
    pub(crate) totals: CostEstimate,
}

/// The source of prices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceTableInfo {
    pub(crate) file: String,
    pub(crate) currency: String,
    pub(crate) as_of: String,
    pub(crate) source: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlannedShot {
    pub(crate) name: String,
    pub(crate) shot: Arc<str>,
    /// Its cell of the matrix; `{"row": 3}` in place of a mapping, by its index in `rows`.
    pub(crate) cell: Cell,
    pub(crate) take: Option<u32>,
    pub(crate) note: Option<Arc<str>>,
    /// Where the shot is defined.
    pub(crate) location: Location,
    /// What a run would do.
    pub(crate) decision: Decision,
    /// The reason, if the decision alone does not say it.
    pub(crate) why: Option<String>,
    /// The task that would be reused or adopted.
    pub(crate) task: Option<String>,
    /// Whether its submission is certain, provided that nothing fails.
    pub(crate) certain: bool,
    /// The prefix of its key, if already known.
    pub(crate) key: Option<String>,
    /// The instances that it depends on.
    pub(crate) depends_on: Vec<Dependency>,
    /// The inputs of its price.
    pub(crate) price_inputs: PriceInputs,
    /// The cost of one task; `null` without a price.
    pub(crate) cost: Option<Interval<Money>>,
    /// Why there is no price, if there is a price table.
    pub(crate) unpriced: Option<String>,
}

/// A dependency of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dependency {
    /// The instance depended on.
    pub(crate) shot: Arc<str>,
    /// The inputs that it provides.
    pub(crate) provides: Provides,
}

/// An input that an instance provides to a dependent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Provides {
    LastFrame,
    FirstFrame,
    /// Nothing: only the order matters.
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlannedFilm {
    /// The file's name.
    pub(crate) output: String,
    /// The clips in playing order.
    pub(crate) clips: Vec<ClipSource>,
}

/// The source of a film's clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClipSource {
    Shot(Arc<str>),
    /// One of these takes or instances, once picked.
    Pick(Vec<Arc<str>>),
    /// A video or image of one's own, from the workflow's folder.
    File(String),
    /// A title on black.
    Title(String),
}

impl PlanDocument {
    /// The document of a plan; `previews` are its decisions, in its order.
    pub(crate) fn new(
        plan: &Plan,
        previews: &[Preview],
        services: &PlannedServices,
        table: Option<&PriceTable>,
    ) -> Self {
        let mut totals = CostEstimate::default();
        let mut rows = Rows::default();
        let names: Vec<Arc<str>> = plan.nodes().map(|(_, node)| Arc::from(node.name.as_str())).collect();
        let shots = plan
            .nodes()
            .zip(previews)
            .zip(price_table::price_inputs(plan))
            .map(|(((ix, node), preview), inputs)| {
                let cost = match table {
                    // Beside others that are paid for; alone, a rehearsal shows what it would cost.
                    Some(_) if !services.is_free() && services.is_free_of(node) => {
                        Some(Ok(Interval::exactly(Money::ZERO)))
                    }
                    table => price_table::cost(table, &inputs),
                };
                let (cost, unpriced) = match cost {
                    None => (None, None),
                    Some(Ok(cost)) => (Some(cost), None),
                    Some(Err(error)) => (None, Some(error.to_string())),
                };
                if let Some(kind) = estimate_kind(preview) {
                    totals.add(&inputs, cost, kind);
                }
                for _ in 1..attempts(node, preview) {
                    totals.add(&inputs, cost, EstimateKind::Retry);
                }
                let cell = node.cell.map(|value| rows.cell(value));
                let depends_on = dependencies(plan, ix, node, &names);
                planned(node, preview, cell, depends_on, inputs, cost, unpriced)
            })
            .collect();
        Self {
            version: VERSION,
            workflow: plan.name().to_owned(),
            file: String::new(),
            service: services.shown.clone(),
            is_free: services.is_free(),
            prices: table.map(|table| PriceTableInfo {
                file: table.file.clone(),
                currency: table.prices.currency().to_owned(),
                as_of: table.prices.as_of().to_owned(),
                source: table.prices.source().to_owned(),
            }),
            rows: rows.rows,
            shots,
            films: plan
                .films()
                .iter()
                .map(|film| PlannedFilm {
                    output: film.output.clone(),
                    clips: film.clips.iter().map(|clip| display_path(&names, clip)).collect(),
                })
                .collect(),
            picks: plan
                .open_picks()
                .into_iter()
                .map(|pick| (pick.name.to_string(), pick.candidates.len()))
                .collect(),
            totals,
        }
    }
}

/// The mappings of cells, by their addresses.
#[derive(Default)]
struct Rows {
    rows: Vec<Arc<Value>>,
    cells: HashMap<*const Value, Arc<Value>>,
}

impl Rows {
    /// A value as a cell has it.
    fn cell(&mut self, value: &Arc<Value>) -> Arc<Value> {
        if !value.is_object() {
            return Arc::clone(value);
        }
        let cell = self.cells.entry(Arc::as_ptr(value)).or_insert_with(|| {
            self.rows.push(Arc::clone(value));
            Arc::new(json!({ "row": self.rows.len() - 1 }))
        });
        Arc::clone(cell)
    }
}

fn display_path(names: &[Arc<str>], clip: &Clip) -> ClipSource {
    let name = |node: &NodeIx| Arc::clone(&names[node.index()]);
    match &clip.source {
        plan::ClipSource::Node(node) => ClipSource::Shot(name(node)),
        plan::ClipSource::Pick(candidates) => ClipSource::Pick(candidates.iter().map(name).collect()),
        plan::ClipSource::Video(file) | plan::ClipSource::Image(file) => {
            ClipSource::File(file.path.display().to_string())
        }
        plan::ClipSource::Card => {
            ClipSource::Title(clip.title.as_ref().map(|title| title.text.clone()).unwrap_or_default())
        }
    }
}

/// How certain a submission is; `None` if none is expected.
fn estimate_kind(preview: &Preview) -> Option<EstimateKind> {
    match preview.decision {
        Decision::Execute => Some(EstimateKind::Certain),
        Decision::Deferred if preview.is_certain => Some(EstimateKind::Certain),
        Decision::Deferred => Some(EstimateKind::Possible),
        Decision::Reuse | Decision::Adopt | Decision::Blocked | Decision::NotSelected => None,
    }
}

/// Maximum number of attempts of a node. An adopted task may fail too, and be retried.
fn attempts(node: &Node, preview: &Preview) -> u32 {
    match preview.decision {
        Decision::Execute | Decision::Deferred | Decision::Adopt if preview.may_be_retried => {
            node.retry.max(1)
        }
        Decision::Execute
        | Decision::Deferred
        | Decision::Adopt
        | Decision::Reuse
        | Decision::Blocked
        | Decision::NotSelected => 1,
    }
}

fn planned(
    node: &Node,
    preview: &Preview,
    cell: Cell,
    depends_on: Vec<Dependency>,
    price_inputs: PriceInputs,
    cost: Option<Interval<Money>>,
    unpriced: Option<String>,
) -> PlannedShot {
    PlannedShot {
        name: node.name.clone(),
        shot: Arc::clone(&node.shot),
        cell,
        take: node.take,
        note: node.note.clone(),
        location: node.location.clone(),
        decision: preview.decision,
        why: preview.why.clone(),
        task: preview.task.as_ref().map(ToString::to_string),
        certain: preview.is_certain,
        key: preview.key.clone(),
        depends_on,
        price_inputs,
        cost,
        unpriced,
    }
}

fn dependencies(plan: &Plan, ix: NodeIx, node: &Node, names: &[Arc<str>]) -> Vec<Dependency> {
    let provides = |before: NodeIx| {
        let frames = node.inputs.iter().filter_map(|input| match &input.source {
            MediaSource::LastFrame(from) => (*from == before).then_some(Provides::LastFrame),
            MediaSource::FirstFrame(from) => (*from == before).then_some(Provides::FirstFrame),
            MediaSource::Pick { candidates, frame } => candidates.contains(&before).then_some(match frame {
                Frame::First => Provides::FirstFrame,
                Frame::Last => Provides::LastFrame,
            }),
            MediaSource::File { .. } | MediaSource::FileFrame { .. } => None,
        });
        let frames: Vec<Provides> = frames.collect();
        if frames.is_empty() { vec![Provides::Nothing] } else { frames }
    };
    plan.predecessors(ix)
        .into_iter()
        .flat_map(|before| provides(before).into_iter().map(move |provides| (before, provides)))
        .map(|(before, provides)| Dependency { shot: Arc::clone(&names[before.index()]), provides })
        .collect()
}
