//! The plan as it is stored, and the check that what is read back still keeps the seal.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Clip, Edge, Film, Node, NodeIx, Plan};

/// The stored form. The version moves when a reader of the old form would misread the new one.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanForm {
    version: u32,
    name: String,
    nodes: Vec<Node>,
    /// Orderings that `inputs` do not already say: from, to.
    order: Vec<(NodeIx, NodeIx)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    films: Vec<Film>,
}

const VERSION: u32 = 1;

/// Which invariant a plan breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrokenSeal {
    /// The plan was written by a version that this one cannot read.
    #[error("the plan has version {0}, this program reads version {VERSION}")]
    Version(u32),
    /// Two nodes share a name.
    #[error("two nodes are named `{0}`")]
    DuplicateName(String),
    /// Two films share a name.
    #[error("two films are named `{0}`")]
    DuplicateFilm(String),
    /// An edge, an input or a clip points past the last node.
    #[error("there is no node {0}")]
    NoSuchNode(usize),
    /// The nodes wait for each other in a ring.
    #[error("the nodes wait for each other in a ring")]
    Cycle,
    /// An input's place is missing from the request or already filled.
    #[error("the input of `{node}` at `{pointer}` has no empty place in the request")]
    InputPlace {
        /// The node's name.
        node: String,
        /// The place that was named.
        pointer: String,
    },
    /// A node takes a frame of another without an edge between them.
    #[error("`{0}` takes a frame of a node that it does not wait for")]
    FrameWithoutEdge(String),
}

/// Checks everything but acyclicity, which sealing finds when it ranks the nodes.
pub(super) fn check(plan: &Plan) -> Result<(), BrokenSeal> {
    let known = |ix: NodeIx| {
        if ix.index() < plan.len() { Ok(()) } else { Err(BrokenSeal::NoSuchNode(ix.index())) }
    };
    for (ix, node) in plan.nodes() {
        for input in &node.inputs {
            if node.request.pointer(&input.pointer) != Some(&Value::Null) {
                return Err(BrokenSeal::InputPlace {
                    node: node.name.clone(),
                    pointer: input.pointer.clone(),
                });
            }
            for source in input.source.nodes() {
                known(*source)?;
                if plan.graph.find_edge(source.graph(), ix.graph()).is_none() {
                    return Err(BrokenSeal::FrameWithoutEdge(node.name.clone()));
                }
            }
        }
    }
    let mut names = HashSet::new();
    for film in &plan.films {
        if !names.insert(film.output.as_str()) {
            return Err(BrokenSeal::DuplicateFilm(film.output.clone()));
        }
        film.clips.iter().flat_map(Clip::nodes).try_for_each(|clip| known(*clip))?;
    }
    Ok(())
}

impl From<Plan> for PlanForm {
    fn from(plan: Plan) -> Self {
        let mut order: Vec<(NodeIx, NodeIx)> = plan
            .edges()
            .filter(|(_, _, edge)| *edge == Edge::Order)
            .map(|(from, to, _)| (from, to))
            .collect();
        order.sort_unstable();
        let Plan { name, graph, films, .. } = plan;
        let nodes = graph.into_nodes_edges().0.into_iter().map(|node| node.weight).collect();
        Self { version: VERSION, name, nodes, order, films }
    }
}

impl TryFrom<PlanForm> for Plan {
    type Error = BrokenSeal;

    fn try_from(form: PlanForm) -> Result<Self, BrokenSeal> {
        if form.version != VERSION {
            return Err(BrokenSeal::Version(form.version));
        }
        let mut edges = frame_edges(&form.nodes);
        edges.extend(form.order.into_iter().map(|(from, to)| (from, to, Edge::Order)));
        Self::seal(form.name, form.nodes, edges, form.films)
    }
}

/// The edges that the nodes' inputs imply.
pub(crate) fn frame_edges(nodes: &[Node]) -> Vec<(NodeIx, NodeIx, Edge)> {
    let mut edges = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        for source in node.inputs.iter().flat_map(|input| input.source.nodes()) {
            edges.push((*source, NodeIx::new(at), Edge::Frame));
        }
    }
    edges
}
