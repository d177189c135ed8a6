//! The data of the live view: counts and active shots. Updated incrementally by each event.

use std::collections::BTreeMap;

use engine::FilmProgress;
use scheduler::budget::Amount;
use scheduler::{Event, RunState, StatusKind, Timestamp};
use workflow::plan::NodeIx;

use crate::report::{RunEstimate, sanitize};

/// A shot being rendered.
#[derive(Debug, Clone)]
pub(in crate::report) struct ActiveShot {
    pub(in crate::report) name: String,
    pub(in crate::report) activity: &'static str,
    pub(in crate::report) percent: Option<u8>,
    /// When it was submitted.
    pub(in crate::report) since: Timestamp,
    pub(in crate::report) failure: Option<String>,
}

/// The progress of a run.
#[derive(Debug)]
pub(in crate::report) struct RunProgress {
    kinds: Vec<StatusKind>,
    counts: [usize; StatusKind::ALL.len()],
    active: BTreeMap<NodeIx, ActiveShot>,
    pub(in crate::report) started_at: Option<Timestamp>,
    /// When the first task was submitted or adopted.
    first_in_flight_at: Option<Timestamp>,
    pub(in crate::report) estimate: Option<RunEstimate>,
    pub(in crate::report) reserved: Amount,
    pub(in crate::report) spent: Amount,
    pub(in crate::report) is_ending: bool,
    /// How often the service throttled submissions.
    pub(in crate::report) throttled: usize,
    /// No submission is sent before this time.
    pub(in crate::report) submissions_held_until: Option<Timestamp>,
    /// Films with an outcome, and all films.
    pub(in crate::report) films: (usize, usize),
    /// Films that are being joined.
    joining: Vec<FilmProgress>,
}

impl RunProgress {
    pub(in crate::report) fn new(estimate: Option<RunEstimate>) -> Self {
        Self {
            kinds: Vec::new(),
            counts: [0; StatusKind::ALL.len()],
            active: BTreeMap::new(),
            started_at: None,
            first_in_flight_at: None,
            estimate,
            reserved: Amount::default(),
            spent: Amount::default(),
            is_ending: false,
            throttled: 0,
            submissions_held_until: None,
            films: (0, 0),
            joining: Vec::new(),
        }
    }

    /// Applies an event that led to `state`.
    pub(in crate::report) fn on_event(&mut self, state: &RunState, event: &Event, now: Timestamp) {
        if self.started_at.is_none() {
            self.started_at = Some(now);
            self.kinds = vec![StatusKind::Pending; state.plan().len()];
            self.counts[StatusKind::Pending as usize] = state.plan().len();
            self.films.1 = state.plan().films().len();
        }
        for node in state.changed() {
            self.update_phase(state, *node, now);
        }
        if let Some(node) = event.node() {
            self.update_details(state, node);
        }
        if let Event::Refused { refusal, .. } = event {
            self.throttled += usize::from(refusal.kind == scheduler::RefusalKind::Throttled);
        }
        let rate_wait = state.submission_rate_wait().map(|wait| wait.until);
        self.submissions_held_until = state.submissions_held_until().max(rate_wait);
        for (film, _) in state.ended_films() {
            self.films.0 += 1;
            self.joining.retain(|joining| joining.film != film);
        }
        self.is_ending = state.halt().is_some();
        (self.reserved, self.spent) = (state.budget().reserved(), state.budget().spent());
    }

    /// A film is being joined.
    pub(in crate::report) fn on_join(&mut self, progress: FilmProgress) {
        self.joining.retain(|joining| joining.film != progress.film);
        self.joining.push(progress);
    }

    /// Frames of the films that are being joined: those that they have already, and all. `None` where that is not known.
    pub(in crate::report) fn joined_frames(&self) -> Option<(u64, u64)> {
        let sum = |count: fn(&FilmProgress) -> u64| self.joining.iter().map(count).sum();
        (!self.joining.is_empty()).then(|| (sum(|film| film.done), sum(|film| film.all)))
    }

    fn update_phase(&mut self, state: &RunState, node: NodeIx, now: Timestamp) {
        let node_state = state.node(node);
        let kind = node_state.kind();
        let activity = match kind {
            StatusKind::ClaimedByOtherRun => Some("claimed by another run"),
            StatusKind::Submitting => Some("submitting"),
            StatusKind::InFlight => Some("queued"),
            StatusKind::Downloading => Some("downloading"),
            StatusKind::Done
            | StatusKind::Reused
            | StatusKind::WaitingForRetry
            | StatusKind::Waiting
            | StatusKind::Pending
            | StatusKind::Detached
            | StatusKind::AtOtherService
            | StatusKind::Missing
            | StatusKind::Unrecorded
            | StatusKind::Indeterminate
            | StatusKind::Failed
            | StatusKind::Blocked
            | StatusKind::Unpicked
            | StatusKind::NotStarted
            | StatusKind::NotSelected => None,
        };
        let before = std::mem::replace(&mut self.kinds[node.index()], kind);
        self.counts[before as usize] -= 1;
        self.counts[kind as usize] += 1;
        match activity {
            None => {
                self.active.remove(&node);
            }
            Some(activity) => {
                if kind == StatusKind::InFlight {
                    self.first_in_flight_at.get_or_insert(now);
                }
                let submitted_at =
                    node_state.shot().submitted_at().filter(|_| kind != StatusKind::Submitting);
                let since = submitted_at.unwrap_or(now);
                let name = || sanitize::line(&state.plan().node(node).name).into_owned();
                let entry = self.active.entry(node).or_insert_with(|| ActiveShot {
                    name: name(),
                    activity,
                    percent: None,
                    since,
                    failure: None,
                });
                entry.activity = activity;
                entry.since = since;
            }
        }
    }

    /// Updates what is known of a shot besides its phase.
    fn update_details(&mut self, state: &RunState, node: NodeIx) {
        let Some(entry) = self.active.get_mut(&node) else { return };
        let shot = state.node(node).shot();
        entry.percent = shot.progress();
        entry.failure = shot.last_error().map(sanitize::message);
        if shot.kind() == StatusKind::InFlight && shot.progress().is_some_and(|percent| percent > 0) {
            entry.activity = "in progress";
        }
    }

    fn count(&self, kinds: &[StatusKind]) -> usize {
        kinds.iter().map(|kind| self.counts[*kind as usize]).sum()
    }

    pub(in crate::report) fn done(&self) -> usize {
        self.count(&[StatusKind::Done, StatusKind::Reused])
    }

    pub(in crate::report) fn reused(&self) -> usize {
        self.count(&[StatusKind::Reused])
    }

    pub(in crate::report) fn failed(&self) -> usize {
        self.count(&[StatusKind::Failed])
    }

    /// Shots about which a person or a later run has to do something.
    pub(in crate::report) fn action_needed(&self) -> usize {
        let kinds = StatusKind::ALL.iter().filter(|kind| kind.needs_action());
        kinds.map(|kind| self.counts[*kind as usize]).sum()
    }

    pub(in crate::report) fn in_progress(&self) -> usize {
        self.count(&[
            StatusKind::ClaimedByOtherRun,
            StatusKind::Submitting,
            StatusKind::InFlight,
            StatusKind::Downloading,
        ])
    }

    pub(in crate::report) fn waiting(&self) -> usize {
        self.count(&[StatusKind::Pending, StatusKind::Waiting, StatusKind::WaitingForRetry])
    }

    pub(in crate::report) fn not_started(&self) -> usize {
        self.count(&[StatusKind::Blocked, StatusKind::NotStarted])
    }

    /// Number of selected shots.
    pub(in crate::report) fn all(&self) -> usize {
        self.kinds.len() - self.count(&[StatusKind::NotSelected])
    }

    /// The active shots, longest first.
    pub(in crate::report) fn active(&self) -> Vec<&ActiveShot> {
        let mut shots: Vec<&ActiveShot> = self.active.values().collect();
        shots.sort_by_key(|shot| shot.since);
        shots
    }

    /// Estimated remaining time at the pace so far; `None` until there is one.
    pub(in crate::report) fn remaining(&self, now: Timestamp) -> Option<std::time::Duration> {
        let partial: f64 = self
            .active
            .values()
            .filter_map(|shot| shot.percent)
            .map(|percent| f64::from(percent.min(99)) / 100.0)
            .sum();
        let done = self.count(&[StatusKind::Done]) as f64 + partial;
        let unfinished = (self.waiting() + self.active.len()) as f64 - partial;
        let elapsed = now.since(self.first_in_flight_at?).as_secs_f64();
        (done >= 1.0 && elapsed >= 1.0 && unfinished > 0.0)
            .then(|| std::time::Duration::from_secs_f64((elapsed / done * unfinished).min(1e9)))
    }
}
