//! What is recorded of runs and of work, wherever the record is: in the ledger of one machine, or elsewhere.
//!
//! Whoever shows or previews reads these two traits, so that there is one implementation of each command. This crate implements them for the
//! ledger; the crate `cluster` implements them for runs on many machines.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use futures_util::future::{BoxFuture, LocalBoxFuture};
use scheduler::budget::Amount;
use scheduler::last_run::RunRecord;
use scheduler::{
    Artifact, AttemptId, AttemptState, ExistingWork, Film, KeyResolver, RecordedEvent, RunId, Seq,
    StateInRun, TaskId, Timestamp,
};
use workflow::plan::{NodeKey, Plan};
use workflow::units::Money;

use crate::artifact_store::Verify;
use crate::ledger::{
    Ledger, LedgerError, LedgerReader, OpenAttempt, PlanKeys, PresentAttempt, RecordedRender, RunRow,
    WorkAtServices,
};
use crate::lookup;
use crate::provider::Accounts;

/// What is read of the records of runs.
pub type RunReading<'a, T> = LocalBoxFuture<'a, Result<T, LedgerError>>;
/// What is read of the records of work.
pub type WorkReading<'a, T> = BoxFuture<'a, Result<T, LedgerError>>;

/// Records of runs, as `runner status` shows them. `scheduler::RunProjection` folds their events.
pub trait RunRecords {
    /// All runs that are alive, and the latest `ended` others; the latest first.
    fn runs(&self, ended: u32) -> RunReading<'_, Vec<RunRow>>;

    /// The events of a run after sequence number `after`, in order.
    fn events<'a>(&'a self, run: &'a RunId, after: Seq) -> RunReading<'a, Vec<RecordedEvent>>;

    /// Attempts whose task is in flight, may be, or is missing; the oldest first. Those of runs that are alive may be left out.
    fn open_attempts(&self) -> RunReading<'_, Vec<OpenAttempt>>;

    /// An attempt, as far as something is to be done for it.
    fn open_attempt<'a>(&'a self, _attempt: &'a AttemptId) -> RunReading<'a, Option<OpenAttempt>> {
        ready(Ok(None))
    }

    /// What is recorded of these attempts by now: it may have changed since their run ended. Those that change in runs only may be left out.
    fn present_attempts<'a>(
        &'a self,
        _attempts: &'a [AttemptId],
    ) -> RunReading<'a, HashMap<AttemptId, PresentAttempt>> {
        ready(Ok(HashMap::new()))
    }

    /// The totals over all runs: reserved for tasks in flight, and spent.
    fn spending(&self) -> RunReading<'_, (Amount, Amount)>;

    /// The totals over these runs, or over all of them where they are not recorded by run.
    fn spending_of<'a>(&'a self, _runs: &'a HashSet<RunId>) -> RunReading<'a, (Amount, Amount)> {
        self.spending()
    }

    /// The keys of a plan's nodes at `service`, with the salt of a run.
    fn plan_keys<'a>(
        &'a self,
        plan: &'a Plan,
        service: &'a str,
        salt: Option<&'a str>,
    ) -> RunReading<'a, PlanKeys>;
}

/// Records of work by key, as previews of a run and the viewer read them.
pub trait WorkRecords: Send + Sync {
    /// Keys of a run of a plan, with the renders on record.
    fn key_resolver<'a>(&'a self, plan: &'a Plan, service: &'a str) -> WorkReading<'a, KeyResolver>;

    /// The existing work of each key, for a run with these accounts.
    fn existing_work<'a>(
        &'a self,
        keys: &'a [NodeKey],
        accounts: &'a Accounts,
        verify: &'a Verify,
    ) -> WorkReading<'a, Vec<ExistingWork>>;

    /// The work at services that cost money.
    fn work_at_services(&self) -> WorkReading<'_, WorkAtServices>;

    /// The latest run of a workflow in the file of this name, or in another file if none is recorded with it.
    fn last_run<'a>(&'a self, workflow: &'a str, file: &'a Path) -> WorkReading<'a, Option<RunRecord>>;

    /// The state that runs give to the shots of their attempts, by the last attempt of each shot: runs that are alive, and `others`.
    fn states_in_runs<'a>(
        &'a self,
        others: &'a HashSet<RunId>,
    ) -> WorkReading<'a, HashMap<AttemptId, StateInRun>>;

    /// The first twelve digits of recorded keys; those that are left out cost a lookup.
    fn short_keys(&self) -> WorkReading<'_, HashSet<String>>;

    /// The attempts of a shot's instances, the latest first. Records that are kept by key alone have those of the keys that were looked up.
    fn attempts_of_shot<'a>(&'a self, shot: &'a str) -> WorkReading<'a, Vec<ShotAttempt>>;

    /// The renders of each instance of a workflow that has several, by their numbers. Records that are kept by key alone have none.
    fn several_renders<'a>(
        &'a self,
        _workflow: &'a str,
    ) -> WorkReading<'a, HashMap<String, Vec<RecordedRender>>> {
        ready_work(Ok(HashMap::new()))
    }

    /// The film at `path`, one of `plan`, if it is as it was joined.
    fn film<'a>(&'a self, plan: &'a Plan, path: &'a Path) -> WorkReading<'a, Option<Film>>;

    /// A recorded video as a file of this machine: where it is, or at `target`, if it has to be brought here.
    fn localize<'a>(&'a self, video: Artifact, target: &'a Path) -> WorkReading<'a, Artifact>;
}

/// An attempt, as the viewer shows it. One of another key was for another request: the shot's prompt, say, was edited since.
#[derive(Debug, Clone, PartialEq)]
pub struct ShotAttempt {
    pub attempt: AttemptId,
    /// The run that intended it.
    pub run: RunId,
    /// The key of the work that it was intended for; `None` where the record has no valid one.
    pub key: Option<NodeKey>,
    /// The name of its node at that time.
    pub node: String,
    pub state: AttemptState,
    /// When the intent was recorded.
    pub intended_at: Timestamp,
    /// Its task, once it was accepted.
    pub task: Option<TaskId>,
    /// The last error.
    pub failure: Option<String>,
    /// The most that was reserved for it, where a price was known.
    pub reserved_cost: Option<Money>,
    /// From its submission to its video.
    pub elapsed: Option<Duration>,
}

fn ready<'a, T: 'a>(read: Result<T, LedgerError>) -> RunReading<'a, T> {
    Box::pin(std::future::ready(read))
}

fn ready_work<'a, T: Send + 'a>(read: Result<T, LedgerError>) -> WorkReading<'a, T> {
    Box::pin(std::future::ready(read))
}

impl RunRecords for LedgerReader {
    fn runs(&self, ended: u32) -> RunReading<'_, Vec<RunRow>> {
        ready(self.runs(ended))
    }

    fn events<'a>(&'a self, run: &'a RunId, after: Seq) -> RunReading<'a, Vec<RecordedEvent>> {
        ready(self.events(run, after))
    }

    fn open_attempts(&self) -> RunReading<'_, Vec<OpenAttempt>> {
        ready(self.open_attempts())
    }

    fn open_attempt<'a>(&'a self, attempt: &'a AttemptId) -> RunReading<'a, Option<OpenAttempt>> {
        ready(self.open_attempt(attempt))
    }

    fn present_attempts<'a>(
        &'a self,
        attempts: &'a [AttemptId],
    ) -> RunReading<'a, HashMap<AttemptId, PresentAttempt>> {
        ready(self.present_attempts(attempts))
    }

    fn spending(&self) -> RunReading<'_, (Amount, Amount)> {
        ready(self.spending())
    }

    fn spending_of<'a>(&'a self, runs: &'a HashSet<RunId>) -> RunReading<'a, (Amount, Amount)> {
        ready(self.spending_of(runs))
    }

    fn plan_keys<'a>(
        &'a self,
        plan: &'a Plan,
        service: &'a str,
        salt: Option<&'a str>,
    ) -> RunReading<'a, PlanKeys> {
        ready(self.plan_keys(plan, service, salt))
    }
}

impl WorkRecords for Ledger {
    fn key_resolver<'a>(&'a self, plan: &'a Plan, service: &'a str) -> WorkReading<'a, KeyResolver> {
        ready_work(self.key_resolver(plan, service))
    }

    fn existing_work<'a>(
        &'a self,
        keys: &'a [NodeKey],
        accounts: &'a Accounts,
        verify: &'a Verify,
    ) -> WorkReading<'a, Vec<ExistingWork>> {
        Box::pin(async move {
            let mut existing = Vec::with_capacity(keys.len());
            for key in keys {
                existing.push(lookup::recorded_work(self, &key.to_string(), accounts, None, verify).await?);
            }
            Ok(existing)
        })
    }

    fn work_at_services(&self) -> WorkReading<'_, WorkAtServices> {
        ready_work(self.work_at_services())
    }

    fn last_run<'a>(&'a self, workflow: &'a str, file: &'a Path) -> WorkReading<'a, Option<RunRecord>> {
        ready_work(self.last_run(workflow, file))
    }

    fn states_in_runs<'a>(
        &'a self,
        others: &'a HashSet<RunId>,
    ) -> WorkReading<'a, HashMap<AttemptId, StateInRun>> {
        ready_work(self.states_in_runs(others))
    }

    fn short_keys(&self) -> WorkReading<'_, HashSet<String>> {
        ready_work(self.short_keys())
    }

    fn attempts_of_shot<'a>(&'a self, shot: &'a str) -> WorkReading<'a, Vec<ShotAttempt>> {
        ready_work(shot_attempts(self, shot))
    }

    fn several_renders<'a>(
        &'a self,
        workflow: &'a str,
    ) -> WorkReading<'a, HashMap<String, Vec<RecordedRender>>> {
        ready_work(self.several_renders(workflow))
    }

    fn film<'a>(&'a self, _plan: &'a Plan, path: &'a Path) -> WorkReading<'a, Option<Film>> {
        ready_work(self.film(path))
    }

    fn localize<'a>(&'a self, video: Artifact, target: &'a Path) -> WorkReading<'a, Artifact> {
        // The record has the folder of the run that has downloaded it; another run may have linked it here.
        let is_here = std::fs::metadata(target)
            .is_ok_and(|metadata| metadata.is_file() && metadata.len() == video.bytes);
        let path = if is_here { target.to_owned() } else { video.path };
        ready_work(Ok(Artifact { path, ..video }))
    }
}

fn shot_attempts(ledger: &Ledger, shot: &str) -> Result<Vec<ShotAttempt>, LedgerError> {
    let records = ledger.attempts_of_shot(shot)?.into_iter();
    let attempts = records.map(|record| {
        let row = ledger.attempt(&record.attempt)?;
        let completed = row.as_ref().filter(|row| row.state == AttemptState::Completed);
        let elapsed = completed.and_then(|row| Some(row.ended_at?.since(row.submitted_at?)));
        let run = row.as_ref().map(|row| row.run.clone());
        Ok(run.map(|run| ShotAttempt {
            attempt: record.attempt,
            run,
            key: record.key,
            node: record.node,
            state: record.state,
            intended_at: record.intended_at,
            task: row.as_ref().and_then(|row| row.task.clone()),
            reserved_cost: row.as_ref().and_then(|row| row.reservation.cost),
            elapsed,
            failure: row.and_then(|row| row.failure),
        }))
    });
    // Nobody removes attempts.
    attempts.filter_map(Result::transpose).collect()
}
