//! Caps of the account with several clients at once, and clients that detach.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::processes::Cluster;
use super::server::ServerProgram;
use super::service::{Behavior, CountingService};

const KEY: &str = "sk-cluster-0123456789";
/// Tasks that the account may submit.
const MAX_TASKS: usize = 10;
/// Cells of each client's sweep.
const CELLS: usize = 5;
const CLIENTS: usize = 4;

pub(super) fn run(server: &ServerProgram, program: &Path) -> Result<String, String> {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    let behavior = Behavior {
        lost_answers: 0,
        lost_requests: 0,
        throttled: 0,
        latency: Duration::from_millis(200),
        task: Duration::from_secs(2),
    };
    let service = runtime.block_on(CountingService::start(1, behavior))?;
    caps(server, program, &service)?;
    let service = runtime.block_on(CountingService::start(2, behavior))?;
    detached(server, program, &service)?;
    Ok(format!(
        "{CLIENTS} clients at once kept to the account's cap of {MAX_TASKS} tasks; a client detached, another one followed its run"
    ))
}

fn sweep(cluster: &Cluster, name: &str) -> Result<String, String> {
    let file = format!("{name}.yaml");
    let text = format!(
        "version: 1\nname: {name}\ndefaults: {{model: modelb-video-480p, seconds: 4}}\nshots:\n  - id: c\n    prompt: \"{name} {{{{ x }}}}\"\n    matrix:\n      x: {{from: 1, to: {CELLS}}}\n"
    );
    fs_err::write(cluster.folder().join(&file), text).map_err(|error| error.to_string())?;
    Ok(file)
}

fn caps(server: &ServerProgram, program: &Path, service: &CountingService) -> Result<(), String> {
    let most = MAX_TASKS.to_string();
    let cluster = Cluster::start(server, program, 2, service.base_url(), KEY, &["--max-tasks", &most])?;
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let file = sweep(&cluster, &format!("client-{number}"))?;
        let client = cluster.command(&["run", &file]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        clients.push(client.map_err(|error| error.to_string())?);
    }
    let mut stopped = 0;
    for mut client in clients {
        match client.wait().map_err(|error| error.to_string())?.code() {
            Some(0) => {}
            Some(4) => stopped += 1,
            other => return Err(format!("a client under a cap ended with {other:?}")),
        }
    }
    if service.accepted() != MAX_TASKS || stopped == 0 {
        return Err(format!(
            "{} tasks were accepted under a cap of {MAX_TASKS}; {stopped} clients stopped",
            service.accepted()
        ));
    }
    Ok(())
}

fn detached(server: &ServerProgram, program: &Path, service: &CountingService) -> Result<(), String> {
    let cluster = Cluster::start(server, program, 1, service.base_url(), KEY, &[])?;
    for flags in [&[][..], &["--cancel"][..]] {
        let file = sweep(&cluster, if flags.is_empty() { "followed" } else { "cancelled" })?;
        let before = service.accepted();
        let client = cluster.command(&["run", &file]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let client = client.map_err(|error| error.to_string())?;
        while service.accepted() == before {
            std::thread::sleep(Duration::from_millis(50));
        }
        let interrupt = Command::new("kill").args(["-INT", &client.id().to_string()]).status();
        interrupt.map_err(|error| error.to_string())?;
        let ended = client.wait_with_output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&ended.stderr);
        let run = said.split("--attach ").nth(1).and_then(|rest| rest.split([';', ' ']).next());
        let (Some(130), Some(run)) = (ended.status.code(), run) else {
            return Err(format!("an interrupted client ended with {}: {said}", ended.status));
        };
        let attached = cluster.output(&[&["run", &file, "--attach", run], flags].concat())?;
        let expected = if flags.is_empty() { 0 } else { 130 };
        if attached.status.code() != Some(expected) {
            let said = String::from_utf8_lossy(&attached.stderr);
            return Err(format!("a client that attached {flags:?} ended with {}: {said}", attached.status));
        }
        // What a cancelled run left in flight is adopted.
        let again = cluster.output(&["run", &file])?;
        if !again.status.success() || service.accepted() - before != CELLS {
            let said = String::from_utf8_lossy(&again.stderr);
            return Err(format!("{} tasks for {CELLS} cells: {said}", service.accepted() - before));
        }
    }
    Ok(())
}
