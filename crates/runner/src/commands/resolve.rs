//! `runner resolve`: someone who can see the account at the service says what became of a submission whose answer was lost.

use std::time::Duration;

use engine::ledger::{AttemptRow, AttemptState};
use engine::{Ledger, LedgerError};
use scheduler::{AttemptId, Resolution, TaskId, Timestamp};
use serde_json::{Value, json};

use crate::args::{Format, ResolveArgs};
use crate::backend::Backend;
use crate::clock::now;
use crate::commands::print_error;
use crate::exit::Exit;
use crate::project_paths::ProjectPaths;
use crate::report::Table;

/// How far the clocks of this machine and the service may be apart.
const SKEW: Duration = Duration::from_mins(10);

pub(crate) async fn resolve(args: ResolveArgs) -> Exit {
    match attempt(args).await {
        Ok(exit) => exit,
        Err(error @ LedgerError::NotResolvable(_)) => {
            print_error(error);
            Exit::InvalidInput
        }
        Err(error) => {
            print_error(error);
            Exit::Unusable
        }
    }
}

async fn attempt(args: ResolveArgs) -> Result<Exit, LedgerError> {
    let paths = ProjectPaths::for_workflow(&args.file)?;
    let Some(ledger) = Ledger::open_existing(&paths.ledger(), &paths.folder)? else {
        print_error(format!("nothing has been run beside {}: there is no ledger", args.file.display()));
        return Ok(Exit::InvalidInput);
    };
    let Some(attempt) = args.attempt else { return list(&ledger, args.format) };
    let attempt = AttemptId(attempt);
    let resolution = match args.resolution.adopt {
        Some(task) => Resolution::Accepted { task: TaskId(task) },
        None if args.resolution.abandon => Resolution::Abandoned,
        None => Resolution::NotAccepted,
    };
    if let Resolution::Accepted { task } = &resolution
        && !args.unchecked
        && let Some(row) = ledger.attempt(&attempt)?
        && let Err((why, exit)) = check(&row, task, &paths).await
    {
        print_error(why);
        return Ok(exit);
    }
    ledger.resolve(&attempt, &resolution, now())?;
    let said = match &resolution {
        Resolution::Accepted { task } => format!("the next run adopts task {task}"),
        Resolution::NotAccepted => "the next run submits it anew".to_owned(),
        Resolution::Abandoned => {
            "it is not submitted again unless `runner run --force` asks for it; what it may have cost counts as spent"
                .to_owned()
        }
    };
    match args.format {
        Format::Text => outln!("{attempt}: {said}"),
        Format::Json | Format::Ndjson => outln!("{}", json!({ "attempt": attempt, "resolution": said })),
    }
    Ok(Exit::Done)
}

/// Asks the service that took the attempt, and no other, whether the task can be the attempt's.
async fn check(row: &AttemptRow, task: &TaskId, paths: &ProjectPaths) -> Result<(), (String, Exit)> {
    let unusable = |why: String| (why, Exit::Unusable);
    let backend = Backend::from_environment().map_err(unusable)?;
    if backend.identity() != row.service {
        let service = &row.service;
        return Err(unusable(format!(
            "attempt {} went to {service}, and the environment names {}: set RUNNER_BASE_URL and RUNNER_API_KEY for {service}, \
             or say --unchecked to believe that task {task} is the right one",
            row.attempt,
            backend.identity(),
        )));
    }
    let connected = backend.connect(paths, crate::ffmpeg::find()).await.map_err(unusable)?;
    let described = connected.provider.describe(task).await;
    drop(connected.provider);
    if let Some(service) = connected.service {
        service.stop().await;
    }
    let found = described.map_err(|failure| {
        unusable(format!("the service does not say what task {task} is: {}", failure.message))
    })?;
    let unlike = |what: String| {
        (format!("task {task} is not what attempt {} asked for: {what}", row.attempt), Exit::InvalidInput)
    };
    if let Some(model) = found.model.filter(|model| *model != row.model) {
        return Err(unlike(format!("its model is {model}, not {}", row.model)));
    }
    // Where the request left the length to the service, the attempt has the longest that may come.
    let requested = row.video_ms as f64 / 1e3;
    if let Some(seconds) = found.seconds.filter(|seconds| *seconds > requested + 0.5) {
        return Err(unlike(format!("it has {seconds} seconds, not {requested}")));
    }
    if let Some(created) = found.created_at.filter(|created| created.after(SKEW) < row.intended_at) {
        return Err(unlike(format!(
            "it was made at {}, before the attempt at {}",
            at(created),
            at(row.intended_at)
        )));
    }
    Ok(())
}

fn list(ledger: &Ledger, format: Format) -> Result<Exit, LedgerError> {
    let open: Vec<AttemptRow> = ledger
        .resolvable_attempts()?
        .into_iter()
        .filter(|row| row.state != AttemptState::Intended || !ledger.is_alive(&row.run))
        .collect();
    let is_outstanding = open.iter().any(|row| row.state != AttemptState::Abandoned);
    match format {
        Format::Json => outln!("{:#}", open.iter().map(record).collect::<Value>()),
        Format::Ndjson => open.iter().for_each(|row| outln!("{}", record(row))),
        Format::Text if open.is_empty() => outln!("every submission is accounted for"),
        Format::Text => {
            let mut table = Table::new(["attempt", "shot", "at", "service", "request", "what is known"]);
            for row in &open {
                table.row([
                    row.attempt.to_string(),
                    row.node.clone(),
                    at(row.intended_at),
                    row.service.clone(),
                    row.digest.chars().take(12).collect(),
                    known(row),
                ]);
            }
            out!("{}", table.render());
            outln!(
                "\nlook at your account at the service, then say one of\n  \
                 runner resolve FILE ATTEMPT --adopt TASK   it was accepted as this task\n  \
                 runner resolve FILE ATTEMPT --resubmit     it was not accepted: submit it anew\n  \
                 runner resolve FILE ATTEMPT --abandon      nobody knows: leave it"
            );
        }
    }
    Ok(if is_outstanding { Exit::Outstanding } else { Exit::Done })
}

fn known(row: &AttemptRow) -> String {
    let trouble = row.failure.clone().unwrap_or_else(|| "the run ended before the answer came".to_owned());
    if row.state == AttemptState::Abandoned { format!("given up: {trouble}") } else { trouble }
}

fn record(row: &AttemptRow) -> Value {
    json!({
        "attempt": row.attempt,
        "shot": row.node,
        "run": row.run,
        "at": row.intended_at,
        "service": row.service,
        "model": row.model,
        "request": row.digest,
        "given_up": row.state == AttemptState::Abandoned,
        "known": known(row),
    })
}

fn at(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0).map_or_else(|_| "?".to_owned(), |at| format!("{at:.0}"))
}
