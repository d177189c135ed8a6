//! What the last line of a run says: counts, and what was held and spent. A part of the contract in docs/events.md, as the other lines.

use schemars::JsonSchema;
use serde::Serialize;

use super::line::Halt;

/// What a run came to. What became of each shot and film stands in a line of its own.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunEnded<'a> {
    pub(crate) run: &'a str,
    /// The code that the process exits with.
    pub(crate) exit: u8,
    pub(crate) shots: usize,
    /// How many shots were submitted in this run.
    pub(crate) submitted: usize,
    pub(crate) outcomes: Outcomes,
    pub(crate) halt: Option<Halt>,
    pub(crate) budget: Budget,
    /// What the run has cost by the table of prices, where there is one.
    pub(crate) spending: Option<serde_json::Value>,
}

/// How many shots ended how.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Outcomes {
    pub(crate) done: usize,
    pub(crate) failed: usize,
    pub(crate) ambiguous: usize,
    pub(crate) detached: usize,
    pub(crate) blocked: usize,
    pub(crate) unpicked: usize,
    pub(crate) not_begun: usize,
    pub(crate) not_selected: usize,
}

/// Caps, and what is held and spent, as far as prices are known.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Budget {
    pub(crate) caps: Caps,
    /// For tasks of this run that have not ended.
    pub(crate) held: Amount,
    pub(crate) spent: Amount,
}

/// What a run may spend; `null` is no limit.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Caps {
    /// In millionths of the price table's currency.
    pub(crate) cost: Option<i64>,
    pub(crate) tasks: Option<i64>,
    /// Milliseconds of video.
    pub(crate) video_ms: Option<i64>,
    /// Whether work without a price may be submitted under a cap on cost.
    pub(crate) allow_unpriced: bool,
}

/// A sum of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Amount {
    /// In millionths of the price table's currency.
    pub(crate) cost: i64,
    pub(crate) tasks: i64,
    /// Milliseconds of video.
    pub(crate) video_ms: i64,
}
