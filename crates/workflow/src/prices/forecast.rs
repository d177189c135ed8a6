//! What all tasks together come to, by model, resolution and length.

use serde::{Deserialize, Serialize};

use super::{Between, Billing, Money, Seconds};

/// How sure it is that a task will be submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chance {
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
pub struct Forecast {
    /// How many tasks are submitted.
    pub tasks: Between<u64>,
    /// Seconds of video that they make.
    pub seconds: Between<Seconds>,
    /// What those cost that have a price.
    pub cost: Between<Money>,
    /// How many may be submitted and have no price: they come on top.
    pub unpriced: u64,
    /// How many of the most tasks are retries.
    #[serde(default, skip_serializing_if = "is_none")]
    pub retries: u64,
    /// The same by what decides the price, in the order in which each first appears.
    pub lines: Vec<Line>,
}

/// What the tasks with one billing come to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What decides the price; its seconds are those of one task.
    pub each: Billing,
    /// How many tasks are submitted.
    pub tasks: Between<u64>,
    /// Seconds of video that they make.
    pub seconds: Between<Seconds>,
    /// What they cost; nothing where they have no price.
    pub cost: Option<Between<Money>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Forecast {
    /// Adds one task.
    pub fn add(&mut self, billing: &Billing, cost: Option<Between<Money>>, chance: Chance) {
        let at = self.lines.iter().position(|line| line.each == *billing).unwrap_or_else(|| {
            self.lines.push(Line {
                each: billing.clone(),
                tasks: Between::default(),
                seconds: Between::default(),
                cost: cost.map(|_| Between::default()),
            });
            self.lines.len() - 1
        });
        let line = &mut self.lines[at];
        let certain = chance == Chance::Certain;
        self.retries += u64::from(chance == Chance::Retry);
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
