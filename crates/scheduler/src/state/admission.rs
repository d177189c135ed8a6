//! Admission: starts submissions within limits and budget, due polls, downloads (soonest-expiring first), and films whose clips are
//! complete.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::Duration;

use workflow::plan::{Clip, ClipSource, NodeIx};

use super::lanes::{Lane, LaneQueues};
use super::{FilmPhase, NodeState, Phase, RunState};
use crate::policy::Rate;
use crate::timestamp::Timestamp;
use crate::{Action, FilmOutcome, Halt, Outcome};

/// What waits for a rate of submissions, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateWait {
    /// When the next submission is sent.
    pub until: Timestamp,
    /// The rate, if it was learned from the service; `None` where it is that of the policy.
    pub learned: Option<Rate>,
}

/// Longest time by which a poll is sent before it is due.
const MAX_POLL_ADVANCE: Duration = Duration::from_millis(16);
/// The same as a share of the wait since the last request for its task.
const POLL_ADVANCE_SHARE: u32 = 8;

impl Lane {
    /// The wait of the shots that are ready for a rate of submissions, where nothing else stops them.
    fn submission_rate_wait(&self, now: Timestamp) -> Option<RateWait> {
        if self.queues.ready.is_empty() {
            return None;
        }
        self.may_submit_at_any_rate(now).ok()?;
        let submits = self.limits.submit_rate.as_ref().filter(|submits| !submits.admits(now));
        if let Some(submits) = submits {
            return Some(RateWait { until: submits.free_at(), learned: None });
        }
        let discovery = self.limits.discovery.as_ref()?;
        let until = discovery.admits(self.taken(), self.queues.posting, now).err().flatten()?;
        Some(RateWait { until, learned: discovery.observed().rate.map(Rate::from) })
    }

    /// Whether the limits admit one more submission, or when they may; `None` if something has to end first.
    fn may_submit(&self, now: Timestamp) -> Result<(), Option<Timestamp>> {
        self.may_submit_at_any_rate(now)?;
        if let Some(submits) = self.limits.submit_rate.as_ref().filter(|submits| !submits.admits(now)) {
            return Err(Some(submits.free_at()));
        }
        match &self.limits.discovery {
            // What has to end first may be a held slot, which no event ends.
            Some(discovery) => discovery
                .admits(self.taken(), self.queues.posting, now)
                .map_err(|until| until.or_else(|| self.first_held_slot())),
            None => Ok(()),
        }
    }

    /// The same without the limits on the rate.
    fn may_submit_at_any_rate(&self, now: Timestamp) -> Result<(), Option<Timestamp>> {
        let concurrency = &self.limits.concurrency;
        if let Some(until) = concurrency.held_until(now) {
            return Err(Some(until));
        }
        if !concurrency.admits(self.taken(), self.queues.posting, now) {
            return Err(self.first_held_slot());
        }
        Ok(())
    }

    fn first_held_slot(&self) -> Option<Timestamp> {
        self.queues.held_slots.first().map(|(until, _)| *until)
    }
}

impl RunState {
    /// Runs after every event.
    pub(super) fn admit(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        let lanes = 0..self.lanes.len();
        let submit_at = lanes.clone().filter_map(|lane| self.admit_submissions(lane, now, actions)).min();
        self.cancel_ready();
        self.propagate_blocked();
        let poll_at = lanes.clone().filter_map(|lane| self.admit_polls(lane, now, actions)).min();
        let download_at = lanes.filter_map(|lane| self.admit_downloads(lane, now, actions)).min();
        self.admit_films(actions);
        if let Some(deadline) = [submit_at, poll_at, download_at].into_iter().flatten().min() {
            self.wake(deadline, actions);
        }
    }

    /// Sets a timer unless an earlier one is set; admission runs again when it fires.
    fn wake(&mut self, deadline: Timestamp, actions: &mut Vec<Action>) {
        if self.wakes.first().is_none_or(|set| deadline < *set) {
            self.wakes.insert(deadline);
            actions.push(Action::Wake { deadline });
        }
    }

    /// Submits ready nodes of a service as far as its limits and the budget allow, and returns when to try again.
    ///
    /// Invariant: nothing is submitted while a lookup is in progress, because it may find a task in flight that takes a slot.
    fn admit_submissions(
        &mut self,
        lane: usize,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> Option<Timestamp> {
        let is_halted = self.halt.is_some() || self.lanes[lane].unusable.is_some();
        if self.is_replay || self.queues.lookups > 0 || is_halted {
            return None;
        }
        let queues = &mut self.lanes[lane].queues;
        while let Some((not_before, node)) = queues.delayed.first().copied() {
            if not_before > now {
                break;
            }
            queues.delayed.pop_first();
            queues.ready.insert((Reverse(self.plan.rank(node)), node));
        }
        queues.held_slots.retain(|(until, _)| *until > now);
        let mut more_at = queues.delayed.first().map(|(not_before, _)| *not_before);
        while let Some((_, node)) = self.lanes[lane].queues.ready.first().copied() {
            if let Some(cap) = self.budget.exceeded_by(&self.plan, node) {
                // Tasks in flight may cost less than is reserved for them; without any, the cap is reached.
                if self.queues.reservations == 0 {
                    self.halt = Some(Halt::BudgetExceeded { cap });
                    return None;
                }
                break;
            }
            // Beside what others have reserved as well. Without a reservation of its own the run asks the ledger, which knows what has become of theirs.
            if self.queues.reservations > 0 && self.budget.is_exceeded_beside_others(&self.plan, node) {
                break;
            }
            if let Err(until) = self.lanes[lane].may_submit(now) {
                more_at = more_at.into_iter().chain(until).min();
                break;
            }
            let Some(key) = self.key(node) else { break };
            let limits = &mut self.lanes[lane].limits;
            if let Some(submits) = &mut limits.submit_rate {
                submits.take(now);
            }
            if let Some(discovery) = &mut limits.discovery {
                discovery.admitted(now);
            }
            let state = self.node_mut(node);
            state.sent_at = now;
            let is_inline = state.is_inline;
            self.reserve(node);
            self.set_phase(node, Phase::Preparing);
            actions.push(Action::Prepare { node, key, is_inline });
        }
        more_at
    }

    /// The wait of the shots that are ready for a rate of submissions, where nothing else stops those of their service.
    pub fn submission_rate_wait(&self) -> Option<RateWait> {
        let is_open = !self.is_replay && self.queues.lookups == 0 && self.halt.is_none();
        let waits = self.lanes.iter().filter_map(|lane| lane.submission_rate_wait(self.now));
        waits.max_by_key(|wait| wait.until).filter(|_| is_open)
    }

    /// Polls the tasks that are due, or nearly so, and returns when to try again. While the service accepts no polls, tasks whose timeout has passed are
    /// not waited for.
    fn admit_polls(&mut self, lane: usize, now: Timestamp, actions: &mut Vec<Action>) -> Option<Timestamp> {
        if let Some(until) = self.lanes[lane].limits.poll_rate.held_until(now) {
            return self.detach_overdue(lane, now, until, actions);
        }
        while let Some((poll_at, node)) = self.lanes[lane].queues.polls.first().copied() {
            if poll_at > now && !self.may_poll_early(node, poll_at, now) {
                return Some(poll_at);
            }
            let Phase::InFlight { attempt, task, .. } = &self.node(node).phase else { return None };
            let poll = Action::Poll { node, attempt: attempt.clone(), task: task.clone() };
            let lane = &mut self.lanes[lane];
            if let Err(until) = lane.limits.poll_rate.take(now) {
                return Some(until);
            }
            lane.queues.polls.pop_first();
            let state = self.node_mut(node);
            state.poll_at = None;
            state.sent_at = now;
            actions.push(poll);
        }
        None
    }

    /// Whether a poll that is due at `at` may be sent now, because the run is awake anyway: to wake a process costs more than a poll. Not a
    /// task's first poll, which is due when the first of its model end: before, it would be in vain.
    fn may_poll_early(&self, node: NodeIx, due: Timestamp, now: Timestamp) -> bool {
        let NodeState { has_answered, sent_at, .. } = *self.node(node);
        if !has_answered {
            return false;
        }
        let advance = (due.since(sent_at) / POLL_ADVANCE_SHARE).min(MAX_POLL_ADVANCE);
        now.after(advance) >= due && now >= sent_at.after(self.policy(node).min_poll_interval)
    }

    /// Detaches from tasks whose deadline has passed while no task may be polled until `until`; returns when to try again.
    fn detach_overdue(
        &mut self,
        lane: usize,
        now: Timestamp,
        until: Timestamp,
        actions: &mut Vec<Action>,
    ) -> Option<Timestamp> {
        while let Some((deadline, node)) = self.lanes[lane].queues.deadlines.first().copied() {
            if deadline > now {
                return Some(until.min(deadline));
            }
            let queues = &mut self.lanes[lane].queues;
            queues.deadlines.pop_first();
            let state = &mut self.nodes[node.index()];
            state.deadline = None;
            // The result of a poll in progress decides itself.
            let Some(poll_at) = state.poll_at.take() else { continue };
            queues.polls.remove(&(poll_at, node));
            if let Phase::InFlight { attempt, .. } = &self.node(node).phase {
                actions.push(Action::Overdue { node, attempt: attempt.clone() });
            }
        }
        (!self.lanes[lane].queues.polls.is_empty()).then_some(until)
    }

    /// Starts downloads as far as the limit allows, and returns when to try again.
    fn admit_downloads(
        &mut self,
        lane: usize,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) -> Option<Timestamp> {
        while let Some((_, node)) = self.lanes[lane].queues.downloads.first().copied() {
            let Lane { limits, queues, .. } = &self.lanes[lane];
            if let Err(until) = limits.downloads.admits(queues.downloading, now) {
                // A file that expires meanwhile would be lost.
                let is_urgent = until.is_some_and(|until| self.is_urgent(node, until));
                if !is_urgent || !limits.downloads.has_room(queues.downloading) {
                    return until;
                }
            }
            let timeout = self.task_timeout(node);
            let Phase::ReadyToDownload(download) = &self.node(node).phase else { return None };
            let mut download = download.clone();
            download.deadline.get_or_insert(now.after(timeout));
            self.node_mut(node).sent_at = now;
            self.set_phase(node, Phase::Downloading(download.clone()));
            actions.push(Action::Download(*download));
        }
        None
    }

    fn admit_films(&mut self, actions: &mut Vec<Action>) {
        while let Some(index) = self.queues.complete_films.pop_front() {
            if self.films[index] != FilmPhase::Pending {
                continue;
            }
            match self.film_now(index) {
                Some(FilmPhase::Done(outcome)) => self.film_ended(index, outcome),
                Some(state) => {
                    if state == FilmPhase::Joining {
                        actions.push(Action::Join { index });
                    }
                    self.films[index] = state;
                }
                None => {}
            }
        }
    }

    /// The next state of a film whose clips have all ended; `None` while one has not.
    fn film_now(&self, index: usize) -> Option<FilmPhase> {
        let clips = &self.plan.films().get(index)?.clips;
        let nodes = || clips.iter().flat_map(Clip::nodes);
        if nodes().any(|node| self.node(*node).outcome().is_none()) {
            return None;
        }
        let is_missing = |clip: &&Clip| match &clip.source {
            ClipSource::Node(node) => !self.is_done(*node),
            ClipSource::Pick(_) => true,
            ClipSource::Video(_) | ClipSource::Image(_) | ClipSource::Card => false,
        };
        let missing = clips.iter().filter(is_missing).count();
        // A clip that is missing only because a dependency waits for a pick is not missing for good.
        let is_failed = nodes().any(|node| !self.is_done(*node) && !self.waits_for_a_pick(*node));
        Some(if self.halt == Some(Halt::Interrupted) || is_failed {
            FilmPhase::Done(FilmOutcome::Pending { missing })
        } else if missing > 0 {
            FilmPhase::Done(FilmOutcome::Unpicked { missing, picks: self.picks_of_film(clips) })
        } else {
            FilmPhase::Joining
        })
    }

    fn is_done(&self, node: NodeIx) -> bool {
        matches!(self.node(node).outcome(), Some(Outcome::Done { .. }))
    }

    /// Whether a node ended only because it, or a dependency, waits for a pick.
    fn waits_for_a_pick(&self, node: NodeIx) -> bool {
        !self.picks_of_node(node).is_empty()
    }

    /// The open picks for which a node, or the dependency that blocks it, has not started.
    fn picks_of_node(&self, node: NodeIx) -> &[String] {
        let mut current = node;
        while let Some(Outcome::Blocked { by }) = self.node(current).outcome() {
            current = *by;
        }
        match self.node(current).outcome() {
            Some(Outcome::Unpicked { picks }) => picks,
            _ => &[],
        }
    }

    /// The open picks that a film's clips wait for, each once.
    fn picks_of_film(&self, clips: &[Clip]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for clip in clips {
            let of_clip = match &clip.source {
                ClipSource::Pick(candidates) => vec![self.plan.open_pick(candidates).name.into_owned()],
                ClipSource::Node(node) => self.picks_of_node(*node).to_vec(),
                ClipSource::Video(_) | ClipSource::Image(_) | ClipSource::Card => Vec::new(),
            };
            names.extend(of_clip);
        }
        // A film may show a hundred clips of one pick.
        let mut listed = HashSet::new();
        names.retain(|name| listed.insert(name.clone()));
        names
    }

    /// Ends nodes whose dependencies did not succeed as blocked, and their successors in turn.
    fn propagate_blocked(&mut self) {
        while let Some(failed) = self.queues.unpropagated_failures.pop() {
            for node in self.plan.successors(failed) {
                if self.node(node).phase == Phase::Pending {
                    // The first dependency in file order, whichever ended first.
                    let by = self.plan.predecessors(node).into_iter().find(|predecessor| {
                        !matches!(self.node(*predecessor).outcome(), None | Some(Outcome::Done { .. }))
                    });
                    self.end(node, Outcome::Blocked { by: by.unwrap_or(failed) });
                }
            }
        }
    }

    /// Cancels nodes that wait to be submitted, if the run or their service is halted. Under a cap, nodes that another run claims or that are being looked up still end
    /// normally.
    fn cancel_ready(&mut self) {
        let waiting: Vec<NodeIx> = self
            .lanes
            .iter()
            .filter(|lane| self.halt.is_some() || lane.unusable.is_some())
            .flat_map(|Lane { queues: LaneQueues { ready, delayed, .. }, .. }| {
                ready.iter().map(|(_, node)| *node).chain(delayed.iter().map(|(_, node)| *node))
            })
            .collect();
        for node in waiting {
            self.cancel(node);
        }
    }

    /// Cancels the nodes that have not begun and are `halted`, when the run is interrupted or a service cannot be used. Requests in preparation are discarded when their intent is recorded; a POST
    /// in progress is awaited, so that its task id is recorded.
    pub(super) fn cancel_pending(&mut self, is_halted: impl Fn(&Self, NodeIx) -> bool) {
        let all: Vec<NodeIx> = self.plan.nodes().map(|(node, _)| node).collect();
        for node in all {
            if !is_halted(self, node) {
                continue;
            }
            match self.node(node).phase {
                Phase::Pending | Phase::LookingUp | Phase::ClaimedByOtherRun { .. } | Phase::Ready { .. } => {
                    self.cancel(node);
                }
                Phase::Preparing
                | Phase::Submitting { .. }
                | Phase::InFlight { .. }
                | Phase::ReadyToDownload(_)
                | Phase::Downloading(_)
                | Phase::Done => {}
            }
        }
    }
}
