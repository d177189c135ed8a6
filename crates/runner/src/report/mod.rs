//! How a run is told: live lines on a terminal, plain lines elsewhere, one JSON object a line for machines, and the closing table.
//!
//! All of it lives from the engine's events: a reporter gets each with the state that it led to, and keeps up at the cost of what happened.

pub(crate) mod clean;
mod closing;
mod explain;
mod lasting;
pub(crate) mod live;
mod plain;
pub(crate) mod plan;
pub(crate) mod screen;
mod spending;
mod story;
pub(crate) mod stream;
mod summary;
mod table;

use engine::Reporter;
use scheduler::{Millis, RunId, RunSummary};
use serde_json::Value;
use workflow::prices::{Between, Money};

use crate::args::Format;
use crate::exit::Exit;

pub(crate) use closing::closing;
pub(crate) use explain::explained;
pub(crate) use lasting::lasting;
pub(crate) use spending::spent;
pub(crate) use summary::{nothing_json, spending_json, summary_json};
pub(crate) use table::Table;

/// What a reporter is told about a run before it begins.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// The run.
    pub(crate) run: RunId,
    /// The service, as it stands in every key.
    pub(crate) service: String,
    /// The most tasks out at once.
    pub(crate) jobs: usize,
    /// What the run is expected to cost, where there is a table of prices.
    pub(crate) worth: Option<Worth>,
}

/// What a run is expected to cost.
#[derive(Debug, Clone)]
pub(crate) struct Worth {
    /// What is to be submitted comes to.
    pub(crate) estimate: Between<Money>,
    /// The currency of the table of prices.
    pub(crate) currency: String,
}

/// The reporter for a format and this terminal, from a run's beginning to its end.
pub(crate) enum Telling {
    /// Lines of JSON on standard output.
    Stream(Box<stream::Stream>),
    /// Live lines on standard error.
    Live(Box<live::Live>),
    /// Plain lines on standard error.
    Plain(plain::Plain),
}

impl Telling {
    /// Begins to tell a run.
    pub(crate) fn begin(format: Format, head: Head) -> Self {
        match format {
            Format::Ndjson => Self::Stream(Box::new(stream::Stream::new(head, std::io::stdout()))),
            Format::Text | Format::Json if crate::terminal::is_live() => {
                Self::Live(Box::new(live::Live::new(head.worth)))
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
    pub(crate) fn end(self, summary: &RunSummary, spending: Option<Value>, now: Millis) {
        match self {
            Self::Stream(stream) => stream.end(summary, spending, now),
            // The live lines go with it.
            Self::Live(_) | Self::Plain(_) => {}
        }
    }

    /// The run could not go on.
    pub(crate) fn broken(self, reason: &str, exit: Exit, now: Millis) {
        match self {
            Self::Stream(stream) => stream.broken(reason, exit, now),
            Self::Live(_) | Self::Plain(_) => {}
        }
    }
}
