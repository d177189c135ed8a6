//! Budget of a run: limits, reservations for tasks in flight, and what has been spent.
//!
//! The most that a task can cost is reserved before its POST is sent. When the task has ended, the reservation is settled at the actual
//! cost, or released if nothing was accepted. Invariant: `reserved + spent <= limit` at every instant. The ledger enforces it in the
//! transaction that records the intent, over everything that this run and other processes have reserved or spent since this run began; the
//! scheduler keeps the sums of its own run to avoid requests that the ledger would reject.

use std::fmt;
use std::ops::{AddAssign, SubAssign};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use workflow::plan::{Node, NodeIx, Plan};

/// Amount of work: money in millionths of the price table's currency, tasks, and milliseconds of video.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Money, in millionths. Unpriced work adds zero; [`BudgetLimits::allow_unpriced`] decides whether it may be submitted.
    pub cost: i64,
    /// Tasks.
    pub tasks: i64,
    /// Milliseconds of video.
    pub video_ms: i64,
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.cost = self.cost.saturating_add(other.cost);
        self.tasks = self.tasks.saturating_add(other.tasks);
        self.video_ms = self.video_ms.saturating_add(other.video_ms);
    }
}

impl SubAssign for Amount {
    fn sub_assign(&mut self, other: Self) {
        self.cost = self.cost.saturating_sub(other.cost);
        self.tasks = self.tasks.saturating_sub(other.tasks);
        self.video_ms = self.video_ms.saturating_sub(other.video_ms);
    }
}

/// The reservation for one task: the most that it can cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// Money, in millionths; `None` if the task has no price.
    pub cost: Option<i64>,
    /// Milliseconds of video.
    pub video_ms: i64,
}

impl Reservation {
    /// An unpriced reservation for this many seconds of video.
    #[must_use]
    pub fn unpriced(seconds: f64) -> Self {
        Self { cost: None, video_ms: (seconds * 1e3).round() as i64 }
    }

    /// As an amount with one task.
    #[must_use]
    pub fn amount(self) -> Amount {
        Amount { cost: self.cost.unwrap_or(0), tasks: 1, video_ms: self.video_ms }
    }
}

/// The most that may be spent while a run goes on. `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct BudgetLimits {
    /// Money, in millionths.
    pub cost: Option<i64>,
    /// Tasks.
    pub tasks: Option<i64>,
    /// Milliseconds of video.
    pub video_ms: Option<i64>,
    /// Whether unpriced work may be submitted under a cost limit.
    pub allow_unpriced: bool,
}

impl BudgetLimits {
    /// Whether any limit is set.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.cost.is_none() && self.tasks.is_none() && self.video_ms.is_none()
    }

    /// The first limit that `sum` exceeds.
    #[must_use]
    pub fn exceeded_by(&self, sum: Amount) -> Option<BudgetLimit> {
        let crossed = |cap: Option<i64>, sum: i64| cap.is_some_and(|cap| sum > cap);
        if crossed(self.cost, sum.cost) {
            Some(BudgetLimit::Cost)
        } else if crossed(self.tasks, sum.tasks) {
            Some(BudgetLimit::Tasks)
        } else if crossed(self.video_ms, sum.video_ms) {
            Some(BudgetLimit::Seconds)
        } else {
            None
        }
    }
}

/// A kind of budget limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetLimit {
    /// Money.
    Cost,
    /// Tasks.
    Tasks,
    /// Seconds of video.
    Seconds,
}

impl fmt::Display for BudgetLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cost => "cost",
            Self::Tasks => "tasks",
            Self::Seconds => "seconds of video",
        })
    }
}

/// What tasks cost. The scheduler has no price table of its own; the caller provides one.
pub trait Prices: Send + Sync + fmt::Debug {
    /// The most that a node's task can cost.
    fn reservation(&self, ix: NodeIx, node: &Node) -> Reservation;

    /// The actual cost of a node's task that produced `seconds` of video, in millionths.
    fn actual_cost(&self, ix: NodeIx, node: &Node, seconds: f64) -> Option<i64>;
}

/// A price source without prices.
#[derive(Debug, Clone, Copy)]
pub struct Unpriced;

impl Prices for Unpriced {
    fn reservation(&self, _ix: NodeIx, node: &Node) -> Reservation {
        Reservation::unpriced(node.seconds)
    }

    fn actual_cost(&self, _ix: NodeIx, _node: &Node, _seconds: f64) -> Option<i64> {
        None
    }
}

/// Limits and prices of a run, with what it has reserved and spent itself.
#[derive(Debug, Clone)]
pub struct Budget {
    caps: BudgetLimits,
    prices: Arc<dyn Prices>,
    pub(crate) reserved: Amount,
    pub(crate) spent: Amount,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(BudgetLimits::default(), Arc::new(Unpriced))
    }
}

impl Budget {
    /// Nothing reserved, nothing spent.
    #[must_use]
    pub fn new(caps: BudgetLimits, prices: Arc<dyn Prices>) -> Self {
        Self { caps, prices, reserved: Amount::default(), spent: Amount::default() }
    }

    /// The limits.
    #[must_use]
    pub fn caps(&self) -> BudgetLimits {
        self.caps
    }

    /// What is reserved for tasks of this run whose cost is not settled.
    #[must_use]
    pub fn reserved(&self) -> Amount {
        self.reserved
    }

    /// What this run has spent.
    #[must_use]
    pub fn spent(&self) -> Amount {
        self.spent
    }

    /// The most that a node's task can cost.
    #[must_use]
    pub fn reservation(&self, plan: &Plan, ix: NodeIx) -> Reservation {
        self.prices.reservation(ix, plan.node(ix))
    }

    /// The actual cost of a node's finished task, at most its reservation.
    #[must_use]
    pub fn actual_cost(&self, plan: &Plan, ix: NodeIx, seconds: f64) -> Option<i64> {
        let most = self.reservation(plan, ix).cost?;
        Some(self.prices.actual_cost(ix, plan.node(ix), seconds)?.clamp(0, most.max(0)))
    }

    /// The limit that one more task of this node would exceed.
    #[must_use]
    pub fn exceeded_by(&self, plan: &Plan, ix: NodeIx) -> Option<BudgetLimit> {
        let reservation = self.reservation(plan, ix);
        // Unpriced work may cost any amount.
        if self.caps.cost.is_some() && !self.caps.allow_unpriced && reservation.cost.is_none() {
            return Some(BudgetLimit::Cost);
        }
        let mut sum = self.reserved;
        sum += self.spent;
        sum += reservation.amount();
        self.caps.exceeded_by(sum)
    }
}
