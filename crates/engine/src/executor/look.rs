//! What the ledger, the disk and the service together know about a key from before.

use crate::ledger::{AttemptRow, AttemptState, Ledger, LedgerError};
use crate::provider::{Found, Provider};
use crate::state::Prior;
use crate::time::Millis;

/// What is known about `key`. A submission whose answer was lost is accounted for here when the service is asked and can say what
/// became of it; without a `provider` nothing is asked and nothing recorded.
pub(crate) async fn prior(
    ledger: &Ledger,
    provider: Option<&dyn Provider>,
    key: &str,
    now: Millis,
) -> Result<Prior, LedgerError> {
    let Some(row) = ledger.live(key)? else { return Ok(Prior::Nothing) };
    match row.state {
        AttemptState::Completed | AttemptState::Submitted => made_or_out(row).await,
        AttemptState::Intended if ledger.is_alive(&row.run) => Ok(Prior::Busy { run: row.run }),
        AttemptState::Intended | AttemptState::Ambiguous => {
            let found = match provider {
                Some(provider) => provider.find(&row.digest, row.intended_at).await,
                None => Found::CannotTell,
            };
            let Found::Tasks(tasks) = found else {
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

async fn made_or_out(row: AttemptRow) -> Result<Prior, LedgerError> {
    let AttemptRow { attempt, task, artifact, submitted_at, intended_at, .. } = row;
    // The table's own check makes sure of a task in these states.
    let Some(task) = task else { return Ok(Prior::Unanswered { attempt, at: intended_at }) };
    let since = submitted_at.unwrap_or(intended_at);
    let Some(artifact) = artifact else {
        return Ok(Prior::Out { attempt, task, since, was_downloaded: false });
    };
    let checked = tokio::task::spawn_blocking(move || artifact.verify().map(|whole| (whole, artifact))).await;
    match checked {
        Ok(Ok((true, artifact))) => Ok(Prior::Made { attempt, task, artifact }),
        Ok(Ok((false, _))) => Ok(Prior::Out { attempt, task, since, was_downloaded: true }),
        Ok(Err(error)) => Err(LedgerError::Io(error)),
        Err(error) => Err(LedgerError::Io(std::io::Error::other(error))),
    }
}
