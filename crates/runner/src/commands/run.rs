//! `runner run`: executes a workflow.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use engine::artifact_store::Verify;
use engine::preview::Preview;
use engine::{Clock, Ledger, RunConfig};
use scheduler::spending::Spending;
use scheduler::{Budget, Halt, KeyResolver, RunScope, RunSummary};
use workflow::plan::{NodeIx, Plan, Selection};

use crate::args::{Format, RunArgs};
use crate::backend::{Backend, Connection};
use crate::budget;
use crate::clock::now;
use crate::error::{CommandError, ErrorKind};
use crate::exit::Exit;
use crate::ffmpeg;
use crate::load;
use crate::price_table::{self, PriceTable};
use crate::project_paths::ProjectPaths;
use crate::report::{self, CostEstimate, RunInfo, RunReporter};
use crate::run_id::new_run_id;
use crate::selection::{self, Selected};
use crate::shutdown::{InFlightTracker, shutdown_signal_with};
use crate::terminal;

pub(crate) async fn run(args: RunArgs) -> Result<Exit, CommandError> {
    let plan = match load::load(&args.workflow.file, &args.workflow.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(error) => return Ok(error.report(args.format)),
    };
    let prices = match PriceTable::load(args.prices.as_deref(), &args.workflow.file) {
        Ok(prices) => prices,
        Err(error) => return Ok(error.report(args.format)),
    };
    let paths = ProjectPaths::for_workflow(&args.workflow.file)?;
    let backend = Backend::from_environment()?;
    let selection = match selected_nodes(&args, &plan, &paths)? {
        Selected::All => None,
        Selected::Some(selection) => Some(selection),
        Selected::NoneFailed(reason) => return Ok(nothing_to_run(args.format, &reason)),
    };
    let finished = execute(&args, Arc::clone(&plan), &paths, backend, selection, prices.as_ref()).await?;
    Ok(report(&args, &plan, finished))
}

/// A finished run and its reporter.
struct FinishedRun<'t> {
    summary: RunSummary,
    /// The price table that applies: none does to the embedded service.
    prices: Option<&'t PriceTable>,
    reporter: RunReporter,
}

/// `--failed`, and nothing failed.
fn nothing_to_run(format: Format, reason: &str) -> Exit {
    match format {
        Format::Text => {}
        Format::Json => outln!("{:#}", report::nothing_json()),
        Format::Ndjson => report::stream::nothing(reason, now()),
    }
    errln!("{reason}");
    Exit::Done
}

/// Reports the end of a run: the summary on standard output, why it was halted on standard error.
fn report(args: &RunArgs, plan: &Plan, finished: FinishedRun<'_>) -> Exit {
    let FinishedRun { summary, prices, reporter } = finished;
    let spent = prices.map(|table| (table, spending(plan, &summary, table)));
    // First, because it removes the live view.
    reporter.end(&summary, report::spending_json(spent.as_ref()), now());
    match args.format {
        Format::Text => {
            out!("{}", report::final_report(&summary, terminal::columns()));
            if let Some((table, spending)) = &spent {
                out!("{}", report::cost_report(spending, table));
            }
        }
        Format::Json => outln!("{:#}", report::summary_json(plan, &summary, spent.as_ref())),
        Format::Ndjson => {}
    }
    if let Some(error) = halt_error(summary.halt.as_ref()) {
        error.print();
    }
    Exit::from_summary(&summary)
}

/// Why a run stopped submitting. An interrupt is not an error.
fn halt_error(halt: Option<&Halt>) -> Option<CommandError> {
    let rest = "tasks in flight were finished, nothing more was submitted";
    match halt? {
        Halt::ServiceUnusable { failure } => {
            Some(CommandError::unusable(format!("the service cannot be used: {}", failure.message)))
        }
        Halt::BudgetExceeded { limit } => Some(
            CommandError::new(ErrorKind::BudgetExceeded, format!("the {limit} cap was reached: {rest}"))
                .hint("run again with a higher cap to continue"),
        ),
        Halt::FailFast { shot } => Some(
            CommandError::unusable(format!("{shot} failed: {rest} (--fail-fast)"))
                .hint("run with --failed to render the failed and the remaining shots"),
        ),
        Halt::Interrupted => None,
    }
}

/// The actual cost of a run by the price table.
fn spending(plan: &Plan, summary: &RunSummary, table: &PriceTable) -> Spending {
    let inputs = price_table::price_inputs(plan);
    Spending::from_summary(summary, |at, video| {
        let inputs = inputs.get(at)?;
        match video {
            Some(video) => table.prices.actual_cost(inputs, video).ok(),
            None => table.prices.estimate(inputs).ok(),
        }
    })
}

/// The nodes that `--rerun` names, in file order, without duplicates.
fn forced_nodes(
    args: &RunArgs,
    plan: &Plan,
    selection: Option<&Selection>,
) -> Result<Vec<NodeIx>, CommandError> {
    let Some(names) = &args.rerun else { return Ok(Vec::new()) };
    let is_selected = |ix: &NodeIx| selection.is_none_or(|selection| selection.contains(*ix));
    let mut nodes = selection::nodes_by_name(names, plan)?;
    if let Some(other) = nodes.iter().find(|ix| !is_selected(ix)) {
        let name = &plan.node(*other).name;
        return Err(CommandError::invalid(format!("--rerun {name}: the shot is not selected for this run")));
    }
    if names.is_empty() {
        nodes.extend(plan.nodes().map(|(ix, _)| ix).filter(is_selected));
    }
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

/// The nodes selected by the flags.
fn selected_nodes(args: &RunArgs, plan: &Plan, paths: &ProjectPaths) -> Result<Selected, CommandError> {
    // A wrong name must not leave anything behind, not even an empty ledger.
    let ledger = Ledger::open_existing(&paths.ledger(), &paths.folder)?;
    args.selection.resolve(plan, ledger.as_ref())
}

/// The decision for each shot, if something has to be checked or shown before the run starts.
async fn preflight(
    args: &RunArgs,
    plan: &Arc<Plan>,
    ledger: &Ledger,
    keys: &KeyResolver,
    selection: Option<&Selection>,
    table: Option<&PriceTable>,
) -> Result<Option<Vec<Preview>>, CommandError> {
    let caps = budget::caps(&args.budget);
    if table.is_none() && caps.is_none() && args.rerun.is_none() && selection.is_none() {
        return Ok(None);
    }
    let verify = if args.verify { Verify::Content } else { Verify::Metadata };
    let mut previews = engine::preview::preview_with(plan, Some(ledger), keys, verify).await?;
    if let Some(selection) = selection {
        selection::apply_selection(plan, selection, &mut previews)?;
    }
    Ok(Some(previews))
}

/// Prints what the run will submit and cost, after checking it against the caps. Returns the estimate if there is a price table.
fn print_estimate(
    args: &RunArgs,
    plan: &Plan,
    keys: &KeyResolver,
    previews: &[Preview],
    service: &str,
    table: Option<&PriceTable>,
    is_free: bool,
) -> Result<Option<CostEstimate>, CommandError> {
    let document = report::plan::Document::new(plan, previews, service, table);
    budget::check_minimum(&args.budget, is_free, &document)?;
    let reruns: Vec<&str> =
        plan.nodes().filter(|(ix, _)| keys.is_forced(*ix)).map(|(_, node)| node.name.as_str()).collect();
    if !reruns.is_empty() {
        errln!("rendered again (--rerun): {}", reruns.join(", "));
    }
    if table.is_some() || !reruns.is_empty() || args.selection.is_any() {
        for line in report::plan::estimate(&document) {
            errln!("{line}");
        }
    }
    let estimate = document.totals.cost;
    Ok(table.map(|table| CostEstimate { estimate, currency: table.prices.currency().to_owned() }))
}

/// Executes the plan.
async fn execute<'t>(
    args: &RunArgs,
    plan: Arc<Plan>,
    paths: &ProjectPaths,
    backend: Backend,
    selection: Option<Selection>,
    table: Option<&'t PriceTable>,
) -> Result<FinishedRun<'t>, CommandError> {
    let output_dir = match &args.out {
        Some(folder) => std::path::absolute(folder)?,
        None => paths.out(plan.name()),
    };
    let force = forced_nodes(args, &plan, selection.as_ref())?;
    let ledger = Ledger::open(&paths.ledger(), &paths.folder)?;
    let is_free = backend.is_free();
    let table = table.filter(|_| !is_free);
    let (run, identity) = (new_run_id(), backend.identity());
    let keys = KeyResolver::new(identity.clone())
        .with_salt(args.salt.clone())
        .with_recorded_salts(ledger.salts()?)
        .with_forced(force.iter().copied(), run.as_str());
    let estimate = match preflight(args, &plan, &ledger, &keys, selection.as_ref(), table).await? {
        Some(previews) => print_estimate(args, &plan, &keys, &previews, &identity, table, is_free)?,
        None => None,
    };
    let Connection { provider, mut policy, service } = backend.connect(paths, ffmpeg::find()).await?;
    args.limits.apply(&mut policy);
    policy.shutdown_grace = args.shutdown_grace;
    let (tracker, file) = (InFlightTracker::default(), args.workflow.file.display().to_string());
    let info = RunInfo { run: run.clone(), service: identity, jobs: policy.max_in_flight, estimate };
    // Concurrent runs that are throttled together must not retry together.
    policy.seed = RandomState::new().hash_one(run.as_str());
    let prices = budget::prices(&plan, is_free, table.map(|table| &table.prices));
    let config = RunConfig {
        run,
        ledger: Arc::new(ledger),
        provider,
        policy,
        clock: Clock::starting_at(now()),
        output_dir,
        workflow_dir: paths.folder.clone(),
        ffmpeg: ffmpeg::find(),
        budget: Budget::new(budget::caps(&args.budget), prices),
        keys,
        verify: if args.verify { Verify::Content } else { Verify::Metadata },
        scope: RunScope { selection, fail_fast: args.fail_fast },
        interrupt: shutdown_signal_with({
            let tracker = tracker.clone();
            move || tracker.exit_message(&file)
        }),
    };
    let mut reporter = RunReporter::start(args.format, info);
    let ended = engine::run(plan, config, &mut tracker.wrap(reporter.reporter())).await;
    if let Some(service) = service {
        service.stop().await;
    }
    match ended {
        Ok(summary) => Ok(FinishedRun { summary, prices: table, reporter }),
        Err(error) => {
            let error = CommandError::unusable(error);
            reporter.fail(&error.message, error.exit(), now());
            Err(error)
        }
    }
}
