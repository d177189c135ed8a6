//! The event log of a run, as `scheduler::RunProjection` folds it.

use std::collections::HashMap;
use std::sync::Arc;

use engine::ledger::PlanArguments;
use scheduler::budget::Reservation;
use scheduler::{AttemptId, Event, Film, RecordedEvent, RunId, RunProjection, Timestamp};
use workflow::plan::{NodeIx, NodeKey, Plan};

use crate::client::EngineClient;
use crate::error::ClusterError;
use crate::run::{LogEntry, RunHead};
use crate::spec::RunSpec;
use crate::store::{ObjectKind, SharedStore};

/// An attempt that a run began and whose end is not in its log.
#[derive(Debug, Clone)]
pub(super) struct OpenAttempt {
    pub(super) node: NodeIx,
    pub(super) key: NodeKey,
    pub(super) reservation: Reservation,
    pub(super) intended_at: Timestamp,
    /// Whether the run does not know its outcome.
    pub(super) is_indeterminate: bool,
}

/// A run with the events that were read of it.
#[derive(Debug, Clone)]
pub(super) struct RunLog {
    head: RunHead,
    pub(super) plan: Arc<Plan>,
    pub(super) arguments: Option<PlanArguments>,
    events: Vec<RecordedEvent>,
    /// Events of the log that were read, those included that no projection needs.
    length: u64,
    interrupted_at: Option<Timestamp>,
    pub(super) open: HashMap<AttemptId, OpenAttempt>,
    pub(super) films: HashMap<usize, Film>,
    /// Keys of nodes that the run has looked up.
    pub(super) keys: HashMap<NodeIx, NodeKey>,
}

impl RunLog {
    /// A run before its first event; `None` if there is no such run.
    pub(super) async fn open(
        client: &EngineClient,
        store: &SharedStore,
        run: &RunId,
    ) -> Result<Option<Self>, ClusterError> {
        let Some(head) = client.events(run, u64::MAX).await?.head else { return Ok(None) };
        let spec: RunSpec = store.get_json(ObjectKind::Spec, &head.spec).await?;
        let plan = Arc::new(store.get_json(ObjectKind::Plan, &spec.plan).await?);
        Ok(Some(Self::new(head, plan, spec.arguments)))
    }

    fn new(head: RunHead, plan: Arc<Plan>, arguments: Option<PlanArguments>) -> Self {
        Self {
            head,
            plan,
            arguments,
            events: Vec::new(),
            length: 0,
            interrupted_at: None,
            open: HashMap::new(),
            films: HashMap::new(),
            keys: HashMap::new(),
        }
    }

    /// Reads the events that are new.
    pub(super) async fn read(&mut self, client: &EngineClient) -> Result<(), ClusterError> {
        loop {
            let page = client.events(&self.head.run, self.length).await?;
            if let Some(head) = page.head {
                self.head = head;
            }
            let is_empty = page.events.is_empty();
            page.events.into_iter().for_each(|logged| self.add(logged));
            if is_empty || self.length >= self.head.length {
                return Ok(());
            }
        }
    }

    /// Whether the run has ended and all of its events were read.
    pub(super) fn is_over(&self) -> bool {
        self.head.over && self.length >= self.head.length
    }

    pub(super) fn started(&self) -> Timestamp {
        self.head.started
    }

    pub(super) fn service(&self) -> &str {
        &self.head.identity
    }

    /// The events after a sequence number. The first one has the number 1.
    pub(super) fn events_after(&self, after: i64) -> impl Iterator<Item = RecordedEvent> {
        let first = self.events.partition_point(|recorded| recorded.seq <= after);
        self.events[first..].iter().cloned()
    }

    /// What the events led to.
    pub(super) fn projection(&self) -> RunProjection {
        let mut projection = RunProjection::default();
        self.events_after(0).for_each(|event| projection.on_event(event));
        projection
    }

    fn add(&mut self, logged: LogEntry) {
        let LogEntry { time, event, .. } = logged;
        self.length += 1;
        match &event {
            Event::Prepared { node, attempt, key, reservation, .. } => {
                if let Some(key) = NodeKey::parse(key) {
                    let open = OpenAttempt {
                        node: *node,
                        key,
                        reservation: *reservation,
                        intended_at: time,
                        is_indeterminate: false,
                    };
                    self.open.insert(attempt.clone(), open);
                    self.keys.insert(*node, key);
                }
            }
            Event::LookupDone { node, key, .. } => {
                self.keys.extend(NodeKey::parse(key).map(|key| (*node, key)));
            }
            Event::Indeterminate { attempt, .. } => {
                if let Some(open) = self.open.get_mut(attempt) {
                    open.is_indeterminate = true;
                }
            }
            Event::Refused { attempt, .. } | Event::Downloaded { attempt, .. } => {
                self.open.remove(attempt);
            }
            Event::FilmJoined { index, film } => {
                self.films.insert(*index, film.clone());
            }
            Event::Interrupted => {
                self.interrupted_at.get_or_insert(time);
            }
            _ => {}
        }
        let is_needed = match event {
            // A ledger records those that end the grace period of an interrupted run.
            Event::TimerFired => {
                self.interrupted_at.is_some_and(|at| at.after(self.head.policy.shutdown_grace) <= time)
            }
            Event::QuotaReported { .. } => false,
            _ => true,
        };
        if is_needed {
            let shot = event.node().map(|node| self.plan.node(node).name.clone());
            let seq = i64::try_from(self.length).unwrap_or(i64::MAX);
            self.events.push(RecordedEvent { seq, time, shot, event });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use scheduler::{ExistingWork, Halt, Policy, PollResult, StatusKind, TaskId};

    use super::*;

    const WORKFLOW: &str = "
version: 1
name: log
defaults: {model: modelb-video-480p, seconds: 4}
shots:
  - id: a
    prompt: a lamp
";

    fn log() -> RunLog {
        let plan = workflow::load(
            WORKFLOW.as_bytes(),
            "log.yaml",
            &workflow::InMemory::default(),
            &workflow::Options::default(),
            contract::Contract::embedded(),
        );
        let head = RunHead {
            run: RunId::from("r"),
            spec: String::new(),
            identity: "http://127.0.0.1:1".to_owned(),
            policy: Policy::remote(),
            length: 0,
            started: Timestamp(0),
            last: Timestamp(0),
            over: false,
        };
        RunLog::new(head, Arc::new(plan.expect("a plan")), None)
    }

    fn downloading() -> Vec<Event> {
        let (node, attempt, task) = (NodeIx::new(0), AttemptId::from("r.1"), TaskId::from("t"));
        let key = "ab".repeat(32);
        vec![
            Event::Started,
            Event::LookupDone { node, key: key.clone(), existing: ExistingWork::None },
            Event::Prepared {
                node,
                attempt: attempt.clone(),
                key,
                digest: String::new(),
                by_url: false,
                service_independent_key: None,
                reservation: Reservation { cost: None, duration: Duration::from_secs(4).into() },
                forced_rerun: None,
                parts: Vec::new(),
            },
            Event::Submitted { node, attempt: attempt.clone(), task },
            Event::Polled {
                node,
                attempt,
                result: PollResult::Completed {
                    url: None,
                    last_frame_url: None,
                    expires_at: None,
                    took: None,
                    warning: None,
                },
                next: None,
            },
        ]
    }

    fn logged(time: i64, event: Event) -> LogEntry {
        LogEntry { time: Timestamp(time), event, is_answer: false, is_check: false }
    }

    #[test]
    fn timers_detach_nothing_before_the_grace_period_ends() {
        let mut log = log();
        let kind = |log: &RunLog| log.projection().shot("a").map(scheduler::Shot::kind);
        let add = |log: &mut RunLog, seconds: i64, event: Event| {
            log.add(logged(seconds * 1_000, event));
        };
        for event in downloading() {
            add(&mut log, 1, event);
        }
        add(&mut log, 2, Event::TimerFired);
        assert_eq!(kind(&log), Some(StatusKind::Downloading));
        add(&mut log, 3, Event::Interrupted);
        add(&mut log, 4, Event::TimerFired);
        assert_eq!(kind(&log), Some(StatusKind::Downloading));
        assert_eq!(log.projection().halt(), Some(&Halt::Interrupted));
        let grace = i64::try_from(Policy::remote().shutdown_grace.as_secs()).expect("some seconds");
        add(&mut log, 3 + grace, Event::TimerFired);
        assert_eq!(kind(&log), Some(StatusKind::Detached));
        assert_eq!(log.open.len(), 1);
    }

    #[test]
    fn events_are_read_from_a_number_on() {
        let mut log = log();
        for event in downloading() {
            log.add(logged(1, event));
        }
        let numbers: Vec<i64> = log.events_after(3).map(|recorded| recorded.seq).collect();
        assert_eq!(numbers, [4, 5]);
    }
}
