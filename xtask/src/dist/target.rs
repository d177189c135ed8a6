//! The targets of releases.

/// A target of releases, as rustc names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) triple: &'static str,
}

pub(super) const TARGETS: [Target; 6] = [
    Target { triple: "x86_64-unknown-linux-gnu" },
    Target { triple: "aarch64-unknown-linux-gnu" },
    Target { triple: "x86_64-apple-darwin" },
    Target { triple: "aarch64-apple-darwin" },
    Target { triple: "x86_64-pc-windows-msvc" },
    Target { triple: "aarch64-pc-windows-msvc" },
];

impl Target {
    pub(super) fn is_windows(self) -> bool {
        self.triple.contains("windows")
    }

    pub(super) fn is_linux(self) -> bool {
        self.triple.contains("linux")
    }

    /// The name of the program's file.
    pub(super) fn program_name(self) -> &'static str {
        if self.is_windows() { "runner.exe" } else { "runner" }
    }

    pub(super) fn archive_extension(self) -> &'static str {
        if self.is_windows() { "zip" } else { "tar.gz" }
    }
}

/// The target of a triple.
pub(super) fn find(triple: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.triple == triple)
}
