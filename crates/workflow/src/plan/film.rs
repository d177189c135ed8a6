//! Films: which clips are joined, in which order, under which name.

use serde::{Deserialize, Serialize};

use super::{NodeIx, Place};

/// A film that a plan's nodes make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Film {
    /// A plain file name that ends in `.mp4`: no folder, no escape. Unique among the films of a plan.
    pub output: String,
    /// The clips in the order in which they are shown. A node may be shown more than once.
    pub clips: Vec<Clip>,
    /// Where the file speaks of the film.
    pub place: Place,
}

/// What a film shows at one position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clip {
    /// The video of this node.
    Node(NodeIx),
    /// The video of whichever of these takes is picked; nobody has picked one yet.
    Pick(Vec<NodeIx>),
}

impl Clip {
    /// The nodes that have to be done before it is known: the one that is shown, or the takes to pick from.
    #[must_use]
    pub fn nodes(&self) -> &[NodeIx] {
        match self {
            Self::Node(ix) => std::slice::from_ref(ix),
            Self::Pick(takes) => takes,
        }
    }
}
