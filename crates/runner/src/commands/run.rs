//! `runner run`: executes a workflow.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use engine::records::WorkRecords;
use engine::{Clock, Ledger, RunConfig};
use renderer::Renderer;
use scheduler::spending::Spending;
use scheduler::{Budget, Halt, KeyResolver, Outcome, Policy, RunScope, RunSummary, TaskId};
use workflow::plan::{Plan, Selection};

use crate::args::{Format, PlanArgs, PlanFormat, RunArgs};
use crate::backend::{Backends, Connections, PlannedServices};
use crate::budget::{self, BudgetAtStart};
use crate::clock::now;
#[cfg(feature = "cluster")]
use crate::commands::cluster_address::ClusterAddress;
#[cfg(feature = "cluster")]
use crate::commands::cluster_run;
use crate::commands::ledger::fetch;
use crate::commands::preflight::{preflight, print_estimate, refuse_known_work, verification};
use crate::commands::{plan, view};
use crate::error::{CommandError, ErrorKind};
use crate::exit::Exit;
use crate::ffmpeg;
use crate::film_outputs;
use crate::hints;
use crate::load;
use crate::named_workflow::NamedWorkflow;
use crate::output_folder;
use crate::price_table::{self, PriceTable};
use crate::project_paths::ProjectPaths;
use crate::report::{self, RunInfo, RunReporter, sanitize};
use crate::reruns::{self, RerunRequest};
use crate::run_id::new_run_id;
use crate::selection::SelectedNodes;
use crate::services;
use crate::shell;
use crate::shutdown::shutdown_signal_with;
use crate::task_owners;
use crate::terminal;
use crate::trust::Trust;
use crate::unknown_work;

/// Maximum number of tasks without a shot that are listed.
const MAX_UNCLAIMED_LISTED: usize = 5;

pub(crate) async fn run(args: RunArgs, renderer: Arc<dyn Renderer>) -> Result<Exit, CommandError> {
    if args.dry_run {
        let RunArgs {
            workflow, output_dir, selection, prices, format, rerun, new, salt, engine, budget, ..
        } = args;
        let format = if format == Format::Text { PlanFormat::Table } else { PlanFormat::Json };
        let requests = false;
        let args =
            PlanArgs { workflow, output_dir, selection, rerun, new, salt, requests, prices, format, engine };
        return plan::plan_within(args, Some(&budget)).await;
    }
    let plan = match load::load(&args.workflow.file, &args.workflow.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(error) => return Ok(error.report(args.format)),
    };
    let prices = match PriceTable::load(args.prices.as_deref(), &args.workflow.file) {
        Ok(prices) => prices,
        Err(error) => return Ok(error.report(args.format)),
    };
    let paths = ProjectPaths::for_workflow(&args.workflow.file)?;
    #[cfg(feature = "cluster")]
    if let Some(address) = ClusterAddress::new(&args.engine)? {
        return cluster_run::run(&args, plan, &paths, prices.as_ref(), address).await;
    }
    let services = services::of_project(&paths)?;
    let backends =
        Backends::of_plan(&plan, &services, Trust::new(args.trust_services))?.with_renderer(&renderer);
    if args.withdraw {
        return withdraw(&args, &plan, &paths);
    }
    let selection = match selected_nodes(&args, &plan, &paths).await? {
        SelectedNodes::All => None,
        SelectedNodes::Some(selection) => Some(selection),
        SelectedNodes::NoneFailed(reason) => return Ok(nothing_to_run(args.format, &reason)),
    };
    let PlannedServices { identity: service, accounts, .. } = backends.planned();
    let request = rerun_request(&args);
    let instances = request.instances(&plan, selection.as_ref(), &args.workflow.file)?;
    let ledger = Ledger::open(&paths.ledger(), &paths.folder)?;
    let keys = ledger.key_resolver(&plan, &service)?;
    let (file, overrides) = (&args.workflow.file, &args.workflow.overrides);
    let (asked_plan, keys) = match request.apply(&plan, keys, &instances, file, overrides) {
        Ok(asked) => asked,
        Err(error) => return Ok(error.report(args.format)),
    };
    // By name: the plan may have a node for each render that was asked for.
    let selection = match selection {
        Some(_) if asked_plan.len() != plan.len() => {
            match selected_nodes(&args, &asked_plan, &paths).await? {
                SelectedNodes::Some(selection) => Some(selection),
                SelectedNodes::All | SelectedNodes::NoneFailed(_) => None,
            }
        }
        selection => selection,
    };
    let plan = asked_plan;
    let asked = AskedRun { keys, instances };
    let (finished, ledger) =
        execute(&args, Arc::clone(&plan), &paths, backends, ledger, selection, asked, prices.as_ref())
            .await?;
    let older_picks =
        reruns::older_picks(&plan, ledger.key_resolver(&plan, &service)?.renders(), &named_workflow(&args));
    // Its WAL is copied and removed while the report is printed.
    let closing = tokio::task::spawn_blocking(move || drop(ledger));
    let exit = report(&args, &plan, finished);
    closing.await.map_err(|error| CommandError::unusable(format!("the ledger cannot be closed: {error}")))?;
    // Not before: a process that closes one of several descriptors of a file loses its locks on it (POSIX), and the ledger's connection has some.
    let salt = args.salt.as_deref();
    for note in older_picks {
        errln!("{note}");
    }
    let unclaimed = task_owners::unclaimed_tasks(
        &args.workflow,
        salt,
        &paths,
        &plan,
        &accounts.services().collect::<Vec<_>>(),
    )
    .await?;
    print_unclaimed(&args, &unclaimed);
    after_run(&args, &plan, exit).await?;
    Ok(exit)
}

/// What the user asked for at the end of a run.
pub(super) async fn after_run(args: &RunArgs, plan: &Plan, exit: Exit) -> Result<(), CommandError> {
    if args.notify {
        terminal::notify(&format!("runner: {} has ended with exit code {}", plan.name(), exit.code()));
    }
    let viewed = view::ViewedFile {
        file: &args.workflow.file,
        overrides: &args.workflow.overrides,
        engine: &args.engine,
        output_dir: args.output_dir.as_deref(),
    };
    if args.open {
        view::show(viewed).await
    } else if exit == Exit::Interrupted {
        Ok(())
    } else {
        view::refresh(viewed, plan).await
    }
}

/// The workflow in commands that are suggested.
pub(super) fn named_workflow(args: &RunArgs) -> NamedWorkflow {
    let (salt, output_dir) = (args.salt.as_deref(), args.output_dir.as_deref());
    NamedWorkflow::new(&args.workflow.file, &args.engine.suffix()).with_arguments(
        &args.workflow.overrides,
        salt,
        output_dir,
    )
}

/// A finished run and its reporter.
pub(super) struct FinishedRun<'t> {
    pub(super) summary: RunSummary,
    /// The price table that applies: none does to the embedded service.
    pub(super) prices: Option<&'t PriceTable>,
    pub(super) reporter: RunReporter,
}

/// `--failed`, and nothing failed.
pub(super) fn nothing_to_run(format: Format, reason: &str) -> Exit {
    match format {
        Format::Text => {}
        Format::Json => outln!("{:#}", report::nothing_json()),
        Format::Ndjson => report::stream::nothing(reason, now()),
    }
    errln!("{reason}");
    Exit::Done
}

/// Reports the end of a run: the summary on standard output, why it was halted on standard error.
pub(super) fn report(args: &RunArgs, plan: &Plan, finished: FinishedRun<'_>) -> Exit {
    let FinishedRun { summary, prices, reporter } = finished;
    let spent = prices.map(|table| (table, spending(plan, &summary, table)));
    // First, because it removes the live view.
    reporter.end(&summary, report::spending_json(spent.as_ref()), now());
    match args.format {
        Format::Text => {
            out!("{}", report::final_report(&summary, &named_workflow(args), terminal::columns()));
            if let Some((table, spending)) = &spent {
                out!("{}", report::cost_report(spending, table));
            }
        }
        Format::Json => terminal::out_json(&report::summary_json(plan, &summary, spent.as_ref())),
        Format::Ndjson => {}
    }
    if let Some(error) = halt_error(args, &summary) {
        error.print();
    }
    print_rerun_command(args, &summary);
    Exit::from_summary(&summary)
}

/// The command that renders the shots again whose tasks are missing: a decision that only the user can make.
fn print_rerun_command(args: &RunArgs, summary: &RunSummary) {
    let missing = summary.nodes.iter().filter(|node| matches!(node.outcome, Outcome::Missing { .. }));
    let shots: Vec<String> = missing.map(|node| shell::quote_rerun(&node.name)).collect();
    if !shots.is_empty() {
        errln!(
            "to render what is missing again, and pay for it again: runner run {} --rerun {}",
            named_workflow(args).in_full(),
            shots.join(" ")
        );
    }
}

/// Tasks of earlier runs that no shot of the plan asks for any more.
fn print_unclaimed(args: &RunArgs, unclaimed: &[(String, TaskId)]) {
    if unclaimed.is_empty() {
        return;
    }
    let listed: Vec<String> = unclaimed
        .iter()
        .take(MAX_UNCLAIMED_LISTED)
        .map(|(shot, task)| format!("{} (task {})", sanitize::line(shot), sanitize::line(task.as_str())))
        .collect();
    let more = unclaimed.len().saturating_sub(MAX_UNCLAIMED_LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    errln!(
        "paid for, in flight, and of no shot any more: {}{more}; to download them: {}",
        listed.join(", "),
        fetch::command_for_all(&args.workflow.file)
    );
}

/// Why a run stopped submitting. An interrupt is not an error.
fn halt_error(args: &RunArgs, summary: &RunSummary) -> Option<CommandError> {
    let rest = "tasks in flight were finished, nothing more was submitted";
    match summary.halt.as_ref()? {
        Halt::ServiceUnusable { failure } => {
            let names: Vec<String> =
                summary.unusable.iter().map(|name| format!("`{}`", sanitize::line(name))).collect();
            let services = match names.as_slice() {
                [] => "the service".to_owned(),
                [one] => format!("the service {one}"),
                several => format!("the services {}", several.join(", ")),
            };
            Some(CommandError::unusable(format!("{services} cannot be used: {}", failure.message)))
        }
        Halt::StorageUnusable { failure } => Some(
            CommandError::unusable(format!(
                "videos cannot be stored: {}; nothing more was submitted, and tasks in flight are kept",
                failure.message
            ))
            .hint(format!("once they can: {}", shell_command())),
        ),
        Halt::BudgetExceeded { cap } => {
            let message = format!("{} is reached: {rest}", budget::cap(*cap, &summary.caps));
            let error = CommandError::new(ErrorKind::BudgetExceeded, message);
            // A cap below each task admits nothing.
            Some(if summary.submitted() == 0 {
                error.hint("run again with a higher cap to continue")
            } else {
                error.hint(format!("to submit as much again: {}", same_command(args)))
            })
        }
        Halt::FailFast { shot } => Some(
            CommandError::unusable(format!("{shot} failed: {rest} (--fail-fast)"))
                .hint("run with --failed to render the failed and the remaining shots"),
        ),
        Halt::Interrupted => None,
    }
}

/// The command line of this run, which a later run within the same caps continues.
fn same_command(args: &RunArgs) -> String {
    let partial = if args.budget.partial { "" } else { " --partial" };
    shell_command() + partial
}

/// The command line of this run.
fn shell_command() -> String {
    let words = std::env::args_os().skip(1).map(|word| shell::quote(&word.to_string_lossy()));
    std::iter::once("runner".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The actual cost of a run by the price table.
fn spending(plan: &Plan, summary: &RunSummary, table: &PriceTable) -> Spending {
    let inputs = price_table::price_inputs(plan);
    Spending::from_summary(summary, |index, video| {
        let inputs = inputs.get(index)?;
        match video {
            Some(video) => table.prices.actual_cost(inputs, video).ok(),
            None => table.prices.estimate(inputs).ok(),
        }
    })
}

/// The nodes selected by the flags.
async fn selected_nodes(
    args: &RunArgs,
    plan: &Plan,
    paths: &ProjectPaths,
) -> Result<SelectedNodes, CommandError> {
    // A wrong name must not leave anything behind, not even an empty ledger.
    let ledger = Ledger::open_existing(&paths.ledger(), &paths.folder)?;
    let records = ledger.as_ref().map(|ledger| ledger as &dyn WorkRecords);
    args.selection.resolve(plan, records, &args.workflow.file).await
}

/// What `--rerun` asks for.
pub(super) fn rerun_request(args: &RunArgs) -> RerunRequest<'_> {
    RerunRequest { names: args.rerun.as_deref(), asks_for_another: args.new }
}

/// `--withdraw`.
fn withdraw(args: &RunArgs, plan: &Plan, paths: &ProjectPaths) -> Result<Exit, CommandError> {
    let instances = rerun_request(args).instances(plan, None, &args.workflow.file)?;
    let withdrawn = match Ledger::open_existing(&paths.ledger(), &paths.folder)? {
        Some(ledger) => ledger.withdraw_renders(plan.name(), &instances, now())?,
        None => Vec::new(),
    };
    Ok(print_withdrawn(&withdrawn))
}

/// Prints the shots of which a render was asked for.
pub(super) fn print_withdrawn(withdrawn: &[String]) -> Exit {
    if withdrawn.is_empty() {
        errln!("no render of these shots is asked for");
    }
    for instance in withdrawn {
        outln!("{instance}: not asked for any more; what is paid for is kept");
    }
    Exit::Done
}

/// What a run asks for.
struct AskedRun {
    /// Keys with it, before it is recorded.
    keys: KeyResolver,
    /// The instances that `--rerun` names.
    instances: Vec<String>,
}

/// Executes the plan. The ledger is still open when the run has ended.
#[expect(clippy::too_many_arguments, reason = "each is a part of the run")]
async fn execute<'t>(
    args: &RunArgs,
    plan: Arc<Plan>,
    paths: &ProjectPaths,
    backends: Backends,
    ledger: Ledger,
    selection: Option<Selection>,
    asked: AskedRun,
    table: Option<&'t PriceTable>,
) -> Result<(FinishedRun<'t>, Arc<Ledger>), CommandError> {
    let planned = backends.planned();
    let output_dir = output_folder::of(paths, &plan, &planned, args.output_dir.as_deref())?;
    film_outputs::refuse_replaced_inputs(&plan, &paths.folder, &output_dir)?;
    let AskedRun { keys, instances } = asked;
    let is_free = planned.is_free();
    let table = table.filter(|_| !is_free);
    let (run, identity) = (new_run_id(), planned.identity.clone());
    let before = ledger.key_resolver(&plan, &identity)?;
    let of_run =
        |keys: KeyResolver| keys.with_salt(args.salt.clone()).with_selection(&plan, selection.as_ref());
    let keys = of_run(keys);
    if !is_free && !args.force {
        unknown_work::check(&named_workflow(args), &plan, &ledger, &keys, &output_dir).await?;
    }
    budget::check_in_flight(&args.budget, is_free, &ledger)?;
    let (reserved, _) = ledger.spending()?;
    let previews = preflight(args, &plan, &ledger, &keys, &planned.accounts, selection.as_ref(), table);
    let estimate = match previews.await? {
        Some(previews) => {
            refuse_known_work(args, &plan, &previews)?;
            let budget = BudgetAtStart { is_free, reserved };
            print_estimate(args, &plan, &keys, before.renders(), &previews, &planned, table, budget)?
        }
        None => None,
    };
    // Before anything is submitted: whatever ends this run, the next one goes on with it.
    ledger.ask_for_renders(&plan, &instances, args.new, now())?;
    let keys = of_run(ledger.key_resolver(&plan, &identity)?);
    // Concurrent runs that are throttled together must not retry together.
    let seed = RandomState::new().hash_one(run.as_str());
    let adjust = |policy: &mut Policy| {
        args.limits.apply(policy);
        (policy.shutdown_grace, policy.seed) = (args.shutdown_grace, seed);
    };
    let Connections { services, embedded, jobs } = backends.connect(paths, adjust).await?;
    let file = named_workflow(args).in_full();
    let ledger = Arc::new(ledger);
    let info =
        RunInfo { run: run.clone(), file: named_workflow(args), service: planned.shown, jobs, estimate };
    let prices = budget::prices(&identity, table.map(|table| &table.prices));
    let budget = Budget::new(budget::caps(&args.budget), prices).with_reserved_by_others(reserved);
    let config = RunConfig {
        run,
        ledger: Arc::clone(&ledger),
        services,
        clock: Clock::starting_at(now()),
        output_dir,
        workflow_dir: paths.folder.clone(),
        ffmpeg: ffmpeg::find(),
        digital_source: if is_free {
            media::DigitalSource::AlgorithmicMedia
        } else {
            media::DigitalSource::TrainedAlgorithmicMedia
        },
        budget: if args.budget.own_caps { budget.with_own_caps() } else { budget },
        keys,
        arguments: Some(task_owners::plan_arguments(&args.workflow, args.salt.as_deref(), paths)),
        verify: verification(args),
        repeats_unrecorded: args.force,
        scope: RunScope { selection, fail_fast: args.fail_fast },
        interrupt: shutdown_signal_with(move || {
            format!(
                "exiting at once: tasks in flight are kept, submissions without a response are indeterminate; `runner run {file}` continues"
            )
        }),
    };
    let mut reporter = RunReporter::start(args.format, info);
    let ended = engine::run(Arc::clone(&plan), config, reporter.reporter()).await;
    if let Some(service) = embedded {
        service.stop().await;
    }
    match ended {
        Ok(summary) => Ok((FinishedRun { summary, prices: table, reporter }, ledger)),
        Err(error) => {
            let commands = hints::adopt_commands(&error, &named_workflow(args));
            let error = CommandError::unusable(format!("{error}{commands}"));
            reporter.fail(&error.message, error.exit(), now());
            Err(error)
        }
    }
}
