//! Runs the program of an archive: in a root folder with nothing but the archive, the libraries that the program names, certificates and an
//! empty folder for temporary files, where this machine can.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::build;
use super::target::Target;

/// Where systems keep the certificates of authorities; without any, no HTTP client can be created.
const CERTIFICATES: &[&str] = &["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];

/// A workflow of one second.
const WORKFLOW: &str = "version: 1
name: smoke
shots:
  - {id: sea, model: modelb-video-480p, size: 480x480, seconds: 1, prompt: a quiet sea}
film: {output: smoke.mp4}
";

/// What was run; an error if it failed.
pub(super) fn run(out: &Path, archive: &str, target: &Target, host: &str) -> Result<String, String> {
    if target.triple != host {
        return Ok(format!("not run: this machine is {host}"));
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let root = folder.path();
    let unpacked = unpack(target, out, archive, root)?;
    fs_err::write(unpacked.join("smoke.yaml"), WORKFLOW).map_err(|error| error.to_string())?;
    let name = unpacked.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (place, skipped) = match bare_root(target, root, &unpacked) {
        Ok(()) => {
            ("in a root folder with its libraries, certificates and a temporary folder only", String::new())
        }
        Err(why) => ("in an empty folder", format!("; not in an empty root folder, because {why}")),
    };
    let is_bare = skipped.is_empty();
    for arguments in [
        &["--version"][..],
        &["check", "workflows/storyboard.yaml", "workflows/sweep.yaml"],
        &["run", "smoke.yaml"],
        &["report", "smoke.yaml", "--format", "junit"],
    ] {
        let output = start(&unpacked, root, &name, target, is_bare, arguments)?;
        if !output.status.success() {
            let messages = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`runner {}` ended with {}: {messages}", arguments.join(" "), output.status));
        }
    }
    let film = unpacked.join("out/smoke/smoke.mp4");
    if !film.is_file() {
        return Err(format!("the run has written no {}", film.display()));
    }
    Ok(format!("`--version`, `check`, `run` and `report` succeed {place}{skipped}"))
}

fn start(
    unpacked: &Path,
    root: &Path,
    name: &str,
    target: &Target,
    is_bare: bool,
    arguments: &[&str],
) -> Result<Output, String> {
    let mut command = if is_bare {
        let mut command = Command::new("chroot");
        // The folder of the project is the root's own: `chroot` starts there.
        command.arg(root).arg(format!("/{name}/runner")).args(arguments.iter().map(|argument| {
            let is_file = Path::new(argument).extension().is_some_and(|extension| extension == "yaml");
            if is_file { format!("/{name}/{argument}") } else { (*argument).to_owned() }
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

fn unpack(target: &Target, out: &Path, archive: &str, into: &Path) -> Result<PathBuf, String> {
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
fn bare_root(target: &Target, root: &Path, unpacked: &Path) -> Result<(), String> {
    if !target.is_linux() {
        return Err("only Linux has it".to_owned());
    }
    if build::output("id", &["-u"], root)?.trim() != "0" {
        return Err("only root can use `chroot`".to_owned());
    }
    let program = unpacked.join(target.program_name());
    let listed = build::output("ldd", &[&program.to_string_lossy()], root)?;
    // Films are joined in a temporary folder.
    fs_err::create_dir_all(root.join("tmp")).map_err(|error| error.to_string())?;
    let libraries = listed.split_whitespace().filter(|word| word.starts_with('/'));
    let certificates = CERTIFICATES.iter().copied().filter(|file| Path::new(file).is_file());
    for library in libraries.chain(certificates) {
        let copy = root.join(library.trim_start_matches('/'));
        fs_err::create_dir_all(copy.parent().unwrap_or(root)).map_err(|error| error.to_string())?;
        fs_err::copy(library, copy).map_err(|error| error.to_string())?;
    }
    let name = unpacked.file_name().unwrap_or_default().to_string_lossy().into_owned();
    build::output("chroot", &[&root.to_string_lossy(), &format!("/{name}/runner"), "--version"], root)?;
    Ok(())
}
