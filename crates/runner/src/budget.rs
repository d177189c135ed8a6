//! Budget caps from the command line and costs from the price table, in the form that the scheduler takes.

use std::sync::Arc;

use engine::Ledger;
use scheduler::Decision;
use scheduler::budget::{Amount, BudgetCap, BudgetCaps, Reservation, TaskPrices};
use workflow::plan::{Node, NodeIx};
use workflow::prices;
use workflow::services::is_rehearsal;
use workflow::units::{Money, VideoDuration};

use crate::args;
use crate::error::{CommandError, ErrorKind};
use crate::report::plan::PlanDocument;

/// The caps that the flags set.
pub(crate) fn caps(args: &args::BudgetArgs) -> BudgetCaps {
    BudgetCaps {
        cost: args.max_cost,
        tasks: args.max_tasks.map(u64::from),
        duration: args.max_video_seconds,
        allow_unpriced: args.allow_unpriced,
    }
}

/// A cap as it was given: `--max-tasks 3`.
pub(crate) fn cap(cap: BudgetCap, caps: &BudgetCaps) -> String {
    let (flag, value) = match cap {
        BudgetCap::Cost => ("--max-cost", caps.cost.map(|cost| cost.to_string())),
        BudgetCap::Tasks => ("--max-tasks", caps.tasks.map(|tasks| tasks.to_string())),
        BudgetCap::Seconds => ("--max-video-seconds", caps.duration.map(|duration| duration.to_string())),
    };
    value.map_or_else(|| flag.to_owned(), |value| format!("{flag} {value}"))
}

/// Costs of a plan's nodes; without a price table only their durations are known.
#[derive(Debug)]
struct NodePrices {
    prices: Option<prices::Prices>,
    /// The identity of the service of nodes that name none.
    service: String,
}

/// The costs of a plan's nodes: zero at the embedded service, otherwise by the price table, if there is one. `service` is that of nodes that name
/// none.
pub(crate) fn prices(service: &str, prices: Option<&prices::Prices>) -> Arc<dyn TaskPrices> {
    Arc::new(NodePrices { prices: prices.cloned(), service: service.to_owned() })
}

impl NodePrices {
    fn is_free(&self, node: &Node) -> bool {
        is_rehearsal(node.service.as_deref().unwrap_or(&self.service))
    }
}

impl TaskPrices for NodePrices {
    fn reservation(&self, _ix: NodeIx, node: &Node) -> Reservation {
        let cost = self.prices.as_ref().and_then(|prices| prices.estimate(&node.price).ok());
        Reservation {
            cost: if self.is_free(node) { Some(Money::ZERO) } else { cost.map(|cost| cost.max) },
            duration: node.price.seconds.max,
        }
    }

    fn actual_cost(&self, _ix: NodeIx, node: &Node, video: VideoDuration) -> Option<Money> {
        if self.is_free(node) {
            return Some(Money::ZERO);
        }
        let cost = self.prices.as_ref()?.actual_cost(&node.price, video).ok()?;
        Some(cost.max)
    }

    fn currency(&self) -> Option<&str> {
        self.prices.as_ref().map(prices::Prices::currency)
    }
}

/// Checks that every task in flight has a reservation, because a limit on the cost has to count it: tasks of an earlier run without a price table
/// may have none.
///
/// # Errors
/// The cost is limited and a task in flight has no reservation.
pub(crate) fn check_in_flight(
    args: &args::BudgetArgs,
    is_free: bool,
    ledger: &Ledger,
) -> Result<(), CommandError> {
    if args.max_cost.is_none() || args.allow_unpriced || args.own_caps || is_free {
        return Ok(());
    }
    let unpriced = ledger.unpriced_in_flight()?;
    let Some(first) = &unpriced.first else { return Ok(()) };
    let tasks = match unpriced.count {
        1 => format!("the task of {first} in flight was"),
        count => format!("{count} tasks in flight, such as that of {first}, were"),
    };
    Err(CommandError::invalid(format!(
        "--max-cost cannot be enforced: {tasks} submitted without a price by an earlier run; nothing was submitted"
    ))
    .hint("run without --max-cost to finish what is in flight, or use --allow-unpriced, which does not count it"))
}

/// What the caps of a run have to do with before it submits anything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BudgetAtStart {
    /// Whether tasks cost nothing.
    pub(crate) is_free: bool,
    /// What is reserved already, for tasks in flight and submissions without an outcome: it counts against the caps as well.
    pub(crate) reserved: Amount,
}

/// Checks what a run is certain to submit against the caps, before anything is submitted.
///
/// # Errors
/// A cap is below that minimum, without `--partial`, or the cost is capped and a task has no price.
pub(crate) fn check_minimum(
    args: &args::BudgetArgs,
    budget: BudgetAtStart,
    document: &PlanDocument,
) -> Result<(), CommandError> {
    let BudgetAtStart { is_free, reserved } = budget;
    let reserved = if args.own_caps { Amount::default() } else { reserved };
    let totals = &document.totals;
    let currency = document.prices.as_ref().map_or("", |prices| prices.currency.as_str());
    if args.max_cost.is_some() && !args.allow_unpriced && !is_free && totals.unpriced > 0 {
        let submitted = |decision: Decision| matches!(decision, Decision::Execute | Decision::Deferred);
        let first =
            document.shots.iter().find(|shot| submitted(shot.decision) && shot.cost.is_none()).map(|shot| {
                let reason = shot.unpriced.clone().unwrap_or_else(|| "there is no price table".to_owned());
                format!(" ({}: {reason})", shot.name)
            });
        return Err(CommandError::invalid(format!(
            "--max-cost cannot be enforced: {} of the tasks to submit have no price{}",
            totals.unpriced,
            first.unwrap_or_default(),
        ))
        .hint("add prices to the price table, or use --allow-unpriced"));
    }
    if args.partial {
        return Ok(());
    }
    let below_minimum = |flag: &str, cap: String, minimum: String, reserved: Option<String>| {
        let reserved_part = reserved.map(|reserved| {
            format!(", {reserved} of which is reserved for earlier submissions that have not ended")
        });
        let reserved_part = reserved_part.unwrap_or_default();
        Err(CommandError::new(
            ErrorKind::BudgetExceeded,
            format!(
                "{flag} {cap} is below the minimum of this run, {minimum}{reserved_part}; nothing was submitted"
            ),
        )
        .hint(format!("raise {flag}, or add --partial to submit what it allows")))
    };
    let certain = || document.shots.iter().filter(|shot| shot.certain);
    if certain().next().is_none() {
        return Ok(());
    }
    if let Some(cap) = args.max_cost.filter(|_| !is_free) {
        let costs = certain().filter_map(|shot| shot.cost).map(|cost| (cost.min, cost.max));
        let minimum: Money = [reserved.cost, required(costs)].into_iter().sum();
        if cap < minimum {
            let part = (reserved.cost > Money::ZERO).then(|| format!("{} {currency}", reserved.cost));
            return below_minimum("--max-cost", cap.to_string(), format!("{minimum} {currency}"), part);
        }
    }
    let minimum = totals.tasks.min.saturating_add(reserved.tasks);
    if let Some(cap) = args.max_tasks.filter(|cap| u64::from(*cap) < minimum) {
        let part = (reserved.tasks > 0).then(|| reserved.tasks.to_string());
        return below_minimum("--max-tasks", cap.to_string(), format!("{minimum} tasks"), part);
    }
    if let Some(cap) = args.max_video_seconds {
        // A task counts with the longest video that was requested, whatever it renders.
        let durations = certain().map(|shot| shot.price_inputs.seconds.max);
        let minimum: VideoDuration = durations.chain([reserved.duration]).sum();
        if cap < minimum {
            let part = (reserved.duration > VideoDuration::default()).then(|| reserved.duration.to_string());
            return below_minimum(
                "--max-video-seconds",
                cap.to_string(),
                format!("{minimum} seconds of video"),
                part,
            );
        }
    }
    Ok(())
}

/// The lowest cap under which all tasks can be submitted in any order, if each comes to its minimum. A task, given as its minimum and its maximum,
/// is submitted when its maximum fits beside what the others have come to: the one with the widest range may be the last.
fn required(tasks: impl Iterator<Item = (Money, Money)>) -> Money {
    let (mut sum, mut max_spread) = (0_u64, 0);
    for (min, max) in tasks {
        sum = sum.saturating_add(min.as_micros());
        max_spread = max_spread.max(max.as_micros().saturating_sub(min.as_micros()));
    }
    Money::from_micros(sum.saturating_add(max_spread))
}

#[cfg(test)]
mod tests {
    use workflow::units::Money;

    use super::required;

    fn required_by(tasks: &[(u64, u64)]) -> u64 {
        let amount = Money::from_micros;
        required(tasks.iter().map(|(min, max)| (amount(*min), amount(*max)))).as_micros()
    }

    #[test]
    fn required_counts_the_reservation_of_the_last_task() {
        assert_eq!(required_by(&[]), 0);
        assert_eq!(required_by(&[(20, 20); 6]), 120);
        // Any of them may be the last; its maximum has to fit beside the others' minimum.
        assert_eq!(required_by(&[(10, 30), (10, 30)]), 40);
        // A chain decides which one it is.
        assert_eq!(required_by(&[(10, 90), (20, 25)]), 110);
        assert_eq!(required_by(&[(20, 25), (10, 90)]), 110);
    }
}
