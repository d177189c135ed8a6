//! Compares two revisions of openapi.yaml: what breaks for clients, and the impact on workflows.

mod document;
mod impact;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use contract::Contract;

use report::Report;

#[derive(Debug, Subcommand)]
pub(crate) enum Spec {
    /// Prints what changed for clients and which workflows are affected; exits with 1 where a client may break.
    Diff(DiffArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The document before, YAML or JSON, compared with openapi.yaml of this repository.
    old: PathBuf,
    /// Workflows to compare besides the examples in workflows/.
    #[arg(long = "workflow", value_name = "FILE")]
    workflows: Vec<PathBuf>,
}

/// Prints the comparison. Exit codes: 0 compatible, 1 a client may break, 2 a document or workflow cannot be read.
pub(crate) fn run(root: &Path, command: &Spec) -> ExitCode {
    let Spec::Diff(args) = command;
    match compare(root, args) {
        Ok(report) => {
            print!("{}", report.to_text());
            if report.breaks() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn compare(root: &Path, args: &DiffArgs) -> Result<Report, String> {
    let (old, new) = (document::read(&args.old)?, document::read(&root.join("openapi.yaml"))?);
    let mut workflows = examples(root)?;
    workflows.extend(args.workflows.iter().cloned());
    report(&old, &new, root, &workflows)
}

fn report(old: &Contract, new: &Contract, root: &Path, workflows: &[PathBuf]) -> Result<Report, String> {
    let diff = contract::diff::diff(old, new).map_err(|error| error.to_string())?;
    let impacts = workflows
        .iter()
        .map(|file| impact::impact(file, &display_path(root, file), old, new, &diff))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Report::new(diff, impacts))
}

/// The path relative to the repository, where the file is in it.
fn display_path(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).display().to_string()
}

/// The example workflows in order of their names, without the price table.
fn examples(root: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = root.join("workflows");
    let entries = fs_err::read_dir(folder).map_err(|error| error.to_string())?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .filter(|path| path.file_name().is_some_and(|name| name != "prices.yaml"))
        .collect();
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests;
