//! `runner resolve`: a person states the outcome of an indeterminate submission, as seen in the account at the service, or closes a task
//! whose video is gone.

mod cancel;
mod list;
mod selected;
mod verify;

#[cfg(feature = "cluster")]
pub(super) use selected::workflow_name;

use std::sync::Arc;

use engine::Ledger;
use engine::ledger::AttemptRow;
use renderer::Renderer;
use scheduler::{AttemptState, Resolution, TaskId};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{Format, ResolutionArgs, ResolveArgs};
use crate::clock::now;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::project_paths::ProjectPaths;
use crate::report::sanitize;
use crate::shell;
use crate::trust::Trust;

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
    if args.resolution.cancel {
        return cancel::cancel(&ledger, &args, &paths, renderer).await;
    }
    let Some(resolution) = resolution(&args)? else {
        return list::list(&ledger, &args.file, &args.shots, args.format);
    };
    let mut candidates = selected::undecided(&ledger)?;
    if resolution == Resolution::Abandoned {
        candidates.extend(ledger.open_tasks()?);
    }
    let is_listed = |state| !matches!(state, AttemptState::Abandoned | AttemptState::Submitted);
    let rows = selected::selected(&ledger, &args, candidates, is_listed)?;
    if let Resolution::Accepted { task } = &resolution
        && !args.no_verify
    {
        for row in &rows {
            verify::verify_task(row, task, &paths, Trust::new(args.trust_services), Arc::clone(&renderer))
                .await?;
        }
    }
    if rows.is_empty() && args.format == Format::Text {
        outln!("nothing is to be resolved");
    }
    let mut records = Vec::with_capacity(rows.len());
    let result = rows.iter().try_for_each(|row| {
        records.push(resolve_attempt(&ledger, row, &resolution, &args)?);
        Ok(())
    });
    if args.format == Format::Json && (result.is_ok() || !records.is_empty()) {
        outln!("{:#}", Value::from(records));
    }
    result.map(|()| Exit::Done)
}

/// The resolution that the arguments state, if they do.
pub(super) fn resolution(args: &ResolveArgs) -> Result<Option<Resolution>, CommandError> {
    let ResolutionArgs { adopt, resubmit, abandon, cancel: _ } = &args.resolution;
    match adopt {
        Some(_) if args.shots.len() > 1 => {
            Err(CommandError::invalid("--adopt names the task of one submission: name one shot"))
        }
        Some(task) => Ok(Some(Resolution::Accepted { task: TaskId(task.clone()) })),
        None if *abandon => Ok(Some(Resolution::Abandoned)),
        None => Ok(resubmit.then_some(Resolution::NotAccepted)),
    }
}

/// Records the resolution of one attempt and reports it.
fn resolve_attempt(
    ledger: &Ledger,
    row: &AttemptRow,
    resolution: &Resolution,
    args: &ResolveArgs,
) -> Result<Value, CommandError> {
    let AttemptRow { attempt, node, .. } = row;
    ledger.resolve(attempt, resolution, now())?;
    let file = shell::path(&args.file);
    let task = match resolution {
        Resolution::Accepted { task } => Some(task),
        Resolution::NotAccepted | Resolution::Abandoned => None,
    };
    let message = match resolution {
        Resolution::Accepted { task } => format!(
            "recorded as task {task}: the next run, or `runner ledger fetch {} --in {file}`, downloads its video",
            shell::quote(task.as_str())
        ),
        Resolution::NotAccepted => "the next run submits it again".to_owned(),
        Resolution::Abandoned => format!(
            "abandoned: counted as spent, and not submitted again unless `runner run {file} --rerun {}` asks for it",
            shell::quote_rerun(node)
        ),
    };
    let record = json!({
        "attempt": attempt,
        "shot": node,
        "resolution": ResolutionKind::from(resolution),
        "task": task,
        "message": message,
    });
    match args.format {
        Format::Text => outln!("{}: {message}", sanitize::line(node)),
        Format::Ndjson => outln!("{record}"),
        Format::Json => {}
    }
    Ok(record)
}
