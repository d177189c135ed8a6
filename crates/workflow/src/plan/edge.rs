//! Why one node waits for another.

use serde::{Deserialize, Serialize};

/// Why one node waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// The later node takes a frame of the earlier one's video.
    Frame,
    /// The later node only comes after the earlier one (`needs`).
    Order,
}
