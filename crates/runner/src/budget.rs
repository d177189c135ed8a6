//! Budget caps from the command line and costs from the price table, in the form that the scheduler takes.

use std::sync::Arc;

use contract::Contract;
use scheduler::Decision;
use scheduler::budget::{BudgetLimits, Prices, Reservation};
use workflow::plan::{Node, NodeIx, Plan};
use workflow::prices::{self, PriceInputs};
use workflow::units::{Money, VideoDuration};

use crate::args;
use crate::error::{CommandError, ErrorKind};
use crate::report::plan::Document;

/// The caps that the flags set.
pub(crate) fn caps(args: &args::BudgetArgs) -> BudgetLimits {
    BudgetLimits {
        cost: args.max_cost,
        tasks: args.max_tasks.map(u64::from),
        duration: args.max_video_seconds,
        allow_unpriced: args.allow_unpriced,
    }
}

/// Costs of a plan's nodes; without a price table only their durations are known.
#[derive(Debug)]
struct Table {
    prices: Option<prices::Prices>,
    is_free: bool,
    inputs: Vec<PriceInputs>,
}

/// The costs of a plan's nodes: zero at a free service, otherwise by the price table, if there is one.
pub(crate) fn prices(plan: &Plan, is_free: bool, prices: Option<&prices::Prices>) -> Arc<dyn Prices> {
    let inputs = plan.nodes().map(|(_, node)| PriceInputs::from_node(node, Contract::embedded())).collect();
    Arc::new(Table { prices: prices.cloned(), is_free, inputs })
}

impl Prices for Table {
    fn reservation(&self, ix: NodeIx, node: &Node) -> Reservation {
        let Some(inputs) = self.inputs.get(ix.index()) else { return Reservation::unpriced(node.duration) };
        let cost = self.prices.as_ref().and_then(|prices| prices.estimate(inputs).ok());
        Reservation {
            cost: if self.is_free { Some(Money::ZERO) } else { cost.map(|cost| cost.most) },
            duration: inputs.seconds.most,
        }
    }

    fn actual_cost(&self, ix: NodeIx, _node: &Node, video: VideoDuration) -> Option<Money> {
        if self.is_free {
            return Some(Money::ZERO);
        }
        let cost = self.prices.as_ref()?.actual_cost(self.inputs.get(ix.index())?, video).ok()?;
        Some(cost.most)
    }
}

/// Checks the least that a run would submit against the caps, before anything is submitted.
///
/// # Errors
/// A cap is below that minimum, or the cost is capped and a task has no price.
pub(crate) fn check_minimum(
    args: &args::BudgetArgs,
    is_free: bool,
    document: &Document,
) -> Result<(), CommandError> {
    let totals = &document.totals;
    let currency = document.prices.as_ref().map_or("", |prices| prices.currency.as_str());
    if args.max_cost.is_some() && !args.allow_unpriced && !is_free && totals.unpriced > 0 {
        let submitted = |decision: Decision| matches!(decision, Decision::Execute | Decision::Deferred);
        let first =
            document.shots.iter().find(|shot| submitted(shot.decision) && shot.cost.is_none()).map(|shot| {
                let why = shot.unpriced.clone().unwrap_or_else(|| "there is no price table".to_owned());
                format!(" ({}: {why})", shot.name)
            });
        return Err(CommandError::invalid(format!(
            "--max-cost cannot be enforced: {} of the tasks to submit have no price{}",
            totals.unpriced,
            first.unwrap_or_default(),
        ))
        .hint("add prices to the price table (docs/prices.md), or use --allow-unpriced"));
    }
    let below = |flag: &str, cap: String, least: String| {
        Err(CommandError::new(
            ErrorKind::BudgetExceeded,
            format!("{flag} {cap} is below the minimum of this run, {least}; nothing was submitted"),
        ))
    };
    if let Some(cap) = args.max_cost.filter(|cap| !is_free && *cap < totals.cost.least) {
        return below("--max-cost", cap.to_string(), format!("{} {currency}", totals.cost.least));
    }
    if let Some(cap) = args.max_tasks.filter(|cap| u64::from(*cap) < totals.tasks.least) {
        return below("--max-tasks", cap.to_string(), format!("{} tasks", totals.tasks.least));
    }
    if let Some(cap) = args.max_video_seconds.filter(|cap| *cap < totals.seconds.least) {
        return below(
            "--max-video-seconds",
            cap.to_string(),
            format!("{} seconds of video", totals.seconds.least),
        );
    }
    Ok(())
}
