//! Where the films of a workflow go, and what is there.

use std::path::Path;

use engine::effects::replaces_input;
use engine::film::replaced_input;
use workflow::plan::Plan;

use crate::error::CommandError;

/// Refuses a workflow whose film would replace a file that it is made of, in the output folder `out`. `folder` is that of the workflow.
///
/// # Errors
/// The refusal.
pub(crate) fn refuse_replaced_inputs(plan: &Plan, folder: &Path, out: &Path) -> Result<(), CommandError> {
    for film in plan.films() {
        if let Some(input) = replaced_input(film, folder, out) {
            return Err(CommandError::invalid(replaces_input(film, &input)));
        }
    }
    Ok(())
}
