//! The command line as a library, so that the binary is one line and the tests drive the very same program.
//!
//! Arguments in, exit code out. Everything else is composed from the libraries.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the command line is where the terminal is spoken to"
)]

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
mod terminal;
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
    // A service is watched by its log; all other commands say themselves what happens.
    let least = u8::from(matches!(arguments.command, Command::Serve(_)));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: the machine gives no threads: {error}");
            return Exit::Unusable.into();
        }
    };
    let traces = match arguments.command {
        Command::Run(_) => traces::begin(runtime.handle()),
        _ => traces::Traces::default(),
    };
    let exporting = terminal::log(arguments.verbose.max(least), traces);
    let exit = runtime.block_on(async {
        match arguments.command {
            Command::Run(run) => commands::run::run(run).await,
            Command::Status(status) => commands::status::status(status).await,
            Command::Plan(plan) => commands::plan::plan(plan).await,
            Command::Init(init) => commands::init::init(&init),
            Command::Import(import) => commands::import::import(&import),
            Command::Explain(explain) => commands::explain::explain(explain).await,
            Command::Check(check) => commands::check::check(&check),
            Command::Pick(pick) => commands::pick::pick(&pick),
            Command::Models(models) => commands::models::models(&models),
            Command::Schema(schema) => commands::schema::schema(&schema),
            Command::Resolve(resolve) => commands::resolve::resolve(resolve).await,
            Command::Serve(serve) => commands::serve::serve(*serve).await,
        }
    });
    exporting.end();
    // What still runs (a download that was let go, say) must not hold the process up.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    exit.into()
}
