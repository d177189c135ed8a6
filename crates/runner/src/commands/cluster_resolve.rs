//! `runner resolve --engine`: resolves submissions of runs on a cluster whose outcome is unknown.

use cluster::messages::{ResolutionResult, Resolve};
use cluster::records::IndeterminateShot;
use scheduler::RunId;
use serde_json::{Value, json};

use crate::args::{Format, ResolveArgs};
use crate::commands::cluster_address::{ClusterAddress, engine_error};
use crate::commands::resolve::{resolution, workflow_name};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::report::sanitize;
use crate::shell;

pub(super) async fn resolve(args: ResolveArgs, address: ClusterAddress) -> Result<Exit, CommandError> {
    if args.resolution.cancel {
        return Err(CommandError::invalid("--cancel is for runs on this machine")
            .hint("cancel the tasks of a run on an engine in your account at the service"));
    }
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
    let Some(resolution) = resolution(&args)? else {
        list(&submissions, args.format, &file);
        return Ok(if submissions.is_empty() { Exit::Done } else { Exit::ActionNeeded });
    };
    let in_run = if run.is_some() { " in this run" } else { "" };
    let selected: Vec<&IndeterminateShot> = if args.all {
        submissions.iter().collect()
    } else {
        let names = args.shots.iter();
        names.map(|name| named(&submissions, name, in_run, &file)).collect::<Result<_, _>>()?
    };
    let mut records = Vec::new();
    for IndeterminateShot { shot, key, attempt } in selected {
        let message = Resolve { attempt: attempt.clone(), resolution: resolution.clone() };
        match client.resolve(key, &message).await.map_err(engine_error)? {
            ResolutionResult::Done => {}
            ResolutionResult::NoSuchAttempt => {
                return Err(CommandError::invalid(format!("{attempt} is not on record")));
            }
            ResolutionResult::NotResolvable { state } => {
                return Err(CommandError::invalid(format!(
                    "{attempt} is {state}, which nobody has to resolve"
                )));
            }
            ResolutionResult::TaskTaken => {
                return Err(CommandError::invalid("another attempt owns this task"));
            }
        }
        let message = "recorded; the next run acts on it";
        let record = json!({ "shot": shot, "attempt": attempt, "message": message });
        match args.format {
            Format::Text => outln!("{}: {message}", sanitize::line(shot)),
            Format::Ndjson => outln!("{record}"),
            Format::Json => records.push(record),
        }
    }
    if args.format == Format::Json {
        outln!("{:#}", Value::from(records));
    }
    Ok(Exit::Done)
}

/// The submission of this shot, or of this attempt.
fn named<'s>(
    submissions: &'s [IndeterminateShot],
    name: &str,
    in_run: &str,
    file: &str,
) -> Result<&'s IndeterminateShot, CommandError> {
    let mut matched = submissions.iter().filter(|row| row.shot == name || row.attempt.as_str() == name);
    let shot = sanitize::line(name);
    match (matched.next(), matched.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => {
            Err(CommandError::invalid(format!("no submission of `{shot}` is indeterminate{in_run}"))
                .hint(format!("to list those that are: runner resolve {file}")))
        }
        (Some(_), Some(_)) => {
            Err(CommandError::invalid(format!("several submissions of `{shot}` are indeterminate"))
                .hint(format!("name the attempt; to list them: runner resolve {file}")))
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
