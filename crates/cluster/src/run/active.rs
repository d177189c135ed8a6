//! A run in the memory of a worker. Pure: time is an input, and effects are [`Outgoing`] messages.
//!
//! A message that is answered has a sequence number, and its answer repeats it. Workers send answers at least once; the run takes the first
//! one. A message whose answer does not come, because its invocation was killed by hand, is sent again by a check.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use engine::provider::Provider;
use scheduler::{
    AttemptId, Event, ExistingWork, Halt, NextStep, Outcome, PollResult, Refusal, RunState, Timestamp,
};
use workflow::plan::NodeKey;

use super::log::{LogEntry, RunHead, SEGMENT_LEN, StoredRun};
use super::outgoing::{Outgoing, Target, Waiter, outgoing};
use crate::index::RenderFact;
use crate::messages::{Answer, EndAttempt};
use crate::worker::LoadedSpec;

/// Lookups of a run that are not answered, at most. Each is an invocation of its own, and Restate executes a limited number at once.
const MAX_LOOKUPS: usize = 256;
/// After this time without an answer a message is sent again; after twice the time another time, and so on. A node may wait for a permit
/// meanwhile, and the message after it.
const RESEND_AFTER: Duration = Duration::from_mins(10);
/// The same for films, which take longer and would be joined twice at once.
const RESEND_FILM_AFTER: Duration = Duration::from_hours(2);
/// Doublings of that time, at most.
const MAX_DOUBLINGS: u32 = 8;

/// The inputs of a run.
#[derive(Debug, Clone)]
pub(crate) enum RunInput {
    /// An answer to one of its messages.
    Answer(Answer),
    /// An event of the run itself.
    Event(Box<Event>),
    Check,
}

impl From<Event> for RunInput {
    fn from(event: Event) -> Self {
        Self::Event(Box::new(event))
    }
}

/// A run with the state that its events led to.
pub(crate) struct ActiveRun {
    pub(crate) loaded: Arc<LoadedSpec>,
    /// Invariant: what `length` events of the log lead to, as is everything below.
    pub(crate) state: RunState,
    pub(crate) length: u64,
    /// The events after the last full segment.
    tail: Vec<LogEntry>,
    /// Attempts that were begun, for their ids.
    attempts: u64,
    /// Messages with a sequence number, so far.
    messages: u64,
    /// Messages that are not answered, by who waits for the answer.
    open: BTreeMap<Waiter, OutstandingMessage>,
    /// Lookups among them that wait until fewer are open.
    deferred_lookups: VecDeque<Waiter>,
    /// Lookups among them that were sent without delay.
    lookups: usize,
    /// Whether its requests for permits were withdrawn.
    is_withdrawn: bool,
}

/// A message that is not answered.
struct OutstandingMessage {
    seq: u64,
    message: Outgoing,
    /// When it was delivered last; `None` while it is held.
    due: Option<Timestamp>,
    /// How often it was sent again.
    resent: u32,
}

/// What a step of a run changes.
#[derive(Debug, Default)]
pub(crate) struct RunStep {
    /// Segments that are full now, by number.
    pub(crate) segments: Vec<(u64, Vec<LogEntry>)>,
    /// Messages to send, in order.
    pub(crate) messages: Vec<Outgoing>,
    /// What it tells of renders: one message for all of it.
    facts: Vec<RenderFact>,
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
        Self {
            loaded,
            state,
            length: 0,
            tail: Vec::new(),
            attempts: 0,
            messages: 0,
            open: BTreeMap::new(),
            deferred_lookups: VecDeque::new(),
            lookups: 0,
            is_withdrawn: false,
        }
    }

    /// Catches up with an event of the log. What followed from it was sent when it was logged.
    pub(crate) fn replay(&mut self, head: &RunHead, provider: &dyn Provider, logged: LogEntry) {
        drop(self.apply(head, provider, &logged));
        drop(self.append(logged));
    }

    /// Decides, appends and applies the inputs, and returns what follows.
    pub(crate) fn step(
        &mut self,
        head: &RunHead,
        provider: &dyn Provider,
        inputs: Vec<RunInput>,
        now: Timestamp,
    ) -> RunStep {
        let mut step = RunStep::default();
        for input in inputs {
            let (events, is_answer, is_check) = match input {
                RunInput::Answer(answer) if self.awaits(&answer) => (answer.events, true, false),
                RunInput::Answer(answer) => {
                    tracing::debug!(seq = answer.seq, "an answer came twice");
                    continue;
                }
                RunInput::Event(event) => (vec![*event], false, false),
                RunInput::Check => (vec![Event::TimerFired], false, true),
            };
            let queue = events.into_iter().map(|event| LogEntry { time: now, event, is_answer, is_check });
            self.take(head, provider, queue.collect(), &mut step);
        }
        let facts = std::mem::take(&mut step.facts);
        if !facts.is_empty() {
            step.messages.push(Outgoing::now(Target::WorkflowIndex, "record", &facts));
        }
        step
    }

    /// Whether it ended with work that nobody took care of: its log names the attempts that `status` and `resolve` show.
    pub(crate) fn leaves_open_work(&self) -> bool {
        self.loaded.plan.nodes().any(|(node, _)| match self.state.node(node).outcome() {
            Some(
                Outcome::Indeterminate { .. }
                | Outcome::Detached { .. }
                | Outcome::AtOtherService { .. }
                | Outcome::Missing { .. },
            )
            | None => true,
            Some(
                Outcome::Done { .. }
                | Outcome::Failed { .. }
                | Outcome::Unrecorded { .. }
                | Outcome::Blocked { .. }
                | Outcome::Unpicked { .. }
                | Outcome::NotSelected { .. }
                | Outcome::NotStarted,
            ) => false,
        })
    }

    /// The run as it is stored.
    pub(crate) fn stored(&self, mut head: RunHead, now: Timestamp, next_check: Timestamp) -> StoredRun {
        head.length = self.length;
        head.last = now;
        head.is_ended = self.state.is_over();
        StoredRun { head, tail: self.tail.clone(), next_check }
    }

    fn take(
        &mut self,
        head: &RunHead,
        provider: &dyn Provider,
        mut queue: VecDeque<LogEntry>,
        step: &mut RunStep,
    ) {
        while let Some(mut logged) = queue.pop_front() {
            logged.event = self.state.decide(logged.event, logged.time);
            step.messages.extend(self.after_decision(&logged.event));
            step.facts.extend(self.render_fact(&logged.event));
            // An answer may say what became of the next action, too: then that is not asked for.
            let waiter = Waiter::from_event(&logged.event);
            let is_continued = waiter.is_some()
                && queue.iter().any(|next| next.is_answer && Waiter::from_event(&next.event) == waiter);
            let (messages, follow_ups) = self.apply(head, provider, &logged);
            let is_sent =
                |message: &Outgoing| !is_continued || message.waiter.is_none() || message.waiter != waiter;
            step.messages.extend(messages.into_iter().filter(is_sent));
            let time = logged.time;
            queue.extend(follow_ups.into_iter().map(|event| LogEntry {
                time,
                event,
                is_answer: false,
                is_check: false,
            }));
            step.segments.extend(self.append(logged));
        }
    }

    /// Whether an answer is the first one to a message.
    fn awaits(&self, answer: &Answer) -> bool {
        let waiter = answer.events.iter().find_map(Waiter::from_event);
        let open = waiter.and_then(|waiter| self.open.get(&waiter));
        open.is_some_and(|open| open.seq == answer.seq)
    }

    /// Applies an event; returns the messages that follow, and the events that follow at once.
    fn apply(
        &mut self,
        head: &RunHead,
        provider: &dyn Provider,
        logged: &LogEntry,
    ) -> (Vec<Outgoing>, Vec<Event>) {
        let now = logged.time;
        if logged.is_answer
            && let Some(answered) = Waiter::from_event(&logged.event)
        {
            self.close(answered);
        }
        let actions = self.state.apply(logged.event.clone(), now);
        if let Some(unexpected) = self.state.unexpected() {
            tracing::warn!(?unexpected, "an event comes in a phase that does not wait for it");
        }
        let (mut messages, mut follow_ups) = (Vec::new(), Vec::new());
        for action in actions {
            let attempt = || AttemptId(format!("{}.{}", head.run, self.attempts + 1));
            let is_prepare = matches!(action, scheduler::Action::Prepare { .. });
            let seq = self.messages + 1;
            let (message, event) =
                outgoing(action, &self.state, &self.loaded, head, provider, attempt, seq, now);
            self.attempts += u64::from(is_prepare);
            follow_ups.extend(event);
            messages.extend(message.and_then(|message| self.open(message, now)));
        }
        if logged.is_check {
            self.resend(now, &mut messages);
        }
        self.release_held(now, &mut messages);
        let ends_early = match self.state.halt() {
            Some(
                Halt::Interrupted
                | Halt::ServiceUnusable { .. }
                | Halt::StorageUnusable { .. }
                | Halt::FailFast { .. },
            ) => true,
            // What waits for a permit fits the budget and goes on. After the end, a request that was sent again may still arrive.
            Some(Halt::BudgetExceeded { .. }) => self.state.is_over(),
            None => false,
        };
        if ends_early && !self.is_withdrawn {
            self.is_withdrawn = true;
            messages.push(Outgoing::withdraw(&head.run));
        }
        (messages, follow_ups)
    }

    /// Notes a message that is answered. `None` if it is held.
    fn open(&mut self, message: Outgoing, now: Timestamp) -> Option<Outgoing> {
        let Some(waiter) = message.waiter else { return Some(message) };
        self.messages += 1;
        let is_held = is_bounded(&message) && self.lookups >= MAX_LOOKUPS;
        let due = (!is_held).then(|| now.after(message.delay));
        let open = OutstandingMessage { seq: self.messages, message: message.clone(), due, resent: 0 };
        self.close(waiter);
        self.lookups += usize::from(!is_held && is_bounded(&message));
        self.open.insert(waiter, open);
        if is_held {
            self.deferred_lookups.push_back(waiter);
            return None;
        }
        Some(message)
    }

    fn close(&mut self, waiter: Waiter) {
        if let Some(open) = self.open.remove(&waiter)
            && open.due.is_some()
            && is_bounded(&open.message)
        {
            self.lookups -= 1;
        }
    }

    /// Sends lookups that were held, as far as there is room.
    fn release_held(&mut self, now: Timestamp, messages: &mut Vec<Outgoing>) {
        while self.lookups < MAX_LOOKUPS {
            let Some(waiter) = self.deferred_lookups.pop_front() else { return };
            if self.has_ended(waiter) {
                continue;
            }
            if let Some(open) = self.open.get_mut(&waiter).filter(|open| open.due.is_none()) {
                open.due = Some(now);
                self.lookups += 1;
                messages.push(open.message.clone());
            }
        }
    }

    /// Sends messages again that are not answered for long.
    fn resend(&mut self, now: Timestamp, messages: &mut Vec<Outgoing>) {
        let ended: Vec<Waiter> = self.open.keys().copied().filter(|waiter| self.has_ended(*waiter)).collect();
        for waiter in ended {
            self.close(waiter);
        }
        for (waiter, open) in &mut self.open {
            let first = match waiter {
                Waiter::Node(_) => RESEND_AFTER,
                Waiter::Film(_) => RESEND_FILM_AFTER,
            };
            let wait = first * (1 << open.resent.min(MAX_DOUBLINGS));
            if open.due.is_some_and(|due| due.after(wait) <= now) {
                tracing::warn!(handler = open.message.handler, seq = open.seq, "a message is sent again");
                open.due = Some(now);
                open.resent += 1;
                messages.push(Outgoing { delay: Duration::ZERO, ..open.message.clone() });
            }
        }
    }

    fn has_ended(&self, waiter: Waiter) -> bool {
        match waiter {
            Waiter::Node(node) => self.state.node(node).outcome().is_some(),
            Waiter::Film(_) => false,
        }
    }

    /// Appends an event, and returns the segment that it fills.
    fn append(&mut self, logged: LogEntry) -> Option<(u64, Vec<LogEntry>)> {
        self.tail.push(logged);
        self.length += 1;
        self.length
            .is_multiple_of(SEGMENT_LEN)
            .then(|| (self.length / SEGMENT_LEN - 1, std::mem::take(&mut self.tail)))
    }

    /// What the decision about an event changes at its node.
    fn after_decision(&self, event: &Event) -> Option<Outgoing> {
        let (Event::Polled { node, attempt, next: Some(NextStep::Missing { .. }), .. }
        | Event::DownloadFailed { node, attempt, next: Some(NextStep::Missing { .. }), .. }) = event
        else {
            return None;
        };
        let key = self.state.key(*node)?;
        let message = EndAttempt { attempt: attempt.clone() };
        Some(Outgoing::now(Target::Node(key.to_string()), "mark_missing", &message))
    }

    /// What the decision about an event tells of a render, as the tables of a ledger have it.
    fn render_fact(&self, event: &Event) -> Option<RenderFact> {
        let node = event.node()?;
        let instance = self.loaded.plan.node(node).name_without_take();
        let known = &self.loaded.spec.renders;
        let fact = match event {
            Event::LookupDone { key, existing, render, .. } => {
                let has_video = match existing {
                    ExistingWork::None | ExistingWork::Changed { .. } | ExistingWork::OtherService { .. } => {
                        return None;
                    }
                    ExistingWork::Completed { .. } => true,
                    ExistingWork::InFlight { .. }
                    | ExistingWork::Indeterminate { .. }
                    | ExistingWork::Abandoned { .. }
                    | ExistingWork::ClaimedByOtherRun { .. } => false,
                };
                known.work(NodeKey::parse(key)?, instance, *render, has_video)
            }
            Event::Prepared { key, render, .. } => {
                return Some(known.work(NodeKey::parse(key)?, instance, *render, false));
            }
            Event::Downloaded { .. } => {
                known.work(self.state.key(node)?, instance, self.state.render(node)?, true)
            }
            Event::Refused { refusal: Refusal { failure, .. }, next: Some(NextStep::Fail), .. }
            | Event::Polled { result: PollResult::Failed { failure }, next: Some(NextStep::Fail), .. } => {
                RenderFact::Failed { key: self.state.key(node)?, is_final: failure.kind.is_final() }
            }
            _ => return None,
        };
        (!known.has(&fact)).then_some(fact)
    }
}

/// Whether a message counts against [`MAX_LOOKUPS`].
fn is_bounded(message: &Outgoing) -> bool {
    message.handler == "lookup" && message.delay.is_zero()
}

#[cfg(test)]
#[path = "active_tests.rs"]
mod tests;
