//! Cost of a run, as far as it is known when the run ends.

use serde::Serialize;
use workflow::prices::Interval;
use workflow::units::{Money, VideoDuration};

use crate::state::RunSummary;
use crate::{AttemptState, Outcome};

/// What the tasks of a run cost by a price table, without adopted and reused tasks of earlier runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Spending {
    /// Number of rendered videos.
    pub made: u64,
    /// Cost of the priced ones.
    pub spent: Interval<Money>,
    /// Number of unpriced videos.
    pub unpriced: u64,
    /// Tasks in flight, and indeterminate submissions.
    pub open: u64,
    /// What those may cost in addition, as far as they are priced.
    pub at_most_besides: Money,
    /// Tasks that ended without a video.
    pub failed: u64,
    /// What those may cost in addition, as far as they are priced: the contract does not say that they are free.
    pub failed_at_most: Money,
}

impl Spending {
    /// The cost of a run. `price` returns the cost of a node's task, by the node's index in the plan and the length of its video if it has
    /// one; `None` if it is unpriced.
    pub fn from_summary(
        summary: &RunSummary,
        price: impl Fn(usize, Option<VideoDuration>) -> Option<Interval<Money>>,
    ) -> Self {
        let mut spending = Self::default();
        for (index, node) in summary.nodes.iter().enumerate() {
            for attempt in node.submissions() {
                let video = match (&node.outcome, attempt.state) {
                    (Outcome::Done { artifact, .. }, AttemptState::Completed) => {
                        Some(VideoDuration::from(artifact.duration))
                    }
                    _ => None,
                };
                let cost = price(index, video);
                spending.unpriced += u64::from(cost.is_none());
                let cost = cost.unwrap_or_default();
                let (count, total) = match video {
                    Some(_) => {
                        spending.spent.min = spending.spent.min.saturating_add(cost.min);
                        (&mut spending.made, &mut spending.spent.max)
                    }
                    None if attempt.state.is_in_flight() => {
                        (&mut spending.open, &mut spending.at_most_besides)
                    }
                    None => (&mut spending.failed, &mut spending.failed_at_most),
                };
                *count += 1;
                *total = total.saturating_add(cost.max);
            }
        }
        spending
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;
    use crate::artifact::Artifact;
    use crate::budget::{Amount, BudgetCaps};
    use crate::ids::{AttemptId, RunId, TaskId};
    use crate::state::NodeSummary;
    use crate::{Attempt, Failure, FailureKind, Timestamp};

    fn node(outcome: Outcome, attempts: &[(AttemptState, bool)]) -> NodeSummary {
        let attempt = |(state, is_adopted): &(AttemptState, bool)| Attempt {
            is_adopted: *is_adopted,
            ..Attempt::new(AttemptId::from("r.1"), *state, Timestamp(0))
        };
        NodeSummary {
            name: "a".to_owned(),
            decision: None,
            outcome,
            task: None,
            took: None,
            attempts: attempts.iter().map(attempt).collect(),
        }
    }

    fn done() -> Outcome {
        let artifact = Artifact {
            path: PathBuf::new(),
            sha256: String::new(),
            first_sha256: None,
            bytes: 1,
            duration: Duration::from_millis(6_040),
            width: 854,
            height: 480,
            last_frame_url: None,
            expires_at: None,
            modified_at: None,
        };
        Outcome::Done { artifact, task: TaskId("t".to_owned()) }
    }

    #[test]
    fn spending_counts_submissions_of_this_run_only() {
        use AttemptState::{Completed, Expired, Failed, Indeterminate, Refused, Submitted};
        let failure = Failure::new(FailureKind::Task, "no");
        let failed = |task| Outcome::Failed { failure: failure.clone(), task };
        let nodes = vec![
            node(done(), &[(Completed, false)]),
            node(done(), &[(Refused, false), (Completed, false)]),
            node(done(), &[(Completed, true)]),
            node(failed(Some(TaskId("t".to_owned()))), &[(Failed, false)]),
            node(failed(None), &[(Refused, false)]),
            node(failed(None), &[(Expired, false), (Indeterminate, false)]),
            node(failed(None), &[(Submitted, false)]),
        ];
        let run = RunId("r".to_owned());
        let summary = RunSummary {
            run,
            nodes,
            films: Vec::new(),
            picks: Vec::new(),
            halt: None,
            unusable: Vec::new(),
            caps: BudgetCaps::default(),
            held: Amount::default(),
            spent: Amount::default(),
        };
        let cents = |seconds: VideoDuration| Money::from_micros(seconds.as_millis() * 10);
        let spending = Spending::from_summary(&summary, |index, video| match (index, video) {
            (1, _) => None,
            (_, Some(video)) => Some(Interval::exactly(cents(video))),
            (_, None) => Some(Interval {
                min: cents(VideoDuration::from_secs(4)),
                max: cents(VideoDuration::from_secs(15)),
            }),
        });
        assert_eq!(
            spending,
            Spending {
                made: 2,
                spent: Interval::exactly(Money::from_micros(60_400)),
                unpriced: 1,
                open: 2,
                at_most_besides: Money::from_micros(300_000),
                failed: 2,
                failed_at_most: Money::from_micros(300_000),
            }
        );
    }
}
