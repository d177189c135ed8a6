//! The last line of the event stream: outcome counts and budget (docs/events.md).

use scheduler::RunSummary;
use schemars::JsonSchema;
use serde::Serialize;
use workflow::units::{self, Money, VideoDuration};

use super::line::Halt;

/// The end of a run. Each shot and film has a line of its own.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunFinished<'a> {
    pub(crate) run: &'a str,
    /// Exit code of the process.
    pub(crate) exit: u8,
    pub(crate) shots: usize,
    /// Number of shots submitted in this run.
    pub(crate) submitted: usize,
    pub(crate) outcomes: Outcomes,
    pub(crate) halt: Option<Halt>,
    pub(crate) budget: Budget,
    /// Actual cost by the price table, if there is one.
    pub(crate) spending: Option<serde_json::Value>,
}

/// Number of shots by outcome.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Outcomes {
    pub(crate) done: usize,
    pub(crate) failed: usize,
    pub(crate) indeterminate: usize,
    pub(crate) detached: usize,
    pub(crate) at_other_service: usize,
    pub(crate) missing: usize,
    pub(crate) unrecorded: usize,
    pub(crate) blocked: usize,
    pub(crate) unpicked: usize,
    pub(crate) not_started: usize,
    pub(crate) not_selected: usize,
}

/// Caps, reservations and spending.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Budget {
    pub(crate) caps: BudgetCaps,
    /// For unfinished tasks of this run.
    pub(crate) reserved: Amount,
    pub(crate) spent: Amount,
}

/// Caps; `null` is no cap.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BudgetCaps {
    /// In millionths of the price table's currency.
    #[serde(with = "units::micros")]
    #[schemars(with = "Option<i64>")]
    pub(crate) cost: Option<Money>,
    #[schemars(with = "Option<i64>")]
    pub(crate) tasks: Option<u64>,
    /// In milliseconds of video.
    #[serde(rename = "video_ms", with = "units::millis")]
    #[schemars(with = "Option<i64>")]
    pub(crate) duration: Option<VideoDuration>,
    /// Whether unpriced tasks may be submitted under a cap on cost.
    pub(crate) allow_unpriced: bool,
}

/// Sums of cost, tasks and duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Amount {
    /// In millionths of the price table's currency.
    #[serde(with = "units::micros")]
    #[schemars(with = "i64")]
    pub(crate) cost: Money,
    #[schemars(with = "i64")]
    pub(crate) tasks: u64,
    /// In milliseconds of video.
    #[serde(rename = "video_ms", with = "units::millis")]
    #[schemars(with = "i64")]
    pub(crate) duration: VideoDuration,
}

pub(super) fn outcomes(summary: &RunSummary) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for node in &summary.nodes {
        *match &node.outcome {
            scheduler::Outcome::Done { .. } => &mut outcomes.done,
            scheduler::Outcome::Failed { .. } => &mut outcomes.failed,
            scheduler::Outcome::Indeterminate { .. } => &mut outcomes.indeterminate,
            scheduler::Outcome::Missing { .. } => &mut outcomes.missing,
            scheduler::Outcome::Unrecorded { .. } => &mut outcomes.unrecorded,
            scheduler::Outcome::Detached { .. } => &mut outcomes.detached,
            scheduler::Outcome::AtOtherService { .. } => &mut outcomes.at_other_service,
            scheduler::Outcome::Blocked { .. } => &mut outcomes.blocked,
            scheduler::Outcome::Unpicked { .. } => &mut outcomes.unpicked,
            scheduler::Outcome::NotStarted => &mut outcomes.not_started,
            scheduler::Outcome::NotSelected { .. } => &mut outcomes.not_selected,
        } += 1;
    }
    outcomes
}

pub(crate) fn budget(summary: &RunSummary) -> Budget {
    let caps = summary.caps;
    Budget {
        caps: BudgetCaps {
            cost: caps.cost,
            tasks: caps.tasks,
            duration: caps.duration,
            allow_unpriced: caps.allow_unpriced,
        },
        reserved: amount(summary.held),
        spent: amount(summary.spent),
    }
}

pub(crate) fn amount(amount: scheduler::budget::Amount) -> Amount {
    Amount { cost: amount.cost, tasks: amount.tasks, duration: amount.duration }
}
