//! Existing work for a node's key, from the ledger, the artifact store and the service.

use std::path::PathBuf;

use crate::artifact_store::Verify;
use crate::blocking::run_blocking;
use crate::ledger::{AttemptRow, AttemptState, Ledger, LedgerError, Snapshot};
use crate::provider::{Provider, SubmissionLookup};
use scheduler::{ExistingWork, Timestamp};

/// The existing work for a key that no attempt holds: none, or an attempt for the same work in flight at another service than `service`.
/// `None` where an attempt holds the key and [`existing_work`] is needed.
pub(super) fn unrecorded_work(
    ledger: &Snapshot<'_>,
    service: &str,
    key: &str,
    work: Option<&str>,
) -> Result<Option<ExistingWork>, LedgerError> {
    if ledger.attempt_holding(key)?.is_some() {
        return Ok(None);
    }
    let other = match work {
        Some(work) => ledger.in_flight_at_other_service(work, service)?,
        None => None,
    };
    Ok(Some(other.map_or(ExistingWork::None, |row| ExistingWork::OtherService {
        service: row.service,
        attempt: row.attempt,
        task: row.task,
    })))
}

/// The existing work for `key`, which an attempt held a moment ago. Asks the service about an indeterminate submission where the service can
/// tell, and links a video in the store to `target`.
pub(super) async fn existing_work(
    ledger: &Ledger,
    provider: &dyn Provider,
    key: &str,
    work: Option<&str>,
    target: PathBuf,
    verify: Verify,
    now: Timestamp,
) -> Result<ExistingWork, LedgerError> {
    let Some(row) = ledger.attempt_holding(key)? else {
        // Another run has released the key since.
        let work = ledger.with_snapshot(|ledger| unrecorded_work(ledger, provider.identity(), key, work))?;
        return Ok(work.unwrap_or(ExistingWork::None));
    };
    match row.state {
        AttemptState::Completed | AttemptState::Submitted => {
            task_or_artifact(ledger, row, Some(target), verify).await
        }
        AttemptState::Intended if ledger.is_alive(&row.run) => {
            Ok(ExistingWork::ClaimedByRun { run: row.run })
        }
        AttemptState::GivenUp => Ok(ExistingWork::Abandoned { attempt: row.attempt }),
        AttemptState::Intended | AttemptState::Ambiguous => {
            let SubmissionLookup::Tasks(tasks) = provider.find_tasks(&row.digest, row.intended_at).await
            else {
                return Ok(ExistingWork::Indeterminate {
                    attempt: row.attempt,
                    intended_at: row.intended_at,
                });
            };
            Ok(match ledger.account_for(&row.attempt, &tasks, now)? {
                Some(task) => ExistingWork::InFlight {
                    attempt: row.attempt,
                    task,
                    since: row.intended_at,
                    was_downloaded: false,
                },
                None => ExistingWork::None,
            })
        }
    }
}

/// The existing work for `key` from the ledger and the store alone. Changes nothing, except that it links a video in the store to `target`
/// where one is given.
pub(crate) async fn recorded_work(
    ledger: &Ledger,
    key: &str,
    target: Option<PathBuf>,
    verify: Verify,
) -> Result<ExistingWork, LedgerError> {
    let Some(row) = ledger.attempt_holding(key)? else { return Ok(ExistingWork::None) };
    match row.state {
        AttemptState::Completed | AttemptState::Submitted => {
            task_or_artifact(ledger, row, target, verify).await
        }
        AttemptState::Intended if ledger.is_alive(&row.run) => {
            Ok(ExistingWork::ClaimedByRun { run: row.run })
        }
        AttemptState::GivenUp => Ok(ExistingWork::Abandoned { attempt: row.attempt }),
        AttemptState::Intended | AttemptState::Ambiguous => {
            Ok(ExistingWork::Indeterminate { attempt: row.attempt, intended_at: row.intended_at })
        }
    }
}

async fn task_or_artifact(
    ledger: &Ledger,
    row: AttemptRow,
    target: Option<PathBuf>,
    verify: Verify,
) -> Result<ExistingWork, LedgerError> {
    let AttemptRow { attempt, task, artifact, submitted_at, intended_at, .. } = row;
    // The table's CHECK guarantees a task in these states.
    let Some(task) = task else { return Ok(ExistingWork::Indeterminate { attempt, intended_at }) };
    let since = submitted_at.unwrap_or(intended_at);
    let Some(artifact) = artifact else {
        return Ok(ExistingWork::InFlight { attempt, task, since, was_downloaded: false });
    };
    let (store, known_at) = (ledger.store(), artifact.changed_at);
    let writes = target.is_some();
    let found = run_blocking(move || match target {
        Some(target) => store.link_into(&artifact, &target, verify),
        None => Ok(store.find(&artifact, verify)?.map(|_| artifact)),
    });
    let found = found.await.map_err(|error| LedgerError::Io(std::io::Error::other(error)))??;
    let Some(artifact) = found else {
        return Ok(ExistingWork::InFlight { attempt, task, since, was_downloaded: true });
    };
    if writes && artifact.changed_at != known_at {
        ledger.note_change(&attempt, artifact.changed_at)?;
    }
    Ok(ExistingWork::Completed { attempt, task, artifact })
}
