//! The event log of a run with its projection, and what a projection does not have: keys and films.

use std::collections::HashMap;
use std::sync::Arc;

use engine::ledger::PlanArguments;
use scheduler::{Attempt, Event, Film, RecordedEvent, RunId, RunProjection, Seq, Timestamp};
use workflow::plan::{NodeIx, NodeKey, Plan};

use crate::client::EngineClient;
use crate::error::ClusterError;
use crate::run::{LogEntry, RunHead};
use crate::spec::RunSpec;
use crate::store::{ObjectKind, SharedStore};

/// An attempt that a run began, whose end is not in its log, and that the run does not take care of.
#[derive(Debug, Clone, Copy)]
pub(super) struct OrphanedAttempt<'a> {
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
    pub(super) fn events_after(&self, after: Seq) -> impl Iterator<Item = RecordedEvent> {
        let first = self.events.partition_point(|recorded| recorded.seq <= after);
        self.events[first..].iter().cloned()
    }

    /// What the events led to.
    pub(super) fn projection(&self) -> &RunProjection {
        &self.projection
    }

    /// The attempts of this run with a task, or a submission without a response, that it leaves to a person or to a later run: all that
    /// are open once it is over, and before that those of shots that have ended.
    pub(super) fn open_attempts(&self) -> impl Iterator<Item = OrphanedAttempt<'_>> {
        let shots = self.keys.iter().filter_map(|(node, key)| {
            let shot = self.projection.shot(&self.plan.node(*node).name)?;
            (self.is_over() || shot.outcome().is_some()).then_some((*node, *key, shot))
        });
        shots.flat_map(|(node, key, shot)| {
            let is_open = |attempt: &&Attempt| {
                !attempt.is_adopted && (attempt.state.has_open_task() || attempt.state.is_in_flight())
            };
            shot.attempts().iter().filter(is_open).map(move |attempt| OrphanedAttempt { node, key, attempt })
        })
    }

    fn add(&mut self, logged: LogEntry) {
        let LogEntry { time, event, .. } = logged;
        self.length += 1;
        if self.is_needed(&event, time) {
            self.record_keys_and_films(&event);
            let shot = event.node().map(|node| self.plan.node(node).name.clone());
            let seq = Seq(i64::try_from(self.length).unwrap_or(i64::MAX));
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
            Event::TimerFired => self
                .interrupted_at
                .is_some_and(|interrupted_at| interrupted_at.after(self.head.policy.shutdown_grace) <= time),
            Event::RunConfigured { .. }
            | Event::Started
            | Event::LookupDone { .. }
            | Event::Prepared { .. }
            | Event::BudgetExceeded { .. }
            | Event::ClaimConflict { .. }
            | Event::PrepareFailed { .. }
            | Event::Submitted { .. }
            | Event::Refused { .. }
            | Event::Indeterminate { .. }
            | Event::Polled { .. }
            | Event::Downloaded { .. }
            | Event::DownloadFailed { .. }
            | Event::FilmJoined { .. }
            | Event::JoinFailed { .. }
            | Event::Reconciled { .. }
            | Event::TaskExpired { .. }
            | Event::Resolved { .. }
            | Event::RendersAsked { .. }
            | Event::RendersWithdrawn { .. }
            | Event::Interrupted => true,
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
            | Event::RendersAsked { .. }
            | Event::RendersWithdrawn { .. }
            | Event::TimerFired
            | Event::Interrupted => {}
        }
    }
}

#[cfg(test)]
#[path = "run_log_tests.rs"]
mod tests;
