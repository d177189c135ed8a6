//! `runner plan`: what a run would do and cost, or the exact requests that it would send. Submits and writes nothing.

use std::path::Path;
use std::sync::Arc;

use engine::artifact_store::Verify;
use engine::preview::{Preview, preview};
use engine::provider::Accounts;
use scheduler::KeyResolver;
use scheduler::budget::Amount;
use serde_json::json;
use workflow::plan::{Plan, Selection};

use crate::args::{BudgetArgs, EngineAddressArgs, Format, OverrideArgs, PlanArgs, PlanFormat, SelectionArgs};
use crate::budget::{self, BudgetAtStart};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::film_outputs;
use crate::hints;
use crate::input_file::LoadError;
use crate::load;
use crate::named_workflow::NamedWorkflow;
use crate::output_folder;
use crate::price_table::PriceTable;
use crate::project_paths::ProjectPaths;
use crate::records::Records;
use crate::report::plan::{PlanDocument, table};
use crate::reruns::RerunRequest;
use crate::selection::{self, SelectedNodes};
use crate::terminal;
use crate::unknown_work::{self, VideoFolders};

pub(crate) async fn plan(args: PlanArgs) -> Result<Exit, CommandError> {
    plan_within(args, None).await
}

/// As [`plan`], followed by what the caps of a run say to it.
pub(crate) async fn plan_within(args: PlanArgs, caps: Option<&BudgetArgs>) -> Result<Exit, CommandError> {
    let format = if args.format == PlanFormat::Json { Format::Json } else { Format::Text };
    let plan = match load::load(&args.workflow.file, &args.workflow.overrides) {
        Ok(plan) => Arc::new(plan),
        Err(error) => return Ok(error.report(format)),
    };
    if args.requests {
        for (ix, node) in plan.nodes() {
            outln!("{}", json!({ "shot": node.name, "request": plan.request_outline(ix) }));
        }
        return Ok(Exit::Done);
    }
    let prices = match PriceTable::load(args.prices.as_deref(), &args.workflow.file) {
        Ok(prices) => prices,
        Err(error) => return Ok(error.report(format)),
    };
    let rerun = RerunRequest { names: args.rerun.as_deref(), asks_for_another: args.new };
    let changes = KeyChanges { rerun, salt: args.salt.as_deref() };
    let project = PlannedFile {
        file: &args.workflow.file,
        engine: &args.engine,
        overrides: Some(&args.workflow.overrides),
        output_dir: args.output_dir.as_deref(),
    };
    let document = document(&plan, project, &args.selection, changes, prices.as_ref()).await?;
    match args.format {
        PlanFormat::Table => out!("{}", table(&document)),
        PlanFormat::Json => terminal::out_json(&document),
    }
    if let Some(caps) = caps {
        let records =
            Records::open(&ProjectPaths::for_workflow(project.file)?, project.engine, Some(plan.name()))
                .await?;
        // The caps of a run on a cluster count that run alone.
        let reserved = match records.ledger() {
            Some(ledger) => ledger.spending()?.0,
            None => Amount::default(),
        };
        let services = records.services_without_keys(&plan)?;
        let budget = BudgetAtStart { is_free: services.is_free(), reserved };
        budget::check_minimum(caps, budget, &document)?;
    }
    Ok(Exit::Done)
}

/// Arguments of a run that give shots other keys.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeyChanges<'a> {
    /// `--rerun`.
    pub(crate) rerun: RerunRequest<'a>,
    /// `--salt`.
    pub(crate) salt: Option<&'a str>,
}

/// A workflow file, and where its runs are recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedFile<'a> {
    pub(crate) file: &'a Path,
    pub(crate) engine: &'a EngineAddressArgs,
    /// What changes its requests; `None` for the file as it is.
    pub(crate) overrides: Option<&'a OverrideArgs>,
    /// The output folder, if it is another one than that of the workflow.
    pub(crate) output_dir: Option<&'a Path>,
}

/// What a run of a plan with these arguments would do.
pub(crate) async fn document(
    plan: &Arc<Plan>,
    project: PlannedFile<'_>,
    selection: &SelectionArgs,
    changes: KeyChanges<'_>,
    prices: Option<&PriceTable>,
) -> Result<PlanDocument, CommandError> {
    let paths = ProjectPaths::for_workflow(project.file)?;
    let records = Records::open(&paths, project.engine, Some(plan.name())).await?;
    let services = records.services(plan, &paths)?;
    let output_dir = output_folder::of(&paths, plan, &services, project.output_dir)?;
    film_outputs::refuse_replaced_inputs(plan, &paths.folder, &output_dir)?;
    let keys =
        records.key_resolver(plan, &services.identity).await?.with_salt(changes.salt.map(str::to_owned));
    let overrides = project.overrides.cloned().unwrap_or_default();
    let invalid = |error: LoadError| CommandError::invalid(error.text());
    let plan = records.asked_plan(plan, &keys, project.file, &overrides).map_err(invalid)?;
    let selected = selected(selection, &plan, &records, project.file).await?;
    let instances = changes.rerun.instances(&plan, selected.as_ref(), project.file)?;
    let asked = changes.rerun.apply(&plan, keys, &instances, project.file, &overrides);
    let (plan, keys) = asked.map_err(invalid)?;
    // By name: the plan may have a node for each render that was asked for.
    let selected = match selected {
        Some(_) if !instances.is_empty() => self::selected(selection, &plan, &records, project.file).await?,
        selected => selected,
    };
    let keys = keys.with_selection(&plan, selected.as_ref());
    let folders = VideoFolders { paths: &paths, output_dir: &output_dir };
    let mut previews =
        decisions(&plan, project, &records, &keys, changes.salt, &services.accounts, folders).await?;
    if let Some(selection) = selected {
        selection::apply_selection(&plan, &selection, &mut previews)?;
    }
    let file = project.file.display().to_string();
    Ok(PlanDocument { file, ..PlanDocument::new(&plan, &previews, &services, prices) })
}

/// The nodes that the flags select; `None` for all.
async fn selected(
    selection: &SelectionArgs,
    plan: &Plan,
    records: &Records,
    file: &Path,
) -> Result<Option<Selection>, CommandError> {
    Ok(match selection.resolve(plan, records.work(), file).await? {
        SelectedNodes::All => None,
        SelectedNodes::Some(selection) => Some(selection),
        SelectedNodes::NoneFailed(reason) => {
            errln!("{reason}");
            Some(Selection::only([]))
        }
    })
}

/// The decision for each node, in the plan's order.
async fn decisions(
    plan: &Arc<Plan>,
    project: PlannedFile<'_>,
    records: &Records,
    keys: &KeyResolver,
    salt: Option<&str>,
    accounts: &Accounts,
    folders: VideoFolders<'_>,
) -> Result<Vec<Preview>, CommandError> {
    let PlannedFile { file, engine, overrides, output_dir } = project;
    let mut previews = preview(plan, records.work(), keys, accounts, &Verify::Metadata).await?;
    let named = NamedWorkflow::new(file, &engine.suffix());
    let named = match overrides {
        Some(overrides) => named.with_arguments(overrides, salt, output_dir),
        None => named,
    };
    hints::name_commands(&mut previews, &named);
    if accounts.any_is_paid() {
        unknown_work::mark(plan, records, keys, folders, &named, engine, &mut previews).await?;
    }
    Ok(previews)
}
