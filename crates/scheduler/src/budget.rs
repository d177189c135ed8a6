//! Budget of a run: caps, reservations for tasks in flight, and what has been spent.
//!
//! The most that a task can cost is reserved before its POST is sent. When the task has ended, the reservation is settled at the actual
//! cost, or released if nothing was accepted. Invariant: `reserved + spent <= cap` at every instant. The ledger enforces it in the
//! transaction that records the intent, over everything that this run and other processes have reserved or spent since this run began; the
//! scheduler keeps the sums of its own run to avoid requests that the ledger would reject. They alone decide where the caps count this run alone.

use std::fmt;
use std::ops::{AddAssign, SubAssign};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workflow::plan::{Node, NodeIx, Plan};
use workflow::units::{self, Money, VideoDuration};

/// Amount of work: money, tasks and length of video.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Cost. Unpriced work adds zero; [`BudgetCaps::allow_unpriced`] decides whether it may be submitted.
    #[serde(with = "units::micros")]
    pub cost: Money,
    pub tasks: u64,
    #[serde(rename = "video_ms", with = "units::millis")]
    pub duration: VideoDuration,
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.cost = self.cost.saturating_add(other.cost);
        self.tasks = self.tasks.saturating_add(other.tasks);
        self.duration = self.duration.saturating_add(other.duration);
    }
}

/// Subtracts member by member, not below zero.
impl SubAssign for Amount {
    fn sub_assign(&mut self, other: Self) {
        self.cost = self.cost.saturating_sub(other.cost);
        self.tasks = self.tasks.saturating_sub(other.tasks);
        self.duration = self.duration.saturating_sub(other.duration);
    }
}

/// The reservation for one task: the most that it can cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// Cost; `None` if the task has no price.
    #[serde(default, with = "units::micros")]
    pub cost: Option<Money>,
    #[serde(rename = "video_ms", with = "units::millis")]
    pub duration: VideoDuration,
}

impl Reservation {
    /// An unpriced reservation for this length of video.
    pub fn unpriced(duration: VideoDuration) -> Self {
        Self { cost: None, duration }
    }

    /// As an amount with one task.
    pub fn amount(self) -> Amount {
        Amount { cost: self.cost.unwrap_or_default(), tasks: 1, duration: self.duration }
    }
}

/// The most that may be spent while a run goes on. `None` is no cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetCaps {
    #[serde(default, with = "units::micros")]
    pub cost: Option<Money>,
    pub tasks: Option<u64>,
    #[serde(default, rename = "video_ms", with = "units::millis")]
    pub duration: Option<VideoDuration>,
    /// Whether unpriced work may be submitted under a cap on cost.
    pub allow_unpriced: bool,
}

impl BudgetCaps {
    /// Whether no cap is set.
    pub fn is_none(&self) -> bool {
        self.cost.is_none() && self.tasks.is_none() && self.duration.is_none()
    }

    /// The first cap that `sum` exceeds.
    pub fn exceeded_by(&self, sum: Amount) -> Option<BudgetCap> {
        if self.cost.is_some_and(|cap| sum.cost > cap) {
            Some(BudgetCap::Cost)
        } else if self.tasks.is_some_and(|cap| sum.tasks > cap) {
            Some(BudgetCap::Tasks)
        } else if self.duration.is_some_and(|cap| sum.duration > cap) {
            Some(BudgetCap::Seconds)
        } else {
            None
        }
    }
}

/// A kind of cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetCap {
    Cost,
    Tasks,
    /// Seconds of video.
    Seconds,
}

impl fmt::Display for BudgetCap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cost => "cost",
            Self::Tasks => "tasks",
            Self::Seconds => "seconds of video",
        })
    }
}

/// What tasks cost. The scheduler has no price table of its own; the caller provides one.
pub trait TaskPrices: Send + Sync + fmt::Debug {
    /// The most that a node's task can cost.
    fn reservation(&self, ix: NodeIx, node: &Node) -> Reservation;

    /// The cost of a node's finished task, whose video has the length `video`; `None` where it has no price.
    fn actual_cost(&self, ix: NodeIx, node: &Node, video: VideoDuration) -> Option<Money>;

    /// The currency of all amounts, if it has a name.
    fn currency(&self) -> Option<&str> {
        None
    }
}

/// A price source without prices.
#[derive(Debug, Clone, Copy)]
pub struct NoPrices;

impl TaskPrices for NoPrices {
    fn reservation(&self, _ix: NodeIx, node: &Node) -> Reservation {
        Reservation::unpriced(node.duration)
    }

    fn actual_cost(&self, _ix: NodeIx, _node: &Node, _video: VideoDuration) -> Option<Money> {
        None
    }
}

/// Caps and prices of a run, with what it has reserved and spent itself.
#[derive(Debug, Clone)]
pub struct Budget {
    caps: BudgetCaps,
    prices: Arc<dyn TaskPrices>,
    pub(crate) reserved: Amount,
    pub(crate) spent: Amount,
    /// What was reserved when the run began, which counts against the caps as well. The ledger has the last word.
    reserved_by_others: Amount,
    /// Whether the caps count this run alone: then nothing but the scheduler's own sums matters.
    has_own_caps: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(BudgetCaps::default(), Arc::new(NoPrices))
    }
}

impl Budget {
    /// Nothing reserved, nothing spent.
    pub fn new(caps: BudgetCaps, prices: Arc<dyn TaskPrices>) -> Self {
        Self {
            caps,
            prices,
            reserved: Amount::default(),
            spent: Amount::default(),
            reserved_by_others: Amount::default(),
            has_own_caps: false,
        }
    }

    /// The same, beside what others have reserved when the run begins.
    pub fn with_reserved_by_others(self, reserved_by_others: Amount) -> Self {
        Self { reserved_by_others, ..self }
    }

    /// The same, with caps that count this run alone.
    pub fn with_own_caps(self) -> Self {
        Self { reserved_by_others: Amount::default(), has_own_caps: true, ..self }
    }

    /// The caps that count what other processes reserve and spend, too: those that the ledger enforces.
    pub fn shared_caps(&self) -> BudgetCaps {
        if self.has_own_caps { BudgetCaps::default() } else { self.caps }
    }

    pub fn caps(&self) -> BudgetCaps {
        self.caps
    }

    /// What is reserved for tasks of this run whose cost is not settled.
    pub fn reserved(&self) -> Amount {
        self.reserved
    }

    /// What this run has spent.
    pub fn spent(&self) -> Amount {
        self.spent
    }

    /// The currency of all amounts, if it has a name.
    pub fn currency(&self) -> Option<&str> {
        self.prices.currency()
    }

    /// The most that a node's task can cost.
    pub fn reservation(&self, plan: &Plan, ix: NodeIx) -> Reservation {
        self.prices.reservation(ix, plan.node(ix))
    }

    /// The actual cost of a node's finished task, at most its reservation.
    pub fn actual_cost(&self, plan: &Plan, ix: NodeIx, video: VideoDuration) -> Option<Money> {
        let reserved = self.reservation(plan, ix).cost?;
        Some(self.prices.actual_cost(ix, plan.node(ix), video)?.min(reserved))
    }

    /// The cap that one more task of this node would exceed.
    pub fn exceeded_by(&self, plan: &Plan, ix: NodeIx) -> Option<BudgetCap> {
        let reservation = self.reservation(plan, ix);
        // Unpriced work may cost any amount.
        if self.caps.cost.is_some() && !self.caps.allow_unpriced && reservation.cost.is_none() {
            return Some(BudgetCap::Cost);
        }
        self.caps.exceeded_by(self.sum_with(reservation))
    }

    /// Whether one more task of this node would exceed a cap if everything that others had reserved when the run began still were.
    pub(crate) fn is_exceeded_beside_others(&self, plan: &Plan, ix: NodeIx) -> bool {
        let mut sum = self.sum_with(self.reservation(plan, ix));
        sum += self.reserved_by_others;
        self.caps.exceeded_by(sum).is_some()
    }

    fn sum_with(&self, reservation: Reservation) -> Amount {
        let mut sum = self.reserved;
        sum += self.spent;
        sum += reservation.amount();
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(cost: u64, tasks: u64, seconds: u64) -> Amount {
        Amount { cost: Money::from_micros(cost), tasks, duration: VideoDuration::from_secs(seconds) }
    }

    #[test]
    fn amount_arithmetic_saturates() {
        let mut sum = amount(5, 1, 4);
        sum += amount(7, 2, 8);
        assert_eq!(sum, amount(12, 3, 12));
        sum -= amount(5, 1, 4);
        assert_eq!(sum, amount(7, 2, 8));
        sum -= amount(8, 3, 9);
        assert_eq!(sum, Amount::default());
        sum += amount(u64::MAX, u64::MAX, 0);
        sum += amount(1, 1, 0);
        assert_eq!((sum.cost.as_micros(), sum.tasks), (u64::MAX, u64::MAX));
    }

    #[test]
    fn budget_caps_name_the_first_cap_that_is_exceeded() {
        let caps = BudgetCaps {
            cost: Some(Money::from_micros(10)),
            tasks: Some(2),
            duration: Some(VideoDuration::from_secs(8)),
            allow_unpriced: false,
        };
        assert_eq!(caps.exceeded_by(amount(10, 2, 8)), None);
        assert_eq!(caps.exceeded_by(amount(11, 3, 9)), Some(BudgetCap::Cost));
        assert_eq!(caps.exceeded_by(amount(10, 3, 9)), Some(BudgetCap::Tasks));
        assert_eq!(caps.exceeded_by(amount(10, 2, 9)), Some(BudgetCap::Seconds));
        assert_eq!(BudgetCaps::default().exceeded_by(amount(u64::MAX, u64::MAX, u64::MAX)), None);
    }

    #[test]
    fn reservation_is_stored_as_micros_and_milliseconds() {
        let priced =
            Reservation { cost: Some(Money::from_micros(250_000)), duration: VideoDuration::from_secs(5) };
        let unpriced = Reservation::unpriced(VideoDuration::from_millis(4_500));
        for (reservation, json) in
            [(priced, r#"{"cost":250000,"video_ms":5000}"#), (unpriced, r#"{"cost":null,"video_ms":4500}"#)]
        {
            assert_eq!(serde_json::to_string(&reservation).expect("JSON"), json);
            assert_eq!(serde_json::from_str::<Reservation>(json).expect("a reservation"), reservation);
        }
    }
}
