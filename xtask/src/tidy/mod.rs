//! Project rules that the compiler does not check.

mod citations;
mod deploy;
mod deps;
mod files;
mod flags;
mod glossary;
mod guarantees;
mod links;
mod macro_tokens;
mod names;
mod participles;
mod retired_words;
mod type_names;
mod web_names;
mod workflows;

use std::path::Path;

/// Checks every rule; an error lists all violations.
pub(crate) fn run(root: &Path) -> Result<String, String> {
    let mut problems = deps::problems(root)?;
    let (files, violations) = files::problems(root)?;
    problems.extend(violations);
    problems.extend(guarantees::problems(root)?);
    problems.extend(citations::problems(root)?);
    problems.extend(links::problems(root)?);
    let declared = names::declared(root)?;
    problems.extend(retired_words::problems(root, &declared)?);
    problems.extend(glossary::problems(root, &declared)?);
    problems.extend(participles::problems(&declared));
    problems.extend(type_names::problems(root)?);
    problems.extend(flags::problems(root, &declared)?);
    problems.extend(workflows::problems(root)?);
    problems.extend(deploy::problems(root)?);
    if problems.is_empty() {
        Ok(format!("tidy: {files} files and the crate dependencies are in order"))
    } else {
        Err(format!("{}\ntidy: {} problems", problems.join("\n"), problems.len()))
    }
}
