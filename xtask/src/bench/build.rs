//! Time and processor time of a clean release build of the program, beside an earlier commit if one is named.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::process::children_cpu_seconds;

pub(super) fn measure(root: &Path, against: Option<&str>) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (seconds, cpu) = build(root, &folder.path().join("own"))?;
    let report = format!("clean release build: {seconds:.0} s, {cpu:.0} s of CPU time");
    let Some(commit) = against else { return Ok(report) };
    let checkout = folder.path().join("checkout");
    let path = checkout.to_string_lossy().into_owned();
    git(root, &["worktree", "add", "--quiet", "--detach", &path, commit])?;
    let baseline = build(&checkout, &folder.path().join("other"));
    git(root, &["worktree", "remove", "--force", &path])?;
    let (seconds, baseline) = baseline?;
    let ratio = cpu / baseline;
    Ok(format!(
        "{report}\n{commit}: {seconds:.0} s, {baseline:.0} s of CPU time; ratio {ratio:.2} of the CPU time"
    ))
}

pub(super) fn git(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let status = Command::new("git").args(arguments).current_dir(root).status();
    let succeeded = status.map_err(|error| format!("git cannot be run: {error}"))?.success();
    if succeeded { Ok(()) } else { Err(format!("git {} failed", arguments.join(" "))) }
}

/// What git prints, without the line's end.
pub(super) fn git_output(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).current_dir(root).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("git cannot be run: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("git {} failed", arguments.join(" ")))
    }
}

/// Builds what `cargo run --release` would, into an empty folder; seconds, and seconds of CPU time.
fn build(checkout: &Path, target: &Path) -> Result<(f64, f64), String> {
    let before = children_cpu_seconds()?;
    let started = Instant::now();
    let status = Command::new("cargo")
        .args(["build", "--release", "--locked", "--quiet"])
        .current_dir(checkout)
        .env("CARGO_TARGET_DIR", target)
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!("{} cannot be built", checkout.display()));
    }
    let measured = (started.elapsed().as_secs_f64(), children_cpu_seconds()? - before);
    fs_err::remove_dir_all(target).map_err(|error| error.to_string())?;
    Ok(measured)
}
