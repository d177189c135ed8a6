//! The command line as a library, so that the tests run the very same program as the binary.
//!
//! Parses arguments, runs one subcommand and returns an exit code. Domain logic lives in the other crates.

// First, because its macros are used by every other module.
#[macro_use]
mod terminal;

mod args;
mod arguments;
mod backend;
mod budget;
mod clock;
mod commands;
mod edited_file;
mod embedded;
mod error;
mod exit;
mod ffmpeg;
mod film_outputs;
mod hints;
mod input_file;
mod load;
mod named_workflow;
mod output_folder;
mod picks;
mod price_table;
mod project_paths;
mod proxies;
mod records;
mod report;
mod reruns;
mod run_id;
mod selection;
mod service_address;
mod services;
#[cfg(feature = "cluster")]
mod shared_store;
mod shell;
mod shutdown;
mod task_owners;
mod tracked_files;
mod trust;
mod ui;
mod unknown_work;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, LocalOptions, LocalRuntime, Runtime};

use args::{Command, LedgerCommand};
use error::CommandError;
use exit::Exit;

/// Runs the program with the arguments and the environment of this process.
pub fn main() -> ExitCode {
    main_with(Arc::new(renderer::Animatic))
}

/// As [`main`]: the embedded service renders with `renderer`, and so does `serve` without `--renderer`.
pub fn main_with(renderer: Arc<dyn renderer::Renderer>) -> ExitCode {
    let arguments = match arguments::parse(std::env::args_os().collect()) {
        Ok(arguments) => arguments,
        Err(error) => {
            let exit = if error.use_stderr() { Exit::InvalidInput } else { Exit::Done };
            let result = error.print();
            if !error.use_stderr() {
                terminal::check_output(result);
            }
            return with_output(exit).into();
        }
    };
    terminal::set_color(arguments.color);
    let verbose = arguments.verbose;
    let result = match arguments.command {
        Command::Init(args) => commands::init::init(&args),
        Command::Import(args) => {
            block_on(verbose, RuntimeKind::CurrentThread, commands::import::import(args))
        }
        Command::Check(args) => Ok(commands::check::check(&args)),
        Command::Pick(args) => block_on(verbose, RuntimeKind::CurrentThread, commands::pick::pick(args)),
        Command::Rate(args) => block_on(verbose, RuntimeKind::CurrentThread, commands::rate::rate(args)),
        Command::Clean(args) => block_on(verbose, RuntimeKind::CurrentThread, commands::clean::clean(args)),
        Command::Services(args) => commands::services::services(&args.command),
        Command::Schema(args) => commands::schema::schema(&args),
        Command::Completions(args) => Ok(commands::completions::completions(&args)),
        Command::Man(args) => commands::completions::man(&args),
        Command::Run(args) => {
            block_on(verbose, RuntimeKind::CurrentThread, commands::run::run(*args, renderer))
        }
        Command::Status(args) => {
            block_on(verbose, RuntimeKind::CurrentThread, commands::status::status(args))
        }
        Command::Plan(args) => block_on(verbose, RuntimeKind::CurrentThread, commands::plan::plan(args)),
        Command::Explain(args) => {
            block_on(verbose, RuntimeKind::CurrentThread, commands::explain::explain(args))
        }
        Command::Edit(args) => block_on(verbose, RuntimeKind::CurrentThread, commands::edit::edit(args)),
        Command::Ui(args) => block_on(verbose, RuntimeKind::MultiThread, ui::ui(args)),
        Command::View(args) => block_on(verbose, RuntimeKind::CurrentThread, commands::view::view(args)),
        Command::Export(args) => {
            block_on(verbose, RuntimeKind::CurrentThread, commands::export::export(args))
        }
        Command::Report(args) => {
            block_on(verbose, RuntimeKind::CurrentThread, commands::report::report(args))
        }
        Command::Ledger(args) => match args.command {
            LedgerCommand::Adopt(args) => {
                block_on(verbose, RuntimeKind::CurrentThread, commands::ledger::adopt_work(args))
            }
            LedgerCommand::Fetch(args) => {
                block_on(verbose, RuntimeKind::CurrentThread, commands::ledger::fetch::fetch(args, renderer))
            }
        },
        Command::Resolve(args) => {
            block_on(verbose, RuntimeKind::CurrentThread, commands::resolve::resolve(args, renderer))
        }
        #[cfg(feature = "cluster")]
        Command::Worker(args) => {
            block_on(verbose.max(1), RuntimeKind::MultiThread, commands::worker::worker(*args))
        }
        // The log is the only output of a service; all other commands print their results.
        Command::Serve(args) => {
            block_on(verbose.max(1), RuntimeKind::MultiThread, commands::serve::serve(*args, renderer))
        }
    };
    let exit = result.unwrap_or_else(|error| {
        error.print();
        error.exit()
    });
    with_output(exit).into()
}

/// How the program ends when its output is considered: where standard output could not be written, whoever reads it has not all of it,
/// whatever else there is to say.
fn with_output(exit: Exit) -> Exit {
    let Some(error) = terminal::output_error() else { return exit };
    let error = CommandError::unusable(format!("the output cannot be written: {error}"));
    error.print();
    error.exit()
}

/// The async runtime that a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RuntimeKind {
    CurrentThread,
    /// One thread per core.
    MultiThread,
}

/// A runtime of one thread or of one per core.
enum AsyncRuntime {
    Local(LocalRuntime),
    Threads(Runtime),
}

impl AsyncRuntime {
    fn new(kind: RuntimeKind) -> std::io::Result<Self> {
        // One thread is enough for a run: files, frames and the ledger have threads of their own, and moving responses between threads
        // would cost more than it saves.
        if kind == RuntimeKind::MultiThread {
            Builder::new_multi_thread().enable_all().build().map(Self::Threads)
        } else {
            Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).map(Self::Local)
        }
    }

    fn block_on<T: 'static>(&self, command: impl Future<Output = T> + 'static) -> T {
        match self {
            // As a task: each wake-up of the future that is blocked on is a system call, also from its own thread.
            Self::Local(runtime) => match runtime.block_on(runtime.spawn_local(command)) {
                Ok(result) => result,
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            },
            Self::Threads(runtime) => runtime.block_on(command),
        }
    }

    fn shutdown_timeout(self, timeout: Duration) {
        match self {
            Self::Local(runtime) => runtime.shutdown_timeout(timeout),
            Self::Threads(runtime) => runtime.shutdown_timeout(timeout),
        }
    }
}

/// Runs an async command to its end. Commands without I/O waits need no runtime.
fn block_on(
    verbose: u8,
    kind: RuntimeKind,
    command: impl Future<Output = Result<Exit, CommandError>> + 'static,
) -> Result<Exit, CommandError> {
    let runtime = AsyncRuntime::new(kind)
        .map_err(|error| CommandError::unusable(format!("cannot start threads: {error}")))?;
    terminal::log(verbose);
    let result = runtime.block_on(command);
    // Work that is still running, such as a detached download, must not delay the exit.
    runtime.shutdown_timeout(Duration::from_millis(200));
    result
}
