//! Runs on a cluster whose processes are killed, at random and at each step of a submission. A service that nobody kills counts what it accepted: in the end each prompt was
//! paid for exactly once and has its video.

use std::path::Path;
use std::process::Child;
use std::time::Duration;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;

use super::attack::{StepKills, Victim, kill_node, restart_node};
use super::processes::{Cluster, KEY, stderr};
use super::server::ServerProgram;
use super::service::{Behavior, CountingService};
use crate::exit_code::ACTION_NEEDED;
use crate::stub_video;

/// Cells of a round's sweep.
const CELLS: usize = 40;
/// Clients that run the same sweep at once.
const CLIENTS: usize = 2;
/// Tasks in flight that the account allows, over all runs.
const MAX_IN_FLIGHT: usize = 12;
/// Runs without kills after which a round has to be done.
const MAX_CALM_RUNS: usize = 12;
/// Kills in a round, at most: each leaves submissions whose outcome is unknown.
const MAX_ROUND_KILLS: usize = 10;
/// Out of a hundred videos, so many are sent slowly.
const SLOW_DOWNLOADS: u64 = 15;
/// Kills with which every step has to have been hit.
const COMPLETE_KILLS: usize = 60;
/// The time limit of a round of kills.
const MAX_ROUND: Duration = Duration::from_mins(5);

#[derive(Debug, Default)]
struct Counts {
    workers: usize,
    nodes: usize,
    clients: usize,
    steps: StepKills,
    rounds: usize,
    adopted: usize,
    resubmitted: usize,
}

impl Counts {
    fn kills(&self) -> usize {
        self.workers + self.nodes + self.clients
    }
}

pub(super) fn run(
    server: &ServerProgram,
    program: &Path,
    worker_program: &Path,
    kills: usize,
    seed: u64,
) -> Result<String, String> {
    let behavior = Behavior {
        dropped_answers: 3,
        dropped_requests: 3,
        throttled: 6,
        latency: Duration::from_millis(400),
        task: Duration::from_millis(1_500),
    };
    let service = CountingService::start(seed, behavior)?;
    service.set_slow_downloads(SLOW_DOWNLOADS);
    let limit = MAX_IN_FLIGHT.to_string();
    // Longer than a task takes.
    let args = ["--max-in-flight", limit.as_str(), "--hold-indeterminate", "5"];
    let account = (service.base_url(), KEY);
    let mut cluster = Cluster::start_with(server, program, worker_program, 2, account, &args)?;
    let mut rng = SplitMix64::seed_from_u64(seed);
    let mut counts = Counts::default();
    while counts.kills() < kills {
        counts.rounds += 1;
        let round = Round::new(&cluster, counts.rounds)?;
        round.attack(&mut cluster, &service, &mut rng, &mut counts)?;
        round.finish(&cluster, &service, &mut counts)?;
        round.check(&cluster, &service)?;
        let in_flight = service.max_in_flight();
        if in_flight > MAX_IN_FLIGHT {
            return Err(format!("{in_flight} tasks were in flight, {MAX_IN_FLIGHT} are allowed"));
        }
        println!(
            "round {}: {} kills so far, {} of them at a step; {} tasks accepted",
            counts.rounds,
            counts.kills(),
            counts.steps.count(),
            service.accepted()
        );
    }
    let (accepted, expected) = (service.accepted(), counts.rounds * CELLS);
    if accepted != expected {
        return Err(format!("{accepted} tasks were accepted for {expected} cells"));
    }
    let (in_flight, nodes) = (service.max_in_flight(), cluster.server.len());
    let Counts { workers, nodes: killed, clients, ref steps, rounds, adopted, resubmitted } = counts;
    let (by_step, missed) = steps.report();
    if kills >= COMPLETE_KILLS && !missed.is_empty() {
        return Err(format!("nothing was killed {}", missed.join(", ")));
    }
    Ok(format!(
        "{nodes} nodes of Restate, 2 workers, {CLIENTS} clients: {} kills ({workers} workers, {killed} nodes, {clients} clients; {} at a step) in \
         {rounds} rounds of {CELLS} cells: 0 paid for twice, 0 lost; at most {in_flight} of {MAX_IN_FLIGHT} tasks in flight; by hand {adopted} \
         adopted, {resubmitted} submitted again\n{by_step}",
        workers + killed + clients,
        steps.count(),
    ))
}

/// A sweep that nobody has run before.
struct Round {
    number: usize,
    file: String,
}

impl Round {
    fn new(cluster: &Cluster, number: usize) -> Result<Self, String> {
        Ok(Self { number, file: cluster.write_sweep(&format!("round-{number}"), CELLS)? })
    }

    fn prompt(&self, cell: usize) -> String {
        format!("round-{} {cell}", self.number)
    }

    fn output(&self) -> String {
        format!("out-{}", self.number)
    }

    /// Runs it at a node.
    fn client(&self, cluster: &Cluster, node: usize) -> Result<Child, String> {
        let out = self.output();
        cluster.spawn_client(node, &["run", &self.file, "--jobs", "16", "--output-dir", &out], "client.log")
    }

    /// Kills something every now and then, until all clients have ended by themselves.
    fn attack(
        &self,
        cluster: &mut Cluster,
        service: &CountingService,
        rng: &mut SplitMix64,
        counts: &mut Counts,
    ) -> Result<(), String> {
        let mut clients = Vec::new();
        for node in 0..CLIENTS {
            clients.push(self.client(cluster, node)?);
        }
        let (begin, killed_before) = (std::time::Instant::now(), counts.kills());
        while !clients.is_empty() {
            std::thread::sleep(Duration::from_millis(200 + rng.next_u64() % 1_000));
            let mut running = Vec::new();
            for mut client in clients {
                if client.try_wait().map_err(|error| error.to_string())?.is_none() {
                    running.push(client);
                }
            }
            clients = running;
            if begin.elapsed() > MAX_ROUND {
                for client in &mut clients {
                    drop(client.kill());
                }
                return Err(format!("round {} did not end; see {}", self.number, cluster.folder().display()));
            }
            if counts.kills() - killed_before >= MAX_ROUND_KILLS {
                continue;
            }
            match rng.next_u64() % 10 {
                0 => {
                    let node = kill_node(cluster, rng);
                    restart_node(cluster, node, rng)?;
                    counts.nodes += 1;
                }
                1 if !clients.is_empty() => {
                    let index = usize::try_from(rng.next_u64() % 64).unwrap_or_default() % clients.len();
                    let mut client = clients.swap_remove(index);
                    client.kill().and_then(|()| client.wait()).map_err(|error| error.to_string())?;
                    counts.clients += 1;
                    // Another run of the same file, while the one that nobody follows any more goes on.
                    clients.push(self.client(cluster, index)?);
                }
                worker @ 1..4 => {
                    cluster.kill_worker(usize::try_from(worker).unwrap_or_default())?;
                    counts.workers += 1;
                }
                _ => match counts.steps.kill(cluster, service, rng)? {
                    Some(Victim::Worker) => counts.workers += 1,
                    Some(Victim::Node) => counts.nodes += 1,
                    None => {}
                },
            }
        }
        Ok(())
    }

    /// Runs the sweep without kills until it is done. Between runs a person resolves what is indeterminate, by what the account lists.
    fn finish(
        &self,
        cluster: &Cluster,
        service: &CountingService,
        counts: &mut Counts,
    ) -> Result<(), String> {
        let out = self.output();
        let mut last = String::new();
        for _ in 0..MAX_CALM_RUNS {
            let output = cluster.output(&[
                "run",
                &self.file,
                "--jobs",
                "16",
                "--output-dir",
                &out,
                "--format",
                "json",
            ])?;
            if output.status.success() {
                return Ok(());
            }
            last = stderr(&output);
            let summary: Value = serde_json::from_slice(&output.stdout)
                .map_err(|error| format!("no summary ({error}): {last}"))?;
            let run = summary["run"].as_str().unwrap_or_default().to_owned();
            if output.status.code() != Some(ACTION_NEEDED) {
                return Err(format!("a run ended with {}: {last}", output.status));
            }
            self.resolve(cluster, service, counts, &run)?;
        }
        Err(format!("round {} is not done after {MAX_CALM_RUNS} runs: {last}", self.number))
    }

    fn resolve(
        &self,
        cluster: &Cluster,
        service: &CountingService,
        counts: &mut Counts,
        run: &str,
    ) -> Result<(), String> {
        while !service.is_idle() {
            std::thread::sleep(Duration::from_millis(50));
        }
        let list = cluster.output(&["resolve", &self.file, "--run", run, "--format", "json"])?;
        let list: Value = serde_json::from_slice(&list.stdout)
            .map_err(|error| format!("no list of submissions ({error}): {}", stderr(&list)))?;
        for submission in list["indeterminate"].as_array().into_iter().flatten() {
            let shot = submission["shot"].as_str().unwrap_or_default();
            let cell = shot.rsplit('=').next().and_then(|cell| cell.parse().ok()).unwrap_or_default();
            let paid = service.paid(&self.prompt(cell));
            let arguments = match paid.as_slice() {
                [] => {
                    counts.resubmitted += 1;
                    vec!["--resubmit"]
                }
                [task] => {
                    counts.adopted += 1;
                    vec!["--adopt", task.as_str()]
                }
                tasks => return Err(format!("{shot} was paid for {} times", tasks.len())),
            };
            let resolved = cluster
                .output(&[&["resolve", &self.file, shot, "--run", run], arguments.as_slice()].concat())?;
            if !resolved.status.success() {
                return Err(format!("{shot}: {}", stderr(&resolved)));
            }
        }
        Ok(())
    }

    /// Each prompt was paid for once, and the video of its task is on disk.
    fn check(&self, cluster: &Cluster, service: &CountingService) -> Result<(), String> {
        let mut videos = Vec::new();
        for entry in
            fs_err::read_dir(cluster.folder().join(self.output())).map_err(|error| error.to_string())?
        {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.extension().is_some_and(|extension| extension == "mp4") {
                videos.push(fs_err::read(path).map_err(|error| error.to_string())?);
            }
        }
        for cell in 1..=CELLS {
            let paid = service.paid(&self.prompt(cell));
            let [task] = paid.as_slice() else {
                return Err(format!("`{}` was paid for {} times", self.prompt(cell), paid.len()));
            };
            if !videos.iter().any(|video| stub_video::is_named(video, task)) {
                return Err(format!("the video of `{}` is lost", self.prompt(cell)));
            }
        }
        Ok(())
    }
}
