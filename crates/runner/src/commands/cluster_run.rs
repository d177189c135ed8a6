//! `runner run --engine`: a run on a cluster, followed from here.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cluster::index::RenderSnapshot;
use cluster::messages::AskRenders;
use cluster::spec::plan_files;
use cluster::store::ObjectKind;
use cluster::{ClusterError, Follower, RunSpec, SharedStore};
use futures_util::{StreamExt as _, TryStreamExt as _};
use scheduler::budget::Amount;
use scheduler::{Event, Policy, RunId, RunState, Timestamp};
use workflow::plan::{Plan, Selection};

use crate::args::RunArgs;
use crate::budget::{self, BudgetAtStart};
use crate::clock::now;
use crate::commands::cluster_address::{ClusterAddress, engine_error, price_source};
use crate::commands::preflight::{preflight, print_estimate};
use crate::commands::run::{
    FinishedRun, after_run, named_workflow, nothing_to_run, print_withdrawn, report, rerun_request,
};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::film_outputs;
use crate::input_file::LoadError;
use crate::price_table::{DEFAULT_FILE, PriceTable};
use crate::project_paths::ProjectPaths;
use crate::records::Records;
use crate::report::{RunEstimate, RunInfo, RunReporter, sanitize};
use crate::reruns;
use crate::run_id::new_run_id;
use crate::selection::SelectedNodes;
use crate::shutdown::shutdown_signal;
use crate::{task_owners, unknown_work};

/// How often new events are asked for: rarely where there were none for long, because each question is an invocation.
const MIN_FOLLOW_INTERVAL: Duration = Duration::from_millis(50);
const MAX_FOLLOW_INTERVAL: Duration = Duration::from_secs(1);
/// Files that are uploaded at a time.
const MAX_UPLOADS: usize = 8;
/// For how long Restate may be away while a run is followed.
const MAX_OUTAGE: Duration = Duration::from_mins(10);

pub(super) async fn run(
    args: &RunArgs,
    plan: Arc<Plan>,
    paths: &ProjectPaths,
    prices: Option<&PriceTable>,
    address: ClusterAddress,
) -> Result<Exit, CommandError> {
    check_flags(args)?;
    if args.withdraw {
        let instances = rerun_request(args).instances(&plan, None, &args.workflow.file)?;
        let withdrawn = address.client.withdraw_renders(plan.name(), &instances).await;
        return Ok(print_withdrawn(&withdrawn.map_err(engine_error)?));
    }
    let output =
        args.output_dir.as_deref().map_or_else(|| Ok(paths.out(plan.name())), std::path::absolute)?;
    film_outputs::refuse_replaced_inputs(&plan, &paths.folder, &output)?;
    let mut estimate = None;
    let run = match &args.cluster.attach {
        Some(run) => RunId(run.clone()),
        None => match start(args, &plan, paths, prices, &address, &output).await? {
            StartOutcome::Run(run, cost) => {
                estimate = cost;
                run
            }
            StartOutcome::Nothing(reason) => return Ok(nothing_to_run(args.format, &reason)),
        },
    };
    let ClusterAddress { client, store } = address;
    let follower = Follower::open(client.clone(), store, &run, Some(output.clone()), &price_source()).await;
    let follower = follower.map_err(engine_error)?.ok_or_else(|| no_such_run(args, &run))?;
    if args.cluster.cancel {
        client.interrupt(&run).await.map_err(engine_error)?;
    }
    fs_err::create_dir_all(&output)?;
    let exit = follow(args, follower, prices, estimate).await?;
    let renders = client.renders(plan.name()).await.map_err(engine_error)?.snapshot(&plan).renders();
    for note in reruns::older_picks(&plan, &renders, &named_workflow(args)) {
        errln!("{note}");
    }
    after_run(args, &plan, exit).await?;
    Ok(exit)
}

/// Flags that a run on a cluster does not have.
fn check_flags(args: &RunArgs) -> Result<(), CommandError> {
    if args.verify {
        return Err(CommandError::invalid("--verify is for videos on this machine")
            .hint("on a cluster, a video is verified by its hash whenever it is read; leave the flag out"));
    }
    Ok(())
}

fn no_such_run(args: &RunArgs, run: &RunId) -> CommandError {
    let run = sanitize::line(run.as_str());
    CommandError::invalid(format!("there is no run {run} on this engine"))
        .hint(format!("to list the runs of this workflow: runner status {}", named_workflow(args)))
}

/// The outcome of starting a run.
enum StartOutcome {
    /// The run, and what it will cost.
    Run(RunId, Option<RunEstimate>),
    /// Nothing is to be done.
    Nothing(String),
}

/// Checks what the run would do, records what it asks for, uploads what it needs, and starts it.
async fn start(
    args: &RunArgs,
    plan: &Arc<Plan>,
    paths: &ProjectPaths,
    prices: Option<&PriceTable>,
    address: &ClusterAddress,
    output: &Path,
) -> Result<StartOutcome, CommandError> {
    let records = Records::Cluster(Box::new(address.clone().records(Some(plan.name())).await?));
    let services = records.services(plan, paths)?;
    let (file, overrides) = (&args.workflow.file, &args.workflow.overrides);
    let recorded = records.key_resolver(plan, &services.identity).await?;
    let invalid = |error: LoadError| CommandError::invalid(error.text());
    let plan = records.asked_plan(plan, &recorded, file, overrides).map_err(invalid)?;
    let selection = match selected(args, &plan, &records).await? {
        SelectedNodes::All => None,
        SelectedNodes::Some(selection) => Some(selection),
        SelectedNodes::NoneFailed(reason) => return Ok(StartOutcome::Nothing(reason)),
    };
    let request = rerun_request(args);
    let instances = request.instances(&plan, selection.as_ref(), file)?;
    let asked = request.apply(&plan, recorded.clone(), &instances, file, overrides);
    let (asked_plan, keys) = asked.map_err(invalid)?;
    // By name: the plan may have a node for each render that was asked for.
    let selection = match selection {
        Some(_) if asked_plan.len() != plan.len() => match selected(args, &asked_plan, &records).await? {
            SelectedNodes::Some(selection) => Some(selection),
            SelectedNodes::All | SelectedNodes::NoneFailed(_) => None,
        },
        selection => selection,
    };
    let plan = asked_plan;
    let keys = keys.with_salt(args.salt.clone()).with_selection(&plan, selection.as_ref());
    if !args.force {
        unknown_work::check_cluster(&plan, &records, &keys, output, paths, &named_workflow(args).in_full())
            .await?;
    }
    let mut estimate = None;
    if let Some(work) = records.work() {
        let previews =
            preflight(args, &plan, work, &keys, &services.accounts, selection.as_ref(), prices).await?;
        if let Some(previews) = previews {
            // The caps of a run on a cluster count that run alone.
            let budget = BudgetAtStart { is_free: false, reserved: Amount::default() };
            let recorded = recorded.renders();
            estimate = print_estimate(args, &plan, &keys, recorded, &previews, &services, prices, budget)?;
        }
    }
    let renders = ask(args, &plan, instances, address).await?;
    let run = new_run_id();
    let spec = upload(args, &plan, paths, prices, &address.store, &run, selection.as_ref(), renders).await?;
    address.client.start(&run, &spec).await.map_err(engine_error)?;
    Ok(StartOutcome::Run(run, estimate))
}

/// The nodes that the flags select.
async fn selected(args: &RunArgs, plan: &Plan, records: &Records) -> Result<SelectedNodes, CommandError> {
    args.selection.resolve(plan, records.work(), &args.workflow.file).await
}

/// Records what the run asks for before anything is submitted: whatever ends it, the next one goes on with it. Returns the renders that the run
/// begins with.
async fn ask(
    args: &RunArgs,
    plan: &Plan,
    instances: Vec<String>,
    address: &ClusterAddress,
) -> Result<RenderSnapshot, CommandError> {
    let (client, workflow) = (&address.client, plan.name());
    let known = client.renders(workflow).await.map_err(engine_error)?;
    let gone = known.gone(plan);
    if instances.is_empty() && gone.is_empty() {
        return Ok(known.snapshot(plan));
    }
    let asked = AskRenders { instances, asks_for_another: args.new, gone, time: now() };
    client.ask_for_renders(workflow, &asked).await.map_err(engine_error)?;
    Ok(client.renders(workflow).await.map_err(engine_error)?.snapshot(plan))
}

/// Uploads the plan, the files of the workflow and the specification. Returns the hash of the latter.
#[expect(clippy::too_many_arguments, reason = "each is a part of the specification")]
async fn upload(
    args: &RunArgs,
    plan: &Plan,
    paths: &ProjectPaths,
    prices: Option<&PriceTable>,
    store: &SharedStore,
    run: &RunId,
    selection: Option<&Selection>,
    renders: RenderSnapshot,
) -> Result<String, CommandError> {
    let mut policy = Policy::remote();
    args.limits.apply(&mut policy);
    policy.shutdown_grace = args.shutdown_grace;
    let only =
        selection.map(|selection| selection.nodes().map(|node| plan.node(node).name.clone()).collect());
    let text = match prices {
        Some(_) => {
            let file = args.prices.clone().unwrap_or_else(|| paths.folder.join(DEFAULT_FILE));
            Some(fs_err::read_to_string(file)?)
        }
        None => None,
    };
    let files = plan_files(plan);
    let uploads = files.iter().map(|file| async {
        let path = paths.folder.join(&file.path);
        store.put_file(ObjectKind::File, &path, &file.sha256).await.map_err(|error| match error {
            ClusterError::Changed { .. } => CommandError::invalid(format!(
                "{} has changed since the plan was made; run again",
                file.path.display()
            )),
            error => engine_error(error),
        })
    });
    futures_util::stream::iter(uploads).buffer_unordered(MAX_UPLOADS).try_collect::<()>().await?;
    let plan_json = serde_json::to_vec(plan).map_err(CommandError::unusable)?;
    let spec = RunSpec {
        run: run.clone(),
        plan: store.put(ObjectKind::Plan, plan_json).await.map_err(engine_error)?,
        only,
        fail_fast: args.fail_fast,
        salt: args.salt.clone(),
        policy,
        caps: budget::caps(&args.budget),
        prices: text,
        files,
        renders,
        arguments: Some(task_owners::plan_arguments(&args.workflow, args.salt.as_deref(), paths)),
    };
    let spec = serde_json::to_vec(&spec).map_err(CommandError::unusable)?;
    store.put(ObjectKind::Spec, spec).await.map_err(engine_error)
}

async fn follow(
    args: &RunArgs,
    mut follower: Follower,
    prices: Option<&PriceTable>,
    estimate: Option<RunEstimate>,
) -> Result<Exit, CommandError> {
    let head = follower.head().clone();
    let info = RunInfo {
        run: head.run.clone(),
        file: named_workflow(args),
        service: head.identity.clone(),
        jobs: head.policy.max_in_flight,
        estimate,
    };
    let mut reporter = RunReporter::start(args.format, info);
    let mut interrupt = shutdown_signal();
    let mut last_answer = tokio::time::Instant::now();
    let mut last_event = last_answer;
    while !follower.is_over() {
        let sink = reporter.reporter();
        let mut on_event = |state: &RunState, event: &Event, time: Timestamp| sink.on(state, event, time);
        let read = tokio::select! {
            read = follower.read(&mut on_event) => read,
            () = interrupted(&mut interrupt) => {
                let reason = detached_message(args, &head.run);
                reporter.fail(&reason, Exit::Interrupted, now());
                errln!("{reason}");
                return Ok(Exit::Interrupted);
            }
        };
        sink.flush();
        match read {
            Ok(count) => {
                last_answer = tokio::time::Instant::now();
                if count > 0 {
                    last_event = last_answer;
                }
                let quiet = last_event.elapsed() / 10;
                tokio::time::sleep(quiet.clamp(MIN_FOLLOW_INTERVAL, MAX_FOLLOW_INTERVAL)).await;
            }
            Err(error) if error.is_transient() && last_answer.elapsed() < MAX_OUTAGE => {
                tracing::info!(%error, "the run cannot be followed at the moment");
                tokio::time::sleep(MAX_FOLLOW_INTERVAL).await;
            }
            Err(error) => {
                let error = engine_error(error).hint(detached_message(args, &head.run));
                reporter.fail(&error.message, error.exit(), now());
                return Err(error);
            }
        }
    }
    let plan = Arc::clone(follower.plan());
    let summary = follower.into_summary();
    Ok(report(args, &plan, FinishedRun { summary, prices, reporter }))
}

/// How a detached run continues.
fn detached_message(args: &RunArgs, run: &RunId) -> String {
    let command = format!("runner run {} --attach {run}", named_workflow(args));
    format!("detached: run {run} continues; to follow it: {command}; to end it: add --cancel")
}

/// Resolves when the user interrupts the command; never once the sender is gone.
async fn interrupted(interrupt: &mut tokio::sync::watch::Receiver<bool>) {
    if interrupt.wait_for(|interrupted| *interrupted).await.is_err() {
        std::future::pending::<()>().await;
    }
}
