//! `runner run --engine`: a run on a cluster, followed from here.

use std::sync::Arc;
use std::time::Duration;

use cluster::spec::plan_files;
use cluster::store::Kind;
use cluster::{ClusterError, EngineClient, Follower, RunSpec, SharedStore};
use scheduler::{Event, Outcome, Policy, RunId, RunState, Timestamp};
use url::Url;
use workflow::plan::Plan;

use crate::args::RunArgs;
use crate::budget;
use crate::clock::now;
use crate::commands::run::{FinishedRun, quoted_file, report};
use crate::commands::worker::{engine_error, price_source};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::price_table::{DEFAULT_FILE, PriceTable};
use crate::project_paths::ProjectPaths;
use crate::report::{RunInfo, RunReporter};
use crate::run_id::new_run_id;
use crate::selection::Selected;
use crate::shell;
use crate::shutdown::shutdown_signal;

/// How often new events are asked for.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(300);
/// For how long Restate may be away while a run is followed.
const MAX_OUTAGE: Duration = Duration::from_mins(10);

pub(super) async fn run(
    args: &RunArgs,
    plan: Arc<Plan>,
    paths: &ProjectPaths,
    prices: Option<&PriceTable>,
    engine: Url,
) -> Result<Exit, CommandError> {
    check_flags(args)?;
    // clap requires it with --engine.
    let Some(store) = &args.cluster.store else {
        return Err(CommandError::invalid("--engine needs --store"));
    };
    let store = SharedStore::open(store).map_err(engine_error)?;
    let client = EngineClient::new(engine).map_err(engine_error)?;
    let run = match &args.cluster.attach {
        Some(run) => RunId(run.clone()),
        None => start(args, &plan, paths, prices, &client, &store).await?,
    };
    if args.cluster.cancel {
        client.interrupt(&run).await.map_err(engine_error)?;
    }
    let output = paths.out_or(args.out.as_deref(), plan.name())?;
    fs_err::create_dir_all(&output)?;
    let follower = Follower::open(client, store, &run, Some(output), &price_source()).await;
    let follower = follower
        .map_err(engine_error)?
        .ok_or_else(|| CommandError::invalid(format!("there is no run {run} on this engine")))?;
    follow(args, follower, prices).await
}

/// Flags whose work is the local ledger's.
fn check_flags(args: &RunArgs) -> Result<(), CommandError> {
    let flags = [
        ("--rerun", args.rerun.is_some()),
        ("--failed", args.selection.failed),
        ("--force", args.force),
        ("--verify", args.verify),
        ("--open", args.open),
    ];
    match flags.iter().find(|(_, is_set)| *is_set) {
        Some((flag, _)) => Err(CommandError::invalid(format!("{flag} cannot be used with --engine yet"))),
        None => Ok(()),
    }
}

/// Uploads what the run needs and starts it.
async fn start(
    args: &RunArgs,
    plan: &Plan,
    paths: &ProjectPaths,
    prices: Option<&PriceTable>,
    client: &EngineClient,
    store: &SharedStore,
) -> Result<RunId, CommandError> {
    let mut policy = Policy::remote();
    args.limits.apply(&mut policy);
    let run = new_run_id();
    let only = match args.selection.resolve(plan, None)? {
        Selected::Some(selection) => {
            Some(selection.nodes().map(|node| plan.node(node).name.clone()).collect())
        }
        Selected::All | Selected::NoneFailed(_) => None,
    };
    let text = match prices {
        Some(_) => {
            let file = args.prices.clone().unwrap_or_else(|| paths.folder.join(DEFAULT_FILE));
            Some(fs_err::read_to_string(file)?)
        }
        None => None,
    };
    let files = plan_files(plan);
    for file in &files {
        store.put_file(Kind::File, &paths.folder.join(&file.path), &file.sha256).await.map_err(|error| {
            match error {
                ClusterError::Damaged { .. } => CommandError::invalid(format!(
                    "{} has changed since the plan was made; run again",
                    file.path.display()
                )),
                other => engine_error(other),
            }
        })?;
    }
    let plan_json = serde_json::to_vec(plan).map_err(CommandError::unusable)?;
    let spec = RunSpec {
        run: run.clone(),
        plan: store.put(Kind::Plan, plan_json).await.map_err(engine_error)?,
        only,
        fail_fast: args.fail_fast,
        salt: args.salt.clone(),
        policy,
        caps: budget::caps(&args.budget),
        prices: text,
        files,
    };
    let spec = serde_json::to_vec(&spec).map_err(CommandError::unusable)?;
    let spec = store.put(Kind::Spec, spec).await.map_err(engine_error)?;
    client.start(&run, &spec).await.map_err(engine_error)?;
    Ok(run)
}

async fn follow(
    args: &RunArgs,
    mut follower: Follower,
    prices: Option<&PriceTable>,
) -> Result<Exit, CommandError> {
    let head = follower.head().clone();
    let info = RunInfo {
        run: head.run.clone(),
        file: quoted_file(args),
        service: head.identity.clone(),
        jobs: head.policy.max_in_flight,
        estimate: None,
    };
    let mut reporter = RunReporter::start(args.format, info);
    let mut interrupt = shutdown_signal();
    let mut last_answer = tokio::time::Instant::now();
    while !follower.is_over() {
        let sink = reporter.reporter();
        let mut on = |state: &RunState, event: &Event, time: Timestamp| sink.on(state, event, time);
        let read = tokio::select! {
            read = follower.read(&mut on) => read,
            () = interrupted(&mut interrupt) => {
                let reason = detached(args, &head.run);
                reporter.fail(&reason, Exit::Interrupted, now());
                errln!("{reason}");
                return Ok(Exit::Interrupted);
            }
        };
        sink.flush();
        match read {
            Ok(0) => tokio::time::sleep(FOLLOW_INTERVAL).await,
            Ok(_) => last_answer = tokio::time::Instant::now(),
            Err(error) if error.is_transient() && last_answer.elapsed() < MAX_OUTAGE => {
                tracing::info!(%error, "the run cannot be followed at the moment");
                tokio::time::sleep(FOLLOW_INTERVAL).await;
            }
            Err(error) => {
                let error = engine_error(error).hint(detached(args, &head.run));
                reporter.fail(&error.message, error.exit(), now());
                return Err(error);
            }
        }
    }
    let plan = Arc::clone(follower.plan());
    let summary = follower.into_summary();
    if summary.count(|outcome| matches!(outcome, Outcome::Indeterminate { .. })) > 0 {
        errln!(
            "to list and to resolve what is indeterminate: runner resolve {}{} --run {}",
            quoted_file(args),
            engine_flags(args),
            head.run
        );
    }
    Ok(report(args, &plan, FinishedRun { summary, prices, reporter, unclaimed: Vec::new() }))
}

/// How a run goes on that nobody follows.
fn detached(args: &RunArgs, run: &RunId) -> String {
    let command = format!("runner run {}{} --attach {run}", quoted_file(args), engine_flags(args));
    format!("detached: run {run} goes on; to follow it: {command}; to end it: add --cancel")
}

/// The flags that name the cluster, in commands that are suggested.
fn engine_flags(args: &RunArgs) -> String {
    let url = |url: &Option<Url>| shell::quote(url.as_ref().map(Url::as_str).unwrap_or_default());
    format!(" --engine {} --store {}", url(&args.cluster.engine), url(&args.cluster.store))
}

/// Resolves when the user interrupts the command; never once the sender is gone.
async fn interrupted(interrupt: &mut tokio::sync::watch::Receiver<bool>) {
    if interrupt.wait_for(|interrupted| *interrupted).await.is_err() {
        std::future::pending::<()>().await;
    }
}
