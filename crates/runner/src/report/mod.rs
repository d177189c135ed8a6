//! How a run is told: live lines on a terminal, plain lines elsewhere, one JSON object a line for machines, and the closing table.
//!
//! All of it lives from the engine's events: a reporter gets each with the state that it led to, and keeps up at the cost of what happened.

mod cost;
mod duration;
mod explain;
mod final_report;
pub(crate) mod live;
mod messages;
mod plain;
pub(crate) mod plan;
pub(crate) mod sanitize;
pub(crate) mod screen;
pub(crate) mod stream;
mod summary;
mod table;

use engine::Reporter;
use scheduler::{RunId, RunSummary, Timestamp};
use serde_json::Value;
use workflow::prices::{Interval, Money};

use crate::args::Format;
use crate::exit::Exit;

pub(crate) use cost::cost_report;
pub(crate) use duration::humanize;
pub(crate) use explain::explanations;
pub(crate) use final_report::final_report;
pub(crate) use summary::{nothing_json, spending_json, summary_json};
pub(crate) use table::Table;

/// What a reporter is told about a run before it begins.
#[derive(Debug, Clone)]
pub(crate) struct RunInfo {
    /// The run.
    pub(crate) run: RunId,
    /// The service, as it stands in every key.
    pub(crate) service: String,
    /// The most tasks out at once.
    pub(crate) jobs: usize,
    /// What the run is expected to cost, where there is a table of prices.
    pub(crate) estimate: Option<CostEstimate>,
}

/// What a run is expected to cost.
#[derive(Debug, Clone)]
pub(crate) struct CostEstimate {
    /// What is to be submitted comes to.
    pub(crate) estimate: Interval<Money>,
    /// The currency of the table of prices.
    pub(crate) currency: String,
}

/// The reporter for a format and this terminal, from a run's beginning to its end.
pub(crate) enum RunReporter {
    /// Lines of JSON on standard output.
    Stream(Box<stream::Stream>),
    /// Live lines on standard error.
    Live(Box<live::Live>),
    /// Plain lines on standard error.
    Plain(plain::Plain),
}

impl RunReporter {
    /// Begins to tell a run.
    pub(crate) fn start(format: Format, info: RunInfo) -> Self {
        match format {
            Format::Ndjson => Self::Stream(Box::new(stream::Stream::new(info, std::io::stdout()))),
            Format::Text | Format::Json if crate::terminal::is_live() => {
                Self::Live(Box::new(live::Live::new(info.estimate)))
            }
            Format::Text | Format::Json => Self::Plain(plain::Plain::default()),
        }
    }

    /// What the engine speaks to.
    pub(crate) fn reporter(&mut self) -> &mut dyn Reporter {
        match self {
            Self::Stream(stream) => stream.as_mut(),
            Self::Live(live) => live.as_mut(),
            Self::Plain(plain) => plain,
        }
    }

    /// The run has ended. What else there is to say about that is not a reporter's.
    pub(crate) fn end(self, summary: &RunSummary, spending: Option<Value>, now: Timestamp) {
        match self {
            Self::Stream(stream) => stream.end(summary, spending, now),
            // The live lines go with it.
            Self::Live(_) | Self::Plain(_) => {}
        }
    }

    /// The run could not go on.
    pub(crate) fn fail(self, reason: &str, exit: Exit, now: Timestamp) {
        match self {
            Self::Stream(stream) => stream.fail(reason, exit, now),
            Self::Live(_) | Self::Plain(_) => {}
        }
    }
}
