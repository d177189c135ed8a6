//! Open picks: groups of takes of which none is picked yet.

use super::{Clip, Node, NodeIx, Plan, Source};

impl Plan {
    /// The groups of takes of which one has to be picked before this node can start.
    pub fn unpicked(&self, ix: NodeIx) -> impl Iterator<Item = &[NodeIx]> {
        self.node(ix).unpicked()
    }

    /// All groups of takes of which a node or a film needs one picked. Each once, in file order.
    #[must_use]
    pub fn open_picks(&self) -> Vec<&[NodeIx]> {
        let by_nodes = self.nodes().flat_map(|(_, node)| node.unpicked());
        let by_films = self.films().iter().flat_map(|film| &film.clips).filter_map(|clip| match clip {
            Clip::Pick(takes) => Some(takes.as_slice()),
            Clip::Node(_) => None,
        });
        let mut groups: Vec<&[NodeIx]> = by_nodes.chain(by_films).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// The name of a group of takes: the name of each without its `#number`.
    #[must_use]
    pub fn takes_name(&self, takes: &[NodeIx]) -> &str {
        takes.first().map_or("", |first| self.node(*first).name_without_take())
    }
}

impl Node {
    /// The name without the number of the take: `lamp` for `lamp#2`.
    #[must_use]
    pub fn name_without_take(&self) -> &str {
        self.name.split_once('#').map_or(self.name.as_str(), |(name, _)| name)
    }

    fn unpicked(&self) -> impl Iterator<Item = &[NodeIx]> {
        self.inputs.iter().filter_map(|input| match &input.source {
            Source::Pick { takes, .. } => Some(takes.as_slice()),
            Source::LastFrame(_) | Source::FirstFrame(_) | Source::File { .. } => None,
        })
    }
}
