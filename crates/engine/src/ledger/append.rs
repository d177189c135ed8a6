//! Appends events of a run, with the decisions that need the transaction: whether an intent is admitted, and which task an attempt owns.

use rusqlite::{OptionalExtension as _, Transaction, TransactionBehavior};
use scheduler::renders::{Choice, RecordedRenders, choose};
use scheduler::{
    Artifact, AttemptId, AttemptState, Event, ExistingWork, PollResult, RunId, TaskId, Timestamp,
};
use workflow::plan::{NodeIx, NodeKey, Plan};

use super::attempt_state::holds_key;
use super::derived_tables::{Writer, owner};
use super::sql::column;
use super::{Ledger, LedgerError, RunLock};
use super::{renders, totals};
use crate::failpoint::{self, Boundary};

/// Whether an event is stored, or only passed through in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persist {
    Yes,
    /// A replay reaches the same state without it ([`scheduler::RunState::must_persist`]).
    No,
    /// It was applied at this time, and is stored now, before the others ([`scheduler::RunState::may_be_deferred`]).
    Applied(Timestamp),
}

impl Ledger {
    /// Appends events in one transaction and returns the events to apply. They are the same, except where the ledger decides:
    ///
    /// * an intent whose key another attempt holds becomes [`Event::ClaimConflict`], so does that of a node which is another render by now; one
    ///   that exceeds a limit of the run's budget becomes [`Event::BudgetExceeded`];
    /// * [`Event::Downloaded`] of a video that is on record is that of the same video ([`Artifact::delivered_after`]);
    /// * [`Event::Submitted`] with the task of another attempt at the same service becomes [`Event::Indeterminate`];
    /// * [`Event::Indeterminate`] loses a suggested task that another attempt at the same service owns;
    /// * [`Event::Reconciled`] is given its task, or becomes [`Event::ClaimConflict`] where the attempt was resolved in the meantime.
    ///
    /// # Errors
    /// When the events could not be stored; none of them is then. [`LedgerError::Replaced`] before submissions, when the file is not
    /// the one that was opened, or has lost what this run has recorded.
    pub fn append(
        &self,
        run_lock: &RunLock,
        plan: &Plan,
        time: Timestamp,
        events: Vec<(Event, Persist)>,
    ) -> Result<Vec<Event>, LedgerError> {
        for (event, persist) in &events {
            if *persist != Persist::No {
                failpoint::hit(Boundary::Before, event.kind().as_str());
            }
        }
        // Timers and polls without news need no transaction.
        if events.iter().all(|(_, persist)| *persist == Persist::No) {
            return Ok(events.into_iter().map(|(event, _)| event).collect());
        }
        if events.iter().any(|(event, _)| matches!(event, Event::Downloaded { .. })) {
            // The video's name has to be durable before the event that records it.
            self.store.sync_dir()?;
        }
        let mut connection = self.connection();
        let wrap = |source| self.sqlite(source);
        let is_synced = events.iter().any(|(event, persist)| *persist != Persist::No && needs_sync(event));
        self.sync_commits(&connection, is_synced).map_err(wrap)?;
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
        if events.iter().any(|(event, _)| matches!(event, Event::Prepared { .. })) {
            // An intent in a file that is gone is no intent.
            self.check_file()?;
            if !is_recorded(&transaction, run_lock).map_err(wrap)? {
                return Err(self.missing_records());
            }
        }
        let mut applied = Vec::with_capacity(events.len());
        let mut stored = Vec::with_capacity(events.len());
        let mut last_intent = None;
        let mut writer = Writer::new(self, &transaction, run_lock.run(), time);
        for (event, persist) in events {
            let event = match persist {
                Persist::Applied(_) => event,
                Persist::Yes | Persist::No => decide(&writer, run_lock, plan, event).map_err(wrap)?,
            };
            let node = event.node().map(|node| plan.node(node));
            writer.update_tables(&event, node).map_err(wrap)?;
            if let Event::Prepared { attempt, .. } = &event {
                last_intent = Some(attempt.clone());
            }
            let name = node.map(|node| node.name.as_str());
            match persist {
                Persist::Yes => writer.store(name, &event, time).map_err(wrap)?,
                Persist::Applied(applied_at) => writer.store(name, &event, applied_at).map_err(wrap)?,
                Persist::No => {}
            }
            if persist != Persist::No {
                stored.push(event.kind());
            }
            if !matches!(persist, Persist::Applied(_)) {
                applied.push(event);
            }
        }
        writer.finish().map_err(wrap)?;
        transaction.commit().map_err(wrap)?;
        self.sync_commits(&connection, true).map_err(wrap)?;
        drop(connection);
        if let Some(attempt) = last_intent {
            run_lock.set_last_intent(attempt);
        }
        for kind in stored {
            failpoint::hit(Boundary::After, kind.as_str());
        }
        Ok(applied)
    }
}

/// Whether an event has to survive a power cut before it is applied. The others are durable with the next one that has to, or at the end of the
/// run: without them the next run looks up, polls, downloads or joins again, and nothing is paid for.
fn needs_sync(event: &Event) -> bool {
    !matches!(
        event,
        Event::RunConfigured { .. }
            | Event::Started
            | Event::LookupDone { .. }
            | Event::Polled { result: PollResult::Completed { .. }, .. }
            | Event::Downloaded { .. }
            | Event::FilmJoined { .. }
            | Event::JoinFailed { .. }
    )
}

/// Whether the run and its latest attempt are on record: not where an earlier state of the ledger was restored into its file.
fn is_recorded(transaction: &Transaction<'_>, run_lock: &RunLock) -> rusqlite::Result<bool> {
    let run = run_lock.run().as_str();
    Ok(transaction.prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?.exists([run])?
        && match run_lock.last_intent() {
            Some(attempt) => transaction
                .prepare_cached("SELECT 1 FROM attempts WHERE id = ?1")?
                .exists([attempt.as_str()])?,
            None => true,
        })
}

/// The event to store and apply in place of `event`.
fn decide(writer: &Writer<'_>, run_lock: &RunLock, plan: &Plan, event: Event) -> rusqlite::Result<Event> {
    match event {
        // Between the lookup and now another run may have submitted the work of a task that a `retry` had given up.
        Event::LookupDone {
            node,
            ref key,
            existing: ExistingWork::InFlight { ref attempt, .. } | ExistingWork::Completed { ref attempt, .. },
            render: _,
        } => Ok(match holder(writer.transaction(), key)? {
            Some(holder) if holder.attempt != *attempt && holder.state != AttemptState::Abandoned => {
                claimed(node, holder.run)
            }
            _ => event,
        }),
        Event::Prepared { node, ref key, ref reservation, render, .. } => {
            if let Some(KeyHolder { attempt, run, .. }) = holder(writer.transaction(), key)? {
                return Ok(if run == *run_lock.run() {
                    let existing = ExistingWork::Changed { attempt: Some(attempt) };
                    Event::ClaimConflict { node, existing, renders: None }
                } else {
                    claimed(node, run)
                });
            }
            if let Some(recorded) = other_render(writer.transaction(), plan, node, key, render)? {
                let existing = ExistingWork::Changed { attempt: None };
                return Ok(Event::ClaimConflict { node, existing, renders: Some(Box::new(recorded)) });
            }
            let (caps, spent_before) = run_lock.caps();
            let amount = reservation.amount();
            let exceeded =
                totals::exceeded_by(writer.transaction(), writer.delta(), caps, spent_before, amount)?;
            Ok(match exceeded {
                Some(cap) => Event::BudgetExceeded { node, cap },
                None => event,
            })
        }
        Event::Reconciled { node, attempt, since, reason, candidates, task: _, next } => {
            let transaction = writer.transaction();
            let (state, run) =
                transaction
                    .prepare_cached("SELECT state, run FROM attempts WHERE id = ?1")?
                    .query_row([attempt.as_str()], |row| Ok((column(row, 0)?, row.get(1).map(RunId)?)))?;
            if !matches!(state, AttemptState::Intended | AttemptState::Indeterminate) {
                return Ok(claimed(node, run));
            }
            let task = first_unowned(transaction, &attempt, &candidates)?;
            let next = next.filter(|_| task.is_none());
            Ok(Event::Reconciled { node, attempt, since, reason, candidates, task, next })
        }
        // A service that answers two submissions with one id, or begins to count again: whose task it is cannot be told.
        Event::Submitted { node, attempt, task } => Ok(match owner(writer.transaction(), &attempt, &task)? {
            Some(owner) if owner != attempt => Event::Indeterminate {
                node,
                attempt,
                reason: format!("the service answered with task {task}, which is that of attempt {owner}"),
                halts: false,
                suggested_task: None,
            },
            _ => Event::Submitted { node, attempt, task },
        }),
        // It cannot be adopted.
        Event::Indeterminate { node, attempt, reason, halts, suggested_task: Some(task) } => {
            Ok(match owner(writer.transaction(), &attempt, &task)? {
                Some(owner) => Event::Indeterminate {
                    node,
                    attempt,
                    reason: format!(
                        "{reason}; the response names task {task}, which is that of attempt {owner}"
                    ),
                    halts,
                    suggested_task: None,
                },
                None => Event::Indeterminate { node, attempt, reason, halts, suggested_task: Some(task) },
            })
        }
        Event::Downloaded { node, attempt, artifact, cost } => {
            let transaction = writer.transaction();
            let artifact = as_delivered_again(transaction, &attempt, artifact)?;
            // The price table may have changed since the task was submitted: it settles at what was reserved, at most.
            let reserved = totals::reserved_cost(transaction, &attempt)?;
            let cost = cost.map(|cost| reserved.map_or(cost, |reserved| cost.min(reserved)));
            Ok(Event::Downloaded { node, attempt, artifact, cost })
        }
        Event::RunConfigured { .. }
        | Event::Started
        | Event::LookupDone { .. }
        | Event::BudgetExceeded { .. }
        | Event::ClaimConflict { .. }
        | Event::PrepareFailed { .. }
        | Event::Refused { .. }
        | Event::Indeterminate { suggested_task: None, .. }
        | Event::Polled { .. }
        | Event::DownloadFailed { .. }
        | Event::FilmJoined { .. }
        | Event::JoinFailed { .. }
        | Event::TaskExpired { .. }
        | Event::Resolved { .. }
        | Event::RendersAsked { .. }
        | Event::RendersWithdrawn { .. }
        | Event::TimerFired
        | Event::Interrupted => Ok(event),
    }
}

/// The record of a downloaded video, which may be on record for the same task already, with other bytes.
pub(super) fn as_delivered_again(
    transaction: &Transaction<'_>,
    attempt: &AttemptId,
    artifact: Artifact,
) -> rusqlite::Result<Artifact> {
    let first: Option<String> = transaction
        .prepare_cached("SELECT COALESCE(first_sha256, sha256) FROM artifacts WHERE attempt = ?1")?
        .query_row([attempt.as_str()], |row| row.get(0))
        .optional()?;
    Ok(artifact.delivered_after(first.as_deref()))
}

/// That another run holds the key of a node.
fn claimed(node: NodeIx, run: RunId) -> Event {
    Event::ClaimConflict { node, existing: ExistingWork::ClaimedByOtherRun { run }, renders: None }
}

/// The attempt that holds a key.
struct KeyHolder {
    attempt: AttemptId,
    run: RunId,
    state: AttemptState,
}

fn holder(transaction: &Transaction<'_>, key: &str) -> rusqlite::Result<Option<KeyHolder>> {
    transaction
        .prepare_cached(concat!("SELECT id, run, state FROM attempts WHERE key = ?1 AND ", holds_key!()))?
        .query_row([key], |row| {
            Ok(KeyHolder { attempt: AttemptId(row.get(0)?), run: RunId(row.get(1)?), state: column(row, 2)? })
        })
        .optional()
}

/// What is on record where the node is another render by now: its number belongs to another shot since, or a render was asked for, or what was
/// asked for is done.
fn other_render(
    transaction: &Transaction<'_>,
    plan: &Plan,
    node: NodeIx,
    key: &str,
    render: u32,
) -> rusqlite::Result<Option<RecordedRenders>> {
    let (node, Some(key)) = (plan.node(node), NodeKey::parse(key)) else { return Ok(None) };
    let (request, instance) = (key.numbered(1), node.name_without_take());
    let own = Choice { render, number: key.number() };
    let is_other =
        |recorded: &RecordedRenders| choose(&recorded.request, &recorded.wishes, node, true) != own;
    // Its own renders say so in nearly every case.
    if !is_other(&renders::of_instance(transaction, plan.name(), request, instance)?) {
        return Ok(None);
    }
    Ok(Some(renders::of_request(transaction, plan, request, instance)?).filter(is_other))
}

fn first_unowned(
    transaction: &Transaction<'_>,
    attempt: &AttemptId,
    candidates: &[TaskId],
) -> rusqlite::Result<Option<TaskId>> {
    for task in candidates {
        if owner(transaction, attempt, task)?.is_none() {
            return Ok(Some(task.clone()));
        }
    }
    Ok(None)
}
