//! Builds the guide as a book with mdBook. `cargo xtask tidy` checks its links without it.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

/// The version of mdBook that `--install` installs.
const MDBOOK_VERSION: &str = "0.5.4";
/// Where it is installed, so that a clean build of the project does not remove it.
const TOOLS: &str = "target/tools";

#[derive(Debug, Args)]
pub(crate) struct Book {
    /// Installs mdBook into target/tools where it is missing; takes some minutes and needs the network.
    #[arg(long)]
    install: bool,
}

/// Builds the book; any warning is an error. Without mdBook it reports that nothing was built.
pub(crate) fn run(root: &Path, args: &Book) -> Result<String, String> {
    let mdbook = match find(root) {
        Some(program) => program,
        None if args.install => install(root)?,
        None => {
            return Ok(
                "the book was not built: mdbook is not installed; `cargo xtask book --install` installs it"
                    .to_owned(),
            );
        }
    };
    let output = Command::new(&mdbook)
        .arg("build")
        .current_dir(root)
        .output()
        .map_err(|error| format!("{} cannot be run: {error}", mdbook.display()))?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || ["WARN", "ERROR"].iter().any(|level| log.contains(level)) {
        return Err(format!("mdbook build:\n{log}"));
    }
    Ok("the book is in target/book; open target/book/index.html".to_owned())
}

fn find(root: &Path) -> Option<PathBuf> {
    let runs = |program: &Path| {
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    [PathBuf::from("mdbook"), installed(root)].into_iter().find(|program| runs(program))
}

fn installed(root: &Path) -> PathBuf {
    root.join(TOOLS).join("bin").join(format!("mdbook{}", std::env::consts::EXE_SUFFIX))
}

fn install(root: &Path) -> Result<PathBuf, String> {
    // Without the server and the watcher, which a check does not need.
    let status = Command::new("cargo")
        .args(["install", "mdbook", "--locked", "--version", MDBOOK_VERSION])
        .args(["--no-default-features", "--features", "search", "--root", TOOLS])
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if status.success() { Ok(installed(root)) } else { Err("mdbook cannot be installed".to_owned()) }
}
