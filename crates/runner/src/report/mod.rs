//! How a run is told: live lines on a terminal, plain lines elsewhere, one JSON document a line for machines, and the closing table.

mod explain;
mod json;
mod live;
mod plain;
pub(crate) mod plan;
mod spending;
mod story;
mod table;

use engine::Reporter;

use crate::args::Format;

pub(crate) use explain::explained;
pub(crate) use json::{nothing_json, summary_json};
pub(crate) use spending::spent;
pub(crate) use table::{Table, closing};

/// The reporter for this terminal and format.
pub(crate) fn reporter(format: Format) -> Box<dyn Reporter> {
    match format {
        Format::Ndjson => Box::new(json::Lines),
        Format::Text | Format::Json if crate::terminal::is_live() => Box::new(live::Live::new()),
        Format::Text | Format::Json => Box::new(plain::Plain),
    }
}
