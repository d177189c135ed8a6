//! A shot list, as a spreadsheet writes it, becomes a workflow.
//!
//! | Step | Module |
//! |---|---|
//! | cells with their places, whatever separates them | `cells` |
//! | what each column is for | `columns` |
//! | lengths as people write them | `length` |
//! | rows to shots | `shots` |
//! | shots to the text of a workflow | `write` |

mod columns;
mod csv;
mod shots;
mod timecode;
mod write;

use contract::Contract;

use crate::diagnostic::{Problems, Report};
use crate::load::read_text;
use crate::prices::SOUND;
use crate::scaffold::{PictureOptions, ScaffoldError};

/// What the caller decides.
#[derive(Clone, Debug)]
pub struct Options {
    /// The workflow's name.
    pub name: String,
    /// The model and the shape of the picture for all shots.
    pub picture: PictureOptions,
    /// Whether each shot of a scene begins on the frame where the one before it ended.
    pub chain_scenes: bool,
}

/// What came of a shot list.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The workflow's text, where the list has no errors.
    pub workflow: Option<String>,
    /// How many shots it lists.
    pub shots: usize,
    /// Errors and warnings.
    pub report: Report,
}

/// Makes a workflow of a shot list: values separated by commas, semicolons or tabs, the first line names the columns.
///
/// # Errors
/// The contract has no such model or shape of the picture. What is wrong with the list itself stands in the report.
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
        let rows = csv::read(&source, &mut problems);
        if problems.any() {
            Vec::new()
        } else {
            shots::read(&rows, &model.durations, options.chain_scenes, &mut problems)
        }
    };
    let asks_for_sound = contract.field(&model.family, SOUND).is_some();
    let workflow =
        (!problems.any()).then(|| write::workflow(&shots, options, model, &shape, asks_for_sound, file_name));
    let (diagnostics, unlisted) = problems.into_sorted();
    Ok(Imported { workflow, shots: shots.len(), report: Report { source, diagnostics, unlisted } })
}
