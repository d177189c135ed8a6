//! `runner resolve`: a person states the outcome of an indeterminate submission, as seen in the account at the service.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::Ledger;
use engine::ledger::AttemptRow;
use engine::provider::{Provider, TaskDescription};
use renderer::Renderer;
use scheduler::{AttemptId, AttemptState, Failure, FailureKind, Policy, Resolution, TaskId};
use serde::Serialize;
use serde_json::{Value, json};
use workflow::units::VideoDuration;

use crate::args::{Format, OverrideArgs, ResolutionArgs, ResolveArgs};
use crate::backend::Backend;
use crate::clock::{now, utc_time};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::hints;
use crate::load;
use crate::project_paths::ProjectPaths;
use crate::report::{Table, sanitize};
use crate::selection::unknown_shot;
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
    let paths = ProjectPaths::of_existing(&args.file)?;
    #[cfg(feature = "cluster")]
    if let Some(address) = super::cluster_address::ClusterAddress::new(&args.engine)? {
        return super::cluster_resolve::resolve(args, address).await;
    }
    let ledger = paths.open_ledger(&args.file)?;
    let ResolutionArgs { adopt, resubmit, abandon } = args.resolution;
    let resolution = match adopt {
        Some(task) => Some(Resolution::Accepted { task: TaskId(task) }),
        None if abandon => Some(Resolution::Abandoned),
        None => resubmit.then_some(Resolution::NotAccepted),
    };
    let (attempt, resolution) = match (args.attempt, resolution) {
        (Some(named), Some(resolution)) => {
            (attempt_named(&ledger, &named, &resolution, &args.file)?, resolution)
        }
        (named, _) => return list(&ledger, &args.file, named.as_deref(), args.format),
    };
    if let Resolution::Accepted { task } = &resolution
        && !args.no_verify
        && let Some(row) = ledger.attempt(&attempt)?
    {
        verify_task(&row, task, &paths, renderer).await?;
    }
    ledger.resolve(&attempt, &resolution, now())?;
    let message = match &resolution {
        Resolution::Accepted { task } if is_replaced(&ledger, &attempt)? => format!(
            "recorded; another task was accepted for its shot: `runner ledger fetch {} --in {}` downloads its video",
            shell::quote(task.as_str()),
            shell::path(&args.file)
        ),
        Resolution::Accepted { task } => format!("the next run adopts task {task}"),
        Resolution::NotAccepted => "the next run submits it again".to_owned(),
        Resolution::Abandoned if is_replaced(&ledger, &attempt)? => {
            "closed: counted as spent; another task was accepted for its shot".to_owned()
        }
        Resolution::Abandoned => {
            let file = shell::path(args.file);
            let shot = ledger.attempt(&attempt)?.map_or_else(|| "SHOT".to_owned(), |row| row.node);
            let shot = shell::quote(&shot);
            format!(
                "abandoned: counted as spent, and not submitted again unless `runner run {file} --rerun {shot}` asks for it"
            )
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

/// Whether another task was accepted for the shot of an attempt.
fn is_replaced(ledger: &Ledger, attempt: &AttemptId) -> Result<bool, CommandError> {
    Ok(ledger.attempt(attempt)?.is_some_and(|row| row.replaced_key.is_some()))
}

/// The attempt of this id, or the one of this shot that the resolution can be for.
fn attempt_named(
    ledger: &Ledger,
    name: &str,
    resolution: &Resolution,
    file: &Path,
) -> Result<AttemptId, CommandError> {
    let id = AttemptId(name.to_owned());
    let mut rows = resolvable(ledger)?;
    if *resolution == Resolution::Abandoned {
        rows.extend(ledger.open_tasks()?);
    }
    if ledger.attempt(&id)?.is_some() {
        return Ok(id);
    }
    let shots: BTreeSet<String> = rows.iter().map(|row| row.node.clone()).collect();
    rows.retain(|row| row.node == name);
    // What is abandoned already is meant only where nothing else is.
    if rows.iter().any(|row| row.state != AttemptState::Abandoned) {
        rows.retain(|row| row.state != AttemptState::Abandoned);
    }
    match rows.as_slice() {
        [only] => Ok(only.attempt.clone()),
        [] => {
            if let Some(error) = not_resolvable(ledger, name, file)? {
                return Err(error);
            }
            let error = not_submitted(name, file);
            if shots.is_empty() {
                return Err(error);
            }
            let shots = shots.into_iter().take(12).collect::<Vec<_>>().join(", ");
            let file = shell::path(file);
            Err(error.hint(format!("to be resolved: {shots}; `runner resolve {file}` lists the submissions")))
        }
        several => {
            let ids = several.iter().map(|row| row.attempt.to_string()).collect::<Vec<_>>().join(", ");
            Err(CommandError::invalid(format!("`{name}` has several submissions: name one of {ids}")))
        }
    }
}

/// Nothing on record has this name.
fn not_submitted(name: &str, file: &Path) -> CommandError {
    // An invalid workflow is ignored here; other commands report it.
    let checked = (!file.is_dir()).then(|| load::check(file, &OverrideArgs::default()).ok());
    match checked.flatten().and_then(|checked| checked.plan) {
        Some(plan) if plan.select(name).is_ok() => {
            let shot = sanitize::line(name);
            CommandError::invalid(format!("nothing is to be resolved for {shot}: it was not submitted"))
        }
        _ => unknown_shot(name, None, file),
    }
}

/// Why no submission of this shot can be resolved in the asked way; `None` where it has none.
fn not_resolvable(ledger: &Ledger, shot: &str, file: &Path) -> Result<Option<CommandError>, CommandError> {
    let records = ledger.attempts_of_shot(shot)?;
    let Some(latest) = records.into_iter().find(|record| record.node == shot) else { return Ok(None) };
    let task = ledger.attempt(&latest.attempt)?.and_then(|row| row.task);
    let task = task.map_or_else(String::new, |task| format!(" with task {}", sanitize::line(task.as_str())));
    let (shot, file, state) = (shell::quote(shot), shell::path(file), latest.state.as_str());
    let error = CommandError::invalid(format!(
        "nothing is to be resolved for {shot}: its last submission is recorded as {state}{task}"
    ));
    Ok(Some(error.hint(if latest.state.holds_key() && !latest.state.is_in_flight() {
        format!("`runner run {file} --rerun {shot}` pays for another one")
    } else {
        format!("`runner run {file} --only {shot}` continues from there")
    })))
}

/// The attempts that can be resolved: not those whose run still waits for the response.
fn resolvable(ledger: &Ledger) -> Result<Vec<AttemptRow>, CommandError> {
    let mut rows = ledger.resolvable_attempts()?;
    rows.retain(|row| row.state != AttemptState::Intended || !ledger.is_alive(&row.run));
    Ok(rows)
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
        return Err(CommandError::invalid(format!(
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
    let description = described.map_err(|failure| {
        CommandError::unusable(format!("the service does not describe task {task}: {}", failure.message))
            .hint(format!("run the command again later, or use --no-verify if task {task} is the right one"))
    })?;
    let mismatch = |difference: String| {
        CommandError::invalid(format!("task {task} does not match attempt {}: {difference}", row.attempt))
    };
    if let Some(model) = description.model.filter(|model| *model != row.model) {
        return Err(mismatch(format!("its model is {model}, not {}", row.model)));
    }
    // If the request left the duration to the service, the attempt has the longest that the contract allows.
    let requested = row.reservation.duration;
    let max_duration = requested.saturating_add(DURATION_TOLERANCE);
    if let Some(duration) = description.duration.filter(|duration| *duration > max_duration) {
        return Err(mismatch(format!("its duration is {duration} s, not {requested} s")));
    }
    // An intent from a clock that was ahead counts as now.
    let intended_at = row.intended_at.min(now());
    if let Some(created) =
        description.created_at.filter(|created| created.after(MAX_CLOCK_SKEW) < intended_at)
    {
        return Err(mismatch(format!(
            "it was created at {}, before the attempt at {}",
            utc_time(created),
            utc_time(intended_at)
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
            Ok(description) => return Ok(description),
            Err(failure) => failure,
        };
        if !matches!(failure.kind, FailureKind::Transient | FailureKind::RateLimited) {
            return Err(failure);
        }
        let retry_after = failure.retry_after.unwrap_or_default().min(policy.backoff * MAX_DESCRIBE_WAIT);
        tokio::time::sleep(wait.max(retry_after)).await;
        wait *= 2;
    }
    provider.describe(task).await
}

fn list(ledger: &Ledger, file: &Path, name: Option<&str>, format: Format) -> Result<Exit, CommandError> {
    let mut rows = resolvable(ledger)?;
    if let Some(name) = name {
        rows.retain(|row| row.node == name || row.attempt.as_str() == name);
        let is_known = || -> Result<bool, CommandError> {
            Ok(ledger.attempt(&AttemptId(name.to_owned()))?.is_some()
                || not_resolvable(ledger, name, file)?.is_some())
        };
        if rows.is_empty() && !is_known()? {
            return Err(not_submitted(name, file));
        }
    }
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
                    utc_time(row.intended_at),
                    row.service.clone(),
                    row.digest.chars().take(12).collect(),
                    describe(row),
                ]);
            }
            out!("{}", table.render());
            let file = shell::path(file);
            for row in &rows {
                if let Some(task) = &row.suggested_task {
                    let command =
                        hints::resolve_command(&file, &shot_or_attempt(row, &rows), Some(task.as_str()));
                    outln!("\n{}: {command}", sanitize::line(&row.node));
                }
            }
            let Some(first) = rows.iter().find(|row| row.state != AttemptState::Abandoned) else {
                return Ok(Exit::Done);
            };
            let first = shot_or_attempt(first, &rows);
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

/// The argument that names a row: its shot, or where the shot has several its attempt.
fn shot_or_attempt(row: &AttemptRow, rows: &[AttemptRow]) -> String {
    let of_shot = rows.iter().filter(|other| other.node == row.node);
    if of_shot.count() > 1 {
        return row.attempt.to_string();
    }
    shell::quote(&row.node)
}

fn describe(row: &AttemptRow) -> String {
    let reason = match (&row.failure, &row.task) {
        (Some(failure), _) => failure.clone(),
        (None, Some(task)) => format!("it was accepted as task {task}"),
        (None, None) => "the run ended before the response arrived".to_owned(),
    };
    if row.state == AttemptState::Abandoned { format!("abandoned: {reason}") } else { reason }
}

fn record(row: &AttemptRow) -> Value {
    json!({
        "attempt": row.attempt,
        "shot": row.node,
        "run": row.run,
        "intended_at": row.intended_at,
        "service": row.service,
        "model": row.model,
        "request": row.digest,
        "suggested_task": row.suggested_task,
        "abandoned": row.state == AttemptState::Abandoned,
        "reason": describe(row),
    })
}
