//! What is decided, checked and shown before a run submits anything.

use std::fmt::Write as _;
use std::sync::Arc;

use engine::artifact_store::Verify;
use engine::preview::Preview;
use engine::provider::Accounts;
use engine::records::WorkRecords;
use scheduler::renders::Renders;
use scheduler::{Decision, KeyResolver};
use workflow::plan::{Plan, Selection};

use crate::args::RunArgs;
use crate::backend::PlannedServices;
use crate::budget::{self, BudgetAtStart};
use crate::commands::run::named_workflow;
use crate::error::{CommandError, ErrorKind};
use crate::ffmpeg;
use crate::hints;
use crate::price_table::PriceTable;
use crate::report::{self, RunEstimate};
use crate::reruns;
use crate::selection;
use crate::service_address::BASE_URL;
use crate::shell;

/// How videos of earlier runs are verified.
pub(super) fn verification(args: &RunArgs) -> Verify {
    if args.verify { Verify::Content(Arc::new(ffmpeg::find())) } else { Verify::Metadata }
}

/// The decision for each shot, if something has to be checked or shown before the run starts.
pub(super) async fn preflight(
    args: &RunArgs,
    plan: &Plan,
    records: &dyn WorkRecords,
    keys: &KeyResolver,
    accounts: &Accounts,
    selection: Option<&Selection>,
    table: Option<&PriceTable>,
) -> Result<Option<Vec<Preview>>, CommandError> {
    let caps = budget::caps(&args.budget);
    let has_asked = !reruns::open(plan, keys.renders()).is_empty();
    let is_known_elsewhere = !args.force && is_used_with_others(plan, records, accounts).await?;
    if table.is_none() && caps.is_none() && !has_asked && selection.is_none() && !is_known_elsewhere {
        return Ok(None);
    }
    let verify = verification(args);
    let mut previews = engine::preview::preview(plan, Some(records), keys, accounts, &verify).await?;
    hints::name_commands(&mut previews, &named_workflow(args));
    if let Some(selection) = selection {
        selection::apply_selection(plan, selection, &mut previews)?;
    }
    Ok(Some(previews))
}

/// Whether the folder has paid work of services other than those of the plan.
async fn is_used_with_others(
    plan: &Plan,
    records: &dyn WorkRecords,
    accounts: &Accounts,
) -> Result<bool, CommandError> {
    if !accounts.any_is_paid() {
        return Ok(false);
    }
    let is_own = |identity: &String| {
        accounts.services().any(|own| own == identity || plan.aliases(own).contains(identity))
    };
    let works = records.work_at_services().await?;
    Ok(works.values().flatten().any(|(service, _)| !is_own(service)))
}

/// Refuses to pay for work that is finished at another service: it may be the same one, under a name or address that nobody has said.
pub(super) fn refuse_known_work(
    args: &RunArgs,
    plan: &Plan,
    previews: &[Preview],
) -> Result<(), CommandError> {
    let is_open = |preview: &&Preview| preview.decision == Decision::Execute;
    let known: Vec<(&str, &str)> = previews
        .iter()
        .filter(is_open)
        .filter_map(|preview| Some((&*preview.name, preview.known_at.as_deref()?)))
        .collect();
    let Some((shot, first)) = known.first().filter(|_| !args.force) else { return Ok(()) };
    let mut message =
        "paid work of these shots is on record from another service; nothing was submitted".to_owned();
    for (shot, service) in known.iter().take(MAX_LISTED) {
        let _ = write!(message, "\n  {shot}: {service}");
    }
    if known.len() > MAX_LISTED {
        let _ = write!(message, "\n  and {} more", known.len() - MAX_LISTED);
    }
    let file = named_workflow(args).in_full();
    Err(CommandError::new(ErrorKind::ActionNeeded, message)
        .hint(match plan.find(shot).and_then(|ix| plan.node(ix).service.as_deref()) {
            Some(name) => {
                format!("if that is `{name}`, say so in services.yaml: {name}: {{ also: \"{first}\" }}")
            }
            None => format!("if it is the same service: export {BASE_URL}={first}"),
        })
        .hint(format!("to render them at this service and pay for them again: runner run {file} --force")))
}

/// How many shots are listed.
const MAX_LISTED: usize = 5;

/// Prints what the run will submit and cost, after checking it against the caps. Returns the estimate if there is a price table.
#[expect(clippy::too_many_arguments, reason = "each is a part of the estimate")]
pub(super) fn print_estimate(
    args: &RunArgs,
    plan: &Plan,
    keys: &KeyResolver,
    recorded: &Renders,
    previews: &[Preview],
    services: &PlannedServices,
    table: Option<&PriceTable>,
    budget: BudgetAtStart,
) -> Result<Option<RunEstimate>, CommandError> {
    let document = report::plan::PlanDocument::new(plan, previews, services, table);
    budget::check_minimum(&args.budget, budget, &document)?;
    let asked = plan.nodes().filter(|(ix, _)| keys.asked_render(plan, *ix).is_some());
    let is_new = |instance: &str| {
        let open = |renders: &Renders| renders.wishes().get(instance).and_then(|wishes| wishes.open);
        open(keys.renders()) != open(recorded)
    };
    let (new, continued): (Vec<_>, Vec<_>) = asked.partition(|(_, node)| is_new(node.name_without_take()));
    for (label, nodes) in [("renders again", &new), ("continues a rerun that is not done", &continued)] {
        let names: Vec<&str> = nodes.iter().map(|(_, node)| node.name.as_str()).collect();
        if !names.is_empty() {
            errln!("{label} (--rerun): {}", names.join(", "));
        }
    }
    if let Some((_, first)) = continued.first() {
        let command = format!("runner run {} --rerun", named_workflow(args).in_full());
        let shot = shell::quote(first.name_without_take());
        errln!(
            "one more all the same: {command} {shot} --new; not wanted any more: {command} {shot} --withdraw"
        );
    }
    if table.is_some() || !new.is_empty() || args.selection.is_any() {
        for line in report::plan::estimate(&document) {
            errln!("{line}");
        }
    }
    let estimate = document.totals.cost;
    Ok(table.map(|table| RunEstimate { estimate, currency: table.prices.currency().to_owned() }))
}
