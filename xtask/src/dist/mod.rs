//! Archives for releases: the program with its documents, completions and man pages, checksums, and packages that refer to them.
//!
//! Archives are reproducible: entries are sorted, and have no owner and the time of the commit (or `SOURCE_DATE_EPOCH`), in zip none. Paths of the machine
//! are removed from the program.

mod archive;
mod build;
mod contents;
mod licences;
mod packages;
mod smoke;
mod target;

use std::path::Path;

use clap::Args;
use sha2::{Digest as _, Sha256};

use self::target::Target;

/// The folder of the archives.
const OUT: &str = "target/dist";

/// Arguments of `cargo xtask dist`.
#[derive(Debug, Args)]
pub(crate) struct Dist {
    /// Target to build for [default: this machine's].
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Build nothing: write SHA256SUMS and the packages (Homebrew, Arch Linux) for the archives in target/dist, which are published as a
    /// release of this repository.
    #[arg(long, value_name = "URL", conflicts_with = "target")]
    package_for: Option<String>,
}

/// Builds an archive, or the packages.
pub(crate) fn run(root: &Path, args: &Dist) -> Result<String, String> {
    let out = root.join(OUT);
    fs_err::create_dir_all(&out).map_err(|error| error.to_string())?;
    let version = env!("CARGO_PKG_VERSION");
    if let Some(repository) = &args.package_for {
        let sums = checksums(&out)?;
        let packages = packages::write(root, &out, version, repository, &sums)?;
        return Ok(format!("dist: wrote SHA256SUMS of {} archives, {}", sums.len(), packages.join(", ")));
    }
    let host = crate::release::host()?;
    let triple = args.target.as_ref().unwrap_or(&host);
    let target = target::find(triple).ok_or_else(|| {
        let released: Vec<&str> = target::TARGETS.iter().map(|target| target.triple).collect();
        format!("{triple} is not released; the targets are {}", released.join(", "))
    })?;
    let program = build::program(root, target, &host).map_err(|reason| format!("{triple}: {reason}"))?;
    let name = pack(root, &out, version, target, &program)?;
    let smoke = smoke::run(&out, &name, target, &host)?;
    let sums = checksums(&out)?;
    Ok(format!("{name}: {}; {smoke}; SHA256SUMS lists {} archives", program.note, sums.len()))
}

/// Writes the archive of a target; its file name.
fn pack(
    root: &Path,
    out: &Path,
    version: &str,
    target: Target,
    program: &build::Program,
) -> Result<String, String> {
    let folder = format!("runner-{version}-{}", target.triple);
    let files = contents::files(root, target, program)?;
    let name = format!("{folder}.{}", target.archive_extension());
    let path = out.join(&name);
    let bytes = archive::pack(target, &folder, &files, commit_time(root)?)?;
    fs_err::write(path, bytes).map_err(|error| error.to_string())?;
    Ok(name)
}

/// Seconds since the epoch: `SOURCE_DATE_EPOCH`, or the time of the commit.
fn commit_time(root: &Path) -> Result<u64, String> {
    if let Ok(time) = std::env::var("SOURCE_DATE_EPOCH") {
        return time.parse().map_err(|_| "SOURCE_DATE_EPOCH is not a number of seconds".to_owned());
    }
    let time = build::output("git", &["log", "-1", "--format=%ct"], root)?;
    time.trim().parse().map_err(|_| format!("git gives no time of a commit: {time}"))
}

/// The checksums of the archives in a folder by name, also written to SHA256SUMS as `sha256sum --check` reads it.
fn checksums(folder: &Path) -> Result<Vec<(String, String)>, String> {
    let mut sums = Vec::new();
    for entry in fs_err::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_archive = path.extension().is_some_and(|extension| extension == "gz" || extension == "zip");
        if name.starts_with("runner-") && is_archive {
            let bytes = fs_err::read(&path).map_err(|error| error.to_string())?;
            sums.push((name, hex::encode(Sha256::digest(bytes))));
        }
    }
    sums.sort();
    let lines: Vec<String> = sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    fs_err::write(folder.join("SHA256SUMS"), lines.concat()).map_err(|error| error.to_string())?;
    Ok(sums)
}
