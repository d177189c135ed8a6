//! A service with a limit on submissions, in simulated time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::time::Duration;

use scheduler::{
    Action, AttemptId, Event, Failure, FailureKind, ObservedLimits, Policy, PollResult, Refusal, RefusalKind,
    RunState, ServiceHistory, TaskId, Timestamp,
};
use workflow::plan::{NodeIx, Plan};

use crate::bench::ledger::complete;
use crate::bench::polling::Rng;

/// One way to the service, and the time to prepare a request, in milliseconds.
const LATENCY: i64 = 2;
const PREPARATION: i64 = 3;

/// What the service accepts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    Bucket {
        per_second: u32,
        burst: u32,
    },
    /// So many in each window, counted from zero.
    Window {
        count: usize,
        milliseconds: i64,
    },
    /// So many unfinished tasks.
    InFlight {
        tasks: usize,
    },
}

#[derive(Debug)]
struct Meter {
    limit: Limit,
    tokens: f64,
    updated_at: i64,
    accepted: Vec<i64>,
    ends: BinaryHeap<Reverse<i64>>,
}

impl Meter {
    fn new(limit: Limit) -> Self {
        let tokens = if let Limit::Bucket { burst, .. } = limit { f64::from(burst) } else { 0.0 };
        Self { limit, tokens, updated_at: 0, accepted: Vec::new(), ends: BinaryHeap::new() }
    }

    /// When a submission at `now` is accepted at the earliest: `now` itself, or later.
    fn admits_at(&mut self, now: i64) -> i64 {
        match self.limit {
            Limit::Bucket { per_second, burst } => {
                let refilled = (now - self.updated_at) as f64 * f64::from(per_second) / 1e3;
                self.tokens = (self.tokens + refilled).min(f64::from(burst));
                self.updated_at = now;
                if self.tokens >= 1.0 - 1e-9 {
                    now
                } else {
                    now + ((1.0 - self.tokens) * 1e3 / f64::from(per_second)).ceil() as i64
                }
            }
            Limit::Window { count, milliseconds } => {
                let begin = now - now.rem_euclid(milliseconds);
                let used = self.accepted.iter().rev().take_while(|time| **time >= begin).count();
                if used < count { now } else { begin + milliseconds }
            }
            Limit::InFlight { tasks } => {
                while self.ends.peek().is_some_and(|Reverse(end)| *end <= now) {
                    self.ends.pop();
                }
                match self.ends.peek() {
                    Some(Reverse(end)) if self.ends.len() >= tasks => *end,
                    _ => now,
                }
            }
        }
    }

    fn accept(&mut self, now: i64, end: i64) {
        self.tokens -= 1.0;
        self.accepted.push(now);
        self.ends.push(Reverse(end));
    }
}

/// Runs of one plan against one limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Simulation<'a> {
    pub(super) plan: &'a Arc<Plan>,
    pub(super) limit: Limit,
    /// Median of the render times, in seconds.
    pub(super) median: f64,
}

/// The result of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    /// In seconds.
    pub(super) makespan: f64,
    pub(super) refusals: usize,
    pub(super) observed: ObservedLimits,
}

/// What happens at a time.
#[derive(Debug)]
enum Happening {
    /// An event reaches the run.
    Event(Box<Event>),
    /// A request reaches the service.
    Post(NodeIx, AttemptId),
    Poll(NodeIx, AttemptId),
}

impl From<Event> for Happening {
    fn from(event: Event) -> Self {
        Self::Event(Box::new(event))
    }
}

impl Simulation<'_> {
    /// Render times in milliseconds, in the order of acceptance.
    fn render_times(&self) -> impl Iterator<Item = i64> {
        let (mut rng, mixture) = (Rng::new(17), [(1.0, self.median, 0.3)]);
        std::iter::repeat_with(move || (rng.render_time(&mixture) * 1e3) as i64)
    }

    /// The makespan of a client that knows the limit, in seconds.
    pub(super) fn bound(&self) -> f64 {
        let (mut meter, mut now, mut last) = (Meter::new(self.limit), 0, 0);
        for took in self.render_times().take(self.plan.len()) {
            now = meter.admits_at(now);
            // A bucket refills to whole tokens only after its rounded wait.
            now = meter.admits_at(now);
            meter.accept(now, now + took);
            last = last.max(now + took);
        }
        last as f64 / 1e3
    }

    /// A run that begins with `observed` limits.
    pub(super) fn run(&self, policy: Policy, observed: ObservedLimits) -> Outcome {
        let history = ServiceHistory { limits: observed, ..ServiceHistory::default() };
        let state = RunState::new(Arc::clone(self.plan), "bench", policy.clone());
        let mut state = state.with_service("bench", policy, history, Timestamp(0));
        let (mut meter, mut render_times) = (Meter::new(self.limit), self.render_times());
        let mut ends: BTreeMap<NodeIx, i64> = BTreeMap::new();
        let mut queue: BTreeMap<(i64, usize), Happening> = BTreeMap::new();
        let (mut number, mut refusals, mut now, mut attempts) = (0, 0, 0, 0);
        queue.insert((0, 0), Happening::from(Event::Started));
        while let Some(((time, _), happening)) = queue.pop_first() {
            now = time;
            let mut later = |wait: i64, happening| {
                number += 1;
                queue.insert((now + wait, number), happening);
            };
            match happening {
                Happening::Post(node, attempt) => {
                    let free_at = meter.admits_at(now);
                    let event = if free_at <= now {
                        let end = now + render_times.next().unwrap_or_default();
                        meter.accept(now, end);
                        ends.insert(node, end);
                        Event::Submitted { node, attempt, task: TaskId(format!("task {}", node.index())) }
                    } else {
                        refusals += 1;
                        // In whole seconds, as the header is.
                        let wait =
                            Duration::from_secs((free_at - now).max(1).cast_unsigned().div_ceil(1_000));
                        let refusal = Refusal {
                            kind: RefusalKind::Throttled,
                            failure: Failure::new(FailureKind::RateLimited, "too many"),
                            retry_after: Some(wait),
                        };
                        Event::refused(node, attempt, refusal)
                    };
                    later(LATENCY, Happening::from(event));
                }
                Happening::Poll(node, attempt) => {
                    let result = if ends.get(&node).is_some_and(|end| *end <= now) {
                        PollResult::Completed {
                            url: None,
                            last_frame_url: None,
                            expires_at: None,
                            took: None,
                        }
                    } else {
                        PollResult::Running {
                            progress: None,
                            status: "in_progress".to_owned(),
                            poll_after: None,
                        }
                    };
                    later(LATENCY, Happening::from(Event::Polled { node, attempt, result, next: None }));
                }
                Happening::Event(event) => {
                    for action in state.apply(*event, Timestamp(now)) {
                        attempts += 1;
                        let (wait, happening) = follow(action, now, &state, attempts);
                        later(wait, happening);
                    }
                    if state.is_over() {
                        break;
                    }
                }
            }
        }
        Outcome {
            makespan: now as f64 / 1e3,
            refusals,
            observed: state.observed_limits().next().map(|(_, limits)| limits).unwrap_or_default(),
        }
    }
}

/// What an action leads to, and after how many milliseconds.
fn follow(action: Action, now: i64, state: &RunState, number: usize) -> (i64, Happening) {
    match action {
        Action::Submit { node, attempt } => (LATENCY, Happening::Post(node, attempt)),
        Action::Poll { node, attempt, .. } => (LATENCY, Happening::Poll(node, attempt)),
        Action::Wake { deadline } => ((deadline.0 - now).max(0), Happening::from(Event::TimerFired)),
        other => {
            let wait = if matches!(other, Action::Prepare { .. }) { PREPARATION } else { 0 };
            (wait, Happening::from(complete(other, state, number).unwrap_or(Event::TimerFired)))
        }
    }
}
