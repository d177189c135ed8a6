//! Films: which clips are joined, in which order, under which name.

use serde::{Deserialize, Serialize};

use super::{Location, NodeIx};

/// A film that a plan's nodes make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Film {
    /// A plain file name that ends in `.mp4`, without folders. Unique among the films of a plan.
    pub output: String,
    /// The clips in order. A node may appear more than once.
    pub clips: Vec<Clip>,
    /// Where the file defines the film.
    pub location: Location,
}

/// The content of a film at one position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clip {
    /// The video of this node.
    Node(NodeIx),
    /// The video of whichever of these takes or instances is picked; nobody has picked one yet.
    Pick(Vec<NodeIx>),
}

impl Clip {
    /// The nodes that it depends on: the one that is shown, or those to pick from.
    #[must_use]
    pub fn nodes(&self) -> &[NodeIx] {
        match self {
            Self::Node(ix) => std::slice::from_ref(ix),
            Self::Pick(candidates) => candidates,
        }
    }
}
