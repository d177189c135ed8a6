//! What a run would do, as one document; docs/output.md describes its JSON form.

use std::collections::BTreeMap;

use engine::preview::Preview;
use indexmap::IndexMap;
use scheduler::Decision;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use workflow::plan::{Clip, Frame, Location, Node, NodeIx, Plan, Source};
use workflow::prices::{CostEstimate, EstimateKind, Interval, Money, PriceInputs};

use crate::price_table::{self, PriceTable};

/// The form's version; it moves when a reader of the old one would misread the new one.
const VERSION: u32 = 2;

/// What a run would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    /// The form's version.
    pub(crate) version: u32,
    /// The workflow's name.
    pub(crate) workflow: String,
    /// The service, as it stands in every key: `embedded`, or its address.
    pub(crate) service: String,
    /// Where the prices come from; nothing where there is no table.
    pub(crate) prices: Option<Origin>,
    /// Every instance in file order.
    pub(crate) shots: Vec<Planned>,
    /// The films.
    pub(crate) films: Vec<Film>,
    /// The shots or instances of whose takes one is to be picked, with how many takes there are.
    pub(crate) picks: BTreeMap<String, usize>,
    /// What is to be submitted comes to; the most with all retries.
    pub(crate) totals: CostEstimate,
}

/// Where prices come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Origin {
    pub(crate) file: String,
    pub(crate) currency: String,
    pub(crate) as_of: String,
    pub(crate) source: String,
}

/// One instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Planned {
    /// The instance's name.
    pub(crate) name: String,
    /// The shot's id.
    pub(crate) shot: String,
    /// Its cell of the matrix.
    pub(crate) cell: IndexMap<String, Value>,
    /// Which take it is.
    pub(crate) take: Option<u32>,
    /// The author's note.
    pub(crate) note: Option<String>,
    /// Where the shot stands in the file.
    pub(crate) location: Location,
    /// What would be done.
    pub(crate) decision: Decision,
    /// Why, where the decision alone does not say it.
    pub(crate) why: Option<String>,
    /// The task that would be reused or adopted.
    pub(crate) task: Option<String>,
    /// The beginning of its key, where that is known already.
    pub(crate) key: Option<String>,
    /// The instances that it waits for.
    pub(crate) depends_on: Vec<Dependency>,
    /// What decides its price.
    pub(crate) billing: PriceInputs,
    /// What one task costs; nothing where it has no price.
    pub(crate) cost: Option<Interval<Money>>,
    /// Why there is no price, where there is a table.
    pub(crate) unpriced: Option<String>,
}

/// Why an instance waits for another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dependency {
    /// The instance that comes before.
    pub(crate) shot: String,
    /// What it provides.
    pub(crate) provides: Provides,
}

/// What an instance provides to one that depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Provides {
    /// The frame on which its video ends.
    LastFrame,
    /// The frame on which its video begins.
    FirstFrame,
    /// Nothing: it only comes first.
    Nothing,
}

/// A film.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Film {
    /// The file's name.
    pub(crate) output: String,
    /// The instances in the order in which they are shown.
    pub(crate) clips: Vec<Shown>,
}

impl Film {
    /// The instances with their positions, from 1; takes of which one is still to be picked share theirs.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, &str)> {
        let positions = self.clips.iter().zip(1..);
        positions.flat_map(|(clip, number)| clip.shots().iter().map(move |shot| (number, shot.as_str())))
    }
}

/// What a film shows at one position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shown {
    /// This instance.
    Shot(String),
    /// Whichever of these takes is picked.
    Pick(Vec<String>),
}

impl Shown {
    /// The instances that may be shown.
    pub(crate) fn shots(&self) -> &[String] {
        match self {
            Self::Shot(shot) => std::slice::from_ref(shot),
            Self::Pick(takes) => takes,
        }
    }
}

impl Document {
    /// The document of a plan; `previews` are its decisions, in its order.
    pub(crate) fn new(plan: &Plan, previews: &[Preview], service: &str, table: Option<&PriceTable>) -> Self {
        let mut totals = CostEstimate::default();
        let shots = plan
            .nodes()
            .zip(previews)
            .zip(price_table::billings(plan))
            .map(|(((ix, node), preview), billing)| {
                let cost = price_table::cost(table, &billing);
                let (cost, unpriced) = match cost {
                    None => (None, None),
                    Some(Ok(cost)) => (Some(cost), None),
                    Some(Err(why)) => (None, Some(why.to_string())),
                };
                if let Some(chance) = chance(preview.decision) {
                    totals.add(&billing, cost, chance);
                }
                for _ in 1..attempts(node, preview.decision) {
                    totals.add(&billing, cost, EstimateKind::Retry);
                }
                planned(plan, ix, node, preview, billing, cost, unpriced)
            })
            .collect();
        Self {
            version: VERSION,
            workflow: plan.name().to_owned(),
            service: service.to_owned(),
            prices: table.map(|table| Origin {
                file: table.file.clone(),
                currency: table.prices.currency().to_owned(),
                as_of: table.prices.as_of().to_owned(),
                source: table.prices.source().to_owned(),
            }),
            shots,
            films: plan
                .films()
                .iter()
                .map(|film| Film {
                    output: film.output.clone(),
                    clips: film.clips.iter().map(|clip| display_path(plan, clip)).collect(),
                })
                .collect(),
            picks: plan
                .open_picks()
                .into_iter()
                .map(|takes| (plan.takes_name(takes).to_owned(), takes.len()))
                .collect(),
            totals,
        }
    }
}

fn display_path(plan: &Plan, clip: &Clip) -> Shown {
    let name = |node: &NodeIx| plan.node(*node).name.clone();
    match clip {
        Clip::Node(node) => Shown::Shot(name(node)),
        Clip::Pick(takes) => Shown::Pick(takes.iter().map(name).collect()),
    }
}

/// How sure a submission is; nothing where none is to be expected.
fn chance(decision: Decision) -> Option<EstimateKind> {
    match decision {
        Decision::Execute => Some(EstimateKind::Certain),
        Decision::Deferred => Some(EstimateKind::Possible),
        Decision::Reuse | Decision::Adopt | Decision::Blocked | Decision::Unselected => None,
    }
}

/// How often a node may be attempted. A task that is out may fail as well, and another be paid for.
fn attempts(node: &Node, decision: Decision) -> u32 {
    match decision {
        Decision::Execute | Decision::Deferred | Decision::Adopt => node.retry.max(1),
        Decision::Reuse | Decision::Blocked | Decision::Unselected => 1,
    }
}

fn planned(
    plan: &Plan,
    ix: NodeIx,
    node: &Node,
    preview: &Preview,
    billing: PriceInputs,
    cost: Option<Interval<Money>>,
    unpriced: Option<String>,
) -> Planned {
    Planned {
        name: node.name.clone(),
        shot: node.shot.to_string(),
        cell: node.cell.iter().map(|(axis, value)| (axis.to_owned(), value.clone())).collect(),
        take: node.take,
        note: node.note.as_deref().map(str::to_owned),
        location: node.location.clone(),
        decision: preview.decision,
        why: preview.why.clone(),
        task: preview.task.as_ref().map(ToString::to_string),
        key: preview.key.clone(),
        depends_on: depends_on(plan, ix, node),
        billing,
        cost,
        unpriced,
    }
}

fn depends_on(plan: &Plan, ix: NodeIx, node: &Node) -> Vec<Dependency> {
    let provides = |before: NodeIx| {
        let frames = node.inputs.iter().filter_map(|input| match &input.source {
            Source::LastFrame(from) => (*from == before).then_some(Provides::LastFrame),
            Source::FirstFrame(from) => (*from == before).then_some(Provides::FirstFrame),
            Source::Pick { takes, frame } => takes.contains(&before).then_some(match frame {
                Frame::First => Provides::FirstFrame,
                Frame::Last => Provides::LastFrame,
            }),
            Source::File { .. } => None,
        });
        let frames: Vec<Provides> = frames.collect();
        if frames.is_empty() { vec![Provides::Nothing] } else { frames }
    };
    plan.predecessors(ix)
        .into_iter()
        .flat_map(|before| provides(before).into_iter().map(move |provides| (before, provides)))
        .map(|(before, provides)| Dependency { shot: plan.node(before).name.clone(), provides })
        .collect()
}
