//! The third phase: seals instances into a plan. Counts occurrences and builds the graph.

use std::collections::{HashMap, HashSet};

use petgraph::Direction;
use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::expand::Instances;
use crate::plan::{
    Edge, Fingerprint, Frame, Hasher, InvalidPlan, MediaSource, Node, NodeIx, Plan, ValueDigests, frame_edges,
};

/// Seals instances into a plan.
///
/// # Errors
/// The violated invariant. Instances that were expanded without an error satisfy all of them.
pub fn seal(instances: Instances) -> Result<Plan, InvalidPlan> {
    let Instances { name, mut nodes, order, films, picks } = instances;
    count_occurrences(&mut nodes)?;
    let mut edges = frame_edges(&nodes);
    edges.extend(order.into_iter().map(|(from, to)| (from, to, Edge::Order)));
    Plan::seal(name, nodes, edges, films, picks)
}

/// Numbers the nodes with equal fingerprints, in file order.
fn count_occurrences(nodes: &mut [Node]) -> Result<(), InvalidPlan> {
    let order = by_depth(nodes)?;
    let mut digests = ValueDigests::default();
    let mut fingerprints: Vec<Fingerprint> = vec![[0; 32]; nodes.len()];
    // A node that a frame is taken from counts by its request alone.
    for ix in &order {
        fingerprints[*ix] = fingerprint(&nodes[*ix], &fingerprints, &mut digests);
    }
    // Nodes that differ by their requests alone differ all the more.
    let distinct: HashSet<Fingerprint> = fingerprints.iter().copied().collect();
    if distinct.len() == nodes.len() {
        return Ok(());
    }
    // It counts by its own occurrence as well: what is numbered together continues the same video, so that no other shot, pick or order
    // changes a number. Nodes with equal fingerprints have the same depth, and come in file order.
    let mut counts: HashMap<Fingerprint, u32> = HashMap::with_capacity(nodes.len());
    for ix in order {
        let fingerprint = fingerprint(&nodes[ix], &fingerprints, &mut digests);
        let count = counts.entry(fingerprint).or_default();
        nodes[ix].occurrence = *count;
        *count += 1;
        fingerprints[ix] = numbered(&fingerprint, nodes[ix].occurrence);
    }
    Ok(())
}

/// The fingerprint of a node with its number.
fn numbered(fingerprint: &Fingerprint, occurrence: u32) -> Fingerprint {
    let mut hasher = Hasher::new("numbered-fingerprint/1");
    hasher.bytes(fingerprint);
    hasher.number(u64::from(occurrence));
    hasher.finish()
}

/// The nodes by the length of the longest chain of frames that leads to them, then in file order.
fn by_depth(nodes: &[Node]) -> Result<Vec<usize>, InvalidPlan> {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(nodes.len(), nodes.len());
    for _ in nodes {
        graph.add_node(());
    }
    for (from, to, _) in frame_edges(nodes) {
        if from.index() >= nodes.len() {
            return Err(InvalidPlan::NoSuchNode(from.index()));
        }
        graph.add_edge(NodeIndex::new(from.index()), NodeIndex::new(to.index()), ());
    }
    let sorted = toposort(&graph, None).map_err(|_| InvalidPlan::Cycle)?;
    let mut depths = vec![0_usize; nodes.len()];
    for ix in sorted {
        let before = graph.neighbors_directed(ix, Direction::Incoming);
        depths[ix.index()] = before.map(|before| depths[before.index()] + 1).max().unwrap_or(0);
    }
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|ix| depths[*ix]);
    Ok(order)
}

/// The fingerprint of a node; `before` holds the fingerprints of the nodes that it depends on.
fn fingerprint(node: &Node, before: &[Fingerprint], digests: &mut ValueDigests) -> Fingerprint {
    let frame_of = |hasher: &mut Hasher, kind: &str, ix: NodeIx| {
        hasher.text(kind);
        hasher.bytes(&before[ix.index()]);
    };
    let mut hasher = Hasher::new("fingerprint/2");
    hasher.request_digests(node, digests);
    hasher.number(node.inputs.len() as u64);
    for input in &node.inputs {
        hasher.text(&input.pointer);
        match &input.source {
            MediaSource::LastFrame(ix) => frame_of(&mut hasher, "last", *ix),
            MediaSource::FirstFrame(ix) => frame_of(&mut hasher, "first", *ix),
            MediaSource::Pick { candidates, frame } => {
                hasher.text(if *frame == Frame::First { "pick-first" } else { "pick-last" });
                hasher.number(candidates.len() as u64);
                for candidate in candidates {
                    hasher.bytes(&before[candidate.index()]);
                }
            }
            MediaSource::File { sha256, .. } => {
                hasher.text("file");
                hasher.text(sha256);
            }
            MediaSource::FileFrame { sha256, frame, .. } => {
                hasher.text(if *frame == Frame::First { "first-of-file" } else { "last-of-file" });
                hasher.text(sha256);
            }
        }
    }
    hasher.optional(node.salt.as_deref());
    hasher.number(u64::from(node.take.unwrap_or(0)));
    hasher.finish()
}
