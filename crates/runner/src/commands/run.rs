//! `runner run`: the main job.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use engine::artifact_store::Verify;
use engine::preview::Preview;
use engine::{Clock, Ledger, LedgerError, RunConfig};
use scheduler::spending::Spending;
use scheduler::{Budget, Halt, KeyResolver, RunScope, RunSummary};
use workflow::plan::{NodeIx, Plan, Selection};

use crate::args::{Format, RunArgs};
use crate::backend::{Backend, Connection};
use crate::budget::{self, BudgetError};
use crate::clock::now;
use crate::commands::print_error;
use crate::exit::Exit;
use crate::ffmpeg;
use crate::load;
use crate::price_table::{self, PriceTable};
use crate::project_paths::ProjectPaths;
use crate::report::{self, CostEstimate, RunInfo, RunReporter};
use crate::run_id::new_run_id;
use crate::selection::{self, Selected, SelectionError};
use crate::shutdown::{InFlightTracker, shutdown_signal_with};
use crate::terminal;

/// Why there is no summary: what to say, and how to end.
struct EarlyExit {
    why: String,
    exit: Exit,
}

impl EarlyExit {
    /// Something that a run cannot do without cannot be used.
    #[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
    fn unusable(why: impl ToString) -> Self {
        Self { why: why.to_string(), exit: Exit::Unusable }
    }
}

pub(crate) async fn run(args: RunArgs) -> Exit {
    let plan = match load::load(&args.workflow.file, &args.workflow.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(refused) => return refused.exit(args.format),
    };
    let prices = match PriceTable::load(args.prices.as_deref(), &args.workflow.file) {
        Ok(prices) => prices,
        Err(refused) => return refused.exit(args.format),
    };
    match execute(&args, Arc::clone(&plan), prices.as_ref()).await {
        Ok((summary, prices, reporter)) => {
            let spent = prices.map(|table| (table, spending(&plan, &summary, table)));
            // Before anything else is said: with it the live lines go.
            reporter.end(&summary, report::spending_json(spent.as_ref()), now());
            match args.format {
                Format::Text => {
                    out!("{}", report::final_report(&summary, terminal::columns()));
                    if let Some((table, spending)) = &spent {
                        out!("{}", report::cost_report(spending, table));
                    }
                }
                Format::Json => outln!("{:#}", report::summary_json(&plan, &summary, spent.as_ref())),
                Format::Ndjson => {}
            }
            match &summary.halt {
                Some(Halt::ServiceUnusable { failure }) => {
                    print_error(format!("the service cannot be used: {}", failure.message));
                }
                Some(Halt::BudgetExceeded { limit }) => print_error(format!(
                    "the cap on {limit} is reached: what was out is finished, the rest is not submitted; \
                     run again with a higher cap to go on"
                )),
                Some(Halt::FailFast { shot }) => print_error(format!(
                    "{shot} failed: what was out is finished, the rest is not submitted (--fail-fast); \
                     `--failed` makes these shots again"
                )),
                Some(Halt::Interrupted) | None => {}
            }
            Exit::from_summary(&summary)
        }
        Err(EarlyExit { why, exit: Exit::Done }) => {
            match args.format {
                Format::Text => {}
                Format::Json => outln!("{:#}", report::nothing_json()),
                Format::Ndjson => report::stream::nothing(&why, now()),
            }
            errln!("{why}");
            Exit::Done
        }
        Err(stop) => {
            print_error(stop.why);
            stop.exit
        }
    }
}

/// What the run has cost, by the table.
fn spending(plan: &Plan, summary: &RunSummary, table: &PriceTable) -> Spending {
    let billings = price_table::billings(plan);
    Spending::of(summary, |at, video| {
        let billing = billings.get(at)?;
        match video {
            Some(video) => table.prices.actual_cost(billing, video).ok(),
            None => table.prices.estimate(billing).ok(),
        }
    })
}

/// The nodes that are to be made anew, in file order and each once.
fn forced_nodes(
    args: &RunArgs,
    plan: &Plan,
    selection: Option<&Selection>,
) -> Result<Vec<NodeIx>, EarlyExit> {
    let Some(names) = &args.force else { return Ok(Vec::new()) };
    let refused = |why| EarlyExit { why, exit: Exit::InvalidInput };
    let is_selected = |ix: &NodeIx| selection.is_none_or(|selection| selection.contains(*ix));
    let mut nodes = selection::nodes_by_name(names, plan).map_err(refused)?;
    if let Some(other) = nodes.iter().find(|ix| !is_selected(ix)) {
        let name = &plan.node(*other).name;
        return Err(refused(format!(
            "--force names {name}, which is not among the shots that this run makes"
        )));
    }
    if names.is_empty() {
        nodes.extend(plan.nodes().map(|(ix, _)| ix).filter(is_selected));
    }
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

/// The nodes that the run is to make, where that is not all of them.
fn selected_nodes(args: &RunArgs, plan: &Plan, paths: &ProjectPaths) -> Result<Option<Selection>, EarlyExit> {
    // Where a name is wrong nothing is made, not even a ledger.
    let ledger = Ledger::open_existing(&paths.ledger(), &paths.folder).map_err(EarlyExit::unusable)?;
    match args.selection.resolve(plan, ledger.as_ref()) {
        Ok(Selected::All) => Ok(None),
        Ok(Selected::Some(selection)) => Ok(Some(selection)),
        Ok(Selected::NoneFailed(why)) => Err(EarlyExit { why, exit: Exit::Done }),
        Err(SelectionError::Unknown(why)) => Err(EarlyExit { why, exit: Exit::InvalidInput }),
        Err(SelectionError::Ledger(error)) => Err(EarlyExit::unusable(error)),
    }
}

/// What is to be done with each shot, where that has to be known before the run begins.
async fn preflight(
    args: &RunArgs,
    plan: &Arc<Plan>,
    ledger: &Ledger,
    keys: &KeyResolver,
    selection: Option<&Selection>,
    table: Option<&PriceTable>,
) -> Result<Option<Vec<Preview>>, EarlyExit> {
    let caps = budget::caps(&args.budget);
    if table.is_none() && caps.is_none() && args.force.is_none() && selection.is_none() {
        return Ok(None);
    }
    let check = if args.verify { Verify::Content } else { Verify::Metadata };
    let mut previews =
        engine::preview::preview_with(plan, Some(ledger), keys, check).await.map_err(EarlyExit::unusable)?;
    if let Some(selection) = selection {
        selection::apply_selection(plan, selection, &mut previews)
            .map_err(|why| EarlyExit { why, exit: Exit::InvalidInput })?;
    }
    Ok(Some(previews))
}

/// Says what the run will submit and cost, before it does, and stops it where that does not fit the caps. Answers with the cost, as far as
/// it is known.
fn print_estimate(
    args: &RunArgs,
    plan: &Plan,
    keys: &KeyResolver,
    previews: &[Preview],
    service: &str,
    table: Option<&PriceTable>,
    is_free: bool,
) -> Result<Option<CostEstimate>, EarlyExit> {
    let document = report::plan::Document::new(plan, previews, service, table);
    budget::check_minimum(&args.budget, is_free, &document).map_err(|unaffordable| match unaffordable {
        BudgetError::BelowMinimum(why) => EarlyExit { why, exit: Exit::Capped },
        BudgetError::Unpriced(why) => EarlyExit { why, exit: Exit::InvalidInput },
    })?;
    let again: Vec<&str> =
        plan.nodes().filter(|(ix, _)| keys.is_forced(*ix)).map(|(_, node)| node.name.as_str()).collect();
    if !again.is_empty() {
        errln!("made anew, whatever there is of them: {}", again.join(", "));
    }
    if table.is_some() || !again.is_empty() || args.selection.is_any() {
        for line in report::plan::estimate(&document) {
            errln!("{line}");
        }
    }
    let estimate = document.totals.cost;
    Ok(table.map(|table| CostEstimate { estimate, currency: table.prices.currency().to_owned() }))
}

/// Runs the plan. With the summary comes the table of prices that applies: none does to the embedded service.
async fn execute<'t>(
    args: &RunArgs,
    plan: Arc<Plan>,
    table: Option<&'t PriceTable>,
) -> Result<(RunSummary, Option<&'t PriceTable>, RunReporter), EarlyExit> {
    let paths = ProjectPaths::for_workflow(&args.workflow.file).map_err(EarlyExit::unusable)?;
    let folder = match &args.out {
        Some(folder) => std::path::absolute(folder).map_err(EarlyExit::unusable)?,
        None => paths.out(plan.name()),
    };
    let backend = Backend::from_environment().map_err(EarlyExit::unusable)?;
    let selection = selected_nodes(args, &plan, &paths)?;
    let force = forced_nodes(args, &plan, selection.as_ref())?;
    let ledger = open(&paths).map_err(EarlyExit::unusable)?;
    let is_free = backend.is_free();
    let table = table.filter(|_| !is_free);
    let (run, identity) = (new_run_id(), backend.identity());
    let keys = KeyResolver::new(identity.clone())
        .with_salt(args.salt.clone())
        .with_recorded_salts(ledger.salts().map_err(EarlyExit::unusable)?)
        .with_forced(force.iter().copied(), run.as_str());
    let estimate = match preflight(args, &plan, &ledger, &keys, selection.as_ref(), table).await? {
        Some(previews) => print_estimate(args, &plan, &keys, &previews, &identity, table, is_free)?,
        None => None,
    };
    let Connection { provider, mut policy, service } =
        backend.connect(&paths, ffmpeg::find()).await.map_err(EarlyExit::unusable)?;
    args.limits.apply(&mut policy);
    policy.shutdown_grace = Duration::from_secs_f64(args.grace);
    let (tracker, file) = (InFlightTracker::default(), args.workflow.file.display().to_string());
    let info = RunInfo { run: run.clone(), service: identity, jobs: policy.max_in_flight, estimate };
    // Runs that are refused together do not come back together.
    policy.seed = RandomState::new().hash_one(run.as_str());
    let prices = budget::prices(&plan, is_free, table.map(|table| &table.prices));
    let setup = RunConfig {
        run,
        ledger: Arc::new(ledger),
        provider,
        policy,
        clock: Clock::starting_at(now()),
        output_dir: folder,
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
    let ended =
        engine::run(plan, setup, &mut tracker.wrap(reporter.reporter())).await.map_err(EarlyExit::unusable);
    if let Some(service) = service {
        service.stop().await;
    }
    match ended {
        Ok(summary) => Ok((summary, table, reporter)),
        Err(stop) => {
            reporter.fail(&stop.why, stop.exit, now());
            Err(stop)
        }
    }
}

fn open(paths: &ProjectPaths) -> Result<Ledger, LedgerError> {
    Ledger::open(&paths.ledger(), &paths.folder)
}
