//! The measuring program, built from this checkout or from an earlier commit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

const NAME: &str = "clip_costs";
const SOURCE: &str = include_str!("../../../../crates/renderer/examples/clip_costs.rs");

/// What the program needs to be built where the renderer was a module of the service, and had neither looks nor a field for the model.
const OLDER: [(&str, &str); 7] = [
    ("use renderer::{Job, Look, Quality};", "use service::render::{Job, Procedural, Quality, Renderer};"),
    ("        model: String::new(),\n", ""),
    ("Look::Scene, ", ""),
    ("Look::Animatic, ", ""),
    ("(kind, look, quality)", "(kind, quality)"),
    ("look.draw", "Procedural.draw"),
    ("look.renderer().render", "Procedural.render"),
];

/// CPU seconds of one clip of one kind.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Cost {
    /// Of the whole process.
    pub(super) total: f64,
    /// Of the thread that renders: all but the encoding of AAC.
    pub(super) thread: f64,
    /// Of that thread: drawing alone, with the preparation of the scene; 0 where [`Measurement::Totals`] are measured.
    pub(super) drawing: f64,
    /// Of that thread, for a clip without sound; 0 where [`Measurement::Totals`] are measured.
    pub(super) silent: f64,
}

/// What is measured of a clip.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Measurement {
    All,
    Totals,
}

/// By kind: scene, fast, animatic.
pub(super) type Costs = BTreeMap<String, Cost>;

pub(super) struct Program(PathBuf);

impl Program {
    /// Builds the program of this checkout.
    pub(super) fn own(root: &Path) -> Result<Self, String> {
        build(root, &root.join("target"), "renderer")
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
        let has_crate = checkout.join("crates/renderer").is_dir();
        let package = if has_crate { "renderer" } else { "service" };
        let examples = checkout.join("crates").join(package).join("examples");
        let source = if has_crate { SOURCE.to_owned() } else { older(SOURCE) };
        fs_err::create_dir_all(&examples).map_err(|error| error.to_string())?;
        fs_err::write(examples.join(NAME).with_extension("rs"), source).map_err(|error| error.to_string())?;
        build(&checkout, &folder.join("target"), package)
    }

    /// Runs it for one clip.
    pub(super) fn measure(
        &self,
        prompt: &str,
        (width, height): (u32, u32),
        seconds: f64,
        measured: Measurement,
    ) -> Result<Costs, String> {
        let output = Command::new(&self.0)
            .args([width.to_string(), height.to_string(), seconds.to_string(), prompt.to_owned()])
            .args((measured == Measurement::Totals).then_some("--totals"))
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

fn older(source: &str) -> String {
    OLDER.iter().fold(source.to_owned(), |source, (from, to)| source.replace(from, to))
}

fn build(checkout: &Path, target: &Path, package: &str) -> Result<Program, String> {
    let status = Command::new("cargo")
        .args(["build", "--release", "--locked", "--quiet", "--package", package, "--example", NAME])
        .current_dir(checkout)
        .env("CARGO_TARGET_DIR", target)
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!("{NAME} of {} cannot be built", checkout.display()));
    }
    Ok(Program(target.join("release/examples").join(NAME)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_replacement_for_older_commits_applies() {
        for (from, _) in super::OLDER {
            assert!(super::SOURCE.contains(from), "{from}");
        }
        let older = super::older(super::SOURCE);
        assert!(!older.contains("look.") && !older.contains("Look::"), "{older}");
    }
}
