//! What may begin now: submissions within the limit, downloads soonest-expiring first, the film when its clips are there.

use workflow::plan::{Clip, NodeIx};

use super::{Action, FilmOutcome, FilmState, Halt, Outcome, Phase, RunState};
use crate::time::Millis;

impl RunState {
    /// Runs after every event.
    pub(super) fn admit(&mut self, now: Millis, actions: &mut Vec<Action>) {
        self.block_the_hopeless();
        if self.halt.is_some() {
            self.end_what_has_not_begun();
        }
        self.admit_submissions(now, actions);
        self.admit_downloads(now, actions);
        self.admit_films(actions);
    }

    /// Invariant: nothing new is submitted while a look-up is under way, because it may find a task that is out already and
    /// holds a place.
    fn admit_submissions(&mut self, now: Millis, actions: &mut Vec<Action>) {
        if self.nodes.iter().any(|node| node.phase == Phase::Looking) {
            return;
        }
        let mut ready: Vec<(NodeIx, Millis)> = self
            .plan
            .nodes()
            .filter_map(|(node, _)| match self.node(node).phase {
                Phase::Ready { not_before } => Some((node, not_before)),
                _ => None,
            })
            .collect();
        // Longest chain first, then file order (the sort is stable).
        ready.sort_by_key(|(node, _)| std::cmp::Reverse(self.plan.rank(*node)));

        let mut in_flight = self.in_flight();
        let mut next_wake = None;
        for (node, not_before) in ready {
            if not_before > now {
                next_wake = Some(earliest(next_wake, not_before));
                continue;
            }
            if !self.limiter.admits(in_flight, now) {
                next_wake =
                    self.limiter.held_until(now).map(|until| earliest(next_wake, until)).or(next_wake);
                break;
            }
            let Some(key) = self.key(node) else { continue };
            in_flight += 1;
            let state = self.node_mut(node);
            state.phase = Phase::Preparing;
            actions.push(Action::Prepare { node, key, inline: state.inline });
        }
        if let Some(at) = next_wake
            && self.wake_at.is_none_or(|set| set <= now || at < set)
        {
            self.wake_at = Some(at);
            actions.push(Action::Wake { at });
        }
    }

    fn admit_downloads(&mut self, _now: Millis, actions: &mut Vec<Action>) {
        let under_way = self.nodes.iter().filter(|node| matches!(node.phase, Phase::Downloading(_))).count();
        let mut waiting: Vec<(Option<Millis>, NodeIx)> = self
            .plan
            .nodes()
            .filter_map(|(node, _)| match &self.node(node).phase {
                Phase::Finished(download) => Some((download.expires_at, node)),
                _ => None,
            })
            .collect();
        waiting.sort_by_key(|(expires, _)| expires.unwrap_or(Millis(i64::MAX)));
        let room = self.policy.downloads.max(1).saturating_sub(under_way);
        for (_, node) in waiting.into_iter().take(room) {
            let state = self.node_mut(node);
            if let Phase::Finished(download) = &state.phase {
                let download = download.clone();
                state.phase = Phase::Downloading(download.clone());
                actions.push(Action::Download(download));
            }
        }
    }

    fn admit_films(&mut self, actions: &mut Vec<Action>) {
        for at in 0..self.films.len() {
            if self.films[at] != FilmState::Pending {
                continue;
            }
            if let Some(state) = self.film_now(at) {
                if state == FilmState::Joining {
                    actions.push(Action::Join { at });
                }
                self.films[at] = state;
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

    /// A node that waits for one that did not end well cannot begin. The plan's order is not topological, so this repeats until nothing changes.
    fn block_the_hopeless(&mut self) {
        loop {
            let blocked: Vec<(NodeIx, NodeIx)> = self
                .plan
                .nodes()
                .filter(|(node, _)| self.node(*node).phase == Phase::Waiting)
                .filter_map(|(node, _)| {
                    let by = self.plan.predecessors(node).into_iter().find(|before| {
                        !matches!(self.node(*before).outcome(), None | Some(Outcome::Done { .. }))
                    })?;
                    Some((node, by))
                })
                .collect();
            if blocked.is_empty() {
                return;
            }
            for (node, by) in blocked {
                self.node_mut(node).end(Outcome::Blocked { by });
            }
        }
    }

    fn end_what_has_not_begun(&mut self) {
        for node in &mut self.nodes {
            match node.phase {
                Phase::Waiting | Phase::Looking | Phase::Elsewhere | Phase::Ready { .. } => {
                    node.end(Outcome::NotBegun);
                }
                // What is being prepared is discarded when its intent arrives; a POST on its way is waited for, so that its id is not lost.
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
