//! `runner ui`: the viewer's page, served live and with actions, on loopback unless its user decides otherwise.
//!
//! | Module | What it does |
//! |---|---|
//! | `server` | routes: page, events, actions, files |
//! | `origin`, `request_guard`, `session` | which requests are answered |
//! | `project` | watches the project and collects its manifest |
//! | `action`, `preview` | what the page can do: commands of this program, and what they would cost |
//! | `started_commands` | the commands that the page has started |

mod action;
mod origin;
mod preview;
mod project;
mod request_guard;
mod server;
mod session;
mod started_commands;

use std::io::IsTerminal as _;
use std::sync::Arc;

use axum::serve::ListenerExt as _;

use self::origin::Origin;
use self::project::Project;
use self::server::Server;
use self::session::Session;
use self::started_commands::StartedCommands;
use crate::args::{Format, UiArgs, WorkflowArgs};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load;
use crate::shutdown::shutdown_signal;

/// Serves the page until it is interrupted.
pub(crate) async fn ui(args: UiArgs) -> Result<Exit, CommandError> {
    // In the words of every other command.
    if let Err(error) = load::load(&args.workflow.file, &args.workflow.overrides) {
        return Ok(error.report(Format::Text));
    }
    let public = args.public_url.as_ref();
    // Before anything listens.
    Origin::choose(args.listen, public, args.insecure).map_err(CommandError::invalid)?;
    let listener = tokio::net::TcpListener::bind(args.listen)
        .await
        .map_err(|error| CommandError::unusable(format!("cannot listen on {}: {error}", args.listen)))?;
    let address = listener.local_addr().map_err(CommandError::unusable)?;
    let origin = Origin::choose(address, public, args.insecure).map_err(CommandError::invalid)?;
    let WorkflowArgs { file, overrides } = args.workflow;
    let project = Project { file, overrides, output_dir: args.output_dir, engine: args.engine };
    let watched = project.clone();
    // It blocks on a runtime of its own.
    let snapshots =
        tokio::task::spawn_blocking(move || watched.watch()).await.map_err(CommandError::unusable)??;
    let program = std::env::current_exe()
        .map_err(|error| CommandError::unusable(format!("cannot find this program: {error}")))?;
    let jobs = StartedCommands::new(program);
    let session = Session::new(address.port()).map_err(CommandError::unusable)?;
    let url = format!("{origin}/?token={}", session.token());
    let server = Server { origin, session, project, snapshots, jobs: jobs.clone() };
    let mut interrupt = shutdown_signal();
    // The only output on standard output, so that scripts can wait for it.
    outln!("{url}");
    if !args.no_open && std::io::stdout().is_terminal() {
        crate::commands::view::open_in_browser(&url);
    }
    let router = server::router(Arc::new(server));
    // Events are small, and each would wait until the browser's system acknowledges the one before.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
    });
    tokio::select! {
        served = axum::serve(listener, router).into_future() => served.map_err(CommandError::unusable)?,
        _ = interrupt.wait_for(|is_interrupted| *is_interrupted) => {}
    }
    if jobs.has_running() {
        errln!("waiting for started commands to stop; interrupt again to exit at once");
    }
    jobs.stop_all().await;
    Ok(Exit::Done)
}
