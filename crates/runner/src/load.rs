//! From a file's name to a sealed plan, or the reasons why not.

use std::io::Read as _;
use std::path::Path;

use contract::Contract;
use serde_json::json;
use workflow::plan::Plan;
use workflow::{Folder, Options, Report};

use crate::args::Format;
use crate::exit::Exit;
use crate::place::Place;
use crate::terminal;

/// The largest workflow file that is read. What is larger is named by the parser's own diagnostic.
pub(crate) const LARGEST: u64 = workflow::bounds::FILE_BYTES as u64;

/// Why there is no plan. Nothing was submitted and nothing written.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The file cannot be read.
    Unreadable(String),
    /// The file has problems.
    Report(Box<Report>),
}

/// Reads, checks and compiles a workflow file.
pub(crate) fn load(file: &Path, params: &[(String, String)]) -> Result<Plan, Refused> {
    let unreadable =
        |error: std::io::Error| Refused::Unreadable(format!("cannot read the workflow: {error}"));
    let place = Place::of(file).map_err(unreadable)?;
    let mut text = Vec::new();
    fs_err::File::open(file)
        .and_then(|open| open.take(LARGEST + 1).read_to_end(&mut text))
        .map_err(unreadable)?;
    let options = Options { params: params.to_vec(), ..Options::default() };
    let name = file.display().to_string();
    workflow::load(&text, &name, &Folder::new(&place.folder), &options, Contract::embedded())
        .map_err(|report| Refused::Report(Box::new(report)))
}

impl Refused {
    /// Says why, for people.
    pub(crate) fn print(&self) {
        match self {
            Self::Unreadable(why) => crate::commands::complain(why),
            Self::Report(report) => eprint!("{}", report.render(terminal::has_colour())),
        }
    }

    /// Says why, in the form that was asked for, and how to end.
    pub(crate) fn exit(&self, format: Format) -> Exit {
        match (format, self) {
            (Format::Text, _) | (_, Self::Unreadable(_)) => self.print(),
            (Format::Json | Format::Ndjson, Self::Report(report)) => {
                println!("{}", json!({ "diagnostics": report.records() }));
            }
        }
        Exit::InvalidInput
    }
}
