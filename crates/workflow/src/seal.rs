//! The third phase: instances become a sealed plan. Occurrences are counted, the graph is closed.

use std::collections::HashMap;

use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::expand::Instances;
use crate::plan::{BrokenSeal, Edge, Fingerprint, Frame, Hasher, Node, NodeIx, Plan, Source, frame_edges};

/// Seals instances into a plan.
///
/// # Errors
/// An invariant of the plan is broken. Instances that were expanded without a problem keep all of them.
pub fn seal(instances: Instances) -> Result<Plan, BrokenSeal> {
    let Instances { name, mut nodes, order, films } = instances;
    count_occurrences(&mut nodes)?;
    let mut edges = frame_edges(&nodes);
    edges.extend(order.into_iter().map(|(from, to)| (from, to, Edge::Order)));
    Plan::seal(name, nodes, edges, films)
}

/// Numbers the nodes that ask for exactly the same thing, in file order.
fn count_occurrences(nodes: &mut [Node]) -> Result<(), BrokenSeal> {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(nodes.len(), nodes.len());
    for _ in nodes.iter() {
        graph.add_node(());
    }
    for (from, to, _) in frame_edges(nodes) {
        if from.index() >= nodes.len() {
            return Err(BrokenSeal::NoSuchNode(from.index()));
        }
        graph.add_edge(NodeIndex::new(from.index()), NodeIndex::new(to.index()), ());
    }
    let sorted = toposort(&graph, None).map_err(|_| BrokenSeal::Cycle)?;
    let mut fingerprints: Vec<Fingerprint> = vec![[0; 32]; nodes.len()];
    for ix in sorted {
        fingerprints[ix.index()] = fingerprint(&nodes[ix.index()], &fingerprints);
    }
    let mut seen: HashMap<Fingerprint, u32> = HashMap::new();
    for (node, fingerprint) in nodes.iter_mut().zip(fingerprints) {
        let count = seen.entry(fingerprint).or_default();
        node.occurrence = *count;
        *count += 1;
    }
    Ok(())
}

/// What a node asks for, before any frame is known; `before` holds the fingerprints of those whose frames it takes.
fn fingerprint(node: &Node, before: &[Fingerprint]) -> Fingerprint {
    let frame_of = |hasher: &mut Hasher, kind: &str, ix: NodeIx| {
        hasher.text(kind);
        hasher.bytes(&before[ix.index()]);
    };
    let mut hasher = Hasher::new("fingerprint/1");
    hasher.request(node);
    hasher.number(node.inputs.len() as u64);
    for input in &node.inputs {
        hasher.text(&input.pointer);
        match &input.source {
            Source::LastFrame(ix) => frame_of(&mut hasher, "last", *ix),
            Source::FirstFrame(ix) => frame_of(&mut hasher, "first", *ix),
            Source::Pick { takes, frame } => {
                hasher.text(if *frame == Frame::First { "pick-first" } else { "pick-last" });
                hasher.number(takes.len() as u64);
                for take in takes {
                    hasher.bytes(&before[take.index()]);
                }
            }
            Source::File { sha256, .. } => {
                hasher.text("file");
                hasher.text(sha256);
            }
        }
    }
    hasher.optional(node.salt.as_deref());
    hasher.number(u64::from(node.take.unwrap_or(0)));
    hasher.finish()
}
