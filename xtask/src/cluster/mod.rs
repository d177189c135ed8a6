//! Restate, workers and clients on loopback: by hand (`up`) and attacked (`test`).
//!
//! Everything goes through the built program, as users have it. Restate's server comes from its npm package; where it cannot be had, nothing
//! is tested, and that is reported.

mod admin;
mod attack;
mod commands;
mod drain;
mod failpoint;
mod kill_test;
mod moment;
mod processes;
mod scenarios;
mod secrets;
mod server;
mod service;
mod upgrade;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Subcommand, ValueEnum};

use processes::Cluster;
use server::{Server, ServerProgram};

/// Arguments of `cargo xtask cluster`.
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    command: ClusterCommand,
    /// The program, instead of a debug build of the runner with the feature `cluster`.
    #[arg(long, global = true)]
    program: Option<PathBuf>,
    /// Number of nodes of Restate. Of three, any one may be down.
    #[arg(long, global = true, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    nodes: u8,
}

#[derive(Debug, Subcommand)]
enum ClusterCommand {
    /// Starts Restate and workers for the service that `RUNNER_BASE_URL` and `RUNNER_API_KEY` name, until Enter is pressed.
    Up {
        /// Number of workers.
        #[arg(long, default_value_t = 2)]
        workers: usize,
    },
    /// Commands on a cluster, compared with those on one machine; caps and limits with several clients, clients that detach, an upgrade under load; then kills workers, nodes of Restate and clients, at random and at each step of a submission, while runs are executed; nothing may be paid for twice, and nothing lost.
    Test {
        /// These parts only.
        #[arg(long, value_enum, value_name = "PART")]
        only: Vec<Part>,
        /// How often something is killed, at least.
        #[arg(long, default_value_t = 60)]
        kills: usize,
        /// The seed of all choices; the timing of processes is not repeated.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

/// The parts of `test`, in the order in which they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Tests of the library that need the server.
    Library,
    /// Commands on a cluster, compared with those on one machine.
    Commands,
    /// No key of the service in the journal, in plans or in what is printed.
    Secrets,
    /// Workers that are told to stop.
    Drain,
    /// Caps and limits with several clients, and clients that detach.
    Limits,
    /// A new version of the workers under load.
    Upgrade,
    /// Kills, at random and at each step of a submission.
    Kills,
}

pub(crate) fn run(root: &Path, args: &ClusterArgs) -> Result<String, String> {
    let Some(server) = server::install(root, usize::from(args.nodes))? else {
        return Ok(
            "skipped: Restate's server cannot be installed with npm on this machine, so nothing was tested"
                .to_owned(),
        );
    };
    // Its processes run in folders of their own.
    let absolute =
        |program: &PathBuf| program.canonicalize().map_err(|error| format!("{}: {error}", program.display()));
    let explicit = args.program.as_ref().map(absolute).transpose()?;
    let program = || explicit.clone().map_or_else(|| build(root).map(|built| built.program), Ok);
    match &args.command {
        ClusterCommand::Up { workers } => up(&server, &program()?, *workers),
        ClusterCommand::Test { only, kills, seed } => {
            let built = build(root)?;
            let program = explicit.as_ref().unwrap_or(&built.program);
            for part in Part::value_variants() {
                if !only.is_empty() && !only.contains(part) {
                    continue;
                }
                println!(
                    "{}",
                    match part {
                        Part::Library => library(root, &server)?,
                        Part::Commands => commands::run(&server, program)?,
                        Part::Secrets => secrets::run(&server, program)?,
                        Part::Drain => drain::run(&server, program)?,
                        Part::Limits => scenarios::run(&server, program)?,
                        Part::Upgrade => upgrade::run(&server, program)?,
                        Part::Kills => kill_test::run(&server, program, &built.under_test, *kills, *seed)?,
                    }
                );
            }
            Ok("the cluster's tests pass".to_owned())
        }
    }
}

/// The programs that are built from these sources.
struct BuiltPrograms {
    program: PathBuf,
    /// The same with failpoints and a renderer that is fast.
    under_test: PathBuf,
}

fn build(root: &Path) -> Result<BuiltPrograms, String> {
    // With the tests, although only programs are needed: otherwise dependencies lack the features that tests ask for, and are compiled again.
    let cargo =
        ["build", "--quiet", "--locked", "--workspace", "--bins", "--tests", "--features", "tests/cluster"];
    let built = Command::new("cargo").args(cargo).current_dir(root).status();
    if !built.map_err(|error| error.to_string())?.success() {
        return Err("the runner cannot be built".to_owned());
    }
    let folder = root.join("target/debug");
    Ok(BuiltPrograms { program: folder.join("runner"), under_test: folder.join("runner-under-test") })
}

/// Tests of the library, each of the two with a server of its own: a service that can be asked for lost submissions, which no program
/// reaches, and versions of workers.
fn library(root: &Path, program: &ServerProgram) -> Result<String, String> {
    let folders = [tempfile::tempdir(), tempfile::tempdir()];
    let mut servers = Vec::new();
    for folder in folders.iter().flatten() {
        servers.push(Server::start(program, folder.path())?);
    }
    let addresses = |port: fn(&Server) -> u16| {
        let address = |server| format!("http://127.0.0.1:{}/", port(server));
        servers.iter().map(address).collect::<Vec<_>>().join(" ")
    };
    let cargo = ["test", "--quiet", "--locked", "--workspace", "--features", "tests/cluster"];
    let tested = Command::new("cargo")
        .args(cargo)
        .args(["--test", "restate"])
        .env("RESTATE_INGRESS", addresses(|server| server.ingress_port(0)))
        .env("RESTATE_ADMIN", addresses(|server| server.admin_port(0)))
        .current_dir(root)
        .status();
    if tested.map_err(|error| error.to_string())?.success() {
        Ok("library: lost submissions, versions of workers".to_owned())
    } else {
        Err("a test of the library with Restate's server failed".to_owned())
    }
}

fn up(server: &ServerProgram, program: &Path, workers: usize) -> Result<String, String> {
    let variable = |name: &str| {
        std::env::var(name).map_err(|_| format!("{name} is not set; start a service with `runner serve`"))
    };
    let (base_url, key) = (variable("RUNNER_BASE_URL")?, variable("RUNNER_API_KEY")?);
    let cluster = Cluster::start(server, program, workers, (&base_url, &key), &[])?;
    println!("export RUNNER_ENGINE={}\nexport RUNNER_STORE={}", cluster.engine(), cluster.store());
    println!("{} nodes of Restate, {workers} workers; press Enter to end", server.nodes);
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(|error| error.to_string())?;
    Ok("ended".to_owned())
}
