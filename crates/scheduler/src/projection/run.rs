//! The projection of a whole run, from its recorded events.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::{Shot, StateInRun, StatusKind};
use crate::event::Event;
use crate::ids::{AttemptId, Seq};
use crate::outcome::{Failure, FailureKind, Halt};
use crate::timestamp::Timestamp;

/// A recorded event of a run.
#[derive(Debug, Clone)]
pub struct RecordedEvent {
    pub seq: Seq,
    /// When it was recorded.
    pub time: Timestamp,
    /// Name of the shot that it concerns.
    pub shot: Option<String>,
    pub event: Event,
}

/// A run's shots by name, in the order of their first event.
#[derive(Debug, Clone, Default)]
pub struct RunProjection {
    shots: IndexMap<String, Shot>,
    last_seq: Seq,
    last_time: Timestamp,
    /// The shots that it may submit; `None` for all.
    only: Option<HashSet<String>>,
    is_fail_fast: bool,
    halt: Option<Halt>,
    is_service_unusable: bool,
    /// Then one that cannot be used ends the shots of that one only; which they are, the plan says.
    has_several_services: bool,
    /// Films of the run's plan that could not be joined, by index.
    failed_films: HashSet<usize>,
}

impl RunProjection {
    /// The shots that have events, by name.
    pub fn shots(&self) -> impl Iterator<Item = (&str, &Shot)> {
        self.shots.iter().map(|(name, shot)| (name.as_str(), shot))
    }

    /// One shot, if it has events.
    pub fn shot(&self, name: &str) -> Option<&Shot> {
        self.shots.get(name)
    }

    /// The sequence number of the last folded event.
    pub fn last_seq(&self) -> Seq {
        self.last_seq
    }

    /// Why the run submits nothing more, if so.
    pub fn halt(&self) -> Option<&Halt> {
        self.halt.as_ref()
    }

    /// Whether the run halted because the service is unusable.
    pub(crate) fn is_service_unusable(&self) -> bool {
        self.is_service_unusable
    }

    /// Whether the run may submit a shot of this name.
    pub fn is_selected(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(name))
    }

    /// Whether the film of this index in the run's plan could not be joined.
    pub fn has_failed_film(&self, index: usize) -> bool {
        self.failed_films.contains(&index)
    }

    /// Whether the run had fail-fast set.
    pub(crate) fn is_fail_fast(&self) -> bool {
        self.is_fail_fast
    }

    /// Folds the next event of the run.
    pub fn on_event(&mut self, recorded: RecordedEvent) {
        let RecordedEvent { seq, time, shot: name, event } = recorded;
        self.last_seq = self.last_seq.max(seq);
        self.last_time = self.last_time.max(time);
        if let Event::RunConfigured { only, fail_fast, several_services } = &event {
            self.only = only.as_ref().map(|names| names.iter().cloned().collect());
            self.is_fail_fast = *fail_fast;
            self.has_several_services = *several_services;
        }
        if let Event::JoinFailed { index, .. } = &event {
            self.failed_films.insert(*index);
        }
        let is_shared = !self.has_several_services;
        let halts_every_shot = |halt: &Halt| is_shared || !matches!(halt, Halt::ServiceUnusable { .. });
        let mut halt = Halt::from_event(&event);
        self.is_service_unusable |= matches!(halt, Some(Halt::ServiceUnusable { .. }));
        if let Some(name) = name {
            let is_selected = self.is_selected(&name);
            let shot = self.shots.entry(name.clone()).or_insert_with(|| Shot::new(is_selected));
            shot.on_event(&event, time);
            if let Some(halt) = self.halt.as_ref().filter(|halt| halts_every_shot(halt)) {
                shot.on_halt(halt, time);
            }
            let is_failed = shot.kind() == StatusKind::Failed;
            if is_failed && self.is_fail_fast && halt.is_none() {
                halt = Some(Halt::FailFast { shot: name });
            }
        }
        if let Some(halt) = halt
            && (self.halt.is_none() || halt == Halt::Interrupted)
        {
            if halts_every_shot(&halt) {
                self.shots.values_mut().for_each(|shot| shot.on_halt(&halt, time));
            }
            self.halt = Some(halt);
        }
        // Recorded only if it ends the grace period of an interrupted run.
        if event == Event::TimerFired {
            for shot in self.shots.values_mut().filter(|shot| shot.kind() == StatusKind::Downloading) {
                shot.detach_interrupted(time);
            }
        }
    }

    /// The time of the last folded event.
    pub fn last_time(&self) -> Timestamp {
        self.last_time
    }

    /// The state of each shot that has attempts, by the last one. `is_alive`: whether the run goes on with shots that have not ended.
    pub fn states_by_attempt(&self, is_alive: bool) -> impl Iterator<Item = (&AttemptId, StateInRun)> {
        self.shots.values().filter_map(move |shot| {
            let kind = shot.kind();
            let is_current = is_alive && shot.outcome().is_none();
            let state = if is_current { StateInRun::Current(kind) } else { StateInRun::Left(kind) };
            Some((&shot.attempts().last()?.id, state))
        })
    }

    /// The run has ended: shots that still waited were not submitted.
    pub fn on_run_ended(&mut self, time: Timestamp) {
        for shot in self.shots.values_mut().filter(|shot| shot.kind().is_waiting()) {
            shot.cancel(time);
        }
    }
}

impl Halt {
    /// The halt that follows from this event alone, if any: [`RunProjection`] and [`crate::RunState`] both take it from here. Decided by the
    /// state of the run are `--fail-fast`, and caps that are reached without an intent.
    pub(crate) fn from_event(event: &Event) -> Option<Self> {
        use crate::event::PollResult;
        let unusable = |failure: &Failure| Some(Self::ServiceUnusable { failure: failure.clone() });
        let is_storage = |failure: &Failure| failure.kind == FailureKind::Storage;
        match event {
            Event::Interrupted => Some(Self::Interrupted),
            Event::Refused { refusal, halts: true, .. } => unusable(&refusal.failure),
            Event::Indeterminate { reason, halts: true, .. } => {
                unusable(&Failure::new(FailureKind::Unauthorized, reason))
            }
            Event::Polled { result: PollResult::Unauthorized { failure }, .. } => unusable(failure),
            Event::BudgetExceeded { cap, .. } => Some(Self::BudgetExceeded { cap: *cap }),
            Event::PrepareFailed { failure, .. } | Event::DownloadFailed { failure, .. }
                if is_storage(failure) =>
            {
                Some(Self::StorageUnusable { failure: failure.clone() })
            }
            Event::RunConfigured { .. }
            | Event::Started
            | Event::LookupDone { .. }
            | Event::Prepared { .. }
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
            | Event::TimerFired => None,
        }
    }
}
