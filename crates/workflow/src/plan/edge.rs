//! The edges of a plan.

use serde::{Deserialize, Serialize};

/// Why one node depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// The dependent node takes a frame of the other one's video.
    Frame,
    /// The dependent node only starts after the other one (`needs`).
    Order,
}
