//! Reporting of runs: a live view on a terminal, plain lines elsewhere, an event stream in JSON, and the final report.
//!
//! Reporters are driven by the scheduler's events: each gets an event with the state that it led to, at O(changed nodes) per event.

pub(crate) mod annotations;
mod cost;
mod duration;
mod explain;
mod final_report;
mod halt_reason;
pub(crate) mod live;
mod messages;
mod plain;
pub(crate) mod plan;
mod repeat_filter;
pub(crate) mod sanitize;
pub(crate) mod screen;
pub(crate) mod stream;
mod summary;
mod table;
mod waits;

use engine::Reporter;
use scheduler::{RunId, RunSummary, Timestamp};
use serde_json::Value;
use workflow::prices::Interval;
use workflow::units::Money;

use crate::args::Format;
use crate::exit::Exit;
use crate::named_workflow::NamedWorkflow;

pub(crate) use cost::cost_report;
pub(crate) use duration::humanize;
pub(crate) use explain::explanations;
pub(crate) use final_report::final_report;
pub(crate) use summary::{nothing_json, spending_json, summary_json};
pub(crate) use table::Table;

/// What reporters are given before the first event of a run.
#[derive(Debug, Clone)]
pub(crate) struct RunInfo {
    pub(crate) run: RunId,
    pub(crate) file: NamedWorkflow,
    /// The service's identity, as in every shot's key.
    pub(crate) service: String,
    /// Maximum number of tasks in flight.
    pub(crate) jobs: usize,
    /// The estimated cost, if there is a price table.
    pub(crate) estimate: Option<RunEstimate>,
}

/// The estimated cost of a run.
#[derive(Debug, Clone)]
pub(crate) struct RunEstimate {
    /// The cost of all tasks to submit.
    pub(crate) estimate: Interval<Money>,
    /// The currency of the price table.
    pub(crate) currency: String,
}

/// The reporter of a run, chosen by output format and terminal.
pub(crate) enum RunReporter {
    /// Events as JSON lines on standard output.
    Stream(Box<stream::Stream>),
    /// A live view on standard error.
    Live(Box<live::LiveView>),
    /// Plain lines on standard error.
    Plain(Box<plain::PlainReporter>),
}

impl RunReporter {
    pub(crate) fn start(format: Format, info: RunInfo) -> Self {
        match format {
            Format::Ndjson => Self::Stream(Box::new(stream::Stream::new(info, std::io::stdout()))),
            Format::Text | Format::Json if crate::terminal::is_live() => {
                Self::Live(Box::new(live::LiveView::new(info.file, info.estimate)))
            }
            Format::Text | Format::Json => {
                Self::Plain(Box::new(plain::PlainReporter::new(info.file, info.estimate)))
            }
        }
    }

    /// The reporter for the engine.
    pub(crate) fn reporter(&mut self) -> &mut dyn Reporter {
        match self {
            Self::Stream(stream) => stream.as_mut(),
            Self::Live(live) => live.as_mut(),
            Self::Plain(plain) => plain.as_mut(),
        }
    }

    /// The run has ended. The final report is printed by the caller.
    pub(crate) fn end(self, summary: &RunSummary, spending: Option<Value>, now: Timestamp) {
        match self {
            Self::Stream(stream) => stream.end(summary, spending, now),
            // Dropping it removes the live view.
            Self::Live(_) | Self::Plain(_) => {}
        }
    }

    /// The run was aborted.
    pub(crate) fn fail(self, reason: &str, exit: Exit, now: Timestamp) {
        match self {
            Self::Stream(stream) => stream.fail(reason, exit, now),
            Self::Live(_) | Self::Plain(_) => {}
        }
    }
}
