//! Programs of other languages, installed from their registries. Each error says why something is absent.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs Python packages, as pip's arguments name them, into a virtual environment; returns the folder of its programs.
pub(crate) fn python(environment: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let programs = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(environment))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"];
    succeed(Command::new(programs.join("python")).args(pip).args(packages))?;
    Ok(programs)
}

/// Installs npm packages, or without any those of a package.json, into a folder.
pub(crate) fn node(folder: &Path, packages: &[&str]) -> Result<(), String> {
    fs_err::create_dir_all(folder).map_err(|error| error.to_string())?;
    let npm = ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1"];
    succeed(Command::new("npm").args(npm).args(packages).current_dir(folder))
}

/// Runs a command; the error has the last line of what it printed.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program} cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{program} failed: {}", text.trim().lines().last().unwrap_or_default()))
}
