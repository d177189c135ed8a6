//! Whether a task that a person names is that of an attempt, as far as the service tells.

use std::sync::Arc;
use std::time::Duration;

use engine::ledger::AttemptRow;
use engine::provider::{Provider, TaskDescription};
use renderer::Renderer;
use scheduler::{Failure, FailureKind, Policy, TaskId};
use workflow::units::VideoDuration;

use crate::backend::Backend;
use crate::clock::{now, utc_time};
use crate::error::CommandError;
use crate::project_paths::ProjectPaths;
use crate::services;
use crate::trust::Trust;

/// Maximum clock skew between this machine and the service.
const MAX_CLOCK_SKEW: Duration = Duration::from_mins(10);
/// How often a task is asked for, at most.
const MAX_DESCRIBE_TRIES: u32 = 5;
/// The longest Retry-After that is heeded while a person waits, as a multiple of the first wait.
const MAX_DESCRIBE_WAIT: u32 = 10;
/// How much longer than requested a video may be: services round to frames.
const DURATION_TOLERANCE: VideoDuration = VideoDuration::from_millis(500);

/// Asks the service that the attempt was submitted to, and no other, whether the task matches the attempt.
pub(super) async fn verify_task(
    row: &AttemptRow,
    task: &TaskId,
    paths: &ProjectPaths,
    trust: Trust,
    renderer: Arc<dyn Renderer>,
) -> Result<(), CommandError> {
    let backend = Backend::of_identity(&row.service, &services::of_project(paths)?, trust)
        .map_err(|error| error.hint(format!("or use --no-verify if task {task} is the right one")))?
        .with_renderer(renderer);
    let connected = backend.connect(paths).await?;
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
