//! A sweep of 2,000 cells and `workflows/storyboard.yaml` on a cluster whose service is `runner serve`. The film is that of one machine, byte
//! for byte.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::processes::Cluster;
use super::server::ServerProgram;

const CELLS: usize = 2_000;
const STORYBOARD: &str = "storyboard.yaml";
/// Where its film is, below the output folder.
const FILM: &str = "lighthouse/lighthouse.mp4";

pub(super) fn run(
    root: &Path,
    server: &ServerProgram,
    program: &Path,
    under_test: &Path,
) -> Result<String, String> {
    // With a renderer that is fast.
    let service = Service::start(under_test)?;
    let cluster = Cluster::start(server, program, 2, &service.url, &service.key, &[])?;
    let text = format!(
        "version: 1\nname: sweep\ndefaults: {{model: modelb-video-480p, seconds: 4}}\nshots:\n  - id: c\n    prompt: \"cell {{{{ x }}}}\"\n    matrix:\n      x: {{from: 1, to: {CELLS}}}\n"
    );
    fs_err::write(cluster.folder().join("sweep.yaml"), text).map_err(|error| error.to_string())?;
    let begin = Instant::now();
    let limits = ["--jobs", "200", "--max-submits-per-minute", "100000", "--max-polls-per-second", "10000"];
    succeed(&mut cluster.command(&[&["run", "sweep.yaml"], limits.as_slice()].concat()))?;
    let took = begin.elapsed();
    let videos = videos(&cluster.folder().join("out/sweep"))?;
    if videos != CELLS {
        return Err(format!("{videos} videos of {CELLS} cells are there"));
    }
    drop((cluster, service));

    let storyboard =
        fs_err::read(root.join("workflows").join(STORYBOARD)).map_err(|error| error.to_string())?;
    let service = Service::start(program)?;
    let cluster = Cluster::start(server, program, 2, &service.url, &service.key, &[])?;
    fs_err::write(cluster.folder().join(STORYBOARD), &storyboard).map_err(|error| error.to_string())?;
    succeed(&mut cluster.command(&["run", STORYBOARD]))?;
    let local_folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    fs_err::write(local_folder.path().join(STORYBOARD), &storyboard).map_err(|error| error.to_string())?;
    // With the same service: a film says whether its videos are of the embedded one, which renders without a model.
    let mut local_run = Command::new(program);
    local_run.args(["run", STORYBOARD]).current_dir(local_folder.path()).env_remove("RUNNER_ENGINE");
    local_run.env("RUNNER_BASE_URL", &service.url).env("RUNNER_API_KEY", &service.key);
    succeed(local_run.stdin(Stdio::null()))?;
    let film = |folder: &Path| fs_err::read(folder.join("out").join(FILM)).map_err(|error| error.to_string());
    let (local_film, cluster_film) = (film(local_folder.path())?, film(cluster.folder())?);
    if local_film != cluster_film {
        return Err(format!(
            "the film of the cluster has {} bytes and is not that of one machine, which has {}",
            cluster_film.len(),
            local_film.len()
        ));
    }
    Ok(format!(
        "{} nodes of Restate, 2 workers, `runner serve`: {CELLS} cells in {:.0} s; the film of {STORYBOARD} is that of one machine, {} bytes",
        cluster.server.len(),
        took.as_secs_f64(),
        local_film.len()
    ))
}

fn videos(folder: &Path) -> Result<usize, String> {
    let mut videos = 0;
    for entry in fs_err::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        videos += usize::from(path.extension().is_some_and(|extension| extension == "mp4"));
    }
    Ok(videos)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.stdout(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("a run ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
    }
}

/// `runner serve` on a free port. Dropping it kills it.
struct Service {
    child: Child,
    url: String,
    key: String,
    _data: tempfile::TempDir,
}

impl Service {
    fn start(program: &Path) -> Result<Self, String> {
        let data = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut key = Command::new(program);
        key.args(["serve", "keys", "add", "cluster", "--data"]).arg(data.path());
        let key = key.output().map_err(|error| error.to_string())?;
        let key = String::from_utf8_lossy(&key.stdout).trim().to_owned();
        let log = fs_err::File::create(data.path().join("log")).map_err(|error| error.to_string())?;
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log.into_file())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        let url = line.split_whitespace().find(|word| word.starts_with("http://"));
        let url = url.ok_or_else(|| format!("the service printed no address: {line}"))?.to_owned();
        Ok(Self { child, url, key, _data: data })
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
