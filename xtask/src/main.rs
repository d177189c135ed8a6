//! Development tasks of this repository; `cargo xtask --help` lists them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line for developers")]

#[cfg(unix)]
mod bench;
mod blank_service;
mod book;
mod campaign;
mod clients;
mod cluster;
mod conformance;
mod dist;
mod exit_code;
mod fuzz;
mod generate;
mod handover;
mod http;
mod installed;
mod mutants;
mod nightly;
mod release;
mod repository;
mod sheet;
mod stub_account;
mod stub_video;
mod suite;
mod tidy;
mod verify_film;
mod web;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Development tasks of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Checks the project's rules: dependencies and their reasons, links, flags and commands in documents, tests of guarantees.
    Tidy,
    /// Verifies a film: its tracks and durations, with this project's probe and, where it is installed, with ffprobe.
    VerifyFilm {
        /// The MP4 file.
        file: PathBuf,
    },
    /// Writes the generated files: schemas, the reference, tables of the guide.
    Generate {
        /// Writes nothing; fails where a file is out of date.
        #[arg(long)]
        check: bool,
    },
    /// Builds the guide as a book into target/book, with mdBook.
    Book(book::Book),
    /// Checks the service against openapi.yaml with schemathesis, which needs Python and, the first time, the network.
    Conformance(conformance::Conformance),
    /// Drives the service with the newest openai-python and openai-node. Needs Python, Node.js and the network.
    Clients,
    /// Opens an exported film with the library opentimelineio. Needs Python and the network.
    Handover,
    /// Mutation test of the simulation: it has to catch each of a list of deliberate bugs.
    Mutants(mutants::Mutants),
    /// Runs the tests of the README's command again and again, some of the times beside threads that keep all processors busy: tests that depend on timing fail.
    Suite(suite::Suite),
    /// Runs what takes too long for `.ci/run`: the checks of which that runs a sample, the optional feature, and the tests again and again.
    Nightly(nightly::Nightly),
    /// Attacks the built program: kills it, misbehaves as its service, moves its folders and removes its ledgers; nothing may be paid for twice.
    Campaign(campaign::Campaign),
    /// Restate, workers and clients on loopback: started, killed at random, or measured. Needs npm and the network the first time.
    Cluster(cluster::ClusterArgs),
    /// Fuzzes the workflow compiler for panics, hangs and excessive memory.
    Fuzz(fuzz::Fuzz),
    /// Builds the archives of a release, and tries the program in an empty root folder.
    Dist(dist::Dist),
    /// Renders a frame for each of the published prompts into a contact sheet.
    Sheet(sheet::Sheet),
    /// Builds the viewer's page from web/ into crates/viewer/assets.
    Web(web::Web),
    /// Runs a benchmark of docs/benchmarks.md; fails where a bound is exceeded.
    #[cfg(unix)]
    Bench {
        #[command(subcommand)]
        bench: bench::Bench,
    },
}

fn main() -> ExitCode {
    let Arguments { command } = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let outcome = match command {
        Command::Tidy => tidy::run(root),
        Command::VerifyFilm { file } => verify_film::verify(&file),
        Command::Generate { check } => generate::run(root, check),
        Command::Book(args) => book::run(root, &args),
        Command::Conformance(args) => conformance::run(root, &args),
        Command::Clients => clients::run(),
        Command::Handover => handover::run(),
        Command::Mutants(args) => mutants::run(root, &args),
        Command::Suite(args) => suite::run(root, &args),
        Command::Nightly(args) => nightly::run(root, &args),
        Command::Campaign(args) => campaign::run(root, &args),
        Command::Cluster(args) => cluster::run(root, &args),
        Command::Fuzz(args) => fuzz::run(root, &args),
        Command::Dist(args) => dist::run(root, &args),
        Command::Sheet(args) => sheet::run(root, &args),
        Command::Web(args) => web::run(root, &args),
        #[cfg(unix)]
        Command::Bench { bench } => bench::run(root, &bench),
    };
    match outcome {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(problems) => {
            eprintln!("{problems}");
            ExitCode::FAILURE
        }
    }
}
