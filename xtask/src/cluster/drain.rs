//! A worker that is told to end in the middle of submissions: it sends no more, waits for those that it has sent, and ends by itself. Another
//! worker goes on, and no submission is indeterminate, as some would be after a kill. A program of another version is refused at the address of
//! the workers, before it listens there.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::processes::{Cluster, KEY, stderr};
use super::server::ServerProgram;
use super::service::{Behavior, CountingService};

const CELLS: usize = 16;
/// Fewer than cells, so that invocations wait for permits while the worker ends.
const MAX_IN_FLIGHT: &str = "6";
/// Until submissions are answered, at most twice this.
const LATENCY: Duration = Duration::from_secs(2);
/// How long a worker may take to end, of the two minutes that it would have.
const MAX_DRAIN: Duration = Duration::from_secs(30);

pub(super) fn run(server: &ServerProgram, program: &Path) -> Result<String, String> {
    let behavior = Behavior::without_faults(LATENCY, Duration::from_secs(4));
    let service = CountingService::start(4, behavior)?;
    let args = ["-v", "--max-in-flight", MAX_IN_FLIGHT];
    // One worker, so that all submissions are its own.
    let mut cluster = Cluster::start(server, program, 1, (service.base_url(), KEY), &args)?;
    let file = cluster.write_sweep("drain", CELLS)?;
    let client = cluster
        .command(&["run", &file, "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let worker = *cluster.worker_ids().first().ok_or("there is no worker")?;
    let refusal = other_version(&cluster, program, worker, service.base_url())?;
    while service.is_idle() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill_status = Command::new("kill").args(["-TERM", &worker.to_string()]).status();
    kill_status.map_err(|error| error.to_string())?;
    let begin = Instant::now();
    while is_running(worker)? {
        if begin.elapsed() > MAX_DRAIN {
            return Err(format!("a worker that was told to end is still there after {MAX_DRAIN:?}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let took = begin.elapsed();
    // It has ended; another one takes its place.
    cluster.kill_worker(0)?;
    let output = client.wait_with_output().map_err(|error| error.to_string())?;
    if !output.status.success() || service.accepted() != CELLS {
        let stderr = stderr(&output);
        let [workers, restate] = ["worker.log", "restate/log"].map(|log| {
            // Without a log there is nothing to be shown.
            fs_err::read_to_string(cluster.folder().join(log)).unwrap_or_default()
        });
        return Err(format!(
            "a run ended with {}: {stderr}\nworkers:\n{workers}\nRestate:\n{restate}",
            output.status
        ));
    }
    Ok(format!(
        "a worker that was told to end did so after {:.1} s; all {CELLS} shots were done, and none was indeterminate; another version was refused: {refusal}",
        took.as_secs_f64()
    ))
}

/// Starts a worker of another build at the address of the others. Returns why it did not start.
fn other_version(cluster: &Cluster, program: &Path, worker: u32, base_url: &str) -> Result<String, String> {
    let other_program = cluster.folder().join("other-version");
    // A byte after the end of a program changes nothing but its digest.
    let mut content = fs_err::read(program).map_err(|error| error.to_string())?;
    content.push(0);
    fs_err::write(&other_program, content).map_err(|error| error.to_string())?;
    let permissions = fs_err::metadata(program).map_err(|error| error.to_string())?.permissions();
    fs_err::set_permissions(&other_program, permissions).map_err(|error| error.to_string())?;
    let ps = Command::new("ps").args(["-ww", "-o", "args=", "-p", &worker.to_string()]).output();
    let line = String::from_utf8_lossy(&ps.map_err(|error| error.to_string())?.stdout).into_owned();
    let args: Vec<&str> = line.split_whitespace().skip(1).collect();
    let output = Command::new(&other_program)
        .args(args)
        .env("RUNNER_ENGINE", cluster.engine())
        .env("RUNNER_STORE", cluster.store())
        .env("RUNNER_BASE_URL", base_url)
        .env("RUNNER_API_KEY", KEY)
        .output()
        .map_err(|error| error.to_string())?;
    fs_err::remove_file(&other_program).map_err(|error| error.to_string())?;
    let stderr = stderr(&output);
    let reason = stderr.lines().find(|line| line.contains("Restate has workers of version"));
    match (output.status.code(), reason) {
        (Some(5), Some(reason)) if stderr.contains("hint: start it at another address") => {
            Ok(reason.to_owned())
        }
        _ => Err(format!("a worker of another version ended with {}: {stderr}", output.status)),
    }
}

/// Whether a child of this process runs that nobody has waited for.
fn is_running(id: u32) -> Result<bool, String> {
    let ps = Command::new("ps").args(["-o", "stat=", "-p", &id.to_string()]).output();
    let state = String::from_utf8_lossy(&ps.map_err(|error| error.to_string())?.stdout).trim().to_owned();
    Ok(!state.is_empty() && !state.starts_with('Z'))
}
