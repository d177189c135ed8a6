//! Archives for releases: the program with its documents, completions and man pages, checksums, and packages that refer to them.
//!
//! Archives are reproducible: entries are sorted, and have the time of the commit (or `SOURCE_DATE_EPOCH`) and no owner. Paths of the machine
//! are removed from the program.

mod archive;
mod build;
mod contents;
mod licences;
mod packages;
mod smoke;
mod target;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use sha2::{Digest as _, Sha256};

use self::target::Target;

/// Arguments of `cargo xtask dist`.
#[derive(Debug, Args)]
pub(crate) struct Dist {
    /// Target to build for; it has to succeed. Without one: this machine's, and all others that the toolchain can build.
    #[arg(long = "target", value_name = "TRIPLE")]
    targets: Vec<String>,
    /// Pack this program, which was built for this machine, instead of building one.
    #[arg(long, value_name = "FILE", conflicts_with = "targets")]
    program: Option<PathBuf>,
    /// Folder for the archives.
    #[arg(long, value_name = "FOLDER", default_value = "target/dist")]
    out: PathBuf,
    /// Do not run the program that was built.
    #[arg(long)]
    no_smoke_test: bool,
    /// Also runs the program in this root folder of a distribution, such as one that `debootstrap` makes; once for each.
    #[arg(long = "root", value_name = "FOLDER", conflicts_with = "no_smoke_test")]
    roots: Vec<PathBuf>,
    /// Build nothing: write SHA256SUMS and the packages (Homebrew, Arch Linux) for the archives in the folder, which are published as a
    /// release of this repository.
    #[arg(long, value_name = "URL", conflicts_with_all = ["targets", "program", "no_smoke_test", "roots"])]
    package_for: Option<String>,
}

/// Builds the archives, or the packages.
pub(crate) fn run(root: &Path, args: &Dist) -> Result<String, String> {
    let out = root.join(&args.out);
    fs_err::create_dir_all(&out).map_err(|error| error.to_string())?;
    let version = env!("CARGO_PKG_VERSION");
    if let Some(repository) = &args.package_for {
        let sums = checksums(&out)?;
        let packages = packages::write(root, &out, version, repository, &sums)?;
        return Ok(format!("dist: wrote SHA256SUMS of {} archives, {}", sums.len(), packages.join(", ")));
    }
    let host = target::host()?;
    let mut report = String::new();
    let mut built = 0;
    let triples = if args.program.is_some() { std::slice::from_ref(&host) } else { &args.targets };
    for target in requested(triples, &host)? {
        let is_required = target.triple == host || !args.targets.is_empty();
        let program = match &args.program {
            Some(path) => Ok(build::Program::existing(path)),
            None => build::program(root, target, &host),
        };
        match program {
            Ok(program) => {
                let name = pack(root, &out, version, target, &program)?;
                let _ = writeln!(report, "{name}: {}", program.note);
                if !args.no_smoke_test {
                    let _ =
                        writeln!(report, "{name}: {}", smoke::run(&out, &name, target, &host, &args.roots)?);
                }
                built += 1;
            }
            Err(reason) if is_required => return Err(format!("{report}{}: {reason}", target.triple)),
            Err(reason) => {
                let _ = writeln!(report, "{}: skipped, {reason}", target.triple);
            }
        }
    }
    let sums = checksums(&out)?;
    let _ = write!(report, "dist: {built} archives built; SHA256SUMS lists {}", sums.len());
    Ok(report)
}

fn requested(triples: &[String], host: &str) -> Result<Vec<&'static Target>, String> {
    if triples.is_empty() {
        let mut all: Vec<&Target> = target::TARGETS.iter().collect();
        // This machine's first: the others need its program for completions and man pages.
        all.sort_by_key(|target| target.triple != host);
        return Ok(all);
    }
    let released = || target::TARGETS.iter().map(|target| target.triple).collect::<Vec<_>>().join(", ");
    let find = |triple: &String| {
        target::find(triple)
            .ok_or_else(|| format!("{triple} is not released; the targets are {}", released()))
    };
    triples.iter().map(find).collect()
}

/// Writes the archive of a target; its file name.
fn pack(
    root: &Path,
    out: &Path,
    version: &str,
    target: &Target,
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
