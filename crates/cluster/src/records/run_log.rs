//! The event log of a run with its projection, and what a projection does not have: keys and films.

use std::collections::HashMap;
use std::sync::Arc;

use engine::ledger::PlanArguments;
use scheduler::{Attempt, Event, Film, RecordedEvent, RunId, RunProjection, Timestamp};
use workflow::plan::{NodeIx, NodeKey, Plan};

use crate::client::EngineClient;
use crate::error::ClusterError;
use crate::run::{LogEntry, RunHead};
use crate::spec::RunSpec;
use crate::store::{ObjectKind, SharedStore};

/// An attempt that a run began, whose end is not in its log, and that the run does not take care of.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeAttempt<'a> {
    pub(super) node: NodeIx,
    pub(super) key: NodeKey,
    pub(super) attempt: &'a Attempt,
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
    projection: RunProjection,
    interrupted_at: Option<Timestamp>,
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
            projection: RunProjection::default(),
            interrupted_at: None,
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
        self.head.is_ended && self.length >= self.head.length
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
    pub(super) fn projection(&self) -> &RunProjection {
        &self.projection
    }

    /// The attempts of this run with a task, or a submission without a response, that it leaves to a person or to a later run: all that
    /// are open once it is over, and before that those of shots that have ended.
    pub(super) fn open_attempts(&self) -> impl Iterator<Item = NodeAttempt<'_>> {
        let shots = self.keys.iter().filter_map(|(node, key)| {
            let shot = self.projection.shot(&self.plan.node(*node).name)?;
            (self.is_over() || shot.outcome().is_some()).then_some((*node, *key, shot))
        });
        shots.flat_map(|(node, key, shot)| {
            let is_open = |attempt: &&Attempt| {
                !attempt.is_adopted && (attempt.state.has_open_task() || attempt.state.is_in_flight())
            };
            shot.attempts().iter().filter(is_open).map(move |attempt| NodeAttempt { node, key, attempt })
        })
    }

    fn add(&mut self, logged: LogEntry) {
        let LogEntry { time, event, .. } = logged;
        self.length += 1;
        if self.is_needed(&event, time) {
            self.record_keys_and_films(&event);
            let shot = event.node().map(|node| self.plan.node(node).name.clone());
            let seq = i64::try_from(self.length).unwrap_or(i64::MAX);
            let recorded = RecordedEvent { seq, time, shot, event };
            self.projection.on_event(recorded.clone());
            self.events.push(recorded);
        }
    }

    /// Whether the projection and the shown events need it: of timers, only those that end the grace period of an interrupted run.
    fn is_needed(&mut self, event: &Event, time: Timestamp) -> bool {
        if *event == Event::Interrupted {
            self.interrupted_at.get_or_insert(time);
        }
        match event {
            Event::TimerFired => {
                self.interrupted_at.is_some_and(|at| at.after(self.head.policy.shutdown_grace) <= time)
            }
            Event::QuotaReported { .. } => false,
            _ => true,
        }
    }

    /// What the projection does not have. The state of attempts is the projection's.
    fn record_keys_and_films(&mut self, event: &Event) {
        match event {
            // A malformed key is no key of an object.
            Event::LookupDone { node, key, .. } | Event::Prepared { node, key, .. } => {
                self.keys.extend(NodeKey::parse(key).map(|key| (*node, key)));
            }
            Event::FilmJoined { index, film } => {
                self.films.insert(*index, film.clone());
            }
            Event::RunConfigured { .. }
            | Event::Started
            | Event::ClaimConflict { .. }
            | Event::BudgetExceeded { .. }
            | Event::PrepareFailed { .. }
            | Event::Submitted { .. }
            | Event::Refused { .. }
            | Event::Indeterminate { .. }
            | Event::Polled { .. }
            | Event::Downloaded { .. }
            | Event::DownloadFailed { .. }
            | Event::JoinFailed { .. }
            | Event::Reconciled { .. }
            | Event::TaskExpired { .. }
            | Event::Resolved { .. }
            | Event::QuotaReported { .. }
            | Event::TimerFired
            | Event::Interrupted => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use scheduler::budget::Reservation;
    use scheduler::{
        AttemptId, AttemptState, ExistingWork, Failure, FailureKind, Halt, NextStep, Policy, PollResult,
        StatusKind, TaskId,
    };

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
            is_ended: false,
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
                recorded_rerun: None,
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
        assert_eq!(open(&log), [("r.1", AttemptState::Submitted)]);
    }

    /// The open attempts after these events, of a run that goes on.
    fn open_after(events: Vec<Event>) -> Vec<(String, AttemptState)> {
        let mut log = log();
        for event in events {
            log.add(logged(1, event));
        }
        open(&log).into_iter().map(|(id, state)| (id.to_owned(), state)).collect()
    }

    fn open(log: &RunLog) -> Vec<(&str, AttemptState)> {
        log.open_attempts().map(|open| (open.attempt.id.as_str(), open.attempt.state)).collect()
    }

    /// A submission without a response.
    fn indeterminate() -> Vec<Event> {
        let mut events = downloading();
        events.truncate(3);
        let attempt = AttemptId::from("r.1");
        let reason = "no response".to_owned();
        let (node, suggested_task) = (NodeIx::new(0), None);
        events.push(Event::Indeterminate { node, attempt, reason, halts: false, suggested_task });
        events
    }

    fn reconciled(task: Option<&str>) -> Event {
        Event::Reconciled {
            node: NodeIx::new(0),
            attempt: AttemptId::from("r.1"),
            since: Timestamp(1),
            reason: Some("no response".to_owned()),
            candidates: Vec::new(),
            task: task.map(TaskId::from),
            next: Some(NextStep::Fail),
        }
    }

    fn polled(result: PollResult, next: NextStep) -> Event {
        Event::Polled { node: NodeIx::new(0), attempt: AttemptId::from("r.1"), result, next: Some(next) }
    }

    #[test]
    fn indeterminate_attempt_is_open_until_it_is_reconciled() {
        let open = |state| vec![("r.1".to_owned(), state)];
        assert_eq!(open_after(indeterminate()), open(AttemptState::Indeterminate));
        let then = |event: Event| open_after([indeterminate(), vec![event]].concat());
        assert_eq!(then(reconciled(None)), [], "it was not accepted");
        // The run has given the shot up, so that a later one polls the task.
        assert_eq!(then(reconciled(Some("t"))), open(AttemptState::Submitted));
    }

    #[test]
    fn attempt_is_not_open_while_its_run_takes_care_of_it_or_after_it_failed() {
        let mut submitting = downloading();
        submitting.truncate(3);
        let failed =
            |next| polled(PollResult::Failed { failure: Failure::new(FailureKind::Task, "no") }, next);
        let with = |events: Vec<Event>| [submitting.clone(), events].concat();
        assert_eq!(open_after(with(vec![])), []);
        assert_eq!(open_after(with(vec![reconciled(Some("t"))])), []);
        assert_eq!(open_after(with(vec![reconciled(None)])), []);
        assert_eq!(open_after(with(vec![reconciled(Some("t")), failed(NextStep::Fail)])), []);
        let mut over = log();
        let events = with(vec![reconciled(Some("t")), failed(NextStep::Fail)]);
        for event in events {
            over.add(logged(1, event));
        }
        (over.head.is_ended, over.head.length) = (true, over.length);
        assert!(over.is_over() && open(&over).is_empty(), "its end is in the log");
    }

    #[test]
    fn task_that_a_live_run_has_left_is_open() {
        let mut in_flight = downloading();
        in_flight.truncate(4);
        let not_found = || PollResult::NotFound { expired: false };
        let after = |next| open_after([in_flight.clone(), vec![polled(not_found(), next)]].concat());
        let reason = || "it is not finished".to_owned();
        let open = |state| vec![("r.1".to_owned(), state)];
        assert_eq!(after(NextStep::Continue), []);
        assert_eq!(after(NextStep::Detach { reason: reason() }), open(AttemptState::Submitted));
        assert_eq!(after(NextStep::Missing { reason: reason() }), open(AttemptState::Missing));
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
