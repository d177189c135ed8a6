//! The command line as a library, so that the binary is one line and the tests drive the very same program.
//!
//! Arguments in, exit code out. Everything else is composed from the libraries.

// Its macros are what the others speak with.
#[macro_use]
mod terminal;

mod args;
mod backend;
mod budget;
mod clock;
mod commands;
mod exit;
mod ffmpeg;
mod load;
mod picks;
mod price_table;
mod project_paths;
mod report;
mod run_id;
mod selection;
mod shutdown;
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
    terminal::set_color(arguments.color);
    let verbose = arguments.verbose;
    let exit = match arguments.command {
        Command::Init(init) => commands::init::init(&init),
        Command::Import(import) => commands::import::import(&import),
        Command::Check(check) => commands::check::check(&check),
        Command::Pick(pick) => commands::pick::pick(&pick),
        Command::Models(models) => commands::models::models(&models),
        Command::Schema(schema) => commands::schema::schema(&schema),
        Command::Run(run) => block_on(verbose, RuntimeKind::Traced, commands::run::run(run)),
        Command::Status(status) => {
            block_on(verbose, RuntimeKind::CurrentThread, commands::status::status(status))
        }
        Command::Plan(plan) => block_on(verbose, RuntimeKind::CurrentThread, commands::plan::plan(plan)),
        Command::Explain(explain) => {
            block_on(verbose, RuntimeKind::CurrentThread, commands::explain::explain(explain))
        }
        Command::Resolve(resolve) => {
            block_on(verbose, RuntimeKind::CurrentThread, commands::resolve::resolve(resolve))
        }
        // A service is watched by its log; all other commands say themselves what happens.
        Command::Serve(serve) => {
            block_on(verbose.max(1), RuntimeKind::MultiThread, commands::serve::serve(*serve))
        }
    };
    exit.into()
}

/// What a command that waits or talks to someone needs beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RuntimeKind {
    /// One thread.
    CurrentThread,
    /// One thread, or several where spans are exported.
    Traced,
    /// A thread per core.
    MultiThread,
}

/// Carries out a command that waits or talks to someone. The others are over before a runtime would have begun.
fn block_on(verbose: u8, kind: RuntimeKind, work: impl Future<Output = Exit>) -> Exit {
    // What a run waits for needs one thread: files, frames and the ledger have threads of their own, and handing over what the network brings
    // would cost more than it saves. Traces are sent while this thread is busy elsewhere.
    let mut builder =
        if kind == RuntimeKind::MultiThread || (kind == RuntimeKind::Traced && cfg!(feature = "otlp")) {
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
    let traces =
        if kind == RuntimeKind::Traced { traces::begin(runtime.handle()) } else { traces::Traces::default() };
    let exporting = terminal::log(verbose, traces);
    let exit = runtime.block_on(work);
    exporting.end();
    // What still runs (a download that was let go, say) must not hold the process up.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    exit
}
