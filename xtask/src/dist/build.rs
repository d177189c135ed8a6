//! Builds the program for a target.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::target::Target;

/// The oldest glibc that programs for Linux run on: that of RHEL 7 and Debian 8.
const GLIBC: &str = "2.17";

/// A program that was built.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// The same program for this machine, which writes completions and man pages.
    pub(super) runnable: PathBuf,
    /// How it was built, for people.
    pub(super) note: String,
}

/// Builds the program of the release profile; an error says what is missing.
pub(super) fn program(root: &Path, target: Target, host: &str) -> Result<Program, String> {
    let has_zig = target.is_linux() && output("cargo-zigbuild", &["--version"], root).is_ok();
    if target.is_linux() && target.triple != host && !has_zig {
        return Err("there is no linker for it: `pip install cargo-zigbuild ziglang` brings one".to_owned());
    }
    let target_dir = root.join("target/dist-build");
    let mut cargo = Command::new("cargo");
    let triple = if has_zig { format!("{}.{GLIBC}", target.triple) } else { target.triple.to_owned() };
    cargo
        .args([if has_zig { "zigbuild" } else { "build" }, "--release", "--locked", "--package", "runner"])
        .args(["--target", &triple])
        .env("CARGO_TARGET_DIR", &target_dir)
        .env("RUSTFLAGS", remapped_paths(root))
        .current_dir(root);
    let status = cargo.status().map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!("the build ended with {status}"));
    }
    let path = target_dir.join(target.triple).join("release").join(target.program_name());
    let note = match (target.is_linux(), has_zig) {
        (true, true) => format!("built with zig for glibc {GLIBC} and later"),
        (true, false) => "built for the glibc of this machine and later".to_owned(),
        (false, _) => "built".to_owned(),
    };
    let runnable = if output(&path.to_string_lossy(), &["--version"], root).is_ok() {
        path.clone()
    } else {
        output("cargo", &["build", "--quiet", "--locked", "--package", "runner"], root)?;
        root.join("target/debug").join(format!("runner{}", std::env::consts::EXE_SUFFIX))
    };
    Ok(Program { path, runnable, note })
}

/// Compiler flags that replace paths of this machine in messages and debug information.
fn remapped_paths(root: &Path) -> String {
    let home = std::env::var("CARGO_HOME").ok().map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let home = home.map(|home| format!(" --remap-path-prefix={}=cargo", home.display()));
    format!("--remap-path-prefix={}=runner{}", root.display(), home.unwrap_or_default())
}

/// The standard output of a program that has to succeed.
pub(super) fn output(program: &str, arguments: &[&str], folder: &Path) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("{program} cannot be run: {error}"))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{program} ended with {}: {}", output.status, messages.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
