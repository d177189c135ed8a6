//! `runner resolve --cancel`: tasks in flight are cancelled at their services. Nothing is recorded: the next poll of a task says what came of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use client::{Cancelled, TaskState};
use engine::Ledger;
use engine::ledger::AttemptRow;
use engine::provider::Provider;
use renderer::Renderer;
use scheduler::{AttemptState, TaskId};
use serde_json::{Value, json};

use super::selected;
use crate::args::{Format, ResolveArgs};
use crate::backend::{Backend, Connection};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::project_paths::ProjectPaths;
use crate::report::sanitize;
use crate::services;
use crate::trust::Trust;

/// Cancels the tasks that the arguments name; fails if one is not cancelled.
pub(super) async fn cancel(
    ledger: &Ledger,
    args: &ResolveArgs,
    paths: &ProjectPaths,
    renderer: Arc<dyn Renderer>,
) -> Result<Exit, CommandError> {
    let is_in_flight = |state| state == AttemptState::Submitted;
    let mut in_flight = ledger.open_tasks()?;
    in_flight.retain(|row| is_in_flight(row.state));
    let rows = selected::selected(ledger, args, in_flight, is_in_flight)?;
    if rows.is_empty() && args.format == Format::Text {
        outln!("no task is in flight");
    }
    let services = services::of_project(paths)?;
    let mut connections: BTreeMap<String, Connection> = BTreeMap::new();
    let (mut records, mut are_all_cancelled) = (Vec::with_capacity(rows.len()), true);
    for row in &rows {
        if !connections.contains_key(&row.service) {
            let backend = Backend::of_identity(&row.service, &services, Trust::new(args.trust_services))?;
            let connection = backend.with_renderer(Arc::clone(&renderer)).connect(paths).await?;
            connections.insert(row.service.clone(), connection);
        }
        let provider = &*connections[&row.service].provider;
        let (is_cancelled, message) = match &row.task {
            Some(task) if is_in_flight(row.state) => cancel_task(provider, row, task).await,
            _ => (false, format!("not cancelled: no task of it is in flight, it is {}", row.state.as_str())),
        };
        are_all_cancelled &= is_cancelled;
        let record = json!({ "attempt": row.attempt, "shot": row.node, "task": row.task, "is_cancelled": is_cancelled, "message": message });
        match args.format {
            Format::Text => outln!("{}: {message}", sanitize::line(&row.node)),
            Format::Ndjson => outln!("{record}"),
            Format::Json => records.push(record),
        }
    }
    for service in connections.into_values().filter_map(|connection| connection.service) {
        service.stop().await;
    }
    if args.format == Format::Json {
        outln!("{:#}", Value::from(records));
    }
    Ok(if are_all_cancelled { Exit::Done } else { Exit::Failed })
}

/// Whether a task was cancelled, and what to say.
async fn cancel_task(provider: &dyn Provider, row: &AttemptRow, task: &TaskId) -> (bool, String) {
    let cancelled = provider.cancel(task).await;
    let (task, service) = (sanitize::line(task.as_str()), sanitize::line(&row.service));
    let state = match cancelled {
        Ok(Cancelled::Yes) => return (true, format!("task {task} is cancelled")),
        Ok(Cancelled::Unsupported) => return (false, format!("not cancelled: {service} cancels no tasks")),
        Err(failure) => {
            return (false, format!("not cancelled: {}", sanitize::message(&failure.message)));
        }
        Ok(Cancelled::Not(state)) => state,
    };
    let state = match state {
        TaskState::Queued => "queued",
        TaskState::Running => "in progress",
        TaskState::Completed => "completed",
        TaskState::Failed | TaskState::Moderated => "failed",
        TaskState::Cancelled => return (true, format!("task {task} was cancelled before")),
        TaskState::Expired => "expired",
    };
    (false, format!("not cancelled: task {task} is {state}, and {service} does not cancel such tasks"))
}
