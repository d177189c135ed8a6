//! What may begin now: submissions within the limit and the budget, downloads soonest-expiring first, the film when its clips are there.

use std::cmp::Reverse;

use workflow::plan::{Clip, NodeIx};

use super::{Action, FilmOutcome, FilmState, Halt, Outcome, Phase, RunState};
use crate::time::Millis;

impl RunState {
    /// Runs after every event.
    pub(super) fn admit(&mut self, now: Millis, actions: &mut Vec<Action>) {
        self.admit_submissions(now, actions);
        if self.halt.is_some() {
            self.end_what_is_ready();
        }
        self.block_the_hopeless();
        self.admit_downloads(actions);
        self.admit_films(actions);
    }

    /// Invariant: nothing new is submitted while a look-up is under way, because it may find a task that is out already and
    /// holds a place.
    fn admit_submissions(&mut self, now: Millis, actions: &mut Vec<Action>) {
        let may_find_more = self.standing.looking > 0 && cfg!(not(feature = "planted-overrun"));
        if may_find_more || self.halt.is_some() {
            return;
        }
        while let Some((not_before, node)) = self.standing.later.first().copied() {
            if not_before > now {
                break;
            }
            self.standing.later.pop_first();
            self.standing.ready.insert((Reverse(self.plan.rank(node)), node));
        }
        let mut next_wake = self.standing.later.first().map(|(not_before, _)| *not_before);
        while let Some((_, node)) = self.standing.ready.first().copied() {
            if !self.limiter.admits(self.in_flight(), now) {
                next_wake =
                    self.limiter.held_until(now).map(|until| earliest(next_wake, until)).or(next_wake);
                break;
            }
            if let Some(cap) = self.budget.crossed_by(&self.plan, node) {
                // What is out may come to less than is held for it; when nothing is out any more, the cap is reached.
                if self.standing.may_settle == 0 {
                    self.halt = Some(Halt::Capped { cap });
                    return;
                }
                break;
            }
            let Some(key) = self.key(node) else { break };
            let inline = self.node(node).inline;
            self.hold(node);
            self.put(node, Phase::Preparing);
            actions.push(Action::Prepare { node, key, inline });
        }
        if let Some(at) = next_wake
            && self.wake_at.is_none_or(|set| set <= now || at < set)
        {
            self.wake_at = Some(at);
            actions.push(Action::Wake { at });
        }
    }

    fn admit_downloads(&mut self, actions: &mut Vec<Action>) {
        while self.standing.downloading < self.policy.downloads.max(1)
            && let Some((_, node)) = self.standing.finished.first().copied()
        {
            let Phase::Finished(download) = &self.node(node).phase else { break };
            let download = download.clone();
            self.put(node, Phase::Downloading(download.clone()));
            actions.push(Action::Download(download));
        }
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

fn earliest(set: Option<Millis>, at: Millis) -> Millis {
    set.map_or(at, |set| set.min(at))
}
