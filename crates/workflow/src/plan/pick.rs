//! Picks: what there is to choose from, and open picks, the choices that something waits for.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{ClipSource, Location, MediaSource, Node, NodeIx, Plan};

/// Instances of one shot of which one can be picked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PickGroup {
    /// What the candidates differ in.
    pub kind: PickKind,
    /// The shot, or the instance whose takes they are: `lamp`, `lamp@look=noir`.
    pub name: String,
    /// What there is to choose from, in file order. Where the shot has both axes and takes, a cell counts with all its takes.
    pub candidates: Vec<NodeIx>,
    /// The picked one; several takes if an instance is picked and none of its takes. Empty if nothing is picked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub picked: Vec<NodeIx>,
    /// Where the file picks it, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

/// What the candidates of a pick differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PickKind {
    /// Takes of one instance.
    Take,
    /// Instances of a shot, the cells of its matrix.
    Cell,
}

/// Candidates of which one has to be picked before something can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenPick<'p> {
    /// What they differ in.
    pub kind: PickKind,
    /// The name that they share: `lamp`, `lamp@look=noir`.
    pub name: Cow<'p, str>,
    /// What there is to choose from, at least two.
    pub candidates: &'p [NodeIx],
}

impl OpenPick<'_> {
    /// What to count the candidates in: `takes` or `instances`.
    pub fn noun(&self) -> &'static str {
        match self.kind {
            PickKind::Take => "takes",
            PickKind::Cell => "instances",
        }
    }
}

impl Plan {
    /// Everything that can be picked, in file order.
    pub fn pick_groups(&self) -> &[PickGroup] {
        &self.picks
    }

    /// The picks that are needed before this node can start.
    pub fn unpicked(&self, ix: NodeIx) -> impl Iterator<Item = OpenPick<'_>> {
        self.node(ix).unpicked().map(|candidates| self.open_pick(candidates))
    }

    /// All picks that a node or a film needs and nobody has made. Each once, in file order.
    pub fn open_picks(&self) -> Vec<OpenPick<'_>> {
        let by_nodes = self.nodes().flat_map(|(_, node)| node.unpicked());
        let by_films =
            self.films().iter().flat_map(|film| &film.clips).filter_map(|clip| match &clip.source {
                ClipSource::Pick(candidates) => Some(candidates.as_slice()),
                ClipSource::Node(_) | ClipSource::Video(_) | ClipSource::Image(_) | ClipSource::Card => None,
            });
        let mut groups: Vec<&[NodeIx]> = by_nodes.chain(by_films).collect();
        groups.sort_unstable();
        groups.dedup();
        groups.into_iter().map(|candidates| self.open_pick(candidates)).collect()
    }

    /// The pick that chooses among candidates.
    pub fn open_pick<'p>(&'p self, candidates: &'p [NodeIx]) -> OpenPick<'p> {
        let names = || candidates.iter().map(|ix| self.node(*ix).name_without_take());
        let Some(first) = names().next() else {
            return OpenPick { kind: PickKind::Take, name: Cow::Borrowed(""), candidates };
        };
        if names().all(|name| name == first) {
            return OpenPick { kind: PickKind::Take, name: Cow::Borrowed(first), candidates };
        }
        // Labels have no commas.
        let (shot, cell) = first.split_once('@').unwrap_or((first, ""));
        let is_shared = |part: &&str| {
            names().all(|name| {
                name.split_once('@').is_some_and(|(_, cell)| cell.split(',').any(|own| own == *part))
            })
        };
        let shared: Vec<&str> = cell.split(',').filter(is_shared).collect();
        let name = match shared.as_slice() {
            [] => Cow::Borrowed(shot),
            parts => Cow::Owned(format!("{shot}@{}", parts.join(","))),
        };
        OpenPick { kind: PickKind::Cell, name, candidates }
    }
}

impl Node {
    /// The name without the number of the take: `lamp` for `lamp#2`.
    pub fn name_without_take(&self) -> &str {
        self.name.split_once('#').map_or(self.name.as_str(), |(name, _)| name)
    }

    fn unpicked(&self) -> impl Iterator<Item = &[NodeIx]> {
        self.inputs.iter().filter_map(|input| match &input.source {
            MediaSource::Pick { candidates, .. } => Some(candidates.as_slice()),
            MediaSource::LastFrame(_)
            | MediaSource::FirstFrame(_)
            | MediaSource::File { .. }
            | MediaSource::FileFrame { .. } => None,
        })
    }
}
