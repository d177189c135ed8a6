//! The files of an archive.

use std::path::Path;
use std::process::Command;

use super::archive::Entry;
use super::build::Program;
use super::licences;
use super::target::Target;
use crate::repository;

/// Shells with the paths of their completions, as each of them names such files.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "completions/runner.bash"),
    ("zsh", "completions/_runner"),
    ("fish", "completions/runner.fish"),
    ("powershell", "completions/_runner.ps1"),
    ("elvish", "completions/runner.elv"),
];

/// What is taken from the repository: files, and folders with everything that git tracks in them.
const DOCUMENTS: &[&str] =
    &["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "docs/", "workflows/"];

pub(super) fn files(root: &Path, target: Target, program: &Program) -> Result<Vec<Entry>, String> {
    let mut entries = vec![Entry {
        path: target.program_name().to_owned(),
        bytes: fs_err::read(&program.path).map_err(|error| error.to_string())?,
        is_executable: true,
    }];
    for name in repository::files(root)? {
        if DOCUMENTS
            .iter()
            .any(|document| name == *document || (document.ends_with('/') && name.starts_with(document)))
        {
            entries.push(document(
                name.clone(),
                fs_err::read(root.join(name)).map_err(|error| error.to_string())?,
            ));
        }
    }
    let third_party = licences::third_party(root, target.triple)?;
    entries.push(document("LICENSES-THIRD-PARTY.txt".to_owned(), third_party.into_bytes()));
    for (shell, path) in COMPLETIONS {
        let script = Command::new(&program.runnable).args(["completions", shell]).output();
        let script = script.map_err(|error| error.to_string())?;
        if !script.status.success() {
            return Err(format!("`runner completions {shell}` ended with {}", script.status));
        }
        entries.push(document((*path).to_owned(), script.stdout));
    }
    entries.extend(man_pages(program)?);
    Ok(entries)
}

fn document(path: String, bytes: Vec<u8>) -> Entry {
    Entry { path, bytes, is_executable: false }
}

fn man_pages(program: &Program) -> Result<Vec<Entry>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let status = Command::new(&program.runnable).arg("man").arg(folder.path()).status();
    if !status.map_err(|error| error.to_string())?.success() {
        return Err("`runner man` failed".to_owned());
    }
    let mut pages = Vec::new();
    for page in fs_err::read_dir(folder.path()).map_err(|error| error.to_string())? {
        let path = page.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs_err::read(&path).map_err(|error| error.to_string())?;
        pages.push(document(format!("man/man1/{name}"), bytes));
    }
    Ok(pages)
}
