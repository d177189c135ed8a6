//! Runs the program of an archive, where this machine can: in a root folder with nothing but the archive, the libraries that the program names
//! and an empty folder for temporary files.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::build;
use super::target::Target;

/// A workflow of one second.
const WORKFLOW: &str = "version: 1
name: smoke
shots:
  - {id: sea, model: modelb-video-480p, size: 480x480, seconds: 1, prompt: a quiet sea}
film: {output: smoke.mp4}
";

/// What was run; an error if it failed.
pub(super) fn run(out: &Path, archive: &str, target: Target, host: &str) -> Result<String, String> {
    if target.triple != host {
        return Ok(format!("not run: this machine is {host}"));
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let unpacked = unpack(target, out, archive, folder.path())?;
    let (root, location) = match bare_root(target, folder.path(), &unpacked) {
        Ok(()) => (
            Some(folder.path()),
            "in a root folder with its libraries and a temporary folder only".to_owned(),
        ),
        Err(reason) => (None, format!("in an empty folder; not in an empty root folder, because {reason}")),
    };
    commands(target, root, &unpacked)?;
    Ok(format!("`--version`, `check`, `run` and `report` succeed {location}"))
}

/// Runs the program in `unpacked`: with `root` as its root folder, or else as it is.
fn commands(target: Target, root: Option<&Path>, unpacked: &Path) -> Result<(), String> {
    fs_err::write(unpacked.join("smoke.yaml"), WORKFLOW).map_err(|error| error.to_string())?;
    for arguments in [
        &["--version"][..],
        &["check", "workflows/storyboard.yaml", "workflows/sweep.yaml"],
        &["run", "smoke.yaml"],
        &["report", "smoke.yaml", "--format", "junit"],
    ] {
        let output = start(unpacked, root, target, arguments)?;
        if !output.status.success() {
            let messages = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`runner {}` ended with {}: {messages}", arguments.join(" "), output.status));
        }
    }
    let film = unpacked.join("out/smoke/smoke.mp4");
    if !film.is_file() {
        return Err(format!("the run has written no {}", film.display()));
    }
    Ok(())
}

fn start(unpacked: &Path, root: Option<&Path>, target: Target, arguments: &[&str]) -> Result<Output, String> {
    let mut command = if let Some(root) = root {
        let within = unpacked.strip_prefix(root).map_err(|error| error.to_string())?;
        let inside = |file: &str| Path::new("/").join(within).join(file);
        let mut command = Command::new("chroot");
        // `chroot` starts in the root: files are named from there.
        command.arg(root).arg(inside(target.program_name())).args(arguments.iter().map(|argument| {
            let is_file = Path::new(argument).extension().is_some_and(|extension| extension == "yaml");
            if is_file { inside(argument) } else { PathBuf::from(argument) }
        }));
        command
    } else {
        let mut command = Command::new(unpacked.join(target.program_name()));
        command.args(arguments).current_dir(unpacked);
        command
    };
    // Windows needs SystemRoot for its sockets.
    let system: Vec<_> =
        ["SystemRoot", "PATH"].iter().filter_map(|name| Some((name, std::env::var_os(name)?))).collect();
    command
        .env_clear()
        .envs(system)
        .output()
        .map_err(|error| format!("the program cannot be started: {error}"))
}

fn unpack(target: Target, out: &Path, archive: &str, into: &Path) -> Result<PathBuf, String> {
    let bytes = fs_err::read(out.join(archive)).map_err(|error| error.to_string())?;
    let folder = archive.trim_end_matches(".zip").trim_end_matches(".tar.gz");
    if target.is_windows() {
        let archive = zip::ZipArchive::new(std::io::Cursor::new(bytes));
        archive.and_then(|mut archive| archive.extract(into)).map_err(|error| error.to_string())?;
    } else {
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        archive.unpack(into).map_err(|error| error.to_string())?;
    }
    Ok(into.join(folder))
}

/// Copies the libraries that the program names into the root; an error says why the root cannot be used.
fn bare_root(target: Target, root: &Path, unpacked: &Path) -> Result<(), String> {
    if !target.is_linux() {
        return Err("only Linux has it".to_owned());
    }
    if build::output("id", &["-u"], root)?.trim() != "0" {
        return Err("only root can use `chroot`".to_owned());
    }
    let program = unpacked.join(target.program_name());
    let libraries = build::output("ldd", &[&program.to_string_lossy()], root)?;
    // Films are joined in a temporary folder.
    fs_err::create_dir_all(root.join("tmp")).map_err(|error| error.to_string())?;
    for library in libraries.split_whitespace().filter(|word| word.starts_with('/')) {
        let copy = root.join(library.trim_start_matches('/'));
        fs_err::create_dir_all(copy.parent().unwrap_or(root)).map_err(|error| error.to_string())?;
        fs_err::copy(library, copy).map_err(|error| error.to_string())?;
    }
    start(unpacked, Some(root), target, &["--version"]).map(drop)
}
