//! Attempts for which something is still to be done, as `runner status` lists them, and what is recorded of attempts after their run.

use std::collections::HashMap;

use rusqlite::Row;

use super::attempt_state::{has_open_task, holds_key, is_in_flight, is_replaced, suggested_task};
use super::read_only::LedgerReader;
use super::sql::{artifact, artifact_columns, column};
use super::{LedgerError, PlanArguments};
use crate::artifact_store::{ArtifactStore, Verify};
use crate::unknown_task::is_service_task;
use scheduler::{Artifact, AttemptId, AttemptState, RunId, TaskId, Timestamp};
use workflow::units::Money;

/// What is known of the task of an attempt that has no video.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenTaskState {
    /// It is in flight, or may be.
    InFlight,
    /// The service did not know it when it was last asked, or had no intact video. The next run asks again.
    Missing,
    /// A `retry` gave it up, and another one was accepted in its place. No run asks for it.
    Replaced,
    /// Its video was downloaded, and is not on disk any more. The next run downloads it again.
    NoFile,
}

impl OpenTaskState {
    /// The state of the task of an attempt that has no video on disk. `is_replaced`: a later task was accepted in its place. `None` if the
    /// attempt has no open task.
    pub const fn new(state: AttemptState, is_replaced: bool) -> Option<Self> {
        match state {
            AttemptState::Intended | AttemptState::Indeterminate | AttemptState::Submitted => {
                Some(Self::InFlight)
            }
            AttemptState::Expired if is_replaced => Some(Self::Replaced),
            AttemptState::Missing | AttemptState::Expired => Some(Self::Missing),
            AttemptState::Completed => Some(Self::NoFile),
            AttemptState::Failed
            | AttemptState::Refused
            | AttemptState::NotAccepted
            | AttemptState::Abandoned => None,
        }
    }

    /// Its name in `fetch --format json`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InFlight => "in-flight",
            Self::Missing => "missing",
            Self::Replaced => "replaced",
            Self::NoFile => "no-file",
        }
    }
}

/// An attempt whose task is in flight, or may be: intended, indeterminate or submitted; or whose task is paid for and has no video.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenAttempt {
    pub attempt: AttemptId,
    /// The run that created it.
    pub run: RunId,
    /// The name of its node at that time.
    pub node: String,
    /// Its key, as lower-case hex.
    pub key: String,
    /// What is known of its task.
    pub state: OpenTaskState,
    /// The workflow of that run.
    pub workflow: String,
    /// The arguments that determined the plan of that run; `None` where they were not recorded.
    pub arguments: Option<PlanArguments>,
    /// The service that it was submitted to.
    pub service: String,
    /// Its task; `None` where it is not known to be accepted.
    pub task: Option<TaskId>,
    /// The id that the response to an indeterminate submission named.
    pub suggested_task: Option<TaskId>,
    /// When it was accepted, or when its intent was recorded.
    pub since: Timestamp,
    /// The reserved cost, where a price was known.
    pub reserved_cost: Option<Money>,
    /// The last error, for people.
    pub trouble: Option<String>,
}

/// What is recorded of an attempt by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresentAttempt {
    pub state: AttemptState,
    /// Whether its video was downloaded and is not on disk any more.
    pub has_no_file: bool,
}

impl PresentAttempt {
    /// Its state as a run finds it that looks up its key: a video that is not on disk is downloaded again.
    pub fn state_in_lookup(self) -> AttemptState {
        if self.has_no_file { AttemptState::Submitted } else { self.state }
    }
}

/// An [`OpenAttempt`] without a condition.
const OPEN_ATTEMPT: &str = concat!(
    "SELECT a.id, a.run, a.node, r.workflow, a.service, a.task, COALESCE(a.submitted_at, a.intended_at), a.reserved_cost, a.failure,
     a.key, a.state, ",
    suggested_task!(),
    ", r.arguments, ",
    is_replaced!(),
    " FROM attempts a JOIN runs r ON r.id = a.run WHERE "
);

impl LedgerReader {
    /// Attempts whose task is in flight, or may be, or is paid for and has no video; the oldest first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn open_attempts(&self) -> Result<Vec<OpenAttempt>, LedgerError> {
        let condition =
            concat!("(", is_in_flight!(), " OR ", has_open_task!(), ") ORDER BY a.intended_at, a.rowid");
        Ok(self
            .rows(&format!("{OPEN_ATTEMPT}{condition}"), [], open_attempt)?
            .into_iter()
            .flatten()
            .collect())
    }

    /// This attempt, as far as something is to be done for it: not where its video was adopted without a task.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn open_attempt(&self, attempt: &AttemptId) -> Result<Option<OpenAttempt>, LedgerError> {
        let record = self.rows(&format!("{OPEN_ATTEMPT}a.id = ?1"), [attempt.as_str()], open_attempt)?.pop();
        Ok(record.flatten().filter(|open| open.task.as_ref().is_none_or(is_service_task)))
    }

    /// What is recorded of these attempts; those that are not on record are left out.
    ///
    /// # Errors
    /// When the ledger or a video cannot be read.
    pub fn present_attempts(
        &self,
        attempts: &[AttemptId],
    ) -> Result<HashMap<AttemptId, PresentAttempt>, LedgerError> {
        let store = ArtifactStore::new(self.folder.join("artifacts"));
        let base = self.folder.join("..");
        let mut present = HashMap::with_capacity(attempts.len());
        for attempt in attempts {
            let rows = self.rows(
                concat!(
                    "SELECT a.state, ",
                    artifact_columns!(),
                    " FROM attempts a LEFT JOIN artifacts f ON f.attempt = a.id WHERE a.id = ?1"
                ),
                [attempt.as_str()],
                |row| Ok((column::<AttemptState>(row, 0)?, artifact(row, 1)?)),
            )?;
            for (state, artifact) in rows {
                let has_no_file = match artifact.filter(|_| state == AttemptState::Completed) {
                    Some(stored) => {
                        let artifact = Artifact { path: base.join(&stored.path), ..stored };
                        store.find_delivery(&artifact, None, &Verify::Metadata)?.is_none()
                    }
                    None => false,
                };
                present.insert(attempt.clone(), PresentAttempt { state, has_no_file });
            }
        }
        Ok(present)
    }
}

fn open_attempt(row: &Row<'_>) -> rusqlite::Result<Option<OpenAttempt>> {
    // Since it was looked for, a person may have resolved it.
    let Some(state) = OpenTaskState::new(column(row, 10)?, row.get(13)?) else { return Ok(None) };
    Ok(Some(OpenAttempt {
        attempt: AttemptId(row.get(0)?),
        run: RunId(row.get(1)?),
        node: row.get(2)?,
        workflow: row.get(3)?,
        arguments: column(row, 12)?,
        service: row.get(4)?,
        task: row.get::<_, Option<String>>(5)?.map(TaskId),
        suggested_task: row.get::<_, Option<String>>(11)?.map(TaskId),
        since: column(row, 6)?,
        reserved_cost: column(row, 7)?,
        trouble: row.get(8)?,
        key: row.get(9)?,
        state,
    }))
}
