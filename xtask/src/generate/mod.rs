//! Generated files of the repository: writes them, or compares them with what would be written.

mod codes;
mod reference;

use std::fmt::Write as _;
use std::path::Path;

use contract::Contract;
use scheduler::StatusKind;
use serde_json::Value;

use reference::reference;

#[derive(Debug)]
struct GeneratedFile {
    /// Relative to the repository.
    path: &'static str,
    content: Content,
    source: &'static str,
}

#[derive(Debug)]
enum Content {
    Whole(String),
    /// Sections by name, between `<!-- generated: NAME -->` and `<!-- /generated -->`, of a page that is otherwise
    /// written by hand.
    Sections(Vec<(&'static str, String)>),
}

impl Content {
    /// The file as it has to be, given its present text.
    fn expected(&self, present: &str) -> Result<String, String> {
        match self {
            Self::Whole(text) => Ok(text.clone()),
            Self::Sections(sections) => sections
                .iter()
                .try_fold(present.to_owned(), |page, (name, text)| with_section(&page, name, text)),
        }
    }
}

/// The page with the text of a section replaced.
fn with_section(page: &str, name: &str, text: &str) -> Result<String, String> {
    let (open, close) = (format!("<!-- generated: {name} -->\n"), "<!-- /generated -->");
    let missing = || format!("it has no section `{name}`");
    let start = page.find(&open).ok_or_else(missing)? + open.len();
    let end = start + page[start..].find(close).ok_or_else(missing)?;
    Ok(format!("{}{text}{}", &page[..start], &page[end..]))
}

/// Writes every generated file, or fails and names those that differ.
pub(crate) fn run(root: &Path, is_check: bool) -> Result<String, String> {
    let all = generated_files(Contract::embedded())?;
    if is_check { check(root, &all) } else { write(root, &all) }
}

fn generated_files(contract: &Contract) -> Result<Vec<GeneratedFile>, String> {
    let schema = serde_json::to_string_pretty(&workflow::workflow_schema(contract))
        .map_err(|error| format!("the workflow schema cannot be serialized: {error}"))?;
    let whole = |path, source, text| GeneratedFile { path, content: Content::Whole(text), source };
    Ok(vec![
        whole(
            "workflows/workflow.schema.json",
            "openapi.yaml and crates/workflow/src/syntax/keys",
            format!("{schema}\n"),
        ),
        whole(
            "docs/manifest.schema.json",
            "crates/viewer/src/manifest.rs",
            format!("{:#}\n", viewer::schema()),
        ),
        whole(
            "docs/sidecar.schema.json",
            "crates/engine/src/sidecar.rs",
            format!("{:#}\n", engine::sidecar::schema()),
        ),
        whole("docs/reference.md", "openapi.yaml", reference(contract)?),
        whole("docs/codes.md", "crates/workflow/src/diagnostic", codes::codes()),
        GeneratedFile {
            path: "docs/events.md",
            content: Content::Sections(vec![("states", states(&viewer::schema())?)]),
            source: "crates/scheduler/src/projection/status.rs",
        },
        key_tables("docs/workflow.md", |name| !["price", "service", "limit"].contains(&name)),
        key_tables("docs/guide/services.md", |name| ["service", "limit"].contains(&name)),
        key_tables("docs/prices.md", |name| name == "price"),
    ])
}

/// The table of the states of shots: names and descriptions of `StatusKind`, as a schema has them.
fn states(schema: &Value) -> Result<String, String> {
    let mut table = "| state | meaning |\n|---|---|\n".to_owned();
    for kind in StatusKind::ALL {
        let all = schema["$defs"]["StatusKind"]["oneOf"].as_array();
        let state = all.into_iter().flatten().find(|state| state["const"] == kind.as_str());
        let meaning = state.and_then(|state| state["description"].as_str());
        let meaning = meaning.ok_or_else(|| format!("the state `{}` is not described", kind.as_str()))?;
        let _ = writeln!(table, "| `{}` | {meaning} |", kind.as_str());
    }
    Ok(table)
}

/// A page of the guide with tables of keys.
fn key_tables(path: &'static str, has: impl Fn(&str) -> bool) -> GeneratedFile {
    let tables = workflow::key_tables().into_iter().filter(|(name, _)| has(name));
    GeneratedFile {
        path,
        content: Content::Sections(tables.collect()),
        source: "crates/workflow/src/syntax/keys",
    }
}

fn write(root: &Path, all: &[GeneratedFile]) -> Result<String, String> {
    let mut written = Vec::new();
    for file in all.iter().filter(|file| !is_current(root, file)) {
        let path = root.join(file.path);
        let text = file.content.expected(&present(root, file));
        let text = text.map_err(|error| format!("{}: {error}", file.path))?;
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        fs_err::write(&path, text).map_err(|error| error.to_string())?;
        written.push(file.path);
    }
    Ok(match written.as_slice() {
        [] => format!("generate: all {} generated files are up to date", all.len()),
        written => format!("generate: wrote {}", written.join(", ")),
    })
}

fn check(root: &Path, all: &[GeneratedFile]) -> Result<String, String> {
    let mut problems = String::new();
    for file in all.iter().filter(|file| !is_current(root, file)) {
        let _ = writeln!(problems, "{} is out of date with {}", file.path, file.source);
    }
    if problems.is_empty() {
        Ok(format!("generate: all {} generated files are up to date", all.len()))
    } else {
        Err(format!("{problems}run `cargo xtask generate` and review the changes"))
    }
}

/// The text of the file, its line endings normalized; empty where there is none.
fn present(root: &Path, file: &GeneratedFile) -> String {
    fs_err::read_to_string(root.join(file.path)).unwrap_or_default().replace("\r\n", "\n")
}

/// Whether the file has the expected content, apart from its line endings.
fn is_current(root: &Path, file: &GeneratedFile) -> bool {
    let present = present(root, file);
    file.content.expected(&present).is_ok_and(|expected| expected == present)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_in_repository_are_up_to_date() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        run(root, true).unwrap_or_else(|problems| panic!("{problems}"));
    }

    #[test]
    fn check_reports_each_edited_file() {
        let all = generated_files(Contract::embedded()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in &all {
            if let Content::Sections(sections) = &file.content {
                let mut page = String::new();
                for (name, _) in sections {
                    let _ = writeln!(page, "# {name}\n<!-- generated: {name} -->\n<!-- /generated -->");
                }
                let path = root.join(file.path);
                fs_err::create_dir_all(path.parent().unwrap()).unwrap();
                fs_err::write(path, page).unwrap();
            }
        }
        let empty = check(root, &all).unwrap_err();
        assert!(all.iter().all(|file| empty.contains(file.path)), "{empty}");
        write(root, &all).unwrap();
        check(root, &all).unwrap();
        assert!(write(root, &all).unwrap().contains("are up to date"));
        for file in &all {
            let path = root.join(file.path);
            let text = present(root, file);
            let with_more = match file.content {
                Content::Whole(_) => format!("{text}\n"),
                Content::Sections(_) => text.replacen(" -->\n", " -->\nmore\n", 1),
            };
            let edits = [with_more.clone(), String::new()];
            for edit in edits {
                assert_ne!(edit, text, "{}", file.path);
                fs_err::write(&path, edit).unwrap();
                let problems = check(root, &all).unwrap_err();
                assert!(
                    problems.contains(file.path) && problems.contains("cargo xtask generate"),
                    "{problems}"
                );
                assert_eq!(all.iter().filter(|other| problems.contains(other.path)).count(), 1, "{problems}");
            }
            if matches!(file.content, Content::Sections(_)) {
                assert!(write(root, &all).unwrap_err().contains("has no section"));
                fs_err::write(&path, with_more).unwrap();
            }
            assert!(write(root, &all).unwrap().contains(file.path));
            check(root, &all).unwrap();
        }
    }

    #[test]
    fn new_contract_field_appears_in_schema_and_reference() {
        let mut document = Contract::embedded().document().clone();
        let field = serde_json::json!({ "type": "string", "description": "what not to show" });
        document["components"]["schemas"]["VideoRequestA"]["properties"]["negative_prompt"] = field;
        let all = generated_files(&Contract::from_document(document).unwrap()).unwrap();
        let mentions = |path: &str| {
            all.iter().any(|file| {
                file.path == path
                    && matches!(&file.content, Content::Whole(text) if text.contains("negative_prompt"))
            })
        };
        assert!(mentions("workflows/workflow.schema.json") && mentions("docs/reference.md"));
    }
}
