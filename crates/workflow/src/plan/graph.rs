//! The sealed graph.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use petgraph::graph::DiGraph;
use petgraph::visit::EdgeRef;
use petgraph::{Direction, algo};
use serde::{Deserialize, Serialize};

use super::edge::Edge;
use super::film::Film;
use super::node::Node;
use super::node_ix::NodeIx;
use super::pick::PickGroup;
use super::serialized_plan::{self, InvalidPlan};
use crate::services::{Services, is_rehearsal};
use crate::units::VideoDuration;

/// A sealed plan: an acyclic graph of requests in file order, and the films they make.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "serialized_plan::SerializedPlan", try_from = "serialized_plan::SerializedPlan")]
pub struct Plan {
    pub(super) name: String,
    pub(super) graph: DiGraph<Node, Edge>,
    pub(super) films: Vec<Film>,
    pub(super) picks: Vec<PickGroup>,
    ranks: Vec<u64>,
    /// All nodes, sorted by name.
    by_name: Vec<NodeIx>,
    /// By service, the other identities under which its work is on record.
    aliases: BTreeMap<Arc<str>, Vec<String>>,
}

impl Plan {
    /// Seals nodes and edges into a plan, or returns the invariant that they violate.
    pub(crate) fn seal(
        name: String,
        nodes: Vec<Node>,
        edges: impl IntoIterator<Item = (NodeIx, NodeIx, Edge)>,
        films: Vec<Film>,
        picks: Vec<PickGroup>,
    ) -> Result<Self, InvalidPlan> {
        let mut by_name: Vec<NodeIx> = (0..nodes.len()).map(NodeIx::new).collect();
        by_name.sort_unstable_by_key(|ix| nodes[ix.index()].name.as_str());
        if let Some(twice) =
            by_name.windows(2).find(|two| nodes[two[0].index()].name == nodes[two[1].index()].name)
        {
            return Err(InvalidPlan::DuplicateName(nodes[twice[0].index()].name.clone()));
        }
        let mut graph = DiGraph::with_capacity(nodes.len(), 0);
        for node in nodes {
            graph.add_node(node);
        }
        let count = graph.node_count();
        for (from, to, edge) in edges {
            for end in [from, to] {
                if end.index() >= count {
                    return Err(InvalidPlan::NoSuchNode(end.index()));
                }
            }
            graph.add_edge(from.graph(), to.graph(), edge);
        }
        let plan = Self { name, ranks: Vec::new(), graph, films, picks, by_name, aliases: BTreeMap::new() };
        serialized_plan::check(&plan)?;
        let seconds = |ix: NodeIx| plan.node(ix).duration.as_millis().div_ceil(1_000);
        let ranks = plan.longest_paths(seconds).ok_or(InvalidPlan::Cycle)?;
        Ok(Self { ranks, ..plan })
    }

    /// The same plan, with what else the services of its nodes are known as.
    pub(crate) fn with_aliases(mut self, services: &Services) -> Self {
        let names: BTreeSet<Arc<str>> = self.nodes().filter_map(|(_, node)| node.service.clone()).collect();
        // Nothing is on record of a rehearsal under other names.
        let known = names.into_iter().filter(|name| !is_rehearsal(name));
        self.aliases =
            known.filter_map(|name| Some((Arc::clone(&name), services.get(&name)?.aliases()))).collect();
        self
    }

    /// The other identities under which work of a service is on record.
    pub fn aliases(&self, service: &str) -> &[String] {
        self.aliases.get(service).map_or(&[], Vec::as_slice)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.graph.node_count() == 0
    }

    /// All nodes in file order: shots as listed, then matrix cells in order, then takes.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeIx, &Node)> {
        self.graph.node_indices().map(|ix| (NodeIx::new(ix.index()), &self.graph[ix]))
    }

    /// One node. The index must come from this plan.
    pub fn node(&self, ix: NodeIx) -> &Node {
        &self.graph[ix.graph()]
    }

    /// The nodes that this one depends on: those whose frames it takes and those it `needs`. Each once, in file order.
    pub fn predecessors(&self, ix: NodeIx) -> Vec<NodeIx> {
        self.neighbours(ix, Direction::Incoming)
    }

    /// The nodes that depend on this one. Each once, in file order.
    pub fn successors(&self, ix: NodeIx) -> Vec<NodeIx> {
        self.neighbours(ix, Direction::Outgoing)
    }

    /// The length of the critical path from this node to a leaf, itself included, in seconds of video rounded up node by node.
    /// Nodes with the highest rank are scheduled first.
    pub fn rank(&self, ix: NodeIx) -> u64 {
        self.ranks.get(ix.index()).copied().unwrap_or_default()
    }

    /// The node with this instance name, e.g. `harbor@lens=24mm,seed=1` or `lamp#2`.
    pub fn find(&self, name: &str) -> Option<NodeIx> {
        let position = self.by_name.binary_search_by(|ix| self.node(*ix).name.as_str().cmp(name));
        position.ok().map(|index| self.by_name[index])
    }

    /// The films in file order; each is repeated for every cell of the workflow's own matrix.
    pub fn films(&self) -> &[Film] {
        &self.films
    }

    /// The length of video that the whole plan requests.
    pub fn duration(&self) -> VideoDuration {
        self.graph.node_weights().map(|node| node.duration).sum()
    }

    /// The edges (from, to, reason), in unspecified order.
    pub fn edges(&self) -> impl Iterator<Item = (NodeIx, NodeIx, Edge)> + '_ {
        self.graph.edge_references().map(|edge| {
            (NodeIx::new(edge.source().index()), NodeIx::new(edge.target().index()), *edge.weight())
        })
    }

    fn neighbours(&self, ix: NodeIx, direction: Direction) -> Vec<NodeIx> {
        let mut nodes: Vec<NodeIx> = self
            .graph
            .neighbors_directed(ix.graph(), direction)
            .map(|other| NodeIx::new(other.index()))
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// All nodes, each after those that it depends on.
    pub fn in_dependency_order(&self) -> Vec<NodeIx> {
        let order = algo::toposort(&self.graph, None);
        // A sealed plan has no cycle.
        order.unwrap_or_default().into_iter().map(|ix| NodeIx::new(ix.index())).collect()
    }

    /// The weight of the longest path from each node; `None` if the graph has a cycle.
    fn longest_paths(&self, measure: impl Fn(NodeIx) -> u64) -> Option<Vec<u64>> {
        let order = algo::toposort(&self.graph, None).ok()?;
        let mut ranks = vec![0_u64; self.len()];
        for ix in order.into_iter().rev() {
            let after = self.graph.neighbors(ix).map(|next| ranks[next.index()]).max().unwrap_or(0);
            ranks[ix.index()] = after.saturating_add(measure(NodeIx::new(ix.index())));
        }
        Some(ranks)
    }
}
