//! Budget limits from the command line and prices from the table, as the engine takes them.

use std::sync::Arc;

use contract::Contract;
use scheduler::Decision;
use scheduler::budget::{BudgetLimits, Prices, Reservation};
use workflow::plan::{Node, NodeIx, Plan};
use workflow::prices::{self, PriceInputs, VideoDuration};

use crate::args;
use crate::report::plan::Document;

/// Budget limits as they were args.
pub(crate) fn caps(args: &args::BudgetArgs) -> BudgetLimits {
    let micros = |money: prices::Money| i64::try_from(money.micros()).unwrap_or(i64::MAX);
    BudgetLimits {
        cost: args.max_cost.map(micros),
        tasks: args.max_tasks.map(i64::from),
        video_ms: args.max_seconds.map(|seconds| (seconds * 1e3).round() as i64),
        allow_unpriced: args.allow_unpriced,
    }
}

/// Prices of a plan's nodes; without a table only their lengths are known.
#[derive(Debug)]
struct Table {
    prices: Option<prices::Prices>,
    is_free: bool,
    billings: Vec<PriceInputs>,
}

/// The prices of a plan's nodes: nothing at a service that is free, else by a table, if there is one.
pub(crate) fn prices(plan: &Plan, is_free: bool, prices: Option<&prices::Prices>) -> Arc<dyn Prices> {
    let billings = plan.nodes().map(|(_, node)| PriceInputs::from_node(node, Contract::embedded())).collect();
    Arc::new(Table { prices: prices.cloned(), is_free, billings })
}

impl Prices for Table {
    fn reservation(&self, ix: NodeIx, node: &Node) -> Reservation {
        let Some(billing) = self.billings.get(ix.index()) else { return Reservation::unpriced(node.seconds) };
        let cost = self.prices.as_ref().and_then(|prices| prices.estimate(billing).ok());
        Reservation {
            cost: if self.is_free {
                Some(0)
            } else {
                cost.map(|cost| i64::try_from(cost.most.micros()).unwrap_or(i64::MAX))
            },
            video_ms: i64::try_from(billing.seconds.most.millis()).unwrap_or(i64::MAX),
        }
    }

    fn actual_cost(&self, ix: NodeIx, _node: &Node, seconds: f64) -> Option<i64> {
        if self.is_free {
            return Some(0);
        }
        let cost = self
            .prices
            .as_ref()?
            .actual_cost(self.billings.get(ix.index())?, VideoDuration::nearest(seconds))
            .ok()?;
        i64::try_from(cost.most.micros()).ok()
    }
}

/// Why a run cannot begin under its caps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BudgetError {
    /// Even the least that is to be submitted is more than a cap allows.
    BelowMinimum(String),
    /// The cost is capped, and some work has no price.
    Unpriced(String),
}

/// Looks at what is to be submitted before any of it is.
pub(crate) fn check_minimum(
    args: &args::BudgetArgs,
    is_free: bool,
    document: &Document,
) -> Result<(), BudgetError> {
    let totals = &document.totals;
    let currency = document.prices.as_ref().map_or("", |prices| prices.currency.as_str());
    if args.max_cost.is_some() && !args.allow_unpriced && !is_free && totals.unpriced > 0 {
        let submitted = |decision: Decision| matches!(decision, Decision::Execute | Decision::Deferred);
        let first =
            document.shots.iter().find(|shot| submitted(shot.decision) && shot.cost.is_none()).map(|shot| {
                let why = shot.unpriced.clone().unwrap_or_else(|| "there is no table of prices".to_owned());
                format!(" ({}: {why})", shot.name)
            });
        return Err(BudgetError::Unpriced(format!(
            "--max-cost cannot be kept: {} of the tasks to submit have no price{}; give them one in the table of prices, or say --allow-unpriced",
            totals.unpriced,
            first.unwrap_or_default(),
        )));
    }
    let below = |flag: &str, cap: String, least: String| {
        Err(BudgetError::BelowMinimum(format!(
            "{flag} {cap} is less than the {least} that this run needs at least; nothing was submitted"
        )))
    };
    if let Some(cap) = args.max_cost.filter(|cap| !is_free && *cap < totals.cost.least) {
        return below("--max-cost", cap.to_string(), format!("{} {currency}", totals.cost.least));
    }
    if let Some(cap) = args.max_tasks.filter(|cap| u64::from(*cap) < totals.tasks.least) {
        return below("--max-tasks", cap.to_string(), format!("{} tasks", totals.tasks.least));
    }
    if let Some(cap) = args.max_seconds.filter(|cap| VideoDuration::nearest(*cap) < totals.seconds.least) {
        return below("--max-seconds", cap.to_string(), format!("{} seconds of video", totals.seconds.least));
    }
    Ok(())
}
