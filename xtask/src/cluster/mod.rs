//! Restate, workers and clients on loopback: by hand (`up`), attacked (`test`) and measured (`bench`).
//!
//! Everything goes through the built program, as users have it. Restate's server comes from its npm package; where it cannot be had, nothing
//! is tested, and that is said.

mod bench;
mod kill_test;
mod processes;
mod scenarios;
mod server;
mod service;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Subcommand};

use processes::Cluster;
use server::ServerProgram;

/// Arguments of `cargo xtask cluster`.
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    command: ClusterCommand,
    /// The program, instead of a debug build of the runner with the feature `cluster`.
    #[arg(long, global = true)]
    program: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum ClusterCommand {
    /// Starts Restate and workers for the service that `RUNNER_BASE_URL` and `RUNNER_API_KEY` name, until Enter is pressed.
    Up {
        /// Number of workers.
        #[arg(long, default_value_t = 2)]
        workers: usize,
    },
    /// Caps with several clients, clients that detach; then kills workers, Restate and clients at random while runs are executed; nothing may be paid for twice, and nothing lost.
    Test {
        /// How often something is killed, at least.
        #[arg(long, default_value_t = 60)]
        kills: usize,
        /// The seed of all choices; the timing of processes is not repeated.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Measures the makespan of 200 tasks of 2 s, 32 at once, nodes per second, and memory.
    Bench,
}

pub(crate) fn run(root: &Path, args: &ClusterArgs) -> Result<String, String> {
    let Some(server) = server::install(root)? else {
        return Ok(
            "skipped: Restate's server cannot be installed with npm on this machine, so nothing was tested"
                .to_owned(),
        );
    };
    let program = match &args.program {
        Some(program) => program.clone(),
        None => build(root)?,
    };
    match args.command {
        ClusterCommand::Up { workers } => up(&server, &program, workers),
        ClusterCommand::Test { kills, seed } => {
            reconcile(root, &server)?;
            println!("{}", scenarios::run(&server, &program)?);
            kill_test::run(&server, &program, kills, seed)
        }
        ClusterCommand::Bench => bench::run(&server, &program),
    }
}

fn build(root: &Path) -> Result<PathBuf, String> {
    // Of the whole workspace, so that what its tests have compiled is used.
    let cargo =
        ["build", "--quiet", "--locked", "--workspace", "--bin", "runner", "--features", "runner/cluster"];
    let built = Command::new("cargo").args(cargo).current_dir(root).status();
    if !built.map_err(|error| error.to_string())?.success() {
        return Err("the runner cannot be built".to_owned());
    }
    Ok(root.join("target/debug/runner"))
}

/// The test of the library with a service that can be asked for lost submissions, which no program reaches.
fn reconcile(root: &Path, server: &ServerProgram) -> Result<(), String> {
    let tested = Command::new("cargo")
        .args(["test", "--quiet", "--locked", "--workspace", "--test", "reconcile"])
        .env("RESTATE_SERVER", &server.0)
        .current_dir(root)
        .status();
    if tested.map_err(|error| error.to_string())?.success() {
        Ok(())
    } else {
        Err("a submission of a lost worker is not reconciled".to_owned())
    }
}

fn up(server: &ServerProgram, program: &Path, workers: usize) -> Result<String, String> {
    let variable = |name: &str| {
        std::env::var(name).map_err(|_| format!("{name} is not set; start a service with `runner serve`"))
    };
    let (base_url, key) = (variable("RUNNER_BASE_URL")?, variable("RUNNER_API_KEY")?);
    let cluster = Cluster::start(server, program, workers, &base_url, &key, &[])?;
    println!("export RUNNER_ENGINE={}\nexport RUNNER_STORE={}", cluster.engine(), cluster.store());
    println!("{workers} workers; press Enter to end");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(|error| error.to_string())?;
    Ok("ended".to_owned())
}
