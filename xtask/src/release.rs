//! The runner, built for release, and the machine that it is built on.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the runner for release and returns its path.
///
/// When xtask is a release build itself, it is named as well: dependencies then have the features that it was built with, and few are compiled
/// again.
pub(crate) fn release_runner(root: &Path) -> Result<PathBuf, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--quiet", "--locked", "--package", "runner"]);
    if !cfg!(debug_assertions) {
        cargo.args(["--package", "xtask"]);
    }
    let status = cargo.current_dir(root).status().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err("the runner cannot be built".to_owned());
    }
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = executable.ancestors().nth(2).ok_or("xtask is not in a target folder")?;
    Ok(target.join("release").join(format!("runner{}", std::env::consts::EXE_SUFFIX)))
}

/// The triple of this machine.
pub(crate) fn host() -> Result<String, String> {
    let version = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not name its host".to_owned())
}
