//! What a new openapi.yaml means: to callers of the service, and to workflows.

mod document;
mod impact;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use contract::Contract;

use report::Report;

#[derive(Debug, Subcommand)]
pub(crate) enum Spec {
    /// Says what changed for callers and which workflows it touches; exits with 1 where a caller may break.
    Diff(Comparison),
}

#[derive(Debug, Args)]
pub(crate) struct Comparison {
    /// The older document, YAML or JSON.
    old: PathBuf,
    /// The newer document [default: openapi.yaml of this repository].
    #[arg(long, value_name = "FILE")]
    new: Option<PathBuf>,
    /// Workflows to look at besides the examples under workflows/.
    #[arg(long = "workflow", value_name = "FILE")]
    workflows: Vec<PathBuf>,
    /// How to say it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For a terminal.
    Text,
    /// For machines.
    Json,
    /// For a review.
    Markdown,
}

/// Prints the comparison: 0 where callers go on, 1 where one may break, 2 where there is nothing to compare.
pub(crate) fn spec(root: &Path, what: &Spec) -> ExitCode {
    let Spec::Diff(comparison) = what;
    match compare(root, comparison) {
        Ok(report) => {
            match comparison.format {
                Format::Text => print!("{}", report.to_text()),
                Format::Json => println!("{:#}", serde_json::json!(report)),
                Format::Markdown => print!("{}", report.to_markdown()),
            }
            if report.breaks() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

fn compare(root: &Path, comparison: &Comparison) -> Result<Report, String> {
    let new = match &comparison.new {
        Some(file) => document::read(file)?,
        None => document::read(&root.join("openapi.yaml"))?,
    };
    let old = document::read(&comparison.old)?;
    let mut workflows = examples(root)?;
    workflows.extend(comparison.workflows.iter().cloned());
    report(&old, &new, root, &workflows)
}

fn report(old: &Contract, new: &Contract, root: &Path, workflows: &[PathBuf]) -> Result<Report, String> {
    let diff = contract::diff::diff(old, new).map_err(|error| error.to_string())?;
    let impacts = workflows
        .iter()
        .map(|file| impact::of(file, &shown(root, file), old, new, &diff))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Report::new(diff, impacts))
}

/// A file as people know it: below the repository by its path there.
fn shown(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).display().to_string()
}

/// The example workflows, by name. A table of prices is none.
fn examples(root: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = root.join("workflows");
    let entries = fs_err::read_dir(folder).map_err(|error| error.to_string())?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .filter(|path| path.file_name().is_some_and(|name| name != "prices.yaml"))
        .collect();
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests;
