//! The tables derived from events: attempts, artifacts, films, renders, totals, and keys of one account. Every write to the ledger besides
//! `runs` is an event that goes through [`Writer::update_tables`], and through [`Writer::store`] in the same transaction.
//!
//! They are an index of the events of all runs, by key, task and file: what a transaction decides, and what is looked up without reading
//! every log. The state of a run is [`scheduler::RunProjection`]'s alone.
//!
//! Invariant: after the events of a run, the state of each attempt that it began is the one that the projection of its events gives.

use rusqlite::{Connection, OptionalExtension as _, Transaction};
use scheduler::{
    Artifact, AttemptId, AttemptState, Event, ExistingWork, Failure, Film, NextStep, PollResult, Resolution,
    RunId, TaskId, Timestamp,
};
use workflow::plan::{Node, NodeKey};
use workflow::units::Money;

use super::renders::{self, WishEnd};
use super::sql::{Sql, column, one_row};
use super::totals::{AttemptEnd, BudgetDelta, Settlement};
use super::{Ledger, accounts};

/// The run id of events of `runner ledger fetch`.
pub(super) const FETCH_RUN: &str = "fetch";

/// Writes events of one run, or of `runner resolve`, in one transaction.
pub(super) struct Writer<'a> {
    ledger: &'a Ledger,
    transaction: &'a Transaction<'a>,
    run: &'a RunId,
    time: Timestamp,
    delta: BudgetDelta,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        ledger: &'a Ledger,
        transaction: &'a Transaction<'a>,
        run: &'a RunId,
        time: Timestamp,
    ) -> Self {
        Self { ledger, transaction, run, time, delta: BudgetDelta::default() }
    }

    pub(super) fn transaction(&self) -> &'a Transaction<'a> {
        self.transaction
    }

    /// The change of the totals by the events so far.
    pub(super) fn delta(&self) -> &BudgetDelta {
        &self.delta
    }

    /// Appends an event of this time to the log. `node` is the name of its node.
    pub(super) fn store(&self, node: Option<&str>, event: &Event, time: Timestamp) -> rusqlite::Result<()> {
        let body = to_json(event)?;
        self.transaction
            .prepare_cached("INSERT INTO events (run, time, node, body) VALUES (?1, ?2, ?3, ?4)")?
            .execute((self.run.as_str(), Sql(time), node, body))?;
        Ok(())
    }

    /// Writes the totals. Call it last before the commit.
    pub(super) fn finish(self) -> rusqlite::Result<()> {
        self.delta.write(self.transaction)
    }

    /// Updates the derived tables. `node` is the event's node in the plan.
    pub(super) fn update_tables(&mut self, event: &Event, node: Option<&Node>) -> rusqlite::Result<()> {
        match event {
            Event::LookupDone { key, existing, render, .. } => {
                self.assign(node, key, *render)?;
                match existing {
                    ExistingWork::Completed { attempt, artifact, .. } => {
                        renders::close_wish(self.transaction, attempt, WishEnd::Done)?;
                        self.update_artifact(attempt, artifact)
                    }
                    ExistingWork::InFlight { attempt, .. } => self.take_up(attempt),
                    ExistingWork::None
                    | ExistingWork::Indeterminate { .. }
                    | ExistingWork::Abandoned { .. }
                    | ExistingWork::OtherService { .. }
                    | ExistingWork::ClaimedByOtherRun { .. }
                    | ExistingWork::Changed { .. } => Ok(()),
                }
            }
            Event::Prepared { key, render, .. } => {
                self.assign(node, key, *render)?;
                self.insert_intent(event, node)
            }
            Event::Submitted { attempt, task, .. } => self.submit(attempt, task, self.time),
            Event::Refused { attempt, refusal, next, .. } => {
                let failure = &refusal.failure;
                self.end(attempt, AttemptState::Refused, Some(&failure.message))?;
                self.close_failed_wish(attempt, failure, next.as_ref())
            }
            Event::Indeterminate { attempt, reason, suggested_task, .. } => {
                let changed = self
                    .transaction
                    .prepare_cached(
                        "UPDATE attempts SET state = ?2, failure = ?3, suggested_task = ?4 WHERE id = ?1",
                    )?
                    .execute((
                        attempt.as_str(),
                        Sql(AttemptState::Indeterminate),
                        reason.as_str(),
                        suggested_task.as_ref().map(TaskId::as_str),
                    ))?;
                one_row(changed)
            }
            Event::Polled { attempt, next: Some(NextStep::Missing { reason }), .. }
            | Event::DownloadFailed { attempt, next: Some(NextStep::Missing { reason }), .. } => {
                match self.state(attempt)? {
                    AttemptState::Submitted | AttemptState::Missing => {}
                    AttemptState::Completed if !self.has_been_stored(attempt)? => {}
                    // Another run or a person has decided about it meanwhile, and another attempt may hold its key.
                    AttemptState::Intended
                    | AttemptState::Indeterminate
                    | AttemptState::Completed
                    | AttemptState::Failed
                    | AttemptState::Refused
                    | AttemptState::Expired
                    | AttemptState::NotAccepted
                    | AttemptState::Abandoned => return Ok(()),
                }
                // Another one is paid for only if it is asked for again.
                renders::close_wish(self.transaction, attempt, WishEnd::Failed)?;
                self.end(attempt, AttemptState::Missing, Some(reason.as_str()))
            }
            Event::Polled { attempt, result: PollResult::Failed { failure }, next, .. } => {
                if self.state(attempt)? == AttemptState::Abandoned || self.has_been_stored(attempt)? {
                    return Ok(());
                }
                self.end(attempt, AttemptState::Failed, Some(&failure.message))?;
                self.close_failed_wish(attempt, failure, next.as_ref())
            }
            Event::Downloaded { attempt, artifact, cost, .. } => {
                if renders::is_key_taken(self.transaction, attempt)? {
                    renders::separate(self.transaction, self.run, attempt)?;
                }
                renders::close_wish(self.transaction, attempt, WishEnd::Done)?;
                self.end_at_cost(attempt, AttemptState::Completed, *cost, None)?;
                accounts::record_shown_task(self.transaction, self.run, attempt)?;
                self.insert_artifact(attempt, artifact)
            }
            Event::Reconciled { attempt, since, task, .. } => match task {
                Some(task) => self.submit(attempt, task, *since),
                None => self.end(attempt, AttemptState::NotAccepted, None),
            },
            Event::TaskExpired { attempt, .. } => self.expire(attempt),
            Event::Resolved { attempt, resolution } => self.resolve(attempt, resolution),
            Event::RendersAsked { workflow, renders, continued } => {
                renders::record_asked(self.transaction, workflow, renders, continued, self.time)
            }
            Event::RendersWithdrawn { workflow, renders } => {
                renders::record_withdrawn(self.transaction, workflow, renders)
            }
            Event::FilmJoined { film, .. } => self.insert_film(film),
            Event::RunConfigured { .. }
            | Event::Started
            | Event::ClaimConflict { .. }
            | Event::BudgetExceeded { .. }
            | Event::PrepareFailed { .. }
            | Event::Polled { .. }
            | Event::DownloadFailed { .. }
            | Event::JoinFailed { .. }
            | Event::TimerFired
            | Event::Interrupted => Ok(()),
        }
    }

    fn insert_intent(&mut self, event: &Event, node: Option<&Node>) -> rusqlite::Result<()> {
        let Event::Prepared {
            attempt,
            key,
            digest,
            service_independent_key,
            reservation,
            parts,
            node: _,
            by_url: _,
            render: _,
        } = event
        else {
            return Ok(());
        };
        // An intent is written with its plan only.
        let node = node.ok_or(rusqlite::Error::InvalidQuery)?;
        self.transaction
            .prepare_cached(
                "INSERT INTO attempts
                 (id, run, service, node, key, service_independent_key, model, video_ms, digest, state, intended_at, reserved_cost, key_parts)
                 VALUES (?1, ?2, COALESCE(?13, (SELECT service FROM runs WHERE id = ?2)), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute((
                attempt.as_str(),
                self.run.as_str(),
                node.name.as_str(),
                key.as_str(),
                service_independent_key.as_deref(),
                &*node.model,
                Sql(reservation.duration),
                digest.as_str(),
                Sql(AttemptState::Intended),
                Sql(self.time),
                reservation.cost.map(Sql),
                to_json(parts)?,
                node.service.as_deref(),
            ))?;
        self.delta.reserve(reservation.amount());
        Ok(())
    }

    fn assign(&self, node: Option<&Node>, key: &str, render: u32) -> rusqlite::Result<()> {
        match node.zip(NodeKey::parse(key)) {
            Some((node, key)) => renders::assign(self.transaction, self.run, node, key, render),
            None => Ok(()),
        }
    }

    /// A render that was asked for and that has failed for good is not waited for any more.
    fn close_failed_wish(
        &self,
        attempt: &AttemptId,
        failure: &Failure,
        next: Option<&NextStep>,
    ) -> rusqlite::Result<()> {
        if next == Some(&NextStep::Fail) && failure.kind.is_final() {
            renders::close_wish(self.transaction, attempt, WishEnd::Failed)?;
        }
        Ok(())
    }

    fn submit(&self, attempt: &AttemptId, task: &TaskId, time: Timestamp) -> rusqlite::Result<()> {
        let changed = self
            .transaction
            .prepare_cached("UPDATE attempts SET state = ?2, task = ?3, submitted_at = ?4 WHERE id = ?1")?
            .execute((attempt.as_str(), Sql(AttemptState::Submitted), task.as_str(), Sql(time)))?;
        one_row(changed)
    }

    /// An attempt ends at an unknown cost: by its state, what it reserved counts as spent, or is released.
    fn end(
        &mut self,
        attempt: &AttemptId,
        state: AttemptState,
        failure: Option<&str>,
    ) -> rusqlite::Result<()> {
        self.end_at_cost(attempt, state, None, failure)
    }

    fn end_at_cost(
        &mut self,
        attempt: &AttemptId,
        state: AttemptState,
        cost: Option<Money>,
        failure: Option<&str>,
    ) -> rusqlite::Result<()> {
        let settlement = Settlement::at_end(state, cost);
        let end = AttemptEnd { state, settlement, failure, time: self.time };
        self.delta.end(self.transaction, attempt, end)
    }

    fn expire(&mut self, attempt: &AttemptId) -> rusqlite::Result<()> {
        let state = self.state(attempt)?;
        let has_video = state == AttemptState::Completed && self.has_been_stored(attempt)?;
        if state.may_expire(has_video) { self.end(attempt, AttemptState::Expired, None) } else { Ok(()) }
    }

    /// Whether another command (`fetch`, or a run) has stored the video of an attempt since this run began, by the order of events: clocks may
    /// have been set meanwhile. What the run hears of the task later, or has heard before, does not undo that.
    fn has_been_stored(&self, attempt: &AttemptId) -> rusqlite::Result<bool> {
        self.transaction
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM attempts WHERE id = ?1 AND state = ?2) AND EXISTS (
                    SELECT 1 FROM (SELECT id FROM runs WHERE id <> ?3 UNION ALL SELECT ?4) other
                    JOIN events e ON e.run = other.id AND e.seq > (SELECT MIN(seq) FROM events WHERE run = ?3)
                    WHERE json_extract(e.body, '$.event') = 'downloaded' AND json_extract(e.body, '$.attempt') = ?1)",
            )?
            .query_row(
                (attempt.as_str(), Sql(AttemptState::Completed), self.run.as_str(), FETCH_RUN),
                |row| row.get(0),
            )
    }

    fn resolve(&mut self, attempt: &AttemptId, resolution: &Resolution) -> rusqlite::Result<()> {
        if self.state(attempt)? == AttemptState::Abandoned {
            self.delta.reopen(self.transaction, attempt)?;
        }
        match resolution {
            Resolution::Accepted { task } => {
                let intended_at = self
                    .transaction
                    .prepare_cached("SELECT intended_at FROM attempts WHERE id = ?1")?
                    .query_row([attempt.as_str()], |row| column(row, 0))?;
                self.submit(attempt, task, intended_at)
            }
            Resolution::NotAccepted => self.end(attempt, resolution.attempt_state(), None),
            Resolution::Abandoned => {
                if renders::is_replaced(self.transaction, attempt)? {
                    renders::separate(self.transaction, self.run, attempt)?;
                }
                renders::close_wish(self.transaction, attempt, WishEnd::Failed)?;
                self.end(attempt, resolution.attempt_state(), None)
            }
        }
    }

    fn state(&self, attempt: &AttemptId) -> rusqlite::Result<AttemptState> {
        self.transaction
            .prepare_cached("SELECT state FROM attempts WHERE id = ?1")?
            .query_row([attempt.as_str()], |row| column(row, 0))
    }

    fn insert_artifact(&self, attempt: &AttemptId, artifact: &Artifact) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO artifacts
                 (attempt, path, sha256, bytes, seconds, width, height, last_frame_url, expires_at, created_at, modified_ns,
                  first_sha256)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute((
                attempt.as_str(),
                self.ledger.stored_path(&artifact.path),
                artifact.sha256.as_str(),
                Sql(artifact.bytes),
                Sql(artifact.duration),
                artifact.width,
                artifact.height,
                artifact.last_frame_url.as_deref(),
                artifact.expires_at.map(Sql),
                Sql(self.time),
                artifact.modified_at.map(Sql),
                artifact.first_sha256.as_deref(),
            ))?;
        Ok(())
    }

    /// A lookup goes on with a task that a `retry` gave up: it holds its key again.
    fn take_up(&self, attempt: &AttemptId) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached("UPDATE attempts SET state = ?2 WHERE id = ?1 AND state = ?3")?
            .execute((attempt.as_str(), Sql(AttemptState::Missing), Sql(AttemptState::Expired)))?;
        Ok(())
    }

    /// A lookup verified the file's content: it may have another modification time, be back after its task was missing, or be the one that was
    /// downloaded first.
    fn update_artifact(&self, attempt: &AttemptId, artifact: &Artifact) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached(
                "UPDATE attempts SET state = ?2, failure = NULL WHERE id = ?1 AND (state = ?3 OR state = ?4)",
            )?
            .execute((
                attempt.as_str(),
                Sql(AttemptState::Completed),
                Sql(AttemptState::Missing),
                Sql(AttemptState::Expired),
            ))?;
        self.transaction
            .prepare_cached(
                "UPDATE artifacts SET modified_ns = ?2 WHERE attempt = ?1 AND modified_ns IS NOT ?2",
            )?
            .execute((attempt.as_str(), artifact.modified_at.map(Sql)))?;
        self.transaction
            .prepare_cached(
                "UPDATE artifacts SET sha256 = ?2, bytes = ?3, first_sha256 = ?4 WHERE attempt = ?1 AND sha256 <> ?2",
            )?
            .execute((
                attempt.as_str(),
                artifact.sha256.as_str(),
                Sql(artifact.bytes),
                artifact.first_sha256.as_deref(),
            ))?;
        Ok(())
    }

    fn insert_film(&self, film: &Film) -> rusqlite::Result<()> {
        if film.reused {
            return Ok(());
        }
        let bytes = std::fs::metadata(&film.path).map_or(0, |metadata| metadata.len());
        self.transaction.execute(
            "INSERT OR REPLACE INTO films (path, clips_digest, bytes, seconds, width, height, audio, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                self.ledger.stored_path(&film.path),
                film.clips_digest.as_str(),
                Sql(bytes),
                Sql(film.duration),
                film.width,
                film.height,
                film.audio,
                Sql(self.time),
            ),
        )?;
        Ok(())
    }
}

/// The attempt that owns a task of the service that `attempt` was submitted to.
pub(super) fn owner(
    transaction: &Transaction<'_>,
    attempt: &AttemptId,
    task: &TaskId,
) -> rusqlite::Result<Option<AttemptId>> {
    transaction
        .prepare_cached(
            "SELECT id FROM attempts WHERE task = ?2 AND service = (SELECT service FROM attempts WHERE id = ?1)",
        )?
        .query_row((attempt.as_str(), task.as_str()), |row| row.get(0).map(AttemptId))
        .optional()
}

/// The attempt that owns a task of `service`, and the name of its node.
pub(super) fn owner_at(
    connection: &Connection,
    service: &str,
    task: &TaskId,
) -> rusqlite::Result<Option<(AttemptId, String)>> {
    connection
        .prepare_cached("SELECT id, node FROM attempts WHERE task = ?2 AND service = ?1")?
        .query_row((service, task.as_str()), |row| Ok((AttemptId(row.get(0)?), row.get(1)?)))
        .optional()
}

fn to_json<T: serde::Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
