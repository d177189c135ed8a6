//! `runner ledger fetch`: downloads the videos of recorded tasks, whether or not a shot still asks for them.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use renderer::Renderer;
use scheduler::{AttemptState, TaskId};

use engine::ledger::{AttemptRow, OpenTaskState};
use engine::{Clock, FetchConfig, FetchError, Ledger, fetch_task};
use serde_json::{Value, json};

use crate::args::{FetchArgs, Format};
use crate::backend::{Backend, Connection};
use crate::clock::now;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ffmpeg;
use crate::project_paths::{ProjectPaths, display_path};
use crate::report::sanitize;
use crate::shell;
use crate::shutdown::shutdown_signal_with;

pub(crate) async fn fetch(args: FetchArgs, renderer: Arc<dyn Renderer>) -> Result<Exit, CommandError> {
    if let Some(task) = args.tasks.first().filter(|_| args.all) {
        let error = CommandError::invalid("--all stands for every task: name tasks, or use --all");
        return Err(with_file_hint(error, task));
    }
    let paths = ProjectPaths::of_existing(&args.project)?;
    let ledger = paths.open_ledger(&args.project)?;
    let backend = Backend::from_environment()?.with_renderer(renderer);
    let service = backend.identity();
    let rows = selected(&args, &ledger, &service)?;
    if rows.is_empty() {
        report_nothing(args.format, &service);
        return Ok(Exit::Done);
    }
    let remaining = Arc::new(Mutex::new(rows.clone()));
    let interrupt = shutdown_signal_with({
        let (args, remaining) = (args.clone(), Arc::clone(&remaining));
        move || {
            let remaining = remaining.lock().unwrap_or_else(PoisonError::into_inner);
            format!("exiting at once: the tasks are kept; {}", continued_by(&command(&args, &remaining)))
        }
    });
    // The embedded service waits while another program uses its folder.
    let mut interrupted = interrupt.clone();
    let connection = tokio::select! {
        connection = backend.connect(&paths, ffmpeg::find()) => connection?,
        Ok(_) = interrupted.wait_for(|is_interrupted| *is_interrupted) => {
            errln!("interrupted: nothing was fetched; {}", continued_by(&command(&args, &rows)));
            return Ok(Exit::Interrupted);
        }
    };
    let Connection { provider, policy, service } = connection;
    let config = FetchConfig {
        ledger: Arc::new(ledger),
        provider,
        timeout: args.timeout.unwrap_or(policy.task_timeout),
        policy,
        clock: Clock::starting_at(now()),
        ffmpeg: ffmpeg::find(),
        interrupt,
    };
    let result = fetch_all(&args, &config, &rows, &paths, &remaining).await;
    drop(config);
    if let Some(service) = service {
        service.stop().await;
    }
    result
}

/// Adds the command for all tasks where a workflow file is named in the place of a task.
fn with_file_hint(error: CommandError, task: &str) -> CommandError {
    let file = Path::new(task);
    if file.exists() { error.hint(command_for_all(file)) } else { error }
}

/// The recorded tasks that the arguments name.
fn selected(args: &FetchArgs, ledger: &Ledger, service: &str) -> Result<Vec<AttemptRow>, CommandError> {
    let mut open = ledger.open_tasks()?;
    // `clean` removes videos that later ones supersede: those are fetched by name only.
    let names: Vec<TaskId> = args.tasks.iter().cloned().map(TaskId).collect();
    let names = (!args.all).then_some(names.as_slice());
    let without_file =
        ledger.tasks_without_file(names)?.into_iter().filter(|(_, is_latest)| *is_latest || !args.all);
    open.extend(without_file.map(|(row, _)| row));
    if args.all {
        return Ok(open.into_iter().filter(|row| row.service == service).collect());
    }
    let mut rows = Vec::with_capacity(args.tasks.len());
    for name in &args.tasks {
        let has_name = |row: &&AttemptRow| row.task.as_ref().is_some_and(|task| task.as_str() == name);
        let mut matches = open.iter().filter(has_name);
        match (matches.clone().find(|row| row.service == service), matches.next()) {
            (Some(row), _) if rows.iter().any(|selected: &AttemptRow| selected.attempt == row.attempt) => {}
            (Some(row), _) => rows.push(row.clone()),
            (None, Some(other)) => {
                return Err(CommandError::invalid(format!(
                    "task {name} was submitted to {}, but the environment names {service}",
                    other.service
                ))
                .hint(format!("set RUNNER_BASE_URL and RUNNER_API_KEY for {}", other.service)));
            }
            (None, None) => {
                let error = CommandError::invalid(format!("no task {name} without a video is recorded here"));
                return Err(with_file_hint(error.hint("`runner status` lists the tasks"), name));
            }
        }
    }
    Ok(rows)
}

fn report_nothing(format: Format, service: &str) {
    match format {
        Format::Text => outln!("every task of {service} that is recorded here has its video"),
        Format::Json => outln!("[]"),
        Format::Ndjson => {}
    }
}

/// The outcome of a task that has no video yet, by what is on record. Asked for by name, a replaced task counts like any other.
fn open_outcome(row: &AttemptRow) -> &'static str {
    OpenTaskState::new(row.state, false).map_or("in-flight", OpenTaskState::as_str)
}

/// Fetches one task after the other, and reports each.
async fn fetch_all(
    args: &FetchArgs,
    config: &FetchConfig,
    rows: &[AttemptRow],
    paths: &ProjectPaths,
    unfinished: &Mutex<Vec<AttemptRow>>,
) -> Result<Exit, CommandError> {
    let mut records = Vec::new();
    let (mut open, mut failed) = (0, 0);
    let (mut remaining, mut is_noticed) = (Vec::new(), false);
    for row in rows {
        if *config.interrupt.borrow() {
            remaining.push(row.clone());
            continue;
        }
        let folder = paths.out(&row.workflow);
        let record = match with_notice(config, fetch_task(config, row, folder), &mut is_noticed).await {
            Ok(fetched) => {
                let file = display_path(&fetched.artifact.path);
                line(args.format, row, "done", &file, fetched.warning.as_deref())
            }
            Err(FetchError::Failed(failure)) => {
                failed += 1;
                let message = format!("the task failed: {}", sanitize::message(&failure.message));
                line(args.format, row, "failed", &message, None)
            }
            Err(FetchError::StillOpen(reason)) => {
                open += usize::from(!args.all || row.state != AttemptState::Expired);
                line(args.format, row, open_outcome(row), &sanitize::message(&reason), None)
            }
            Err(FetchError::Missing) => {
                // Where the service had lost it when a `retry` gave it up, it rarely comes back, and its shot has another one.
                open += usize::from(!args.all || row.state != AttemptState::Expired);
                line(args.format, row, "missing", "the service does not know the task", None)
            }
            Err(error @ FetchError::OtherAccount) => {
                open += usize::from(!args.all || row.state != AttemptState::Expired);
                line(args.format, row, open_outcome(row), &error.to_string(), None)
            }
            Err(FetchError::Interrupted) => {
                remaining.push(row.clone());
                line(args.format, row, open_outcome(row), "interrupted", None)
            }
            Err(FetchError::Unauthorized(failure)) => {
                let message = sanitize::message(&failure.message);
                print_records(args.format, records);
                return Err(CommandError::unusable(format!("the service cannot be used: {message}")));
            }
            Err(FetchError::Ledger(error)) => {
                print_records(args.format, records);
                return Err(error.into());
            }
        };
        records.push(record);
        let mut unfinished = unfinished.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.retain(|unfinished_row| unfinished_row.attempt != row.attempt);
    }
    print_records(args.format, records);
    if !remaining.is_empty() {
        let (count, all) = (remaining.len(), rows.len());
        let are = if count == 1 { "is" } else { "are" };
        let interrupted = if is_noticed { "" } else { "interrupted: " };
        errln!(
            "{interrupted}{count} of {all} tasks {are} left at the service; {}",
            continued_by(&command(args, &remaining))
        );
        return Ok(Exit::Interrupted);
    }
    Ok(match (open, failed) {
        (0, 0) => Exit::Done,
        (0, _) => Exit::Failed,
        _ => Exit::ActionNeeded,
    })
}

/// Waits for the end of a fetch. Prints a notice where it is interrupted and does not end at once, because a download has begun.
async fn with_notice<T>(config: &FetchConfig, fetch: impl Future<Output = T>, is_noticed: &mut bool) -> T {
    let mut fetch = std::pin::pin!(fetch);
    let mut interrupt = config.interrupt.clone();
    tokio::select! {
        biased;
        result = &mut fetch => return result,
        Ok(_) = interrupt.wait_for(|is_interrupted| *is_interrupted) => {}
    }
    *is_noticed = true;
    errln!(
        "interrupted: nothing more is fetched, a download that has begun gets {} s; interrupt again to exit at once",
        config.policy.shutdown_grace.as_secs()
    );
    fetch.await
}

/// The command that fetches these tasks with the same arguments.
fn command(args: &FetchArgs, rows: &[AttemptRow]) -> String {
    let timeout =
        args.timeout.map_or_else(String::new, |limit| format!(" --timeout {}", limit.as_secs_f64()));
    let tasks = if args.all {
        "--all".to_owned()
    } else {
        let tasks = rows.iter().filter_map(|row| row.task.as_ref());
        tasks.map(|task| shell::quote(task.as_str())).collect::<Vec<_>>().join(" ")
    };
    let is_here = args.project == Path::new(".");
    let project = if is_here { String::new() } else { format!(" --in {}", shell::path(&args.project)) };
    format!("runner ledger fetch {tasks}{project}{timeout}")
}

fn continued_by(command: &str) -> String {
    format!("`{command}` continues")
}

/// What was fetched as one JSON document, also where an error ends the command.
fn print_records(format: Format, records: Vec<Value>) {
    if format == Format::Json {
        outln!("{:#}", Value::from(records));
    }
}

/// Reports the end of one task. `message` is its file, or why there is none; `warning` is what the service said beside it.
fn line(format: Format, row: &AttemptRow, outcome: &str, message: &str, warning: Option<&str>) -> Value {
    let warning = warning.map(sanitize::message);
    let task = row.task.as_ref().map_or("", |task| task.as_str());
    let record = json!({
        "shot": row.node,
        "workflow": row.workflow,
        "task": task,
        "attempt": row.attempt,
        "outcome": outcome,
        "file": (outcome == "done").then_some(message),
        "reason": (outcome != "done").then_some(message),
        "warning": warning,
    });
    match format {
        Format::Text => {
            let (shot, task) = (sanitize::line(&row.node), sanitize::line(task));
            outln!("{shot}: task {task}: {outcome}, {message}");
            if let Some(warning) = warning {
                outln!("{shot}: the service warns: {warning}");
            }
        }
        Format::Ndjson => outln!("{record}"),
        Format::Json => {}
    }
    record
}

/// The command that fetches every task of a project.
pub(crate) fn command_for_all(project: &Path) -> String {
    format!("runner ledger fetch --all --in {}", shell::path(project))
}
