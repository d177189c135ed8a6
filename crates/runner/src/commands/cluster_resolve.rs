//! `runner resolve --engine`: resolves indeterminate submissions of a run on a cluster.

use cluster::messages::{Resolve, Resolved};
use cluster::{EngineClient, Follower, SharedStore};
use scheduler::{AttemptId, Outcome, Resolution, RunId, TaskId};
use serde_json::json;
use url::Url;
use workflow::plan::NodeKey;

use crate::args::{Format, ResolutionArgs, ResolveArgs};
use crate::commands::worker::{engine_error, price_source};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::report::sanitize;

/// An indeterminate submission of a run.
struct Open {
    shot: String,
    key: NodeKey,
    attempt: AttemptId,
}

pub(super) async fn resolve(args: ResolveArgs, engine: Url) -> Result<Exit, CommandError> {
    // clap requires both with --engine.
    let (Some(store), Some(run)) = (&args.cluster.store, args.cluster.run.clone()) else {
        return Err(CommandError::invalid("--engine needs --store and --run"));
    };
    let store = SharedStore::open(store).map_err(engine_error)?;
    let client = EngineClient::new(engine).map_err(engine_error)?;
    let open = open_submissions(&client, store, &RunId(run)).await?;
    let ResolutionArgs { adopt, resubmit, abandon } = args.resolution;
    let resolution = match adopt {
        Some(task) => Some(Resolution::Accepted { task: TaskId(task) }),
        None if abandon => Some(Resolution::Abandoned),
        None => resubmit.then_some(Resolution::NotAccepted),
    };
    let Some((named, resolution)) = args.attempt.zip(resolution) else {
        list(&open, args.format);
        return Ok(if open.is_empty() { Exit::Done } else { Exit::ActionNeeded });
    };
    let found = open.into_iter().find(|open| open.shot == named || open.attempt.as_str() == named);
    let Some(Open { shot, key, attempt }) = found else {
        return Err(CommandError::invalid(format!(
            "no submission of `{}` is indeterminate in this run",
            sanitize::line(&named)
        )));
    };
    let message = Resolve { attempt: attempt.clone(), resolution };
    match client.resolve(&key, &message).await.map_err(engine_error)? {
        Resolved::Done => {}
        Resolved::NoSuchAttempt => {
            return Err(CommandError::invalid(format!("{attempt} is not on record")));
        }
        Resolved::NotResolvable { state } => {
            return Err(CommandError::invalid(format!("{attempt} is {state}, which nobody has to resolve")));
        }
        Resolved::TaskTaken => {
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

/// The submissions of a run whose outcome is unknown and that nobody has resolved.
async fn open_submissions(
    client: &EngineClient,
    store: SharedStore,
    run: &RunId,
) -> Result<Vec<Open>, CommandError> {
    let follower = Follower::open(client.clone(), store, run, None, &price_source()).await;
    let mut follower = follower
        .map_err(engine_error)?
        .ok_or_else(|| CommandError::invalid(format!("there is no run {run} on this engine")))?;
    while follower.read(&mut |_, _, _| {}).await.map_err(engine_error)? > 0 {}
    let state = follower.state();
    let mut open = Vec::new();
    for (node, described) in state.plan().nodes() {
        let is_indeterminate = matches!(state.node(node).outcome(), Some(Outcome::Indeterminate { .. }));
        let Some(key) = state.key(node).filter(|_| is_indeterminate) else { continue };
        let record = client.node(&key).await.map_err(engine_error)?;
        let Some(holder) = record.holder().filter(|holder| holder.state.is_resolvable()) else { continue };
        open.push(Open { shot: described.name.clone(), key, attempt: holder.id.clone() });
    }
    Ok(open)
}

fn list(open: &[Open], format: Format) {
    match format {
        Format::Text if open.is_empty() => outln!("nothing to resolve"),
        Format::Text => {
            for Open { shot, attempt, .. } in open {
                outln!("{}  {attempt}", sanitize::line(shot));
            }
        }
        Format::Json | Format::Ndjson => {
            let rows: Vec<_> = open
                .iter()
                .map(
                    |open| json!({ "shot": open.shot, "attempt": open.attempt, "key": open.key.to_string() }),
                )
                .collect();
            outln!("{}", json!({ "indeterminate": rows }));
        }
    }
}
