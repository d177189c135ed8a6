//! Chores of this repository: `cargo xtask --help` lists them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line for developers")]

mod bench;
mod conformance;
mod film;
mod fuzz;
mod generate;
mod planted;
mod spec;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Chores of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Checks the house rules: which crate knows which, the size and opening of files, words that must not be there.
    Tidy,
    /// Checks that a film is whole: it probes, has pictures and sound and, where ffprobe is at hand, ffprobe agrees.
    Film {
        /// The film.
        file: PathBuf,
    },
    /// Writes everything that is derived: the workflow's schema, the client's surface, the reference.
    Generate {
        /// Writes nothing, and fails where something is not current.
        #[arg(long)]
        check: bool,
    },
    /// Compares contracts.
    Spec {
        #[command(subcommand)]
        what: spec::Spec,
    },
    /// Lets schemathesis drive the service from openapi.yaml and look at every answer. Needs Python, and the network for the first time.
    Conformance,
    /// Sees to it that the simulation catches bugs that are planted on purpose.
    Planted,
    /// Looks for workflow files that break the compiler's promises: a panic, a hang, too much memory.
    Fuzz(fuzz::Fuzz),
    /// Measures; each prints the ratio that the documents quote.
    Bench {
        #[command(subcommand)]
        what: bench::Bench,
    },
}

fn main() -> ExitCode {
    let Arguments { chore } = Arguments::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let outcome = match chore {
        Chore::Tidy => tidy::tidy(root),
        Chore::Film { file } => film::check(&file),
        Chore::Generate { check } => {
            generate::generate(root, if check { generate::Mode::Check } else { generate::Mode::Write })
        }
        Chore::Spec { what } => return spec::spec(root, &what),
        Chore::Conformance => conformance::check(root),
        Chore::Planted => planted::check(root),
        Chore::Fuzz(args) => fuzz::fuzz(root, &args),
        Chore::Bench { what } => bench::bench(root, &what),
    };
    match outcome {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(problems) => {
            eprintln!("{problems}");
            ExitCode::FAILURE
        }
    }
}
