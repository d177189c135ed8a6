//! Project rules that the compiler does not check.

mod deps;
mod flags;
mod guarantees;
mod links;

use std::path::Path;

/// Checks every rule; an error lists all violations.
pub(crate) fn run(root: &Path) -> Result<String, String> {
    let problems =
        [deps::problems(root)?, links::problems(root)?, flags::problems(root)?, guarantees::problems(root)?]
            .concat();
    if problems.is_empty() {
        Ok("tidy: dependencies, links, flags and guarantees are in order".to_owned())
    } else {
        Err(format!("{}\ntidy: {} problems", problems.join("\n"), problems.len()))
    }
}
