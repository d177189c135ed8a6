//! What the live view knows of a run: counts, the shots that are under way, and how long shots take. Kept up with what each event changed.

use std::collections::BTreeMap;

use scheduler::budget::Amount;
use scheduler::{Event, Outcome, Phase, RunState, Timestamp};
use workflow::plan::NodeIx;

use crate::report::{CostEstimate, sanitize};

/// How many of the latest shots say how long a shot takes.
const MAX_SAMPLES: usize = 101;
/// How many shots must have been made before one is called slow.
const MIN_SAMPLES: usize = 3;

/// Where a shot stands, as far as it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ShotGroup {
    #[default]
    Waiting,
    UnderWay,
    Done,
    Reused,
    Failed,
    /// Ambiguous, detached or unpicked: somebody, or another run, has to do something.
    Outstanding,
    /// Blocked, or not begun.
    Dropped,
    /// Not to be made in this run.
    Unselected,
}

/// How many kinds there are.
const GROUPS: usize = 8;

/// A shot that is under way.
#[derive(Debug, Clone)]
pub(super) struct UnderWay {
    pub(super) name: String,
    pub(super) doing: &'static str,
    pub(super) percent: Option<u8>,
    /// Since when it is under way.
    pub(super) since: Timestamp,
    pub(super) trouble: Option<String>,
}

/// What is known of a run.
#[derive(Debug)]
pub(super) struct RunProgress {
    groups: Vec<ShotGroup>,
    counts: [usize; GROUPS],
    under_way: BTreeMap<NodeIx, UnderWay>,
    /// How long the latest shots took, in the order in which they were done, and sorted.
    took: Vec<u64>,
    sorted: Vec<u64>,
    pub(super) started_at: Option<Timestamp>,
    /// When the first task was submitted or adopted.
    first_in_flight_at: Option<Timestamp>,
    pub(super) estimate: Option<CostEstimate>,
    pub(super) held: Amount,
    pub(super) spent: Amount,
    pub(super) is_ending: bool,
    /// How often the service asked to slow down.
    pub(super) slowed: usize,
    /// Films that are joined, and all of them.
    pub(super) films: (usize, usize),
}

impl RunProgress {
    pub(super) fn new(estimate: Option<CostEstimate>) -> Self {
        Self {
            groups: Vec::new(),
            counts: [0; GROUPS],
            under_way: BTreeMap::new(),
            took: Vec::new(),
            sorted: Vec::new(),
            started_at: None,
            first_in_flight_at: None,
            estimate,
            held: Amount::default(),
            spent: Amount::default(),
            is_ending: false,
            slowed: 0,
            films: (0, 0),
        }
    }

    /// Takes note of an event and of what it changed.
    pub(super) fn on(&mut self, state: &RunState, event: &Event, now: Timestamp) {
        if self.started_at.is_none() {
            self.started_at = Some(now);
            self.groups = vec![ShotGroup::Waiting; state.plan().len()];
            self.counts[ShotGroup::Waiting as usize] = state.plan().len();
            self.films.1 = state.plan().films().len();
        }
        for node in state.changed() {
            self.changed(state, *node, now);
        }
        if let Some(node) = event.node() {
            self.update_details(state, node);
        }
        if let Event::Refused { refusal, .. } = event {
            self.slowed += usize::from(refusal.kind == scheduler::RefusalKind::Throttled);
        }
        self.films.0 += state.ended_films().count();
        self.is_ending = state.halt().is_some();
        (self.held, self.spent) = (state.budget().reserved(), state.budget().spent());
    }

    fn changed(&mut self, state: &RunState, node: NodeIx, now: Timestamp) {
        let known = state.node(node);
        let (group, doing) = match &known.phase {
            Phase::Waiting | Phase::LookingUp | Phase::Ready { .. } => (ShotGroup::Waiting, None),
            Phase::ClaimedByOtherRun => (ShotGroup::UnderWay, Some("waits for another run")),
            Phase::Preparing | Phase::Submitting { .. } => (ShotGroup::UnderWay, Some("submitting")),
            Phase::InFlight { .. } => (ShotGroup::UnderWay, Some("queued")),
            Phase::ReadyToDownload(_) | Phase::Downloading(_) => (ShotGroup::UnderWay, Some("downloading")),
            Phase::Done(outcome) => (
                match outcome {
                    Outcome::Done { .. } if known.done_at.is_some() => ShotGroup::Done,
                    Outcome::Done { .. } => ShotGroup::Reused,
                    Outcome::Failed { .. } => ShotGroup::Failed,
                    Outcome::Indeterminate { .. } | Outcome::Detached { .. } | Outcome::Unpicked { .. } => {
                        ShotGroup::Outstanding
                    }
                    Outcome::Blocked { .. } | Outcome::NotBegun => ShotGroup::Dropped,
                    Outcome::NotSelected { .. } => ShotGroup::Unselected,
                },
                None,
            ),
        };
        let before = std::mem::replace(&mut self.groups[node.index()], group);
        self.counts[before as usize] -= 1;
        self.counts[group as usize] += 1;
        match doing {
            None => {
                self.under_way.remove(&node);
            }
            Some(doing) => {
                if matches!(known.phase, Phase::InFlight { .. }) {
                    self.first_in_flight_at.get_or_insert(now);
                }
                let since = known.submitted_at.unwrap_or(now);
                let name = || sanitize::line(&state.plan().node(node).name).into_owned();
                let entry = self.under_way.entry(node).or_insert_with(|| UnderWay {
                    name: name(),
                    doing,
                    percent: None,
                    since,
                    trouble: None,
                });
                entry.doing = doing;
                entry.since = since;
            }
        }
        if before != ShotGroup::Done
            && group == ShotGroup::Done
            && let Some(took) = known.took()
        {
            self.note_time(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        }
    }

    /// What is known of a shot besides its phase.
    fn update_details(&mut self, state: &RunState, node: NodeIx) {
        let Some(entry) = self.under_way.get_mut(&node) else { return };
        let known = state.node(node);
        entry.percent = known.progress;
        entry.trouble = known.last_error.as_deref().map(sanitize::message);
        if matches!(known.phase, Phase::InFlight { .. }) && known.progress.is_some_and(|percent| percent > 0)
        {
            entry.doing = "in progress";
        }
    }

    fn note_time(&mut self, took: u64) {
        if self.took.len() == MAX_SAMPLES {
            let oldest = self.took.remove(0);
            if let Ok(at) = self.sorted.binary_search(&oldest) {
                self.sorted.remove(at);
            }
        }
        self.took.push(took);
        let at = self.sorted.partition_point(|other| *other < took);
        self.sorted.insert(at, took);
    }

    pub(super) fn count(&self, group: ShotGroup) -> usize {
        self.counts[group as usize]
    }

    /// How many shots the run is to make.
    pub(super) fn all(&self) -> usize {
        self.groups.len() - self.count(ShotGroup::Unselected)
    }

    /// The shots that are under way, those that are longest first.
    pub(super) fn under_way(&self) -> Vec<&UnderWay> {
        let mut all: Vec<&UnderWay> = self.under_way.values().collect();
        all.sort_by_key(|one| one.since);
        all
    }

    /// Whether a shot takes half as long again as nine in ten of the latest took. A queue that grows makes all of them longer, and none slow.
    pub(super) fn is_slow(&self, one: &UnderWay, now: Timestamp) -> bool {
        let long = self.sorted.get(self.sorted.len() * 9 / 10).copied().unwrap_or(u64::MAX);
        self.sorted.len() >= MIN_SAMPLES
            && u128::from(long.max(500)) * 3 / 2 < now.since(one.since).as_millis()
    }

    /// How long the rest will take at the pace so far, once there is one.
    pub(super) fn remaining(&self, now: Timestamp) -> Option<std::time::Duration> {
        let partly: f64 = self
            .under_way
            .values()
            .filter_map(|one| one.percent)
            .map(|percent| f64::from(percent.min(99)) / 100.0)
            .sum();
        let made = self.count(ShotGroup::Done) as f64 + partly;
        let open = (self.count(ShotGroup::Waiting) + self.under_way.len()) as f64 - partly;
        let spent = now.since(self.first_in_flight_at?).as_secs_f64();
        (made >= 1.0 && spent >= 1.0 && open > 0.0)
            .then(|| std::time::Duration::from_secs_f64((spent / made * open).min(1e9)))
    }
}
