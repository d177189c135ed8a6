//! What may begin now: submissions within the limits and the budget, polls that are due, downloads soonest-expiring first, the film when its
//! clips are there.

use std::cmp::Reverse;

use workflow::plan::{Clip, NodeIx};

use super::{Action, FilmOutcome, FilmState, Halt, Outcome, Phase, RunState};
use crate::time::Millis;

impl RunState {
    /// Runs after every event.
    pub(super) fn admit(&mut self, now: Millis, actions: &mut Vec<Action>) {
        let submit_at = self.admit_submissions(now, actions);
        if self.halt.is_some() {
            self.end_what_is_ready();
        }
        self.block_the_hopeless();
        let poll_at = self.admit_polls(now, actions);
        let download_at = self.admit_downloads(now, actions);
        self.admit_films(actions);
        if let Some(at) = [submit_at, poll_at, download_at].into_iter().flatten().min() {
            self.wake(at, actions);
        }
    }

    /// Asks for a tick of the clock, unless an earlier one is to come: what is to be done is looked at again then.
    fn wake(&mut self, at: Millis, actions: &mut Vec<Action>) {
        if self.wakes.first().is_none_or(|set| at < *set) {
            self.wakes.insert(at);
            actions.push(Action::Wake { at });
        }
    }

    /// Submits what may be submitted, and says when more may be.
    ///
    /// Invariant: nothing new is submitted while a look-up is under way, because it may find a task that is out already and
    /// holds a place.
    fn admit_submissions(&mut self, now: Millis, actions: &mut Vec<Action>) -> Option<Millis> {
        if self.standing.looking > 0 || self.halt.is_some() {
            return None;
        }
        while let Some((not_before, node)) = self.standing.later.first().copied() {
            if not_before > now {
                break;
            }
            self.standing.later.pop_first();
            self.standing.ready.insert((Reverse(self.rank(node)), node));
        }
        self.standing.unaccounted.retain(|(until, _)| *until > now);
        let mut more_at = self.standing.later.first().map(|(not_before, _)| *not_before);
        while let Some((_, node)) = self.standing.ready.first().copied() {
            if let Some(cap) = self.budget.crossed_by(&self.plan, node) {
                // What is out may come to less than is held for it; when nothing is out any more, the cap is reached.
                if self.standing.may_settle == 0 {
                    self.halt = Some(Halt::Capped { cap });
                    return None;
                }
                break;
            }
            if let Err(until) = self.may_submit(now) {
                more_at = more_at.into_iter().chain(until).min();
                break;
            }
            let Some(key) = self.key(node) else { break };
            if let Some(submits) = &mut self.limits.submits {
                submits.take(now);
            }
            let state = self.node_mut(node);
            state.sent_at = now;
            let inline = state.inline;
            self.hold(node);
            self.put(node, Phase::Preparing);
            actions.push(Action::Prepare { node, key, inline });
        }
        more_at
    }

    /// Whether the limits let one more submission go, or the time at which they may; nothing where something has to happen first.
    fn may_submit(&self, now: Millis) -> Result<(), Option<Millis>> {
        let places = &self.limits.places;
        if let Some(until) = places.held_until(now) {
            return Err(Some(until));
        }
        let unaccounted = &self.standing.unaccounted;
        let taken = self.standing.in_flight + unaccounted.len();
        if !places.admits(taken, self.standing.on_their_way, now) {
            return Err(unaccounted.first().map(|(until, _)| *until));
        }
        match &self.limits.submits {
            Some(submits) if !submits.admits(now) => Err(Some(submits.free_at())),
            _ => Ok(()),
        }
    }

    /// Asks about the tasks whose time has come, and says when to go on.
    fn admit_polls(&mut self, now: Millis, actions: &mut Vec<Action>) -> Option<Millis> {
        while let Some((at, node)) = self.standing.polls.first().copied() {
            if at > now {
                return Some(at);
            }
            let Phase::Out { attempt, task, .. } = &self.node(node).phase else { return None };
            let poll = Action::Poll { node, attempt: attempt.clone(), task: task.clone() };
            if let Err(until) = self.limits.polls.take(now) {
                return Some(until);
            }
            self.standing.polls.pop_first();
            let state = self.node_mut(node);
            state.poll_at = None;
            state.sent_at = now;
            actions.push(poll);
        }
        None
    }

    /// Begins the downloads that may begin, and says when more may.
    fn admit_downloads(&mut self, now: Millis, actions: &mut Vec<Action>) -> Option<Millis> {
        while let Some((_, node)) = self.standing.finished.first().copied() {
            if let Err(until) = self.limits.downloads.admits(self.standing.downloading, now) {
                return until;
            }
            let Phase::Finished(download) = &self.node(node).phase else { return None };
            let download = download.clone();
            self.put(node, Phase::Downloading(download.clone()));
            actions.push(Action::Download(download));
        }
        None
    }

    fn admit_films(&mut self, actions: &mut Vec<Action>) {
        while let Some(at) = self.standing.whole_films.pop_front() {
            if self.films[at] != FilmState::Pending {
                continue;
            }
            match self.film_now(at) {
                Some(FilmState::Over(outcome)) => self.film_ended(at, outcome),
                Some(state) => {
                    if state == FilmState::Joining {
                        actions.push(Action::Join { at });
                    }
                    self.films[at] = state;
                }
                None => {}
            }
        }
    }

    /// What becomes of a film now that all its clips have ended; nothing while one of them has not.
    fn film_now(&self, at: usize) -> Option<FilmState> {
        let clips = &self.plan.films().get(at)?.clips;
        let nodes = || clips.iter().flat_map(Clip::nodes);
        if nodes().any(|node| self.node(*node).outcome().is_none()) {
            return None;
        }
        let is_missing = |clip: &&Clip| match clip {
            Clip::Node(node) => !self.is_done(*node),
            Clip::Pick(_) => true,
        };
        let missing = clips.iter().filter(is_missing).count();
        // What is missing only because something before it waits for a pick is not missing for good.
        let lost = nodes().any(|node| !self.is_done(*node) && !self.waits_for_a_pick(*node));
        Some(if self.halt == Some(Halt::Interrupted) || lost {
            FilmState::Over(FilmOutcome::Waiting { missing })
        } else if missing > 0 {
            FilmState::Over(FilmOutcome::Unpicked { missing })
        } else {
            FilmState::Joining
        })
    }

    fn is_done(&self, node: NodeIx) -> bool {
        matches!(self.node(node).outcome(), Some(Outcome::Done { .. }))
    }

    /// Whether a node, or one before it, ended for want of a pick and nothing else.
    fn waits_for_a_pick(&self, node: NodeIx) -> bool {
        let mut at = node;
        while let Some(Outcome::Blocked { by }) = self.node(at).outcome() {
            at = *by;
        }
        matches!(self.node(at).outcome(), Some(Outcome::Unpicked { .. }))
    }

    /// A node that waits for one that did not end well cannot begin, nor can what waits for it in turn.
    fn block_the_hopeless(&mut self) {
        while let Some(fallen) = self.standing.fallen.pop() {
            for node in self.plan.successors(fallen) {
                if self.node(node).phase == Phase::Waiting {
                    // Always the first in file order, whichever ended first.
                    let by = self.plan.predecessors(node).into_iter().find(|before| {
                        !matches!(self.node(*before).outcome(), None | Some(Outcome::Done { .. }))
                    });
                    self.end(node, Outcome::Blocked { by: by.unwrap_or(fallen) });
                }
            }
        }
    }

    /// Nothing is submitted any more. What another run is submitting, or may be found on record, is still waited for under a cap.
    fn end_what_is_ready(&mut self) {
        let ready = self.standing.ready.iter().map(|(_, node)| *node);
        let later = self.standing.later.iter().map(|(_, node)| *node);
        let waiting: Vec<NodeIx> = ready.chain(later).collect();
        for node in waiting {
            self.end(node, Outcome::NotBegun);
        }
    }

    /// Ends what has not begun, when the run is told to stop. What is being prepared is discarded when its intent arrives; a POST on its way
    /// is waited for, so that its id is not lost.
    pub(super) fn end_what_has_not_begun(&mut self) {
        let all: Vec<NodeIx> = self.plan.nodes().map(|(node, _)| node).collect();
        for node in all {
            match self.node(node).phase {
                Phase::Waiting | Phase::Looking | Phase::Elsewhere | Phase::Ready { .. } => {
                    self.end(node, Outcome::NotBegun);
                }
                Phase::Preparing
                | Phase::Submitting { .. }
                | Phase::Out { .. }
                | Phase::Finished(_)
                | Phase::Downloading(_)
                | Phase::Over(_) => {}
            }
        }
    }
}
