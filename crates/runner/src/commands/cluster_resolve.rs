//! `runner resolve --engine`: resolves submissions of runs on a cluster whose outcome is unknown.

use std::path::Path;

use cluster::messages::{ResolutionResult, Resolve};
use cluster::records::IndeterminateShot;
use scheduler::{Resolution, RunId, TaskId};
use serde_json::json;

use crate::args::{Format, OverrideArgs, ResolutionArgs, ResolveArgs};
use crate::commands::cluster_address::{ClusterAddress, engine_error};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::load;
use crate::report::sanitize;
use crate::shell;

pub(super) async fn resolve(args: ResolveArgs, address: ClusterAddress) -> Result<Exit, CommandError> {
    let client = address.client.clone();
    let records = address.records(workflow_name(&args.file)?.as_deref()).await?;
    let file = shell::path(&args.file) + &args.engine.suffix();
    let run = args.cluster.run.clone().map(RunId);
    if let Some(run) = &run
        && !records.has_run(run).await.map_err(engine_error)?
    {
        let run = sanitize::line(run.as_str());
        return Err(CommandError::invalid(format!("there is no run {run} on this engine"))
            .hint(format!("to list the runs: runner status {file}")));
    }
    let submissions = match &run {
        Some(run) => records.indeterminate_in(run).await.map_err(engine_error)?,
        None => records.indeterminate().await?,
    };
    let ResolutionArgs { adopt, resubmit, abandon } = args.resolution;
    let resolution = match adopt {
        Some(task) => Some(Resolution::Accepted { task: TaskId(task) }),
        None if abandon => Some(Resolution::Abandoned),
        None => resubmit.then_some(Resolution::NotAccepted),
    };
    let Some((name, resolution)) = args.attempt.zip(resolution) else {
        list(&submissions, args.format, &file);
        return Ok(if submissions.is_empty() { Exit::Done } else { Exit::ActionNeeded });
    };
    let mut matched = submissions.into_iter().filter(|row| row.shot == name || row.attempt.as_str() == name);
    let (first, second) = (matched.next(), matched.next());
    let Some(IndeterminateShot { shot, key, attempt }) = first else {
        return Err(CommandError::invalid(format!(
            "no submission of `{}` is indeterminate{}",
            sanitize::line(&name),
            if run.is_some() { " in this run" } else { "" }
        ))
        .hint(format!("to list those that are: runner resolve {file}")));
    };
    if second.is_some() {
        return Err(CommandError::invalid(format!(
            "several submissions of `{}` are indeterminate",
            sanitize::line(&name)
        ))
        .hint(format!("name the attempt; to list them: runner resolve {file}")));
    }
    let message = Resolve { attempt: attempt.clone(), resolution };
    match client.resolve(&key, &message).await.map_err(engine_error)? {
        ResolutionResult::Done => {}
        ResolutionResult::NoSuchAttempt => {
            return Err(CommandError::invalid(format!("{attempt} is not on record")));
        }
        ResolutionResult::NotResolvable { state } => {
            return Err(CommandError::invalid(format!("{attempt} is {state}, which nobody has to resolve")));
        }
        ResolutionResult::TaskTaken => {
            return Err(CommandError::invalid("another attempt owns this task"));
        }
    }
    let message = "recorded; the next run acts on it";
    match args.format {
        Format::Text => outln!("{}: {message}", sanitize::line(&shot)),
        Format::Json | Format::Ndjson => {
            outln!("{}", json!({ "shot": shot, "attempt": attempt, "message": message }));
        }
    }
    Ok(Exit::Done)
}

/// The workflow of a file; `None` for a folder.
fn workflow_name(file: &Path) -> Result<Option<String>, CommandError> {
    if file.is_dir() {
        return Ok(None);
    }
    let plan = load::check(file, &OverrideArgs::default()).ok().and_then(|checked| checked.plan);
    match plan {
        Some(plan) => Ok(Some(plan.name().to_owned())),
        None => {
            Err(CommandError::invalid(format!("{} is not a valid workflow", file.display())).hint(format!(
                "to see what is wrong: runner check {}; a folder stands for all workflows",
                shell::path(file)
            )))
        }
    }
}

fn list(submissions: &[IndeterminateShot], format: Format, file: &str) {
    match format {
        Format::Text if submissions.is_empty() => outln!("nothing to resolve"),
        Format::Text => {
            for IndeterminateShot { shot, attempt, .. } in submissions {
                outln!("{}  {attempt}", sanitize::line(shot));
            }
            errln!(
                "look each one up in your account at the service, then: runner resolve {file} SHOT --adopt TASK, --resubmit or --abandon"
            );
        }
        Format::Json | Format::Ndjson => {
            let rows: Vec<_> = submissions
                .iter()
                .map(
                    |submission| json!({ "shot": submission.shot, "attempt": submission.attempt, "key": submission.key.to_string() }),
                )
                .collect();
            outln!("{}", json!({ "indeterminate": rows }));
        }
    }
}
