//! The targets of releases.

use std::process::Command;

/// A target, and what a machine needs to build for it.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) triple: &'static str,
    /// The operating system of machines that link for it.
    pub(super) links_on: &'static str,
}

pub(super) const TARGETS: &[Target] = &[
    Target { triple: "x86_64-unknown-linux-gnu", links_on: "linux" },
    Target { triple: "aarch64-unknown-linux-gnu", links_on: "linux" },
    Target { triple: "x86_64-apple-darwin", links_on: "macos" },
    Target { triple: "aarch64-apple-darwin", links_on: "macos" },
    Target { triple: "x86_64-pc-windows-msvc", links_on: "windows" },
    Target { triple: "aarch64-pc-windows-msvc", links_on: "windows" },
];

impl Target {
    pub(super) fn is_windows(&self) -> bool {
        self.links_on == "windows"
    }

    pub(super) fn is_linux(&self) -> bool {
        self.links_on == "linux"
    }

    /// The name of the program's file.
    pub(super) fn program_name(&self) -> &'static str {
        if self.is_windows() { "runner.exe" } else { "runner" }
    }

    pub(super) fn archive_extension(&self) -> &'static str {
        if self.is_windows() { "zip" } else { "tar.gz" }
    }
}

/// The target of a triple.
pub(super) fn find(triple: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.triple == triple)
}

/// The triple of this machine.
pub(super) fn host() -> Result<String, String> {
    let version = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not name its host".to_owned())
}

/// Whether the standard library of a target is installed.
pub(super) fn has_standard_library(triple: &str) -> bool {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", triple]).output();
    output.is_ok_and(|output| {
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
    })
}
