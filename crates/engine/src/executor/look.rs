//! What the ledger, the disk and the service together know about a key from before.

use std::path::PathBuf;

use scheduler::{Millis, Prior};

use crate::blocking::blocking;
use crate::ledger::{AttemptRow, AttemptState, Ledger, LedgerError, Questions};
use crate::provider::{Found, Provider};
use crate::store::Check;

/// What there is to say about a key that is not on record: nothing, or that the same work is out at another service than `service`. Nothing
/// is answered where the key is on record.
pub(super) fn unknown(
    ledger: &Questions<'_>,
    service: &str,
    key: &str,
    work: Option<&str>,
) -> Result<Option<Prior>, LedgerError> {
    if ledger.live(key)?.is_some() {
        return Ok(None);
    }
    let elsewhere = match work {
        Some(work) => ledger.elsewhere(work, service)?,
        None => None,
    };
    Ok(Some(elsewhere.map_or(Prior::Nothing, |row| Prior::AtOther {
        service: row.service,
        attempt: row.attempt,
        task: row.task,
    })))
}

/// What is known about `key`, which was on record a moment ago. A submission whose answer was lost is accounted for here when the service is
/// asked and can say what became of it, and a video that is there gets the name `target`.
pub(super) async fn prior(
    ledger: &Ledger,
    provider: &dyn Provider,
    key: &str,
    work: Option<&str>,
    target: PathBuf,
    check: Check,
    now: Millis,
) -> Result<Prior, LedgerError> {
    let Some(row) = ledger.live(key)? else {
        // Another run has let go of it meanwhile.
        let unknown = ledger.ask(|ledger| unknown(ledger, provider.identity(), key, work))?;
        return Ok(unknown.unwrap_or(Prior::Nothing));
    };
    match row.state {
        AttemptState::Completed | AttemptState::Submitted => {
            made_or_out(ledger, row, Some(target), check).await
        }
        AttemptState::Intended if ledger.is_alive(&row.run) => Ok(Prior::Busy { run: row.run }),
        AttemptState::GivenUp => Ok(Prior::GivenUp { attempt: row.attempt }),
        AttemptState::Intended | AttemptState::Ambiguous => {
            let Found::Tasks(tasks) = provider.find(&row.digest, row.intended_at).await else {
                return Ok(Prior::Unanswered { attempt: row.attempt, at: row.intended_at });
            };
            Ok(match ledger.account_for(&row.attempt, &tasks, now)? {
                Some(task) => {
                    Prior::Out { attempt: row.attempt, task, since: row.intended_at, was_downloaded: false }
                }
                None => Prior::Nothing,
            })
        }
    }
}

/// What is known about `key` without asking anybody. Nothing is changed, except that a video that is there gets the name `target`, if
/// one is given.
pub(crate) async fn glance(
    ledger: &Ledger,
    key: &str,
    target: Option<PathBuf>,
    check: Check,
) -> Result<Prior, LedgerError> {
    let Some(row) = ledger.live(key)? else { return Ok(Prior::Nothing) };
    match row.state {
        AttemptState::Completed | AttemptState::Submitted => made_or_out(ledger, row, target, check).await,
        AttemptState::Intended if ledger.is_alive(&row.run) => Ok(Prior::Busy { run: row.run }),
        AttemptState::GivenUp => Ok(Prior::GivenUp { attempt: row.attempt }),
        AttemptState::Intended | AttemptState::Ambiguous => {
            Ok(Prior::Unanswered { attempt: row.attempt, at: row.intended_at })
        }
    }
}

async fn made_or_out(
    ledger: &Ledger,
    row: AttemptRow,
    target: Option<PathBuf>,
    check: Check,
) -> Result<Prior, LedgerError> {
    let AttemptRow { attempt, task, artifact, submitted_at, intended_at, .. } = row;
    // The table's own check makes sure of a task in these states.
    let Some(task) = task else { return Ok(Prior::Unanswered { attempt, at: intended_at }) };
    let since = submitted_at.unwrap_or(intended_at);
    let Some(artifact) = artifact else {
        return Ok(Prior::Out { attempt, task, since, was_downloaded: false });
    };
    let (store, known_at) = (ledger.store(), artifact.changed_at);
    let writes = target.is_some();
    let found = blocking(move || match target {
        Some(target) => store.provide(&artifact, &target, check),
        None => Ok(store.find(&artifact, check)?.map(|_| artifact)),
    });
    let found = found.await.map_err(|error| LedgerError::Io(std::io::Error::other(error)))??;
    let Some(artifact) = found else {
        return Ok(Prior::Out { attempt, task, since, was_downloaded: true });
    };
    if writes && artifact.changed_at != known_at {
        ledger.note_change(&attempt, artifact.changed_at)?;
    }
    Ok(Prior::Made { attempt, task, artifact })
}
