//! `runner ledger link-account`: the API key is a new one of an account that submitted tasks with another key.

use std::sync::Arc;

use engine::provider::Provider;
use renderer::Procedural;
use scheduler::{PollResult, TaskId};
use serde_json::{Value, json};

use crate::args::{Format, LinkAccountArgs};
use crate::backend::Backend;
use crate::clock::now;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ffmpeg;
use crate::project_paths::ProjectPaths;
use crate::report::sanitize;

/// What the service said about the tasks of one earlier key.
enum LinkCheck {
    /// It showed this task to the present key: the account is the same.
    Shown(TaskId),
    /// It showed none of them.
    NotShown(String),
}

pub(crate) async fn link_account(args: LinkAccountArgs) -> Result<Exit, CommandError> {
    let paths = ProjectPaths::of_existing(&args.file)?;
    let ledger = paths.open_ledger(&args.file)?;
    let backend = Backend::from_environment()?.with_renderer(Arc::new(Procedural));
    let (service, Some(account)) = (backend.identity(), backend.account()) else {
        return Err(CommandError::invalid("the embedded service has no accounts")
            .hint("set RUNNER_BASE_URL and RUNNER_API_KEY, with the new key"));
    };
    let others = ledger.other_accounts(&service, &account)?;
    let connected = backend.connect(&paths, ffmpeg::find()).await?;
    let mut records = Vec::new();
    let mut is_all_shown = true;
    for (other, tasks) in others {
        let check = check_account(&*connected.provider, &tasks).await;
        if let LinkCheck::Shown(task) = &check {
            ledger.link_account(&service, &account, &other, task, now())?;
        }
        is_all_shown &= matches!(check, LinkCheck::Shown(_));
        records.push(report(args.format, &other, &check));
    }
    match args.format {
        Format::Json => outln!("{:#}", Value::from(records)),
        Format::Text if records.is_empty() => {
            outln!("every task of {service} that is recorded here was submitted with a key of this account");
        }
        Format::Text | Format::Ndjson => {}
    }
    Ok(if is_all_shown { Exit::Done } else { Exit::ActionNeeded })
}

/// Polls tasks until the service shows one.
async fn check_account(provider: &dyn Provider, tasks: &[TaskId]) -> LinkCheck {
    let mut reason = "no task of it is recorded".to_owned();
    for task in tasks {
        reason = match provider.poll(task).await {
            PollResult::Running { .. } | PollResult::Completed { .. } | PollResult::Failed { .. } => {
                return LinkCheck::Shown(task.clone());
            }
            PollResult::NotFound { .. } => {
                format!("the service does not show task {} to this key", sanitize::line(task.as_str()))
            }
            PollResult::Throttled { reason, .. } | PollResult::Unreachable { reason } => reason,
            PollResult::Unauthorized { failure } => failure.message,
        };
    }
    LinkCheck::NotShown(reason)
}

/// Reports what became of one earlier key, which is known by its digest only.
fn report(format: Format, other: &str, answer: &LinkCheck) -> Value {
    let (task, reason) = match answer {
        LinkCheck::Shown(task) => (Some(task), None),
        LinkCheck::NotShown(reason) => (None, Some(sanitize::message(reason))),
    };
    let record = json!({ "account": other, "linked": task.is_some(), "task": task, "reason": reason });
    match (format, task) {
        (Format::Text, Some(task)) => outln!(
            "account {other}: the same, the service shows its task {} to this key",
            sanitize::line(task.as_str())
        ),
        (Format::Text, None) => {
            outln!("account {other}: not linked, {}", reason.as_deref().unwrap_or_default());
        }
        (Format::Ndjson, _) => outln!("{record}"),
        (Format::Json, _) => {}
    }
    record
}
