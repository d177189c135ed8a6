//! The virtual object of a node's key.

use std::sync::Arc;

use restate_sdk::prelude::*;
use scheduler::{
    Artifact, AttemptId, AttemptState, Event, ExistingWork, Failure, FailureKind, PollResult, Refusal,
    RefusalKind, Resolution, RunId, TaskId, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::submission;
use super::{AttemptRecord, NodeRecord};
use crate::account::{Admission, Settlement};
use crate::effects::{self, EffectError, FailedDownload};
use crate::messages::{
    ACCOUNT, Admit, ClaimTask, DownloadVideo, Events, FinishAttempt, Lookup, OfAttempt, Poll, Prepare, RUN,
    Resolve, Resolved,
};
use crate::store::Kind;
use crate::worker::Worker;

const RECORD: &str = "record";

/// The virtual object of a node's key.
#[derive(Debug, Clone)]
pub struct NodeObject(pub(crate) Arc<Worker>);

/// A request that is prepared, as it is journalled.
#[derive(Debug, Serialize, Deserialize)]
struct PreparedDigest {
    digest: String,
    by_url: bool,
}

#[object(name = "Node")]
impl NodeObject {
    /// Looks for existing work. A submission that is indeterminate is reconciled, where the service can be asked.
    #[handler]
    async fn lookup(&self, ctx: ObjectContext<'_>, message: Json<Lookup>) -> Result<(), HandlerError> {
        let Lookup { run, node } = message.0;
        let mut record = record(&ctx).await?;
        if let Some(holder) = record.holder().cloned()
            && holder.state == AttemptState::Indeterminate
            && let Some(event) =
                submission::reconcile(&ctx, &self.0, &mut record, &holder, node, None).await?
        {
            ctx.set(RECORD, Json(record));
            report(&ctx, &run, vec![event]);
            return Ok(());
        }
        let worker = Arc::clone(&self.0);
        let completed = record.holder().and_then(|holder| holder.artifact.clone());
        let is_stored = match completed {
            Some(artifact) => is_stored(&ctx, &worker, artifact).await?,
            None => false,
        };
        let existing = record.existing_work(self.0.provider.account(), |_| is_stored);
        report(&ctx, &run, vec![Event::LookupDone { node, key: ctx.key().to_owned(), existing }]);
        Ok(())
    }

    /// Prepares the request, reserves its cost and records the intent.
    #[handler]
    async fn prepare(&self, ctx: ObjectContext<'_>, message: Json<Prepare>) -> Result<(), HandlerError> {
        let message = message.0;
        let (run, node) = (message.run.clone(), message.node);
        let mut record = record(&ctx).await?;
        if let Some(holder) = record.holder() {
            let existing = ExistingWork::ClaimedByRun { run: holder.run.clone() };
            report(&ctx, &run, vec![Event::ClaimConflict { node, existing }]);
            return Ok(());
        }
        let prepared = match prepare(&ctx, &self.0, &message).await? {
            Ok(prepared) => prepared,
            Err(failure) => {
                report(&ctx, &run, vec![Event::PrepareFailed { node, failure }]);
                return Ok(());
            }
        };
        let now = match admit(&ctx, &self.0, &message).await? {
            Ok(now) => now,
            Err(limit) => {
                report(&ctx, &run, vec![Event::BudgetExceeded { node, limit }]);
                return Ok(());
            }
        };
        let attempt = AttemptRecord {
            id: message.attempt.clone(),
            run: run.clone(),
            plan: message.plan,
            node,
            name: prepared.1,
            sources: message.sources,
            digest: prepared.0.digest.clone(),
            service: self.0.provider.identity().to_owned(),
            account: self.0.provider.account().map(str::to_owned),
            state: AttemptState::Intended,
            reservation: Some(message.reservation),
            intended_at: now,
            submitted_at: None,
            task: None,
            suggested_task: None,
            reason: None,
            artifact: None,
        };
        // The key was free, and nothing else of this object has run since.
        drop(record.claim(attempt));
        ctx.set(RECORD, Json(record));
        let prepared = Event::Prepared {
            node,
            attempt: message.attempt,
            key: ctx.key().to_owned(),
            digest: prepared.0.digest,
            by_url: prepared.0.by_url,
            service_independent_key: None,
            reservation: message.reservation,
            forced_rerun: message.forced_rerun,
            parts: Vec::new(),
        };
        report(&ctx, &run, vec![prepared]);
        Ok(())
    }

    /// Sends the prepared request.
    #[handler]
    async fn submit(&self, ctx: ObjectContext<'_>, message: Json<OfAttempt>) -> Result<(), HandlerError> {
        let mut record = record(&ctx).await?;
        let events = submission::submit(&ctx, &self.0, &mut record, &message.0).await?;
        ctx.set(RECORD, Json(record));
        report(&ctx, &message.0.run, events);
        Ok(())
    }

    /// Does not send the prepared request.
    #[handler]
    async fn discard(&self, ctx: ObjectContext<'_>, message: Json<OfAttempt>) -> Result<(), HandlerError> {
        let OfAttempt { run, node, attempt } = message.0;
        let mut record = record(&ctx).await?;
        let failure = Failure::new(FailureKind::Transient, "the run ended before the request was sent");
        if record.attempt(&attempt).is_some_and(|attempt| attempt.state == AttemptState::Intended) {
            let settlement = record.refused(&attempt, RefusalKind::Retryable, &failure.message);
            finish(&ctx, &self.0, &attempt, settlement);
            ctx.set(RECORD, Json(record));
        }
        let refusal = Refusal { kind: RefusalKind::Retryable, failure, retry_after: None };
        report(&ctx, &run, vec![Event::Refused { node, attempt, refusal, next: None }]);
        Ok(())
    }

    /// Polls the task once.
    #[handler]
    async fn poll(&self, ctx: ObjectContext<'_>, message: Json<Poll>) -> Result<(), HandlerError> {
        let Poll { run, node, attempt, task } = message.0;
        let worker = Arc::clone(&self.0);
        let polled = ctx.run(move || async move { Ok(Json(worker.provider.poll(&task).await)) });
        let Json(result): Json<PollResult> = polled.name("poll").await?;
        if let PollResult::Failed { failure } = &result {
            end(&ctx, &self.0, &attempt, AttemptState::Failed, &failure.message).await?;
        }
        report(&ctx, &run, vec![Event::Polled { node, attempt, result, next: None }]);
        Ok(())
    }

    /// Downloads the video into the shared store, unless it is there.
    #[handler]
    async fn download(
        &self,
        ctx: ObjectContext<'_>,
        message: Json<DownloadVideo>,
    ) -> Result<(), HandlerError> {
        let DownloadVideo { run, spec, download } = message.0;
        let (node, attempt) = (download.node, download.attempt.clone());
        let mut record = record(&ctx).await?;
        if let Some(artifact) = record.attempt(&attempt).and_then(|attempt| attempt.artifact.clone())
            && is_stored(&ctx, &self.0, artifact.clone()).await?
        {
            // Another run that waits for the same attempt has downloaded it.
            report(&ctx, &run, vec![Event::Downloaded { node, attempt, artifact, cost: None }]);
            return Ok(());
        }
        let worker = Arc::clone(&self.0);
        let effect = ctx.run(move || async move {
            match effects::download_video(&worker, &download).await {
                Ok(done) => Ok(Json(done)),
                Err(EffectError::Failure(failure)) => {
                    Ok(Json(Err(FailedDownload { failure, partial_bytes: 0 })))
                }
                Err(EffectError::Outage(error)) => Err(error.into()),
            }
        });
        let Json(done): Json<Result<Artifact, FailedDownload>> = effect.name("download").await?;
        match done {
            Ok(artifact) => {
                let cost = cost(&ctx, &self.0, spec, node, artifact.duration).await?;
                let was_open = record.attempt(&attempt).is_some_and(|attempt| attempt.state.is_in_flight());
                record.completed(&attempt, &artifact);
                ctx.set(RECORD, Json(record));
                if was_open {
                    let settlement = cost.map_or(Settlement::Full, |cost| Settlement::Actual { cost });
                    finish(&ctx, &self.0, &attempt, settlement);
                }
                report(&ctx, &run, vec![Event::Downloaded { node, attempt, artifact, cost }]);
            }
            Err(FailedDownload { failure, partial_bytes }) => {
                let failed = Event::DownloadFailed { node, attempt, failure, partial_bytes, next: None };
                report(&ctx, &run, vec![failed]);
            }
        }
        Ok(())
    }

    /// The task is gone from the service, and the shot's `retry` pays for another one.
    #[handler]
    async fn expire(&self, ctx: ObjectContext<'_>, message: Json<OfAttempt>) -> Result<(), HandlerError> {
        let reason = "its task is gone from the service";
        end(&ctx, &self.0, &message.0.attempt, AttemptState::Expired, reason).await
    }

    /// The service does not know the task, which is paid for.
    #[handler]
    async fn mark_missing(
        &self,
        ctx: ObjectContext<'_>,
        message: Json<OfAttempt>,
    ) -> Result<(), HandlerError> {
        let reason = "the service does not know its task";
        end(&ctx, &self.0, &message.0.attempt, AttemptState::Missing, reason).await
    }

    /// A person resolves an attempt that is indeterminate.
    #[handler]
    async fn resolve(
        &self,
        ctx: ObjectContext<'_>,
        message: Json<Resolve>,
    ) -> Result<Json<Resolved>, HandlerError> {
        let Resolve { attempt, resolution } = message.0;
        let mut record = record(&ctx).await?;
        let mut resolved = record.clone();
        let settlement = match resolved.resolve(&attempt, &resolution) {
            Ok(settlement) => settlement,
            Err(None) => return Ok(Json(Resolved::NoSuchAttempt)),
            Err(Some(state)) => return Ok(Json(Resolved::NotResolvable { state })),
        };
        if let Resolution::Accepted { task } = &resolution
            && claim_task(&ctx, &self.0, &attempt, vec![task.clone()]).await?.is_none()
        {
            return Ok(Json(Resolved::TaskTaken));
        }
        record = resolved;
        ctx.set(RECORD, Json(record));
        if let Some(settlement) = settlement {
            finish(&ctx, &self.0, &attempt, settlement);
        }
        Ok(Json(Resolved::Done))
    }

    /// The key's attempts.
    #[handler]
    async fn read(&self, ctx: SharedObjectContext<'_>) -> Result<Json<NodeRecord>, HandlerError> {
        Ok(Json(ctx.get::<Json<NodeRecord>>(RECORD).await?.unwrap_or_default().into_inner()))
    }
}

async fn record(ctx: &ObjectContext<'_>) -> Result<NodeRecord, TerminalError> {
    Ok(ctx.get::<Json<NodeRecord>>(RECORD).await?.unwrap_or_default().into_inner())
}

/// Sends events to a run.
fn report(ctx: &ObjectContext<'_>, run: &RunId, events: Vec<Event>) {
    if events.is_empty() {
        return;
    }
    let target = restate_sdk::context::RequestTarget::object(RUN, run.as_str(), "step");
    let _handle = ctx.request::<_, ()>(target, Json(Events { events })).send();
}

/// The time, journalled.
pub(super) async fn now(ctx: &ObjectContext<'_>, worker: &Arc<Worker>) -> Result<Timestamp, TerminalError> {
    let worker = Arc::clone(worker);
    Ok(ctx.run(move || async move { Ok(Json(worker.clock.now())) }).name("now").await?.into_inner())
}

async fn prepare(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    message: &Prepare,
) -> Result<Result<(PreparedDigest, String), Failure>, TerminalError> {
    let (worker, plan) = (Arc::clone(worker), message.plan.clone());
    let (node, sources) = (message.node, message.sources.clone());
    let effect = ctx.run(move || async move {
        let by_url = sources.iter().any(engine::effects::InputSource::is_by_url);
        let prepared = async {
            let plan = worker.plan(&plan).await?;
            let name = plan.node(node).name.clone();
            let request = effects::prepare_request(&worker, &plan, node, &sources).await?;
            Ok((PreparedDigest { digest: request.digest().to_owned(), by_url }, name))
        };
        match prepared.await {
            Ok(prepared) => Ok(Json(Ok(prepared))),
            Err(EffectError::Failure(failure)) => Ok(Json(Err(failure))),
            Err(EffectError::Outage(error)) => Err(error.into()),
        }
    });
    Ok(effect.name("prepare").await?.into_inner())
}

/// Waits for a permit; returns the time at which it was given, or the cap that is reached.
async fn admit(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    message: &Prepare,
) -> Result<Result<Timestamp, scheduler::budget::BudgetLimit>, TerminalError> {
    loop {
        let now = now(ctx, worker).await?;
        let request = Admit {
            attempt: message.attempt.clone(),
            reservation: message.reservation,
            lease_until: now.after(message.lease),
            now,
            limits: worker.limits,
        };
        let target = restate_sdk::context::RequestTarget::object(ACCOUNT, &worker.account_key, "admit");
        let Json(admission): Json<Admission> = ctx.request(target, Json(request)).call().await?;
        match admission {
            Admission::Granted => return Ok(Ok(now)),
            Admission::BudgetExceeded { limit } => return Ok(Err(limit)),
            Admission::Wait { until } => ctx.sleep(until.since(now)).await?,
        }
    }
}

/// The first of `candidates` that no other attempt owns.
pub(super) async fn claim_task(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    attempt: &AttemptId,
    candidates: Vec<TaskId>,
) -> Result<Option<TaskId>, TerminalError> {
    let target = restate_sdk::context::RequestTarget::object(ACCOUNT, &worker.account_key, "claim_task");
    let request = ClaimTask { attempt: attempt.clone(), candidates };
    let Json(task): Json<Option<TaskId>> = ctx.request(target, Json(request)).call().await?;
    Ok(task)
}

pub(super) fn finish(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    attempt: &AttemptId,
    settlement: Settlement,
) {
    let target = restate_sdk::context::RequestTarget::object(ACCOUNT, &worker.account_key, "finish");
    let _handle =
        ctx.request::<_, ()>(target, Json(FinishAttempt { attempt: attempt.clone(), settlement })).send();
}

/// Ends an attempt without a video; what it reserved counts as spent.
async fn end(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    attempt: &AttemptId,
    state: AttemptState,
    reason: &str,
) -> Result<(), HandlerError> {
    let mut record = record(ctx).await?;
    // Two runs that wait for the same attempt may both learn its end.
    if record
        .attempt(attempt)
        .is_some_and(|attempt| attempt.state.has_open_task() || state == AttemptState::Expired)
    {
        record.end(attempt, state, reason);
        ctx.set(RECORD, Json(record));
        finish(ctx, worker, attempt, Settlement::Full);
    }
    Ok(())
}

async fn is_stored(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    artifact: Artifact,
) -> Result<bool, TerminalError> {
    let worker = Arc::clone(worker);
    let asked = ctx.run(move || async move {
        Ok(worker.store.has(Kind::Artifact, &artifact.sha256, artifact.bytes).await?)
    });
    asked.name("stored").await
}

/// What the task cost by the run's price table.
async fn cost(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    spec: String,
    node: workflow::plan::NodeIx,
    video: std::time::Duration,
) -> Result<Option<workflow::units::Money>, TerminalError> {
    let worker = Arc::clone(worker);
    let priced = ctx.run(move || async move {
        let loaded = worker.spec(&spec).await?;
        let most = loaded.prices.reservation(node, loaded.plan.node(node)).cost;
        let cost = loaded.prices.actual_cost(node, loaded.plan.node(node), video.into());
        Ok(Json(most.zip(cost).map(|(most, cost)| cost.min(most).as_micros())))
    });
    let Json(micros): Json<Option<u64>> = priced.name("cost").await?;
    Ok(micros.map(workflow::units::Money::from_micros))
}
