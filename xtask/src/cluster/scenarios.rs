//! Caps and limits of the account with several clients at once, and clients that detach.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::processes::{Cluster, KEY, signal, stderr};
use super::server::ServerProgram;
use super::service::{Behavior, CountingService};
use crate::exit_code::{BUDGET_EXCEEDED, DONE, INVALID_INPUT, UNUSABLE};

/// Tasks that the account may submit.
const MAX_TASKS: usize = 10;
/// What they cost at 0.10 each.
const MAX_COST: &str = "1.00";
/// Cells of each client's sweep.
const CELLS: usize = 5;
const CLIENTS: usize = 4;
/// Cells of each client's sweep under limits.
const LIMITED_CELLS: usize = 9;
/// Limits of the account that four clients share. Their work needs more than a minute's submissions.
const MAX_IN_FLIGHT: usize = 4;
const MAX_SUBMITS: usize = 24;
const SUBMITS_PER: Duration = Duration::from_mins(1);

pub(super) fn run(server: &ServerProgram, program: &Path) -> Result<String, String> {
    let behavior = Behavior::without_faults(Duration::from_millis(200), Duration::from_secs(2));
    let start = |seed| CountingService::start(seed, behavior);
    let max_tasks = MAX_TASKS.to_string();
    caps(server, program, &start(1)?, &["--max-tasks", &max_tasks])?;
    caps(server, program, &start(2)?, &["--max-cost", MAX_COST])?;
    limits(server, program, &start(3)?)?;
    detached(server, program, &start(4)?)?;
    Ok(format!(
        "{CLIENTS} clients at once kept to the account's cap of {MAX_TASKS} tasks and to one on their cost, to {MAX_IN_FLIGHT} tasks in flight \
         and to {MAX_SUBMITS} submissions a minute at every instant; a client detached, another one followed its run"
    ))
}

fn sweep(cluster: &Cluster, name: &str, cells: usize) -> Result<String, String> {
    let prices = "version: 1\ncurrency: USD\nas_of: 2026-01-31\nsource: the test\nprices:\n  - {model: modelb-video-480p, per_task: 0.10}\n";
    fs_err::write(cluster.folder().join("prices.yaml"), prices).map_err(|error| error.to_string())?;
    cluster.write_sweep(name, cells)
}

/// The exit codes of clients that run a sweep each at the same time. What one says that cannot be used is an error.
fn run_clients(cluster: &Cluster, cells: usize) -> Result<Vec<Option<i32>>, String> {
    // All of them first: a client reads the price table that the next one's sweep would write.
    let files: Result<Vec<String>, String> =
        (0..CLIENTS).map(|number| sweep(cluster, &format!("client-{number}"), cells)).collect();
    let mut clients = Vec::new();
    for (number, file) in files?.iter().enumerate() {
        clients.push(cluster.spawn_client(number, &["run", file], &format!("client-{number}.log"))?);
    }
    let mut codes = Vec::new();
    for (number, mut client) in clients.into_iter().enumerate() {
        let code = client.wait().map_err(|error| error.to_string())?.code();
        if matches!(code, Some(INVALID_INPUT | UNUSABLE)) {
            let log = cluster.folder().join(format!("client-{number}.log"));
            let log = fs_err::read_to_string(log).unwrap_or_default();
            return Err(format!("client {number} could not go on: {log}"));
        }
        codes.push(code);
    }
    Ok(codes)
}

fn caps(
    server: &ServerProgram,
    program: &Path,
    service: &CountingService,
    cap: &[&str],
) -> Result<(), String> {
    let cluster = Cluster::start(server, program, 2, (service.base_url(), KEY), cap)?;
    let codes = run_clients(&cluster, CELLS)?;
    let stopped = codes.iter().filter(|code| **code == Some(BUDGET_EXCEEDED)).count();
    if !codes.iter().all(|code| matches!(code, Some(DONE | BUDGET_EXCEEDED))) {
        return Err(format!("clients under {cap:?} ended with {codes:?}"));
    }
    if service.accepted() != MAX_TASKS || stopped == 0 {
        return Err(format!(
            "{} tasks were accepted under {cap:?}, which allows {MAX_TASKS}; {stopped} clients stopped",
            service.accepted()
        ));
    }
    Ok(())
}

/// The limits of the account over all clients, as the service sees them.
fn limits(server: &ServerProgram, program: &Path, service: &CountingService) -> Result<(), String> {
    let (in_flight, submits) = (MAX_IN_FLIGHT.to_string(), MAX_SUBMITS.to_string());
    let args = ["--max-in-flight", in_flight.as_str(), "--max-submits-per-minute", submits.as_str()];
    let cluster = Cluster::start(server, program, 2, (service.base_url(), KEY), &args)?;
    let codes = run_clients(&cluster, LIMITED_CELLS)?;
    if codes.iter().any(|code| *code != Some(DONE)) || service.accepted() != CLIENTS * LIMITED_CELLS {
        return Err(format!(
            "{} tasks were accepted; clients under limits ended with {codes:?}",
            service.accepted()
        ));
    }
    let in_flight = service.max_in_flight();
    if in_flight > MAX_IN_FLIGHT {
        return Err(format!("{in_flight} tasks were in flight under a limit of {MAX_IN_FLIGHT}"));
    }
    let submitted = service.max_submissions(SUBMITS_PER);
    if submitted > MAX_SUBMITS {
        return Err(format!("{submitted} submissions came within a minute under a limit of {MAX_SUBMITS}"));
    }
    Ok(())
}

fn detached(server: &ServerProgram, program: &Path, service: &CountingService) -> Result<(), String> {
    let cluster = Cluster::start(server, program, 1, (service.base_url(), KEY), &[])?;
    for flags in [&[][..], &["--cancel"][..]] {
        let file = sweep(&cluster, if flags.is_empty() { "followed" } else { "cancelled" }, CELLS)?;
        let before = service.accepted();
        let client = cluster.command(&["run", &file]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let client = client.map_err(|error| error.to_string())?;
        while service.accepted() == before {
            std::thread::sleep(Duration::from_millis(50));
        }
        signal(&client, "INT")?;
        let output = client.wait_with_output().map_err(|error| error.to_string())?;
        let messages = stderr(&output);
        let run = messages.split("--attach ").nth(1).and_then(|rest| rest.split([';', ' ']).next());
        let (Some(130), Some(run)) = (output.status.code(), run) else {
            return Err(format!("an interrupted client ended with {}: {messages}", output.status));
        };
        let attached = cluster.output(&[&["run", &file, "--attach", run], flags].concat())?;
        let expected = if flags.is_empty() { 0 } else { 130 };
        if attached.status.code() != Some(expected) {
            let (status, stderr) = (attached.status, stderr(&attached));
            return Err(format!("a client that attached {flags:?} ended with {status}: {stderr}"));
        }
        // What a cancelled run left in flight is adopted.
        let second_run = cluster.output(&["run", &file])?;
        if !second_run.status.success() || service.accepted() - before != CELLS {
            let tasks = service.accepted() - before;
            return Err(format!("{tasks} tasks for {CELLS} cells: {}", stderr(&second_run)));
        }
    }
    Ok(())
}
