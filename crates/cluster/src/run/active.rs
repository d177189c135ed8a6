//! A run in the memory of a worker. Pure: time is an input, and effects are [`Outgoing`] messages.

use std::collections::VecDeque;
use std::sync::Arc;

use engine::provider::Provider;
use scheduler::{AttemptId, Event, RunState, Timestamp};

use super::log::{Logged, RunHead, SEGMENT_LEN};
use super::outgoing::{Outgoing, Target, outgoing};
use crate::worker::LoadedSpec;

/// A run with the state that its events led to.
pub(crate) struct ActiveRun {
    pub(crate) loaded: Arc<LoadedSpec>,
    /// Invariant: what `length` events of the log lead to.
    pub(crate) state: RunState,
    pub(crate) length: u64,
    /// The events of the last segment, if it is not full.
    tail: Vec<Logged>,
    /// Attempts that were begun, for their ids.
    attempts: u64,
}

/// What a step of a run changes.
#[derive(Debug)]
pub(crate) struct Step {
    /// Segments that changed, by number.
    pub(crate) segments: Vec<(u64, Vec<Logged>)>,
    /// Messages to send, in order.
    pub(crate) messages: Vec<Outgoing>,
}

impl ActiveRun {
    /// The run before its first event.
    pub(crate) fn new(loaded: Arc<LoadedSpec>, head: &RunHead) -> Self {
        let state = loaded.spec.initial_state(
            Arc::clone(&loaded.plan),
            &head.identity,
            head.policy.clone(),
            Arc::clone(&loaded.prices),
        );
        Self { loaded, state, length: 0, tail: Vec::new(), attempts: 0 }
    }

    /// Catches up with an event of the log.
    pub(crate) fn replay(&mut self, logged: Logged) {
        let actions = self.state.apply(logged.event.clone(), logged.time);
        self.attempts +=
            actions.iter().filter(|action| matches!(action, scheduler::Action::Prepare { .. })).count()
                as u64;
        self.append(logged);
    }

    /// Decides, appends and applies events, and returns what follows.
    pub(crate) fn step(
        &mut self,
        head: &RunHead,
        provider: &dyn Provider,
        events: Vec<Event>,
        now: Timestamp,
    ) -> Step {
        let mut segments = Vec::new();
        let mut messages = Vec::new();
        let mut queue = VecDeque::from(events);
        while let Some(event) = queue.pop_front() {
            let event = self.state.decide(event, now);
            if let Some(message) = self.after_decision(head, &event) {
                messages.push(message);
            }
            let actions = self.state.apply(event.clone(), now);
            if let Some(unexpected) = self.state.unexpected() {
                tracing::warn!(?unexpected, "an event comes in a phase that does not wait for it");
            }
            for action in actions {
                let attempt = || AttemptId(format!("{}.{}", head.run, self.attempts + 1));
                let is_prepare = matches!(action, scheduler::Action::Prepare { .. });
                let (sent, again) = outgoing(action, &self.state, &self.loaded, head, provider, attempt, now);
                self.attempts += u64::from(is_prepare);
                messages.extend(sent);
                queue.extend(again);
            }
            let segment = self.append(Logged { time: now, event });
            segments.retain(|(number, _)| *number != segment.0);
            segments.push(segment);
        }
        Step { segments, messages }
    }

    /// Whether every node and every film have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.state.is_over()
    }

    /// Appends an event, and returns its segment.
    fn append(&mut self, logged: Logged) -> (u64, Vec<Logged>) {
        let segment = self.length / SEGMENT_LEN;
        if self.length.is_multiple_of(SEGMENT_LEN) {
            self.tail.clear();
        }
        self.tail.push(logged);
        self.length += 1;
        (segment, self.tail.clone())
    }

    /// What the decision about an event changes at its node, or in the index of the workflow.
    fn after_decision(&self, head: &RunHead, event: &Event) -> Option<Outgoing> {
        if let Event::Prepared { forced_rerun: Some(rerun), .. } = event {
            return Some(Outgoing::now(Target::WorkflowIndex, "rerun", rerun));
        }
        let Event::Polled { node, attempt, next: Some(scheduler::NextStep::Missing { .. }), .. } = event
        else {
            return None;
        };
        let key = self.state.key(*node)?;
        let message =
            crate::messages::OfAttempt { run: head.run.clone(), node: *node, attempt: attempt.clone() };
        Some(Outgoing::now(Target::Node(key.to_string()), "mark_missing", &message))
    }
}

#[cfg(test)]
#[path = "active_tests.rs"]
mod tests;
