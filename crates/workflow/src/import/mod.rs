//! A shot list, as a spreadsheet or a chat writes it, becomes a workflow.
//!
//! | Step | Module |
//! |---|---|
//! | CSV, Markdown or JSON to cells with their spans | [`crate::csv`], `markdown`, `json` |
//! | the meaning of each column | `columns`, `headers` |
//! | durations and timecodes | `timecode` |
//! | rows to shots | `shots`, `dialogue` |
//! | shots to the text of a workflow | `listing`, `write` |

mod columns;
mod dialogue;
mod headers;
mod json;
mod listing;
mod markdown;
mod shots;
mod timecode;
mod write;

use std::ops::RangeInclusive;

use contract::Contract;

pub use self::columns::{Column, ColumnChoice};
use self::listing::ListedShot;
use crate::csv::{self, CsvCell, CsvError};
use crate::diagnostic::{Diagnostic, Problems, Report};
use crate::limits;
use crate::scaffold::{ScaffoldError, VideoOptions};
use crate::source::Span;
use crate::text_file::read_any_text;

/// What leads from a screenplay to a shot list.
const SCREENPLAY: &str = "export its text in Final Draft with File > Export, make a table of shots of it with the columns scene, description, \
dialogue and duration, save that as shots.csv, and then `runner import shots.csv`";

#[derive(Clone, Debug)]
pub struct ImportOptions {
    pub name: String,
    /// Model and aspect ratio of all shots.
    pub video: VideoOptions,
    /// Whether each shot of a scene begins on the frame where the one before it ended.
    pub chain_scenes: bool,
    /// The meanings of columns by their names, before the usual names count.
    pub columns: Vec<ColumnChoice>,
}

/// The workflow of a shot list, with the problems that were found in it.
#[derive(Clone, Debug)]
pub struct ImportResult {
    /// The workflow's text, where the list has no errors.
    pub workflow: Option<String>,
    /// How many shots it lists.
    pub shots: usize,
    pub report: Report,
}

/// Makes a workflow of a shot list: a table in CSV or Markdown, in which a row names the columns, or a JSON list of scenes.
///
/// # Errors
/// The contract has no such model or aspect ratio. Problems of the list itself are in the report.
pub fn import(
    bytes: &[u8],
    file_name: &str,
    options: &ImportOptions,
    contract: &Contract,
) -> Result<ImportResult, ScaffoldError> {
    let model = options.video.model(contract)?;
    let shape = options.video.shape(contract)?;
    let mut problems = Problems::default();
    let source = read_any_text(bytes, file_name, &mut problems);
    let shots = if problems.any() {
        Vec::new()
    } else {
        shots(source.text(), file_name, options, &model.durations, &mut problems)
    };
    let asks_for_sound = model.inputs.get(contract::Word::Audio).is_some();
    let workflow = (!problems.any())
        .then(|| write::workflow(&shots, options, &model, &shape, asks_for_sound, file_name));
    let (diagnostics, unlisted) = problems.into_sorted();
    Ok(ImportResult { workflow, shots: shots.len(), report: Report { source, diagnostics, unlisted } })
}

/// The shots of a list.
fn shots(
    text: &str,
    file_name: &str,
    options: &ImportOptions,
    durations: &RangeInclusive<u32>,
    problems: &mut Problems,
) -> Vec<ListedShot> {
    match rows(text, file_name, &options.columns) {
        Ok(rows) => shots::read(&rows, &options.columns, durations, options.chain_scenes, problems),
        Err(error) => {
            problems.push(Diagnostic::error("bad-table", error.span, error.message).help(error.help));
            Vec::new()
        }
    }
}

/// The rows of a list in any of its forms.
fn rows(text: &str, file_name: &str, choices: &[ColumnChoice]) -> Result<Vec<Vec<CsvCell>>, CsvError> {
    let extension = file_name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    let words = text.trim_start_matches('\u{feff}').split_whitespace();
    let start: String = words.take(20).collect();
    if start.contains("<FinalDraft") || extension == "fdx" {
        return Err(CsvError::new(
            Span::default(),
            "this is a screenplay of Final Draft, which lists no shots",
            SCREENPLAY,
        ));
    }
    let mut rows = if extension == "json" || start.starts_with("[{") || start.starts_with("{\"") {
        json::rows(text, choices)?
    } else if let Some(rows) = markdown::rows(text, choices) {
        rows
    } else if extension == "md" {
        let help = "write a row for each shot below `| shot | description | duration |` and `|---|---|---|`";
        return Err(CsvError::new(Span::default(), "this file has no table", help));
    } else {
        return csv_rows(text, choices);
    };
    rows.retain(has_text);
    Ok(rows)
}

/// The rows with text in them. Spaces are dropped in quotes too: a shot list is prose.
fn csv_rows(text: &str, choices: &[ColumnChoice]) -> Result<Vec<Vec<CsvCell>>, CsvError> {
    let first = rows_by(text, None)?;
    if columns::has_head(&first, choices) {
        return Ok(first);
    }
    // A title above the names of the columns hides the delimiter.
    let others = csv::DELIMITERS.into_iter().filter_map(|delimiter| rows_by(text, Some(delimiter)).ok());
    Ok(others.into_iter().find(|rows| columns::has_head(rows, choices)).unwrap_or(first))
}

fn rows_by(text: &str, delimiter: Option<u8>) -> Result<Vec<Vec<CsvCell>>, CsvError> {
    // Some rows are no shots: a title, and the names of the columns.
    let mut rows = csv::read_by(text, limits::MAX_INSTANCES + 1, delimiter)?;
    for cell in rows.iter_mut().flatten() {
        let trimmed = cell.text.trim();
        if trimmed.len() < cell.text.len() {
            cell.text = trimmed.to_owned();
        }
    }
    rows.retain(has_text);
    Ok(rows)
}

#[expect(clippy::ptr_arg, reason = "`retain` passes it")]
fn has_text(row: &Vec<CsvCell>) -> bool {
    row.iter().any(|cell| !cell.text.is_empty())
}
