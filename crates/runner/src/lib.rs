//! The command line as a library, so that the binary is one line and the tests drive the very same program.
//!
//! Arguments in, exit code out. Everything else is composed from the libraries.

// Its macros are what the others speak with.
#[macro_use]
mod terminal;

mod args;
mod budget;
mod choosing;
mod commands;
mod exit;
mod interrupt;
mod load;
mod picks;
mod place;
mod prices;
mod report;
mod service_choice;
mod traces;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Arguments, Command};
use exit::Exit;

/// The whole program: reads the arguments and the environment of this process, does what they say and answers with the exit code
/// (DESIGN section 11).
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::InvalidInput } else { Exit::Done };
            // A closed pipe is the reader's choice.
            let _ = error.print();
            return exit.into();
        }
    };
    terminal::colour(arguments.color);
    let verbose = arguments.verbose;
    let exit = match arguments.command {
        Command::Init(init) => commands::init::init(&init),
        Command::Import(import) => commands::import::import(&import),
        Command::Check(check) => commands::check::check(&check),
        Command::Pick(pick) => commands::pick::pick(&pick),
        Command::Models(models) => commands::models::models(&models),
        Command::Schema(schema) => commands::schema::schema(&schema),
        Command::Run(run) => in_time(verbose, Kind::Runs, commands::run::run(run)),
        Command::Status(status) => in_time(verbose, Kind::Asks, commands::status::status(status)),
        Command::Plan(plan) => in_time(verbose, Kind::Asks, commands::plan::plan(plan)),
        Command::Explain(explain) => in_time(verbose, Kind::Asks, commands::explain::explain(explain)),
        Command::Resolve(resolve) => in_time(verbose, Kind::Asks, commands::resolve::resolve(resolve)),
        // A service is watched by its log; all other commands say themselves what happens.
        Command::Serve(serve) => in_time(verbose.max(1), Kind::Serves, commands::serve::serve(*serve)),
    };
    exit.into()
}

/// What a command that waits or talks to someone needs beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Looks and asks.
    Asks,
    /// Runs a plan: it may be traced.
    Runs,
    /// Serves many at once.
    Serves,
}

/// Carries out a command that waits or talks to someone. The others are over before a runtime would have begun.
fn in_time(verbose: u8, kind: Kind, work: impl Future<Output = Exit>) -> Exit {
    // What a run waits for needs one thread: files, frames and the ledger have threads of their own, and handing over what the network brings
    // would cost more than it saves. Traces are sent while this thread is busy elsewhere.
    let mut builder = if kind == Kind::Serves || (kind == Kind::Runs && cfg!(feature = "otlp")) {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    let runtime = match builder.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            errln!("error: the machine gives no threads: {error}");
            return Exit::Unusable;
        }
    };
    let traces = if kind == Kind::Runs { traces::begin(runtime.handle()) } else { traces::Traces::default() };
    let exporting = terminal::log(verbose, traces);
    let exit = runtime.block_on(work);
    exporting.end();
    // What still runs (a download that was let go, say) must not hold the process up.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    exit
}
