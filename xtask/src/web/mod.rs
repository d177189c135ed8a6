//! The viewer's page: builds it from `web/`, proves that the file in the repository is what the sources build to, and tests it in a browser.
//! Only developers of the page need Node; without it the checks report that nothing was checked.

mod clips;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

/// The built page, embedded in the program.
const PAGE: &str = "crates/viewer/assets/viewer.html";
/// First version of Node that the tools run on: major, minor.
const MIN_NODE: (u32, u32) = (20, 19);
/// Codes by which npm reports that it did not reach its registry.
const NETWORK_ERRORS: [&str; 7] =
    ["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "ENOTCACHED"];
/// Programs that the browser tests can drive.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Arguments of `cargo xtask web`.
#[derive(Debug, Args)]
pub(crate) struct Web {
    /// Writes nothing; fails if the page in the repository is not what its sources build to.
    #[arg(long, conflicts_with = "test")]
    check: bool,
    /// Runs the tests of the page: units, in Chromium from disk, and live from `runner ui`.
    #[arg(long)]
    test: bool,
}

/// Why a step did not succeed.
enum Failure {
    /// The machine lacks a tool or the network: nothing was checked.
    Skipped(String),
    Failed(String),
}

/// Builds, checks or tests the page.
pub(crate) fn run(root: &Path, args: &Web) -> Result<String, String> {
    let outcome = if args.check {
        check(root)
    } else if args.test {
        test(root)
    } else {
        return match build(root) {
            Ok(report) => Ok(report),
            Err(Failure::Skipped(reason) | Failure::Failed(reason)) => Err(reason),
        };
    };
    match outcome {
        Ok(report) => Ok(report),
        Err(Failure::Skipped(reason)) => Ok(format!("the viewer's page is NOT checked: {reason}")),
        Err(Failure::Failed(problem)) => Err(problem),
    }
}

fn build(root: &Path) -> Result<String, Failure> {
    need_node()?;
    let sources = root.join("web");
    install(&sources, false)?;
    let page = root.join(PAGE);
    build_to(&sources, &page)?;
    Ok(format!("{PAGE}: {} bytes", read(&page)?.len()))
}

/// Builds a copy of the sources with the dependencies of the lock file, and compares.
fn check(root: &Path) -> Result<String, Failure> {
    need_node()?;
    let folder = tempfile::tempdir().map_err(failed)?;
    for name in crate::repository::files(root).map_err(Failure::Failed)? {
        if name.starts_with("web/") {
            let copy = folder.path().join(&name);
            fs_err::create_dir_all(copy.parent().unwrap_or(folder.path())).map_err(failed)?;
            fs_err::copy(root.join(&name), copy).map_err(failed)?;
        }
    }
    let sources = folder.path().join("web");
    install(&sources, true)?;
    let built = folder.path().join("viewer.html");
    build_to(&sources, &built)?;
    if read(&built)? == read(&root.join(PAGE))? {
        return Ok(format!("{PAGE} is what web/ builds to"));
    }
    Err(Failure::Failed(format!(
        "{PAGE} is not what web/ builds to; run `cargo xtask web` and commit the file"
    )))
}

fn test(root: &Path) -> Result<String, Failure> {
    need_node()?;
    let sources = root.join("web");
    install(&sources, false)?;
    let Some(browser) = browser() else {
        npm(&sources, &["run", "test:unit"], &[])?;
        return Ok("the viewer's page: unit tests pass; NOT checked in a browser: no Chromium".to_owned());
    };
    let clips = clips::prepare(root).map_err(Failure::Failed)?;
    let runner = build_runner(root)?;
    npm(&sources, &["test"], &[("CHROMIUM", &browser), ("CLIPS", &clips), ("RUNNER", &runner)])?;
    Ok("the viewer's page: unit and browser tests pass".to_owned())
}

/// Builds the program whose live page is tested, together with the tests, so that dependencies are compiled once for both (`.ci/run`).
fn build_runner(root: &Path) -> Result<PathBuf, Failure> {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--locked", "--workspace", "--bins", "--tests"])
        .current_dir(root)
        .status()
        .map_err(failed)?;
    if !status.success() {
        return Err(Failure::Failed("the runner cannot be built".to_owned()));
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("debug").join(format!("runner{}", std::env::consts::EXE_SUFFIX)))
}

fn build_to(sources: &Path, page: &Path) -> Result<(), Failure> {
    fs_err::create_dir_all(page.parent().unwrap_or(sources)).map_err(failed)?;
    npm(sources, &["run", "build"], &[("PAGE", page)])
}

/// Installs exactly what the lock file names.
fn install(sources: &Path, always: bool) -> Result<(), Failure> {
    let stamp = sources.join("node_modules").join(".package-lock.json");
    let newer =
        |a: &Path, b: &Path| Some(a.metadata().ok()?.modified().ok()? >= b.metadata().ok()?.modified().ok()?);
    if !always && newer(&stamp, &sources.join("package-lock.json")) == Some(true) {
        return Ok(());
    }
    npm(sources, &["ci", "--no-fund", "--no-audit", "--ignore-scripts"], &[]).map_err(|failure| match failure
    {
        Failure::Failed(text) if NETWORK_ERRORS.iter().any(|code| text.contains(code)) => {
            Failure::Skipped("npm does not reach its registry".to_owned())
        }
        other => other,
    })
}

fn npm(folder: &Path, args: &[&str], variables: &[(&str, &Path)]) -> Result<(), Failure> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let output = Command::new(program)
        .args(args)
        .envs(variables.iter().copied())
        .current_dir(folder)
        .output()
        .map_err(|error| Failure::Skipped(format!("npm cannot be run: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Err(Failure::Failed(format!("{text}\n`npm {}` failed in web/", args.join(" "))))
}

fn need_node() -> Result<(), Failure> {
    let Ok(output) = Command::new("node").arg("--version").output() else {
        return Err(Failure::Skipped("Node is not installed".to_owned()));
    };
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let (major, minor) = MIN_NODE;
    if version(&text).is_some_and(|version| version >= MIN_NODE) {
        return Ok(());
    }
    Err(Failure::Skipped(format!("Node {major}.{minor} or later is needed, {text:?} is installed")))
}

/// Major and minor version of `v20.19.4`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.strip_prefix('v')?.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// The browser named by `CHROMIUM`, or the first one that is installed.
fn browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let installed = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    std::env::var_os("CHROMIUM").map(PathBuf::from).into_iter().chain(installed).find(|path| path.is_file())
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs_err::read(path).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(version("v20.19.4"), Some((20, 19)));
        assert!(version("v8.17.0") < Some(MIN_NODE));
        assert_eq!(version("20.19.4"), None);
    }
}
