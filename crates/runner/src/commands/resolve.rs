//! `runner resolve`: a person states the outcome of an indeterminate submission, as seen in the account at the service.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::Ledger;
use engine::ledger::AttemptRow;
use engine::provider::{Provider, TaskDescription};
use renderer::Renderer;
use scheduler::{AttemptId, AttemptState, Failure, FailureKind, Policy, Resolution, TaskId, Timestamp};
use serde::Serialize;
use serde_json::{Value, json};
use workflow::units::VideoDuration;

use crate::args::{Format, ResolveArgs};
use crate::backend::Backend;
use crate::clock::now;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::project_paths::ProjectPaths;
use crate::report::Table;
use crate::shell;

/// Maximum clock skew between this machine and the service.
const MAX_CLOCK_SKEW: Duration = Duration::from_mins(10);
/// How often a task is asked for, at most.
const MAX_DESCRIBE_TRIES: u32 = 5;
/// The longest Retry-After that is heeded while a person waits, as a multiple of the first wait.
const MAX_DESCRIBE_WAIT: u32 = 10;
/// How much longer than requested a video may be: services round to frames.
const DURATION_TOLERANCE: VideoDuration = VideoDuration::from_millis(500);

/// The resolution as printed.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum ResolutionKind {
    Accepted,
    NotAccepted,
    Abandoned,
}

impl From<&Resolution> for ResolutionKind {
    fn from(resolution: &Resolution) -> Self {
        match resolution {
            Resolution::Accepted { .. } => Self::Accepted,
            Resolution::NotAccepted => Self::NotAccepted,
            Resolution::Abandoned => Self::Abandoned,
        }
    }
}

pub(crate) async fn resolve(args: ResolveArgs, renderer: Arc<dyn Renderer>) -> Result<Exit, CommandError> {
    let paths = ProjectPaths::for_workflow(&args.file)?;
    let Some(ledger) = Ledger::open_existing(&paths.ledger(), &paths.folder)? else {
        return Err(CommandError::invalid(format!(
            "no runs beside {}: there is no ledger",
            args.file.display()
        )));
    };
    let Some(attempt) = args.attempt else { return list(&ledger, &args.file, args.format) };
    let attempt = AttemptId(attempt);
    let resolution = match args.resolution.adopt {
        Some(task) => Resolution::Accepted { task: TaskId(task) },
        None if args.resolution.abandon => Resolution::Abandoned,
        None => Resolution::NotAccepted,
    };
    if let Resolution::Accepted { task } = &resolution
        && !args.no_verify
        && let Some(row) = ledger.attempt(&attempt)?
    {
        verify_task(&row, task, &paths, renderer).await?;
    }
    ledger.resolve(&attempt, &resolution, now())?;
    let message = match &resolution {
        Resolution::Accepted { task } => format!("the next run adopts task {task}"),
        Resolution::NotAccepted => "the next run submits it again".to_owned(),
        Resolution::Abandoned => {
            "abandoned: counted as spent, and not submitted again unless `runner run --rerun` asks for it"
                .to_owned()
        }
    };
    let task = match &resolution {
        Resolution::Accepted { task } => Some(task),
        Resolution::NotAccepted | Resolution::Abandoned => None,
    };
    match args.format {
        Format::Text => outln!("{attempt}: {message}"),
        Format::Json | Format::Ndjson => outln!(
            "{}",
            json!({
                "attempt": attempt,
                "resolution": ResolutionKind::from(&resolution),
                "task": task,
                "message": message,
            })
        ),
    }
    Ok(Exit::Done)
}

/// Asks the service that the attempt was submitted to, and no other, whether the task matches the attempt.
async fn verify_task(
    row: &AttemptRow,
    task: &TaskId,
    paths: &ProjectPaths,
    renderer: Arc<dyn Renderer>,
) -> Result<(), CommandError> {
    let backend = Backend::from_environment()?.with_renderer(renderer);
    if backend.identity() != row.service {
        let service = &row.service;
        return Err(CommandError::unusable(format!(
            "attempt {} was submitted to {service}, but the environment names {}",
            row.attempt,
            backend.identity(),
        ))
        .hint(format!(
            "set RUNNER_BASE_URL and RUNNER_API_KEY for {service}, or use --no-verify if task {task} is the right one"
        )));
    }
    let connected = backend.connect(paths, crate::ffmpeg::find()).await?;
    let described = describe_task(&*connected.provider, task, &connected.policy).await;
    drop(connected.provider);
    if let Some(service) = connected.service {
        service.stop().await;
    }
    let found = described.map_err(|failure| {
        CommandError::unusable(format!("the service does not describe task {task}: {}", failure.message))
            .hint(format!("run the command again later, or use --no-verify if task {task} is the right one"))
    })?;
    let mismatch = |what: String| {
        CommandError::invalid(format!("task {task} does not match attempt {}: {what}", row.attempt))
    };
    if let Some(model) = found.model.filter(|model| *model != row.model) {
        return Err(mismatch(format!("its model is {model}, not {}", row.model)));
    }
    // If the request left the duration to the service, the attempt has the longest that the contract allows.
    let requested = row.reservation.duration;
    let longest = requested.saturating_add(DURATION_TOLERANCE);
    if let Some(duration) = found.duration.filter(|duration| *duration > longest) {
        return Err(mismatch(format!("its duration is {duration} s, not {requested} s")));
    }
    // An intent from a clock that was ahead counts as now.
    let intended_at = row.intended_at.min(now());
    if let Some(created) = found.created_at.filter(|created| created.after(MAX_CLOCK_SKEW) < intended_at) {
        return Err(mismatch(format!(
            "it was created at {}, before the attempt at {}",
            format_time(created),
            format_time(intended_at)
        )));
    }
    Ok(())
}

/// Asks for a task until the service describes it, because a single request may meet a gateway's error. The waits double; a Retry-After is
/// heeded up to the longest of them.
async fn describe_task(
    provider: &dyn Provider,
    task: &TaskId,
    policy: &Policy,
) -> Result<TaskDescription, Failure> {
    let mut wait = policy.backoff;
    for _ in 1..MAX_DESCRIBE_TRIES {
        let failure = match provider.describe(task).await {
            Ok(found) => return Ok(found),
            Err(failure) => failure,
        };
        if !matches!(failure.kind, FailureKind::Transient | FailureKind::RateLimited) {
            return Err(failure);
        }
        let asked = failure.retry_after.unwrap_or_default().min(policy.backoff * MAX_DESCRIBE_WAIT);
        tokio::time::sleep(wait.max(asked)).await;
        wait *= 2;
    }
    provider.describe(task).await
}

fn list(ledger: &Ledger, file: &Path, format: Format) -> Result<Exit, CommandError> {
    let rows: Vec<AttemptRow> = ledger
        .resolvable_attempts()?
        .into_iter()
        .filter(|row| row.state != AttemptState::Intended || !ledger.is_alive(&row.run))
        .collect();
    let action_needed = rows.iter().any(|row| row.state != AttemptState::Abandoned);
    match format {
        Format::Json => outln!("{:#}", rows.iter().map(record).collect::<Value>()),
        Format::Ndjson => rows.iter().for_each(|row| outln!("{}", record(row))),
        Format::Text if rows.is_empty() => outln!("no submission is indeterminate"),
        Format::Text => {
            let mut table = Table::new(["attempt", "shot", "time", "service", "request", "state"]);
            for row in &rows {
                table.row([
                    row.attempt.to_string(),
                    row.node.clone(),
                    format_time(row.intended_at),
                    row.service.clone(),
                    row.digest.chars().take(12).collect(),
                    describe(row),
                ]);
            }
            out!("{}", table.render());
            let (file, first) = (shell::quote(&file.display().to_string()), &rows[0].attempt);
            outln!(
                "\nlook the submission up in your account at the service, then run one of\n  \
                 runner resolve {file} {first} --adopt TASK   it was accepted as this task\n  \
                 runner resolve {file} {first} --resubmit     it was not accepted: submit it again\n  \
                 runner resolve {file} {first} --abandon      cannot be determined: count it as spent"
            );
        }
    }
    Ok(if action_needed { Exit::ActionNeeded } else { Exit::Done })
}

fn describe(row: &AttemptRow) -> String {
    let reason =
        row.failure.clone().unwrap_or_else(|| "the run ended before the response arrived".to_owned());
    if row.state == AttemptState::Abandoned { format!("abandoned: {reason}") } else { reason }
}

fn record(row: &AttemptRow) -> Value {
    json!({
        "attempt": row.attempt,
        "shot": row.node,
        "run": row.run,
        "time": row.intended_at,
        "service": row.service,
        "model": row.model,
        "request": row.digest,
        "abandoned": row.state == AttemptState::Abandoned,
        "reason": describe(row),
    })
}

fn format_time(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0).map_or_else(|_| "?".to_owned(), |time| format!("{time:.0}"))
}
