//! The serialized form of a plan, and the validation of a deserialized one.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Clip, ClipSource, Edge, Film, Node, NodeIx, PickGroup, Plan};

/// The serialized form. The version is raised when a reader of the old form would misread the new one.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SerializedPlan {
    version: u32,
    name: String,
    nodes: Vec<Node>,
    /// Ordering edges (from, to); frame edges follow from the inputs.
    order: Vec<(NodeIx, NodeIx)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    films: Vec<Film>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    picks: Vec<PickGroup>,
}

const VERSION: u32 = 3;

/// The invariant that a plan violates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPlan {
    /// The plan has a format version that this program does not read.
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
    /// The graph has a cycle.
    #[error("the graph has a cycle")]
    Cycle,
    /// The pointer of an input does not lead to a `null` in the request.
    #[error("the input of `{node}` at `{pointer}` does not lead to a null in the request")]
    InputPointer {
        /// The node's name.
        node: String,
        pointer: String,
    },
    /// A node takes a frame of another without an edge between them.
    #[error("`{0}` takes a frame of a node that it does not depend on")]
    FrameWithoutEdge(String),
    /// A voice of this film begins with a clip past the last one.
    #[error("a voice of the film `{0}` begins with a clip that there is not")]
    NoSuchClip(String),
    /// An image or a title on black in this film has no length.
    #[error("an image or a title of the film `{0}` has no length")]
    NoLength(String),
}

/// Checks all invariants but acyclicity, which is checked when the nodes are ranked.
pub(super) fn check(plan: &Plan) -> Result<(), InvalidPlan> {
    let check_index = |ix: NodeIx| {
        if ix.index() < plan.len() { Ok(()) } else { Err(InvalidPlan::NoSuchNode(ix.index())) }
    };
    for (ix, node) in plan.nodes() {
        let before = plan.predecessors(ix);
        for input in &node.inputs {
            if node.request.pointer(&input.pointer) != Some(&Value::Null) {
                return Err(InvalidPlan::InputPointer {
                    node: node.name.clone(),
                    pointer: input.pointer.to_string(),
                });
            }
            for source in input.source.nodes() {
                check_index(*source)?;
                // Not `find_edge`, which walks all edges of the source: a node whose frame thousands use.
                if before.binary_search(source).is_err() {
                    return Err(InvalidPlan::FrameWithoutEdge(node.name.clone()));
                }
            }
        }
    }
    let mut names = HashSet::new();
    for film in &plan.films {
        if !names.insert(film.output.as_str()) {
            return Err(InvalidPlan::DuplicateFilm(film.output.clone()));
        }
        film.clips.iter().flat_map(Clip::nodes).try_for_each(|clip| check_index(*clip))?;
        let stands_still = |clip: &Clip| matches!(clip.source, ClipSource::Image(_) | ClipSource::Card);
        if film.clips.iter().any(|clip| stands_still(clip) && clip.length.is_none()) {
            return Err(InvalidPlan::NoLength(film.output.clone()));
        }
        if film.soundtrack.voices.iter().any(|voice| voice.clip > 0 && voice.clip >= film.clips.len()) {
            return Err(InvalidPlan::NoSuchClip(film.output.clone()));
        }
    }
    let mut chosen = plan.picks.iter().flat_map(|group| group.candidates.iter().chain(&group.picked));
    chosen.try_for_each(|ix| check_index(*ix))
}

impl From<Plan> for SerializedPlan {
    fn from(plan: Plan) -> Self {
        let mut order: Vec<(NodeIx, NodeIx)> = plan
            .edges()
            .filter(|(_, _, edge)| *edge == Edge::Order)
            .map(|(from, to, _)| (from, to))
            .collect();
        order.sort_unstable();
        let Plan { name, graph, films, picks, .. } = plan;
        let nodes = graph.into_nodes_edges().0.into_iter().map(|node| node.weight).collect();
        Self { version: VERSION, name, nodes, order, films, picks }
    }
}

impl TryFrom<SerializedPlan> for Plan {
    type Error = InvalidPlan;

    fn try_from(serialized: SerializedPlan) -> Result<Self, InvalidPlan> {
        if serialized.version != VERSION {
            return Err(InvalidPlan::Version(serialized.version));
        }
        let mut edges = frame_edges(&serialized.nodes);
        edges.extend(serialized.order.into_iter().map(|(from, to)| (from, to, Edge::Order)));
        Self::seal(serialized.name, serialized.nodes, edges, serialized.films, serialized.picks)
    }
}

/// The frame edges that follow from the nodes' inputs.
pub(crate) fn frame_edges(nodes: &[Node]) -> Vec<(NodeIx, NodeIx, Edge)> {
    let mut edges = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        for source in node.inputs.iter().flat_map(|input| input.source.nodes()) {
            edges.push((*source, NodeIx::new(index), Edge::Frame));
        }
    }
    edges
}
