//! Cost estimate of a plan: tasks, seconds and cost, by what determines the price.

use serde::{Deserialize, Serialize};

use super::{Interval, PriceInputs};
use crate::units::{Money, VideoDuration};

/// How likely it is that a task is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EstimateKind {
    /// It is submitted.
    Certain,
    /// It is submitted unless its video turns out to exist.
    Possible,
    /// It is submitted if an earlier attempt fails with a failure that `retry` names.
    Retry,
}

/// The estimate for all tasks: the lower bound with one attempt each, the upper bound with all retries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostEstimate {
    /// Tasks that are submitted.
    pub tasks: Interval<u64>,
    pub seconds: Interval<VideoDuration>,
    /// Cost of the tasks that have a price.
    pub cost: Interval<Money>,
    /// Tasks that may be submitted and have no price; their cost is not included.
    pub unpriced: u64,
    /// Retries among the tasks of the upper bound.
    #[serde(default, skip_serializing_if = "is_none")]
    pub retries: u64,
    /// The same by price inputs, in order of first appearance.
    pub lines: Vec<EstimateLine>,
}

/// The estimate for the tasks with the same price inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EstimateLine {
    /// The price inputs; the seconds are those of one task.
    pub each: PriceInputs,
    /// Tasks that are submitted.
    pub tasks: Interval<u64>,
    pub seconds: Interval<VideoDuration>,
    /// Their cost; `None` if they have no price.
    pub cost: Option<Interval<Money>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl CostEstimate {
    pub fn add(&mut self, inputs: &PriceInputs, cost: Option<Interval<Money>>, kind: EstimateKind) {
        let index = self.lines.iter().position(|line| line.each == *inputs).unwrap_or_else(|| {
            self.lines.push(EstimateLine {
                each: inputs.clone(),
                tasks: Interval::default(),
                seconds: Interval::default(),
                cost: cost.map(|_| Interval::default()),
            });
            self.lines.len() - 1
        });
        let line = &mut self.lines[index];
        let certain = kind == EstimateKind::Certain;
        self.retries += u64::from(kind == EstimateKind::Retry);
        for tasks in [&mut self.tasks, &mut line.tasks] {
            tasks.max += 1;
            tasks.min += u64::from(certain);
        }
        for seconds in [&mut self.seconds, &mut line.seconds] {
            seconds.max = seconds.max.saturating_add(inputs.seconds.max);
            if certain {
                seconds.min = seconds.min.saturating_add(inputs.seconds.min);
            }
        }
        let Some(cost) = cost else {
            self.unpriced += 1;
            return;
        };
        for sum in std::iter::once(&mut self.cost).chain(line.cost.as_mut()) {
            sum.max = sum.max.saturating_add(cost.max);
            if certain {
                sum.min = sum.min.saturating_add(cost.min);
            }
        }
    }
}
