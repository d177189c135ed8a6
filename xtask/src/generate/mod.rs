//! Everything in the repository that is derived from something else in it, written or compared.

mod reference;
mod surface;

use std::fmt::Write as _;
use std::path::Path;

use contract::Contract;

/// Whether to write what is derived, or to compare it with what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Writes what differs.
    Write,
    /// Fails where something differs, and names it.
    Check,
}

/// A derived file.
#[derive(Debug)]
struct Derived {
    /// Relative to the repository.
    path: &'static str,
    /// What it has to say.
    text: String,
    /// What it is derived from.
    from: &'static str,
}

/// Writes or checks every derived file.
pub(crate) fn generate(root: &Path, mode: Mode) -> Result<String, String> {
    let all = derived(Contract::embedded())?;
    match mode {
        Mode::Write => write(root, &all),
        Mode::Check => check(root, &all),
    }
}

fn derived(contract: &Contract) -> Result<Vec<Derived>, String> {
    let schema = serde_json::to_string_pretty(&workflow::workflow_schema(contract))
        .map_err(|error| format!("the workflow's schema cannot be written as JSON: {error}"))?;
    Ok(vec![
        Derived {
            path: "workflows/workflow.schema.json",
            text: format!("{schema}\n"),
            from: "openapi.yaml and the runner's words in crates/workflow/src/schema",
        },
        Derived {
            path: "crates/client/api.txt",
            text: surface::of(client::GENERATED)?,
            from: "the client that the build generates from openapi.yaml",
        },
        Derived { path: "docs/reference.md", text: reference::of(contract)?, from: "openapi.yaml" },
    ])
}

fn write(root: &Path, all: &[Derived]) -> Result<String, String> {
    let mut written = Vec::new();
    for one in all.iter().filter(|one| !is_current(root, one)) {
        let path = root.join(one.path);
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        fs_err::write(&path, &one.text).map_err(|error| error.to_string())?;
        written.push(one.path);
    }
    Ok(match written.as_slice() {
        [] => format!("generate: all {} derived files are current", all.len()),
        written => format!("generate: wrote {}", written.join(", ")),
    })
}

fn check(root: &Path, all: &[Derived]) -> Result<String, String> {
    let mut problems = String::new();
    for one in all.iter().filter(|one| !is_current(root, one)) {
        let _ = writeln!(problems, "{} is not what follows from {}", one.path, one.from);
    }
    if problems.is_empty() {
        Ok(format!("generate: all {} derived files are current", all.len()))
    } else {
        Err(format!("{problems}run `cargo xtask generate` and look at what changed"))
    }
}

/// Whether the file is there as it has to be, whatever ends its lines.
fn is_current(root: &Path, one: &Derived) -> bool {
    fs_err::read_to_string(root.join(one.path)).is_ok_and(|text| text.replace("\r\n", "\n") == one.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_repository_is_current() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        generate(root, Mode::Check).unwrap_or_else(|problems| panic!("{problems}"));
    }

    #[test]
    fn a_hand_edit_of_any_derived_file_is_found() {
        let all = derived(Contract::embedded()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let nothing_there = check(root, &all).unwrap_err();
        assert!(all.iter().all(|one| nothing_there.contains(one.path)), "{nothing_there}");
        write(root, &all).unwrap();
        check(root, &all).unwrap();
        assert!(write(root, &all).unwrap().contains("are current"));
        for one in &all {
            let path = root.join(one.path);
            let edits = [format!("{}\n", one.text), one.text.replacen("seconds", "secs", 1), String::new()];
            for edit in edits {
                assert_ne!(edit, one.text, "{}", one.path);
                fs_err::write(&path, edit).unwrap();
                let found = check(root, &all).unwrap_err();
                assert!(found.contains(one.path) && found.contains("cargo xtask generate"), "{found}");
                assert_eq!(all.iter().filter(|other| found.contains(other.path)).count(), 1, "{found}");
            }
            assert!(write(root, &all).unwrap().contains(one.path));
            check(root, &all).unwrap();
        }
    }

    #[test]
    fn another_contract_makes_other_files() {
        let mut document = Contract::embedded().document().clone();
        let field = serde_json::json!({ "type": "string", "description": "what not to show" });
        document["components"]["schemas"]["VideoRequestA"]["properties"]["negative_prompt"] = field;
        let all = derived(&Contract::from_document(document).unwrap()).unwrap();
        let mentions =
            |path: &str| all.iter().any(|one| one.path == path && one.text.contains("negative_prompt"));
        assert!(mentions("workflows/workflow.schema.json") && mentions("docs/reference.md"));
    }
}
