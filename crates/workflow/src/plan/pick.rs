//! Choices among takes that nobody has made yet.

use super::{Clip, Node, NodeIx, Plan, Source};

impl Plan {
    /// The takes among which somebody has to choose before this node can begin, group by group.
    pub fn unpicked(&self, ix: NodeIx) -> impl Iterator<Item = &[NodeIx]> {
        self.node(ix).unpicked()
    }

    /// All groups of takes among which somebody has to choose, for the sake of a node or a film. Each once, in the order of
    /// the file.
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

    /// What a group of takes is called: the name of each without its `#number`.
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
