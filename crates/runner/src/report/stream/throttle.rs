//! Of polls that bring little update only some are told: the first, each other status, and at most one a second besides.

use std::collections::HashMap;
use std::time::Duration;

use scheduler::{Event, PollResult, Timestamp};
use workflow::plan::NodeIx;

/// The shortest time between two lines about the progress of one shot.
const MIN_LINE_INTERVAL: Duration = Duration::from_secs(1);

/// What was told last about the shots that are out.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    last: HashMap<NodeIx, LastLine>,
}

#[derive(Debug)]
struct LastLine {
    at: Timestamp,
    update: Update,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Update {
    Running { status: String, percent: Option<u8> },
    Unreachable,
    Later,
}

impl Throttle {
    /// Whether an event is to be told. Only polls are ever held back.
    pub(super) fn passes(&mut self, event: &Event, now: Timestamp) -> bool {
        let Event::Polled { node, result, .. } = event else { return true };
        let update = match result {
            PollResult::Running { progress, status } => {
                Update::Running { status: status.clone(), percent: *progress }
            }
            PollResult::Unreachable { .. } => Update::Unreachable,
            PollResult::Throttled { .. } => Update::Later,
            PollResult::Completed { .. }
            | PollResult::Failed { .. }
            | PollResult::NotFound { .. }
            | PollResult::Unauthorized { .. } => return true,
        };
        let passes = self.last.get(node).is_none_or(|told| {
            let is_other = match (&told.update, &update) {
                (Update::Running { status: before, .. }, Update::Running { status: now, .. }) => {
                    before != now
                }
                (before, now) => before != now,
            };
            let is_progress = matches!(update, Update::Running { .. });
            is_other || (told.update != update || !is_progress) && now.since(told.at) >= MIN_LINE_INTERVAL
        });
        if passes {
            self.last.insert(*node, LastLine { at: now, update });
        }
        passes
    }

    /// A shot has ended.
    pub(super) fn forget(&mut self, node: NodeIx) {
        self.last.remove(&node);
    }
}

#[cfg(test)]
mod tests {
    use scheduler::AttemptId;

    use super::*;

    #[test]
    fn progress_lines_are_throttled_to_one_per_second() {
        let mut throttle = Throttle::default();
        let running =
            |status: &str, percent| PollResult::Running { progress: percent, status: status.to_owned() };
        let down = || PollResult::Unreachable { reason: "no connection".to_owned() };
        let mut told = Vec::new();
        for (at, result) in [
            (0, running("queued", Some(0))),
            (100, running("queued", Some(0))),
            (9_000, running("queued", Some(0))),
            (9_100, running("in_progress", Some(0))),
            (9_200, running("in_progress", Some(10))),
            (10_100, running("in_progress", Some(20))),
            (10_200, down()),
            (10_300, down()),
            (11_200, down()),
            (11_300, running("in_progress", Some(30))),
        ] {
            let event = Event::Polled { node: NodeIx::new(0), attempt: AttemptId::from("a"), result };
            if throttle.passes(&event, Timestamp(at)) {
                told.push(at);
            }
        }
        assert_eq!(told, [0, 9_100, 10_100, 10_200, 11_200, 11_300]);
    }
}
