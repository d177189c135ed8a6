//! The house rules that no compiler checks.

mod arrows;
mod files;
mod guarantees;

use std::path::Path;

/// All problems, or a line that says that there are none.
pub(crate) fn tidy(root: &Path) -> Result<String, String> {
    let mut problems = arrows::problems(root)?;
    let (files, found) = files::problems(root)?;
    problems.extend(found);
    problems.extend(guarantees::problems(root)?);
    if problems.is_empty() {
        Ok(format!("tidy: {files} files and all arrows between crates are in order"))
    } else {
        Err(format!("{}\ntidy: {} problems", problems.join("\n"), problems.len()))
    }
}
