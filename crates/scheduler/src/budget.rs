//! What a run may spend, what it holds back for what is out, and what it has spent (DESIGN section 7).
//!
//! Before a POST leaves, the most that it can cost is held; when its task has ended, what is held is settled at what it came to, or let go
//! where nothing was accepted. Invariant: `held + spent <= cap` at every instant. The ledger decides it in the transaction that writes the
//! intent, over everything that this run and every other process hold or have spent since this run began; the scheduler keeps to the same
//! sums of its own run, so that it does not ask in vain.

use std::fmt;
use std::ops::{AddAssign, SubAssign};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use workflow::plan::{Node, NodeIx, Plan};

/// A sum of work: money in millionths of the price table's currency, tasks, and milliseconds of video.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Money, in millionths. Work without a price adds nothing, and is counted nowhere as free: see [`BudgetLimits::allow_unpriced`].
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

/// What is held for one task: the most that it can come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// Money, in millionths; nothing where the task has no price.
    pub cost: Option<i64>,
    /// Milliseconds of video.
    pub video_ms: i64,
}

impl Reservation {
    /// For so many seconds of video without a price.
    #[must_use]
    pub fn unpriced(seconds: f64) -> Self {
        Self { cost: None, video_ms: (seconds * 1e3).round() as i64 }
    }

    /// As a sum: one task.
    #[must_use]
    pub fn amount(self) -> Amount {
        Amount { cost: self.cost.unwrap_or(0), tasks: 1, video_ms: self.video_ms }
    }
}

/// The most that may leave the ledger while a run goes on. Nothing set is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct BudgetLimits {
    /// Money, in millionths.
    pub cost: Option<i64>,
    /// Tasks.
    pub tasks: Option<i64>,
    /// Milliseconds of video.
    pub video_ms: Option<i64>,
    /// Whether work without a price may be submitted under a cap on cost.
    pub allow_unpriced: bool,
}

impl BudgetLimits {
    /// Whether there is any.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.cost.is_none() && self.tasks.is_none() && self.video_ms.is_none()
    }

    /// The first cap that `sum` crosses.
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

/// Which cap.
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

/// What work costs. The engine knows no table; whoever starts a run does.
pub trait Prices: Send + Sync + fmt::Debug {
    /// The most that a node's task can come to.
    fn reservation(&self, ix: NodeIx, node: &Node) -> Reservation;

    /// What a node's task came to that made `seconds` of video, in millionths.
    fn actual_cost(&self, ix: NodeIx, node: &Node, seconds: f64) -> Option<i64>;
}

/// No prices are known.
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

/// A run's caps and prices, and what it holds and has spent itself.
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
    /// Nothing held, nothing spent.
    #[must_use]
    pub fn new(caps: BudgetLimits, prices: Arc<dyn Prices>) -> Self {
        Self { caps, prices, reserved: Amount::default(), spent: Amount::default() }
    }

    /// The caps.
    #[must_use]
    pub fn caps(&self) -> BudgetLimits {
        self.caps
    }

    /// What this run holds for tasks whose cost is not settled.
    #[must_use]
    pub fn reserved(&self) -> Amount {
        self.reserved
    }

    /// What this run has spent.
    #[must_use]
    pub fn spent(&self) -> Amount {
        self.spent
    }

    /// The most that a node's task can come to.
    #[must_use]
    pub fn reservation(&self, plan: &Plan, ix: NodeIx) -> Reservation {
        self.prices.reservation(ix, plan.node(ix))
    }

    /// What a node's finished task came to, never more than was held for it.
    #[must_use]
    pub fn actual_cost(&self, plan: &Plan, ix: NodeIx, seconds: f64) -> Option<i64> {
        let most = self.reservation(plan, ix).cost?;
        Some(self.prices.actual_cost(ix, plan.node(ix), seconds)?.clamp(0, most.max(0)))
    }

    /// The cap that one more task of this node would cross.
    #[must_use]
    pub fn exceeded_by(&self, plan: &Plan, ix: NodeIx) -> Option<BudgetLimit> {
        let reservation = self.reservation(plan, ix);
        // What has no price may cost anything.
        if self.caps.cost.is_some() && !self.caps.allow_unpriced && reservation.cost.is_none() {
            return Some(BudgetLimit::Cost);
        }
        let mut sum = self.reserved;
        sum += self.spent;
        sum += reservation.amount();
        self.caps.exceeded_by(sum)
    }
}
