//! Records of runs: the index, logs, the account, and the objects of keys for what nobody takes care of.

use std::collections::BTreeSet;

use engine::LedgerError;
use engine::ledger::{OpenAttempt, OpenTaskState, PlanKeys, RunRow};
use engine::provider::Accounts;
use engine::records::{RunReading, RunRecords, WorkRecords as _};
use scheduler::budget::Amount;
use scheduler::{AttemptId, RecordedEvent, RunId, Seq, StatusKind};
use workflow::plan::{NodeIx, NodeKey, Plan};

use super::ClusterRecords;
use super::run_log::RunLog;
use crate::error::ClusterError;
use crate::index::RunEntry;

/// Runs that have ended whose attempts without a video are looked up, besides those of attempts that the account has not settled.
const MAX_ENDED_RUNS: usize = 3;

/// A submission that a person resolves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndeterminateShot {
    pub shot: String,
    pub key: NodeKey,
    pub attempt: AttemptId,
}

impl RunRecords for ClusterRecords {
    fn runs(&self, ended: u32) -> RunReading<'_, Vec<RunRow>> {
        Box::pin(async move {
            let mut others = 0;
            let mut rows = Vec::new();
            for entry in self.client.runs(self.workflow.as_deref()).await? {
                let row = RunRow::from(entry);
                others += u32::from(!row.is_alive);
                if row.is_alive || others <= ended {
                    rows.push(row);
                }
            }
            Ok(rows)
        })
    }

    fn events<'a>(&'a self, run: &'a RunId, after: Seq) -> RunReading<'a, Vec<RecordedEvent>> {
        Box::pin(async move {
            let log = self.log(run).await?;
            Ok(log.map(|log| log.events_after(after).collect()).unwrap_or_default())
        })
    }

    fn open_attempts(&self) -> RunReading<'_, Vec<OpenAttempt>> {
        Box::pin(async move {
            let mut open = Vec::new();
            for run in self.runs_with_open_attempts().await? {
                if let Some(log) = self.log(&run).await? {
                    self.add_open_attempts(&run, &log, &mut open).await?;
                }
            }
            open.sort_by(|left, right| (left.since, &left.attempt.0).cmp(&(right.since, &right.attempt.0)));
            Ok(open)
        })
    }

    fn spending(&self) -> RunReading<'_, (Amount, Amount)> {
        Box::pin(async move {
            let account = self.client.account(&self.description.account_key).await?;
            Ok((account.reserved(), account.spent()))
        })
    }

    fn plan_keys<'a>(
        &'a self,
        plan: &'a Plan,
        service: &'a str,
        salt: Option<&'a str>,
    ) -> RunReading<'a, PlanKeys> {
        Box::pin(async move {
            let keys = self.key_resolver(plan, service).await?.with_salt(salt.map(str::to_owned));
            let verify = engine::artifact_store::Verify::Metadata;
            let (previews, _) =
                engine::preview::survey(plan, Some(self), &keys, &Accounts::default(), &verify).await?;
            Ok(PlanKeys::new(previews.iter().map(|preview| (preview.name.as_str(), preview.full_key))))
        })
    }
}

impl ClusterRecords {
    /// The submissions whose outcome a run does not know, whichever run sent them, and that nobody has resolved.
    ///
    /// # Errors
    /// When Restate or the shared store cannot be used.
    pub async fn indeterminate_in(&self, run: &RunId) -> Result<Vec<IndeterminateShot>, ClusterError> {
        let Some(log) = self.log(run).await? else { return Ok(Vec::new()) };
        let projection = log.projection();
        let is_indeterminate =
            |name: &str| projection.shot(name).is_some_and(|shot| shot.kind() == StatusKind::Indeterminate);
        let mut shots: Vec<(NodeIx, NodeKey)> = log.keys.iter().map(|(node, key)| (*node, *key)).collect();
        shots.retain(|(node, _)| is_indeterminate(&log.plan.node(*node).name));
        shots.sort_unstable_by_key(|(node, _)| *node);
        let keys: Vec<NodeKey> = shots.iter().map(|(_, key)| *key).collect();
        let records = self.nodes(&keys).await?;
        let open = shots.into_iter().zip(records).filter_map(|((node, key), record)| {
            let holder = record.holder().filter(|holder| holder.state.is_resolvable())?;
            let shot = log.plan.node(node).name.clone();
            Some(IndeterminateShot { shot, key, attempt: holder.id.clone() })
        });
        Ok(open.collect())
    }

    /// The submissions whose outcome is unknown, of all runs that are listed.
    ///
    /// # Errors
    /// When Restate or the shared store cannot be used.
    pub async fn indeterminate(&self) -> Result<Vec<IndeterminateShot>, LedgerError> {
        let open = self.open_attempts().await?.into_iter();
        let indeterminate = open.filter(|open| open.task.is_none() && open.state == OpenTaskState::InFlight);
        // Keys of the log are keys.
        Ok(indeterminate
            .filter_map(|open| {
                let key = NodeKey::parse(&open.key)?;
                Some(IndeterminateShot { shot: open.node, key, attempt: open.attempt })
            })
            .collect())
    }

    /// Runs that may have left a task, or a submission whose outcome is unknown.
    async fn runs_with_open_attempts(&self) -> Result<BTreeSet<RunId>, ClusterError> {
        let entries = self.client.runs(self.workflow.as_deref()).await?;
        let ended = entries.iter().filter(|entry| entry.ended.is_some());
        let mut runs: BTreeSet<RunId> = ended.take(MAX_ENDED_RUNS).map(|entry| entry.run.clone()).collect();
        let account = self.client.account(&self.description.account_key).await?;
        let unsettled: BTreeSet<&str> =
            account.open_attempts().filter_map(|attempt| Some(attempt.rsplit_once('.')?.0)).collect();
        let is_unsettled = |entry: &&RunEntry| unsettled.contains(entry.run.as_str());
        runs.extend(entries.iter().filter(is_unsettled).map(|entry| entry.run.clone()));
        Ok(runs)
    }

    async fn add_open_attempts(
        &self,
        run: &RunId,
        log: &RunLog,
        open_attempts: &mut Vec<OpenAttempt>,
    ) -> Result<(), ClusterError> {
        let open: Vec<_> = log.open_attempts().collect();
        let keys: Vec<_> = open.iter().map(|open| open.key).collect();
        for (open, record) in open.into_iter().zip(self.nodes(&keys).await?) {
            // Another run, or a person, may have ended it.
            let Some(attempt) = record.attempt(&open.attempt.id) else { continue };
            let is_replaced = record.attempt_to_continue().is_none_or(|last| last.id != attempt.id);
            let state = match OpenTaskState::new(attempt.state, is_replaced) {
                Some(state @ (OpenTaskState::InFlight | OpenTaskState::Missing)) => state,
                // No run asks for it; a video of the shared store has no file on this machine that could be missing.
                Some(OpenTaskState::Replaced | OpenTaskState::NoFile) | None => continue,
            };
            let node = log.plan.node(open.node);
            open_attempts.push(OpenAttempt {
                attempt: attempt.id.clone(),
                run: run.clone(),
                node: node.name.clone(),
                key: open.key.to_string(),
                state,
                workflow: log.plan.name().to_owned(),
                arguments: log.arguments.clone(),
                service: log.service().to_owned(),
                task: attempt.task.clone(),
                suggested_task: attempt.suggested_task.clone(),
                since: attempt.submitted_at.unwrap_or(attempt.intended_at),
                reserved_cost: open.attempt.reservation.and_then(|reservation| reservation.cost),
                trouble: attempt.reason.clone(),
            });
        }
        Ok(())
    }
}
