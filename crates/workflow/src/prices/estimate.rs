//! What all tasks together come to, by model, resolution and length.

use serde::{Deserialize, Serialize};

use super::{Interval, Money, PriceInputs, VideoDuration};

/// How sure it is that a task will be submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EstimateKind {
    /// It will be.
    Certain,
    /// It will be unless its video turns out to be there.
    Possible,
    /// It will be if an attempt before it fails in a way that the file wants retried.
    Retry,
}

/// What all tasks together come to: at least each attempted once, at most with all the retries that the file allows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostEstimate {
    /// How many tasks are submitted.
    pub tasks: Interval<u64>,
    /// Seconds of video that they make.
    pub seconds: Interval<VideoDuration>,
    /// What those cost that have a price.
    pub cost: Interval<Money>,
    /// How many may be submitted and have no price: they come on top.
    pub unpriced: u64,
    /// How many of the most tasks are retries.
    #[serde(default, skip_serializing_if = "is_none")]
    pub retries: u64,
    /// The same by what decides the price, in the order in which each first appears.
    pub lines: Vec<EstimateLine>,
}

/// What the tasks with one billing come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EstimateLine {
    /// What decides the price; its seconds are those of one task.
    pub each: PriceInputs,
    /// How many tasks are submitted.
    pub tasks: Interval<u64>,
    /// Seconds of video that they make.
    pub seconds: Interval<VideoDuration>,
    /// What they cost; nothing where they have no price.
    pub cost: Option<Interval<Money>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl CostEstimate {
    /// Adds one task.
    pub fn add(&mut self, billing: &PriceInputs, cost: Option<Interval<Money>>, chance: EstimateKind) {
        let at = self.lines.iter().position(|line| line.each == *billing).unwrap_or_else(|| {
            self.lines.push(EstimateLine {
                each: billing.clone(),
                tasks: Interval::default(),
                seconds: Interval::default(),
                cost: cost.map(|_| Interval::default()),
            });
            self.lines.len() - 1
        });
        let line = &mut self.lines[at];
        let certain = chance == EstimateKind::Certain;
        self.retries += u64::from(chance == EstimateKind::Retry);
        for tasks in [&mut self.tasks, &mut line.tasks] {
            tasks.most += 1;
            tasks.least += u64::from(certain);
        }
        for seconds in [&mut self.seconds, &mut line.seconds] {
            seconds.most = seconds.most.saturating_add(billing.seconds.most);
            if certain {
                seconds.least = seconds.least.saturating_add(billing.seconds.least);
            }
        }
        let Some(cost) = cost else {
            self.unpriced += 1;
            return;
        };
        for sum in std::iter::once(&mut self.cost).chain(line.cost.as_mut()) {
            sum.most = sum.most.saturating_add(cost.most);
            if certain {
                sum.least = sum.least.saturating_add(cost.least);
            }
        }
    }
}
