//! What the runner adds to the time that a service imposes: real processes, real HTTP, real videos, a durable ledger.
//!
//! The service is in this process and the runner in one of its own, so that its processor time can be told apart.

mod service;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use service::Plain;

/// Ticks of the kernel's clock a second, as Linux tells processor time.
const TICKS: f64 = 100.0;

struct Load {
    name: &'static str,
    tasks: usize,
    /// Whether each shot continues the one before.
    chained: bool,
    /// How many the service renders at once; the others wait there in order.
    at_once: usize,
    /// How many the runner keeps out: a few more, so that the service never waits for it.
    jobs: usize,
    takes: Duration,
    /// The makespan may be this many times what the service imposes.
    bound: f64,
    /// Seconds of processor time that the runner may take.
    cpu: Option<f64>,
}

const LOADS: [Load; 2] = [
    Load {
        name: "1,000 tasks of 50 ms, 64 at once",
        tasks: 1_000,
        chained: false,
        at_once: 64,
        jobs: 96,
        takes: Duration::from_millis(50),
        bound: 1.25,
        cpu: Some(1.5),
    },
    Load {
        name: "a chain of 20 tasks of 0.5 s",
        tasks: 20,
        chained: true,
        at_once: 64,
        jobs: 64,
        takes: Duration::from_millis(500),
        bound: 1.05,
        cpu: None,
    },
];

pub(super) fn measure(root: &Path) -> Result<String, String> {
    let cargo = ["build", "--release", "--quiet", "-p", "runner"];
    let built = Command::new("cargo").args(cargo).current_dir(root).status();
    if !built.map_err(|error| error.to_string())?.success() {
        return Err("the runner cannot be built".to_owned());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let (mut said, mut broken) = (String::new(), false);
    for load in &LOADS {
        let service = runtime.block_on(Plain::start(load.at_once, load.takes))?;
        let (took, cpu) = run(load, &service)?;
        let rounds = if load.chained { load.tasks as f64 } else { load.tasks as f64 / load.at_once as f64 };
        let imposed = rounds * load.takes.as_secs_f64();
        let calls = service.calls();
        let ratio = took.as_secs_f64() / imposed;
        let _ = writeln!(
            said,
            "{}: {:.3} s, {ratio:.3} x the {imposed:.3} s that the service imposes (bound {}), {cpu:.2} s of processor time{}; {} POSTs, {} polls, \
             {} downloads; the service was busy for {:.3} s",
            load.name,
            took.as_secs_f64(),
            load.bound,
            load.cpu.map(|bound| format!(" (bound {bound})")).unwrap_or_default(),
            calls.posts,
            calls.polls,
            calls.downloads,
            service.busy_for().as_secs_f64(),
        );
        broken |=
            ratio > load.bound || load.cpu.is_some_and(|bound| cpu > bound) || calls.posts != load.tasks;
    }
    if broken { Err(said) } else { Ok(said) }
}

/// The makespan and the processor time of `runner run`, from the start of its process to its end.
fn run(load: &Load, service: &Plain) -> Result<(Duration, f64), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("runner");
    let project = tempfile::tempdir().map_err(|error| error.to_string())?;
    fs_err::write(project.path().join("load.yaml"), workflow(load)).map_err(|error| error.to_string())?;
    let cpu_before = cpu_of_children()?;
    let started = Instant::now();
    let ended = Command::new(program)
        .args(["run", "load.yaml", "--jobs", &load.jobs.to_string(), "--format", "json"])
        .current_dir(project.path())
        .env("RUNNER_BASE_URL", service.base_url())
        .env("RUNNER_API_KEY", "sk-bench")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let took = started.elapsed();
    if !ended.status.success() {
        return Err(String::from_utf8_lossy(&ended.stderr).into_owned());
    }
    Ok((took, cpu_of_children()? - cpu_before))
}

fn workflow(load: &Load) -> String {
    let mut text = String::from(
        "version: 1\nname: load\ndefaults: { model: modela-video-2-0-260128, seconds: 4, resolution: 480p, ratio: \"16:9\" }\nshots:\n",
    );
    if load.chained {
        for shot in 0..load.tasks {
            let _ = writeln!(text, "  - id: s{shot}\n    prompt: \"a harbour, scene {shot}\"");
            if shot > 0 {
                let _ = writeln!(text, "    continues: s{}", shot - 1);
            }
        }
    } else {
        let _ = writeln!(
            text,
            "  - id: shot\n    prompt: \"a harbour, take {{{{ number }}}}\"\n    matrix:\n      number: {{ from: 1, to: {} }}",
            load.tasks
        );
    }
    text
}

/// Seconds of processor time of this process's children that have ended, as Linux tells it (proc(5), fields 16 and 17 of `stat`).
fn cpu_of_children() -> Result<f64, String> {
    let stat =
        std::fs::read_to_string("/proc/self/stat").map_err(|error| format!("{error}; this needs Linux"))?;
    // The name before the closing parenthesis may hold anything.
    let fields: Vec<&str> =
        stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect()).unwrap_or_default();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    match (ticks(13), ticks(14)) {
        (Some(user), Some(system)) => Ok((user + system) / TICKS),
        _ => Err("/proc/self/stat has another form".to_owned()),
    }
}
