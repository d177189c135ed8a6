//! The measuring program, built from this checkout or from an earlier commit.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

const NAME: &str = "clip_costs";
const SOURCE: &str = include_str!("../../../../crates/renderer/examples/clip_costs.rs");

/// CPU seconds of one clip.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Cost {
    /// Of the whole process.
    pub(super) total: f64,
    /// Of the thread that renders, for a clip without sound.
    pub(super) silent: f64,
}

pub(super) struct Program(PathBuf);

impl Program {
    /// Builds the program of this checkout.
    pub(super) fn own(root: &Path) -> Result<Self, String> {
        build(root, &root.join("target"))
    }

    /// Builds the program of another commit, in a checkout of its own below `target`, which is kept for the next time.
    pub(super) fn from_commit(root: &Path, commit: &str) -> Result<Self, String> {
        let name = super::super::build::git_output(root, &["rev-parse", "--short=12", "--verify", commit])?;
        let folder = root.join("target/against").join(&name);
        let checkout = folder.join("checkout");
        if !checkout.exists() {
            let path = checkout.to_string_lossy().into_owned();
            super::super::build::git(root, &["worktree", "prune"])?;
            super::super::build::git(root, &["worktree", "add", "--quiet", "--detach", &path, &name])?;
        }
        let examples = checkout.join("crates/renderer/examples");
        fs_err::create_dir_all(&examples).map_err(|error| error.to_string())?;
        fs_err::write(examples.join(NAME).with_extension("rs"), SOURCE).map_err(|error| error.to_string())?;
        build(&checkout, &folder.join("target"))
    }

    /// Runs it for one clip.
    pub(super) fn measure(
        &self,
        prompt: &str,
        (width, height): (u32, u32),
        seconds: f64,
    ) -> Result<Cost, String> {
        let output = Command::new(&self.0)
            .args([width.to_string(), height.to_string(), seconds.to_string(), prompt.to_owned()])
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("{}: {error}", self.0.display()))?;
        if !output.status.success() {
            return Err(format!("{} failed: {}", self.0.display(), output.status));
        }
        serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{NAME} printed something else: {error}"))
    }
}

fn build(checkout: &Path, target: &Path) -> Result<Program, String> {
    let status = Command::new("cargo")
        .args(["build", "--release", "--locked", "--quiet", "--package", "renderer", "--example", NAME])
        .current_dir(checkout)
        .env("CARGO_TARGET_DIR", target)
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!("{NAME} of {} cannot be built", checkout.display()));
    }
    Ok(Program(target.join("release/examples").join(NAME)))
}
