//! Drops messages that repeat what was just reported: a service that is down is polled many times a second on this machine.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use scheduler::{Event, PollResult, Timestamp};
use workflow::plan::NodeIx;

/// Least time between two messages that the service cannot be reached for the same shot.
const MIN_INTERVAL: Duration = Duration::from_secs(10);

/// What was reported of the polls of each shot.
#[derive(Debug, Default)]
pub(super) struct RepeatFilter {
    unreachable: HashMap<NodeIx, Timestamp>,
    statuses: HashSet<(NodeIx, String)>,
}

impl RepeatFilter {
    /// Whether an event may have a message.
    pub(super) fn passes(&mut self, event: &Event, now: Timestamp) -> bool {
        let Event::Polled { node, result, .. } = event else { return true };
        match result {
            PollResult::Unreachable { .. } => {
                let passes = self.unreachable.get(node).is_none_or(|last| now.since(*last) >= MIN_INTERVAL);
                if passes {
                    self.unreachable.insert(*node, now);
                }
                passes
            }
            PollResult::Running { .. }
            | PollResult::Completed { .. }
            | PollResult::Failed { .. }
            | PollResult::NotFound { .. }
            | PollResult::Throttled { .. }
            | PollResult::Unauthorized { .. } => {
                self.unreachable.remove(node);
                let status = result.undefined_status();
                status.is_none_or(|status| self.statuses.insert((*node, status.to_owned())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use scheduler::AttemptId;

    use super::*;

    #[test]
    fn unreachable_service_has_a_message_every_ten_seconds_and_a_status_one() {
        let mut filter = RepeatFilter::default();
        let mut passes = |time, result| {
            let event =
                Event::Polled { node: NodeIx::new(0), attempt: AttemptId::from("a"), result, next: None };
            filter.passes(&event, Timestamp(time))
        };
        let down = || PollResult::Unreachable { reason: "no connection".to_owned() };
        let running = |status: &str| PollResult::Running {
            progress: None,
            status: status.to_owned(),
            poll_after: None,
        };
        assert!(passes(0, down()));
        assert!(!passes(9_999, down()) && passes(10_000, down()) && !passes(10_100, down()));
        assert!(passes(10_200, running("in_progress")) && passes(10_300, down()));
        assert!(passes(11_000, running("SUCCEEDED")) && !passes(12_000, running("SUCCEEDED")));
        assert!(passes(13_000, running("done")));
    }
}
