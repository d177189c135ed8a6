//! `runner ledger fetch`: downloads the videos of recorded tasks, whether or not a shot still asks for them.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::ledger::{AttemptRow, OpenTaskState};
use engine::{Clock, FetchConfig, FetchError, Ledger, OnWait, Turns, fetch_task};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use renderer::Renderer;
use scheduler::{AttemptState, TaskId};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, Interval};

use crate::args::{FetchArgs, Format};
use crate::backend::{self, Backend, Connection};
use crate::clock::now;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ffmpeg;
use crate::hints;
use crate::project_paths::{ProjectPaths, display_path};
use crate::report::{humanize, sanitize};
use crate::services;
use crate::shell;
use crate::shutdown::shutdown_signal_with;
use crate::trust::Trust;

/// The longest silence.
const HEARTBEAT_INTERVAL: Duration = Duration::from_mins(1);

pub(crate) async fn fetch(args: FetchArgs, renderer: Arc<dyn Renderer>) -> Result<Exit, CommandError> {
    if let Some(task) = args.tasks.first().filter(|_| args.all) {
        let error = CommandError::invalid("--all stands for every task: name tasks, or use --all");
        return Err(with_file_hint(error, task));
    }
    let paths = ProjectPaths::of_existing(&args.project)?;
    let ledger = paths.open_ledger(&args.project)?;
    let rows = selected(&args, &ledger)?;
    if rows.is_empty() {
        report_nothing(args.format);
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
    let fetch =
        Fetch { args: &args, paths: &paths, ledger: Arc::new(ledger), remaining: &remaining, interrupt };
    let mut records = Vec::new();
    let result = fetch.all_services(rows, &renderer, &mut records).await;
    print_records(args.format, records);
    result
}

/// What is fetched, from whichever service.
struct Fetch<'a> {
    args: &'a FetchArgs,
    paths: &'a ProjectPaths,
    ledger: Arc<Ledger>,
    /// The tasks that are not fetched yet.
    remaining: &'a Mutex<Vec<AttemptRow>>,
    interrupt: watch::Receiver<bool>,
}

impl Fetch<'_> {
    /// Fetches the tasks of one service after the other.
    async fn all_services(
        &self,
        rows: Vec<AttemptRow>,
        renderer: &Arc<dyn Renderer>,
        records: &mut Vec<Value>,
    ) -> Result<Exit, CommandError> {
        let services = services::of_project(self.paths)?;
        let mut by_service: BTreeMap<String, Vec<AttemptRow>> = BTreeMap::new();
        for row in rows {
            by_service.entry(row.service.clone()).or_default().push(row);
        }
        let (mut open, mut failed) = (false, false);
        for (identity, rows) in by_service {
            let backend = Backend::of_identity(&identity, &services, Trust::new(self.args.trust_services));
            let exit = match backend {
                Ok(backend) => {
                    self.of_service(backend.with_renderer(Arc::clone(renderer)), &rows, records).await?
                }
                // What was not asked for by name does not stop the others.
                Err(error) if self.args.all => {
                    error.print();
                    Exit::ActionNeeded
                }
                Err(error) => return Err(error),
            };
            match exit {
                Exit::Interrupted => return Ok(exit),
                Exit::Done => {}
                Exit::Failed => failed = true,
                _ => open = true,
            }
        }
        Ok(match (open, failed) {
            (true, _) => Exit::ActionNeeded,
            (false, true) => Exit::Failed,
            (false, false) => Exit::Done,
        })
    }

    async fn of_service(
        &self,
        backend: Backend,
        rows: &[AttemptRow],
        records: &mut Vec<Value>,
    ) -> Result<Exit, CommandError> {
        // The embedded service waits while another program uses its folder.
        let mut interrupted = self.interrupt.clone();
        let connection = tokio::select! {
            connection = backend.connect(self.paths) => connection?,
            Ok(_) = interrupted.wait_for(|is_interrupted| *is_interrupted) => {
                errln!("interrupted: nothing was fetched; {}", continued_by(&command(self.args, rows)));
                return Ok(Exit::Interrupted);
            }
        };
        let Connection { provider, policy, service } = connection;
        let config = FetchConfig {
            ledger: Arc::clone(&self.ledger),
            provider,
            policy,
            clock: Clock::starting_at(now()),
            ffmpeg: ffmpeg::find(),
            turns: Turns::default(),
            on_wait: waits(),
            interrupt: self.interrupt.clone(),
        };
        let result = fetch_all(self.args, &config, rows, self.paths, self.remaining, records).await;
        drop(config);
        if let Some(service) = service {
            service.stop().await;
        }
        result
    }
}

/// Adds the command for all tasks where a workflow file is named in the place of a task.
fn with_file_hint(error: CommandError, task: &str) -> CommandError {
    let file = Path::new(task);
    if file.exists() { error.hint(command_for_all(file)) } else { error }
}

/// The recorded tasks that the arguments name.
fn selected(args: &FetchArgs, ledger: &Ledger) -> Result<Vec<AttemptRow>, CommandError> {
    let mut open = ledger.open_tasks()?;
    // `clean` removes videos that later ones supersede: those are fetched by name only.
    let names: Vec<TaskId> = args.tasks.iter().cloned().map(TaskId).collect();
    let names = (!args.all).then_some(names.as_slice());
    let without_file =
        ledger.tasks_without_file(names)?.into_iter().filter(|(_, is_latest)| *is_latest || !args.all);
    open.extend(without_file.map(|(row, _)| row));
    if args.all {
        return Ok(open);
    }
    let usual = backend::identity_from_environment()?;
    let mut rows = Vec::with_capacity(args.tasks.len());
    for name in &args.tasks {
        let has_name = |row: &&AttemptRow| row.task.as_ref().is_some_and(|task| task.as_str() == name);
        let mut matches = open.iter().filter(has_name);
        // Two services may have tasks of the same id.
        match matches.clone().find(|row| row.service == usual).or_else(|| matches.next()) {
            Some(row) if rows.iter().any(|selected: &AttemptRow| selected.attempt == row.attempt) => {}
            Some(row) => rows.push(row.clone()),
            None => {
                let error = CommandError::invalid(format!("no task {name} without a video is recorded here"));
                return Err(with_file_hint(error.hint("`runner status` lists the tasks"), name));
            }
        }
    }
    Ok(rows)
}

fn report_nothing(format: Format) {
    match format {
        Format::Text => outln!("every task that is recorded here has its video"),
        Format::Json => outln!("[]"),
        Format::Ndjson => {}
    }
}

/// The outcome of a task that has no video yet, by what is on record. Asked for by name, a replaced task counts like any other.
fn open_outcome(row: &AttemptRow) -> &'static str {
    OpenTaskState::new(row.state, false).map_or("in-flight", OpenTaskState::as_str)
}

/// Fetches the tasks, each for as long as its timeout, and reports each as it ends.
async fn fetch_all(
    args: &FetchArgs,
    config: &FetchConfig,
    rows: &[AttemptRow],
    paths: &ProjectPaths,
    unfinished: &Mutex<Vec<AttemptRow>>,
    records: &mut Vec<Value>,
) -> Result<Exit, CommandError> {
    let project = shell::path(&args.project);
    let close = |row: &AttemptRow| hints::close_command(&project, row.attempt.as_str());
    let timeout = args.timeout.unwrap_or(config.policy.task_timeout);
    let mut fetches: FuturesUnordered<_> = rows
        .iter()
        .map(|row| async move { (row, fetch_task(config, row, paths.out(&row.workflow), timeout).await) })
        .collect();
    let (mut open, mut failed) = (0, 0);
    let mut remaining = Vec::new();
    let mut notices = Notices::new(config, rows.len());
    while let Some((row, fetched)) = notices.next(&mut fetches).await {
        let end = match fetched {
            Ok(artifact) => End { message: display_path(&artifact.path), ..End::new("done") },
            Err(FetchError::Failed(failure)) => {
                failed += 1;
                End { message: format!("the task failed: {}", failure.message), ..End::new("failed") }
            }
            Err(FetchError::Interrupted) => {
                remaining.push(row.clone());
                continue;
            }
            Err(FetchError::Unauthorized(failure)) => {
                let message = sanitize::message(&failure.message);
                return Err(CommandError::unusable(format!("the service cannot be used: {message}")));
            }
            Err(FetchError::Ledger(error)) => return Err(error.into()),
            Err(error) => {
                // Where the service had lost it when a `retry` gave it up, it rarely comes back, and its shot has another one.
                open += usize::from(!args.all || row.state != AttemptState::Expired);
                let message = error.to_string();
                match error {
                    FetchError::Missing | FetchError::Gone(_) if row.state.has_open_task() => {
                        End { message, close: Some(close(row)), ..End::new("missing") }
                    }
                    FetchError::Missing => End { message, ..End::new("missing") },
                    _ => End { message, ..End::new(open_outcome(row)) },
                }
            }
        };
        records.push(end.report(args.format, row));
        let mut unfinished = unfinished.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.retain(|unfinished_row| unfinished_row.attempt != row.attempt);
    }
    if !remaining.is_empty() {
        let (count, all) = (remaining.len(), rows.len());
        let are = if count == 1 { "is" } else { "are" };
        let interrupted = if notices.is_interrupted { "" } else { "interrupted: " };
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

/// What is printed while tasks are fetched.
struct Notices<'c> {
    config: &'c FetchConfig,
    all: usize,
    started: Instant,
    heartbeat: Interval,
    /// Whether the interrupt was noted.
    is_interrupted: bool,
}

impl<'c> Notices<'c> {
    fn new(config: &'c FetchConfig, all: usize) -> Self {
        let started = Instant::now();
        let heartbeat = tokio::time::interval_at(started + HEARTBEAT_INTERVAL, HEARTBEAT_INTERVAL);
        Self { config, all, started, heartbeat, is_interrupted: false }
    }

    /// The next fetch that ends. Prints a heartbeat meanwhile, and a notice where the fetch is interrupted and does not end at once, because a
    /// download has begun.
    async fn next<T>(&mut self, fetches: &mut FuturesUnordered<impl Future<Output = T>>) -> Option<T> {
        let mut interrupt = self.config.interrupt.clone();
        loop {
            tokio::select! {
                biased;
                ended = fetches.next() => return ended,
                Ok(_) = interrupt.wait_for(|is_interrupted| *is_interrupted), if !self.is_interrupted => {
                    self.is_interrupted = true;
                    errln!(
                        "interrupted: nothing more is fetched, a download that has begun gets {} s; interrupt again to exit at once",
                        self.config.policy.shutdown_grace.as_secs()
                    );
                }
                _ = self.heartbeat.tick() => errln!(
                    "still fetching after {}: {} of {} tasks are not finished",
                    humanize(self.started.elapsed()),
                    fetches.len(),
                    self.all
                ),
            }
        }
    }
}

/// The end of one task.
struct End {
    outcome: &'static str,
    /// Its file, or why there is none.
    message: String,
    /// How to close it.
    close: Option<String>,
}

impl End {
    fn new(outcome: &'static str) -> Self {
        Self { outcome, message: String::new(), close: None }
    }

    fn report(self, format: Format, row: &AttemptRow) -> Value {
        let Self { outcome, message, close } = self;
        let is_done = outcome == "done";
        let message = if is_done { message } else { sanitize::message(&message) };
        let task = row.task.as_ref().map_or("", |task| task.as_str());
        let record = json!({
            "shot": row.node,
            "workflow": row.workflow,
            "task": task,
            "attempt": row.attempt,
            "outcome": outcome,
            "file": is_done.then_some(&message),
            "reason": (!is_done).then_some(&message),
        });
        match format {
            Format::Text => {
                let (shot, task) = (sanitize::line(&row.node), sanitize::line(task));
                let close = close.map_or_else(String::new, |close| format!("; {close}"));
                outln!("{shot}: task {task}: {outcome}, {message}{close}");
            }
            Format::Ndjson => outln!("{record}"),
            Format::Json => {}
        }
        record
    }
}

/// Says of each task once that it is waited for.
fn waits() -> OnWait {
    let told = Mutex::new(HashSet::new());
    Box::new(move |row, progress| {
        if told.lock().unwrap_or_else(PoisonError::into_inner).insert(row.attempt.clone()) {
            let task = row.task.as_ref().map_or("", |task| task.as_str());
            let progress = progress.map_or_else(String::new, |percent| format!(" ({percent} %)"));
            let (shot, task) = (sanitize::line(&row.node), sanitize::line(task));
            errln!("{shot}: task {task}: not finished{progress}, waiting for it");
        }
    })
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

/// The command that fetches every task of a project.
pub(crate) fn command_for_all(project: &Path) -> String {
    format!("runner ledger fetch --all --in {}", shell::path(project))
}
