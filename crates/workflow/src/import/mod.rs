//! A shot list, as a spreadsheet writes it, becomes a workflow.
//!
//! | Step | Module |
//! |---|---|
//! | CSV to cells with their spans | [`crate::csv`] |
//! | the meaning of each column | `columns` |
//! | durations and timecodes | `timecode` |
//! | rows to shots | `shots` |
//! | shots to the text of a workflow | `write` |

mod columns;
mod shots;
mod timecode;
mod write;

use contract::Contract;

use crate::csv::{self, Cell, CsvError};
use crate::diagnostic::{Diagnostic, Problems, Report};
use crate::limits;
use crate::load::read_text;
use crate::prices::SOUND;
use crate::scaffold::{PictureOptions, ScaffoldError};

/// The caller's choices.
#[derive(Clone, Debug)]
pub struct Options {
    /// The workflow's name.
    pub name: String,
    /// Model and aspect ratio of all shots.
    pub picture: PictureOptions,
    /// Whether each shot of a scene begins on the frame where the one before it ended.
    pub chain_scenes: bool,
}

/// The workflow of a shot list, with the problems that were found in it.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The workflow's text, where the list has no errors.
    pub workflow: Option<String>,
    /// How many shots it lists.
    pub shots: usize,
    /// Errors and warnings.
    pub report: Report,
}

/// Makes a workflow of a shot list in CSV, whose first row names the columns.
///
/// # Errors
/// The contract has no such model or aspect ratio. Problems of the list itself are in the report.
pub fn import(
    bytes: &[u8],
    file_name: &str,
    options: &Options,
    contract: &Contract,
) -> Result<Imported, ScaffoldError> {
    let model = options.picture.model(contract)?;
    let shape = options.picture.shape(contract)?;
    let mut problems = Problems::default();
    let source = read_text(bytes, file_name, &mut problems);
    let shots = if problems.any() {
        Vec::new()
    } else {
        match rows(source.text()) {
            Ok(rows) => shots::read(&rows, &model.durations, options.chain_scenes, &mut problems),
            Err(error) => {
                problems.push(Diagnostic::error("bad-table", error.span, error.message).help(error.help));
                Vec::new()
            }
        }
    };
    let asks_for_sound = contract.field(&model.family, SOUND).is_some();
    let workflow =
        (!problems.any()).then(|| write::workflow(&shots, options, model, &shape, asks_for_sound, file_name));
    let (diagnostics, unlisted) = problems.into_sorted();
    Ok(Imported { workflow, shots: shots.len(), report: Report { source, diagnostics, unlisted } })
}

/// The rows with text in them. Blanks are dropped in quotes too: a shot list is prose.
fn rows(text: &str) -> Result<Vec<Vec<Cell>>, CsvError> {
    // The first row names the columns.
    let mut rows = csv::read(text, limits::MAX_INSTANCES + 1)?;
    for cell in rows.iter_mut().flatten() {
        let trimmed = cell.text.trim();
        if trimmed.len() < cell.text.len() {
            cell.text = trimmed.to_owned();
        }
    }
    rows.retain(|row| row.iter().any(|cell| !cell.text.is_empty()));
    Ok(rows)
}
