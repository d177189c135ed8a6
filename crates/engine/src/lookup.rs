//! Existing work for a node's key, from the ledger, the artifact store and the service.

use std::path::PathBuf;

use crate::artifact_store::{ArtifactStore, Verify};
use crate::blocking::run_blocking;
use crate::ledger::{AttemptRow, Ledger, LedgerError, LedgerSnapshot};
use crate::provider::{Accounts, Provider, SubmissionLookup, find_submission};
use scheduler::{Artifact, AttemptState, Event, ExistingWork, RecordedAttempt, RecordedVideo};
use workflow::plan::NodeIx;

/// The existing work for a key with which no attempt continues: none, or an attempt for the same work in flight at another service than `service`.
/// `None` where there is such an attempt and [`find_existing_work`] is needed.
pub(super) fn unrecorded_work(
    ledger: &LedgerSnapshot<'_>,
    service: &str,
    key: &str,
    service_independent_key: Option<&str>,
) -> Result<Option<ExistingWork>, LedgerError> {
    if ledger.attempt_to_continue(key)?.is_some() {
        return Ok(None);
    }
    let at_other_service = match service_independent_key {
        Some(key) => ledger.in_flight_at_other_service(key, service)?,
        None => None,
    };
    Ok(Some(at_other_service.map_or(ExistingWork::None, |row| ExistingWork::OtherService {
        service: row.service,
        attempt: row.attempt,
        task: row.task,
    })))
}

/// Looks up the key of a node, a render of its instance, which an attempt held a moment ago. Links a video in the store to `target`. Queries the service for an
/// indeterminate submission if it supports that.
pub(super) async fn find_existing_work(
    ledger: &Ledger,
    provider: &dyn Provider,
    (node, render): (NodeIx, u32),
    key: String,
    service_independent_key: Option<&str>,
    target: PathBuf,
    verify: &Verify,
) -> Result<Event, LedgerError> {
    let existing = match ledger.with_snapshot(|ledger| ledger.attempt_to_continue(&key))? {
        // Another run has released the key since.
        None => ledger
            .with_snapshot(|ledger| {
                unrecorded_work(ledger, provider.identity(), &key, service_independent_key)
            })?
            .unwrap_or(ExistingWork::None),
        Some(row) => {
            let (digest, since) = (row.digest.clone(), row.intended_at);
            let existing = of_attempt(ledger, row, &provider.accounts(), Some(target), verify).await?;
            if let ExistingWork::Indeterminate { attempt, .. } = &existing
                && let SubmissionLookup::Tasks(candidates) =
                    find_submission(provider, attempt, &digest, since).await
            {
                let attempt = attempt.clone();
                return Ok(Event::Reconciled {
                    node,
                    attempt,
                    since,
                    reason: None,
                    candidates,
                    task: None,
                    next: None,
                });
            }
            existing
        }
    };
    Ok(Event::LookupDone { node, key, existing, render })
}

/// The existing work for `key` from the ledger and the store alone, for a run with these accounts. Changes nothing, except that it links a video in the store to `target`
/// where one is given.
pub(crate) async fn recorded_work(
    ledger: &Ledger,
    key: &str,
    accounts: &Accounts,
    target: Option<PathBuf>,
    verify: &Verify,
) -> Result<ExistingWork, LedgerError> {
    match ledger.with_snapshot(|ledger| ledger.attempt_to_continue(key))? {
        Some(row) => of_attempt(ledger, row, accounts, target, verify).await,
        None => Ok(ExistingWork::None),
    }
}

async fn of_attempt(
    ledger: &Ledger,
    row: AttemptRow,
    accounts: &Accounts,
    target: Option<PathBuf>,
    verify: &Verify,
) -> Result<ExistingWork, LedgerError> {
    let is_run_alive = row.state == AttemptState::Intended && ledger.is_alive(&row.run);
    let is_other_account = ledger.is_of_other_account(&row, accounts.digest(&row.service))?;
    let AttemptRow {
        attempt,
        run,
        state,
        task,
        suggested_task,
        failure: reason,
        intended_at,
        submitted_at,
        artifact,
        ..
    } = row;
    let recorded = RecordedAttempt {
        attempt,
        run,
        state,
        task,
        suggested_task,
        reason,
        intended_at,
        submitted_at,
        is_run_alive,
        is_other_account,
    };
    let video = match artifact.filter(|_| recorded.has_task()) {
        Some(artifact) => {
            let (store, verify) = (ledger.store(), verify.clone());
            let lookup = run_blocking(move || find_video(&store, artifact, target, &verify));
            lookup.await.map_err(|error| LedgerError::Io(std::io::Error::other(error)))??
        }
        None => RecordedVideo::None,
    };
    Ok(recorded.existing_work(video))
}

/// Finds a video, links it to `target` where one is given, and verifies it.
fn find_video(
    store: &ArtifactStore,
    artifact: Artifact,
    target: Option<PathBuf>,
    verify: &Verify,
) -> std::io::Result<RecordedVideo> {
    // Not for each video: what is not on record by its time is hashed.
    let delivery = match artifact.first_sha256 {
        Some(_) => store.find_delivery(&artifact, target.as_deref(), verify)?,
        None => Some(artifact),
    };
    let Some(artifact) = delivery else { return Ok(RecordedVideo::Missing) };
    if let Verify::Content(ffmpeg) = verify
        && let Some(path) = store.find(&artifact, verify)?
        && let Err(error) = ffmpeg.verify(&path)
    {
        return Ok(RecordedVideo::Damaged(error.root().to_string()));
    }
    let intact = match target {
        Some(target) => store.link_into(&artifact, &target, verify)?,
        None => store.find(&artifact, verify)?.map(|_| artifact),
    };
    Ok(intact.map_or(RecordedVideo::Missing, RecordedVideo::Intact))
}
