//! Throttles lines about polls: the first, every change of status, and otherwise at most one per second and shot.

use std::collections::HashMap;
use std::time::Duration;

use scheduler::{Event, PollResult, Timestamp};
use workflow::plan::NodeIx;

/// Minimum time between two progress lines of one shot.
const MIN_LINE_INTERVAL: Duration = Duration::from_secs(1);
/// Films that are joined sooner have no progress lines.
const MIN_JOIN_TIME: Duration = Duration::from_secs(2);

/// The last line of each shot in flight.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    last: HashMap<NodeIx, LastLine>,
    /// How long each film has been joined for when its next line is due.
    joins: HashMap<usize, Duration>,
}

#[derive(Debug)]
struct LastLine {
    time: Timestamp,
    update: Update,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Update {
    Running { status: String, percent: Option<u8> },
    Unreachable,
    Throttled,
}

impl Throttle {
    /// Whether an event gets a line. Only polls are throttled.
    pub(super) fn passes(&mut self, event: &Event, now: Timestamp) -> bool {
        let Event::Polled { node, result, .. } = event else { return true };
        let update = match result {
            PollResult::Running { progress, status, poll_after: _ } => {
                Update::Running { status: status.clone(), percent: *progress }
            }
            PollResult::Unreachable { .. } => Update::Unreachable,
            PollResult::Throttled { .. } => Update::Throttled,
            PollResult::Completed { .. }
            | PollResult::Failed { .. }
            | PollResult::NotFound { .. }
            | PollResult::Unauthorized { .. } => return true,
        };
        let passes = self.last.get(node).is_none_or(|last| {
            let is_other = match (&last.update, &update) {
                (Update::Running { status: before, .. }, Update::Running { status: now, .. }) => {
                    before != now
                }
                (before, now) => before != now,
            };
            let is_progress = matches!(update, Update::Running { .. });
            is_other || (last.update != update || !is_progress) && now.since(last.time) >= MIN_LINE_INTERVAL
        });
        if passes {
            self.last.insert(*node, LastLine { time: now, update });
        }
        passes
    }

    /// Whether the progress of a film gets a line: not in its first seconds, in which most films are joined.
    pub(super) fn passes_join(&mut self, film: usize, elapsed: Duration) -> bool {
        let due = self.joins.entry(film).or_insert(MIN_JOIN_TIME);
        let passes = elapsed >= *due;
        if passes {
            *due = elapsed + MIN_LINE_INTERVAL;
        }
        passes
    }

    /// Forgets a finished shot.
    pub(super) fn forget(&mut self, node: NodeIx) {
        self.last.remove(&node);
    }
}

#[cfg(test)]
mod tests {
    use scheduler::AttemptId;

    use super::*;

    #[test]
    fn films_have_a_line_per_second_after_two() {
        let mut throttle = Throttle::default();
        let times = [0, 250, 1_900, 2_000, 2_500, 2_900, 3_000, 4_500];
        let mut passes = |film, millis| throttle.passes_join(film, Duration::from_millis(millis));
        let passed: Vec<u64> = times.into_iter().filter(|millis| passes(0, *millis)).collect();
        assert_eq!(passed, [2_000, 3_000, 4_500]);
        assert!(!passes(1, 1_900) && passes(1, 5_000), "each film for itself");
    }

    #[test]
    fn progress_lines_are_throttled_to_one_per_second() {
        let mut throttle = Throttle::default();
        let running = |status: &str, percent| PollResult::Running {
            progress: percent,
            status: status.to_owned(),
            poll_after: None,
        };
        let unreachable = || PollResult::Unreachable { reason: "no connection".to_owned() };
        let mut passed = Vec::new();
        for (millis, result) in [
            (0, running("queued", Some(0))),
            (100, running("queued", Some(0))),
            (9_000, running("queued", Some(0))),
            (9_100, running("in_progress", Some(0))),
            (9_200, running("in_progress", Some(10))),
            (10_100, running("in_progress", Some(20))),
            (10_200, unreachable()),
            (10_300, unreachable()),
            (11_200, unreachable()),
            (11_300, running("in_progress", Some(30))),
        ] {
            let event =
                Event::Polled { node: NodeIx::new(0), attempt: AttemptId::from("a"), result, next: None };
            if throttle.passes(&event, Timestamp(millis)) {
                passed.push(millis);
            }
        }
        assert_eq!(passed, [0, 9_100, 10_100, 10_200, 11_200, 11_300]);
    }
}
