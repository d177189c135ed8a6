//! The files of a project that are read: how large they may be, and what is wrong with one that cannot be used.

use std::io::Read as _;
use std::path::Path;

use serde_json::json;
use workflow::Report;

use crate::args::Format;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::terminal;

/// How much of a workflow file is read at most. The parser reports larger files.
pub(crate) const MAX_FILE_BYTES: u64 = workflow::limits::MAX_FILE_BYTES as u64;

/// Why a file cannot be loaded. Nothing was submitted or written.
#[derive(Debug)]
pub(crate) enum LoadError {
    /// A file cannot be read. The message is for people.
    Unreadable(String),
    /// The file is invalid.
    Report(Box<Report>),
}

/// A file's bytes; of a file that is too large, one more than it may have.
pub(crate) fn read(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs_err::File::open(file).and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))?;
    Ok(bytes)
}

impl LoadError {
    /// Prints the error to standard error.
    pub(crate) fn print(&self) {
        match self {
            Self::Unreadable(reason) => CommandError::invalid(reason).print(),
            Self::Report(report) => err!("{}", report.render(terminal::has_color())),
        }
    }

    /// The error for people, without colors.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Unreadable(reason) => reason.clone(),
            Self::Report(report) => report.render(false),
        }
    }

    /// Prints the error in the output format of the command.
    pub(crate) fn report(&self, format: Format) -> Exit {
        match (format, self) {
            (Format::Text, _) | (_, Self::Unreadable(_)) => self.print(),
            (Format::Json | Format::Ndjson, Self::Report(report)) => {
                outln!("{}", json!({ "diagnostics": report.to_json() }));
            }
        }
        Exit::InvalidInput
    }
}
