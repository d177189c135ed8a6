//! The film: which clips are joined, in which order, under which name.

use serde::{Deserialize, Serialize};

use super::{NodeIx, Place};

/// The film that a plan's nodes make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Film {
    /// A plain file name that ends in `.mp4`: no folder, no escape.
    pub output: String,
    /// The clips in the order in which they are shown. A node may be shown more than once.
    pub clips: Vec<NodeIx>,
    /// Where the file speaks of the film.
    pub place: Place,
}
