//! The virtual object of a node's key.
//!
//! A handler journals what decides, changes the record, and reports to the run last. A report is a worker step as well, so that it is not lost; it
//! may arrive more than once, and the run takes the first one.

use std::sync::Arc;

use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use scheduler::{
    Artifact, AttemptId, AttemptState, Event, ExistingWork, Failure, FailureKind, PollResult, Refusal,
    RefusalKind, Resolution,
};
use workflow::plan::NodeKey;

use super::NodeRecord;
use super::account::{claim_task, finish};
use super::preparation::{self, Preparation};
use super::submission;
use crate::account::AccountSettlement;
use crate::effects::{self, EffectError, FailedDownload};
use crate::index::{RenderFact, index_key};
use crate::messages::{
    AttemptRef, DownloadVideo, EndAttempt, INDEX, Lookup, Poll, Prepare, ResolutionResult, Resolve,
    ThrottleNotice,
};
use crate::store::ObjectKind;
use crate::worker::Worker;

const RECORD: &str = "record";

/// The virtual object of a node's key.
#[derive(Debug, Clone)]
pub struct NodeObject(pub(crate) Arc<Worker>);

#[object(name = "Node")]
impl NodeObject {
    /// Looks for existing work. A submission that is indeterminate is reconciled, where the service can be asked.
    #[handler]
    async fn lookup(&self, ctx: ObjectContext<'_>, message: Json<Lookup>) -> Result<(), HandlerError> {
        let Lookup { run, seq, node, render } = message.0;
        let mut record = record(&ctx).await?;
        if let Some(holder) = record.holder().cloned()
            && holder.state == AttemptState::Indeterminate
            && let Some(event) =
                submission::reconcile(&ctx, &self.0, &mut record, &holder, node, None).await?
        {
            ctx.set(RECORD, Json(record));
            return report(&ctx, &self.0, run.as_str(), seq, vec![event]).await;
        }
        if record.take_up() {
            ctx.set(RECORD, Json(record.clone()));
        }
        let worker = Arc::clone(&self.0);
        let is_stored = match record.video_to_reuse().cloned() {
            Some(artifact) => is_stored(&ctx, &worker, artifact).await?,
            None => false,
        };
        if is_stored && record.recover_video() {
            ctx.set(RECORD, Json(record.clone()));
        }
        let existing = record.existing_work(self.0.provider.account(), |_| is_stored);
        let lookup_done = Event::LookupDone { node, key: ctx.key().to_owned(), existing, render };
        report(&ctx, &self.0, run.as_str(), seq, vec![lookup_done]).await
    }

    /// Prepares the request, waits for a permit, reserves the cost, records the intent and submits it.
    #[handler]
    async fn prepare(&self, ctx: ObjectContext<'_>, message: Json<Prepare>) -> Result<(), HandlerError> {
        let message = message.0;
        let (run, seq, node) = (message.run.clone(), message.seq, message.node);
        let mut record = record(&ctx).await?;
        let attempt = message.attempt.clone();
        if let Some(events) = record.declined_events(&attempt) {
            return report(&ctx, &self.0, run.as_str(), seq, events.to_vec()).await;
        }
        let events = match record.holder() {
            Some(holder) if holder.id != attempt => {
                let existing = if holder.run == run {
                    // Another run has stored the video of the task that this one gave up.
                    ExistingWork::Changed { attempt: Some(holder.id.clone()) }
                } else {
                    ExistingWork::ClaimedByOtherRun { run: holder.run.clone() }
                };
                vec![Event::ClaimConflict { node, existing, renders: None }]
            }
            _ => prepare_and_submit(&ctx, &self.0, &mut record, message).await?,
        };
        if record.attempt(&attempt).is_none() {
            record.decline(attempt, events.clone());
            ctx.set(RECORD, Json(record));
        }
        report(&ctx, &self.0, run.as_str(), seq, events).await
    }

    /// Tells what became of a submission. A request is submitted as soon as it is prepared, so this is asked only if that invocation was
    /// killed by hand.
    #[handler]
    async fn submit(&self, ctx: ObjectContext<'_>, message: Json<AttemptRef>) -> Result<(), HandlerError> {
        let AttemptRef { run, seq, node, attempt } = message.0;
        let mut record = record(&ctx).await?;
        let events = submitted_before(&ctx, &self.0, &mut record, node, &attempt).await?;
        report(&ctx, &self.0, run.as_str(), seq, events).await
    }

    /// Does not send the prepared request.
    #[handler]
    async fn discard(&self, ctx: ObjectContext<'_>, message: Json<AttemptRef>) -> Result<(), HandlerError> {
        let AttemptRef { run, seq, node, attempt } = message.0;
        let mut record = record(&ctx).await?;
        let failure = not_sent();
        if record.attempt(&attempt).is_some_and(|attempt| attempt.state == AttemptState::Intended) {
            let settlement = record.refused(&attempt, &failure.message);
            ctx.set(RECORD, Json(record));
            finish(&ctx, &self.0, &attempt, settlement, None).await?;
        }
        let refusal = Refusal { kind: RefusalKind::Retryable, failure, retry_after: None };
        let refused = Event::refused(node, attempt, refusal);
        report(&ctx, &self.0, run.as_str(), seq, vec![refused]).await
    }

    /// Polls the task once.
    #[handler]
    async fn poll(&self, ctx: ObjectContext<'_>, message: Json<Poll>) -> Result<(), HandlerError> {
        let Poll { run, seq, node, attempt, task } = message.0;
        // Such a task keeps its key, whatever the service reports: its run decides, and marks it as missing.
        let had_video =
            record(&ctx).await?.attempt(&attempt).is_some_and(|attempt| attempt.artifact.is_some());
        let (worker, reported_to, reported) = (Arc::clone(&self.0), run.clone(), attempt.clone());
        let polled = ctx.run(move || async move {
            worker.share.poll(&worker).await?;
            let sent = worker.clock.now();
            let result = worker.provider.poll(&task).await;
            match &result {
                PollResult::Throttled { retry_after, .. } => {
                    worker.share.polled(Some(ThrottleNotice::new(sent, *retry_after)));
                }
                PollResult::Unreachable { .. } => {}
                _ => worker.share.polled(None),
            }
            let result = match result {
                PollResult::Failed { failure } if !had_video => return Ok(Json(Some(failure))),
                result => result,
            };
            // Nothing is recorded of it, so it is reported in the same step. If that is run again, the task is polled again.
            let polled = Event::Polled { node, attempt: reported, result, next: None };
            worker.report(reported_to.as_str(), seq, vec![polled]).await?;
            Ok(Json(None))
        });
        let Json(failed): Json<Option<Failure>> = polled.name("poll").await?;
        let Some(failure) = failed else { return Ok(()) };
        end(&ctx, &self.0, &attempt, AttemptState::Failed, &failure.message).await?;
        let polled = Event::Polled { node, attempt, result: PollResult::Failed { failure }, next: None };
        report(&ctx, &self.0, run.as_str(), seq, vec![polled]).await
    }

    /// Downloads the video into the shared store, unless it is there.
    #[handler]
    async fn download(
        &self,
        ctx: ObjectContext<'_>,
        message: Json<DownloadVideo>,
    ) -> Result<(), HandlerError> {
        let DownloadVideo { run, seq, spec, download } = message.0;
        let (node, attempt) = (download.node, download.attempt.clone());
        let mut record = record(&ctx).await?;
        if let Some(artifact) = record.attempt(&attempt).and_then(|attempt| attempt.artifact.clone())
            && is_stored(&ctx, &self.0, artifact.clone()).await?
        {
            // Another run that waits for the same attempt has downloaded it.
            let downloaded = Event::Downloaded { node, attempt, artifact, cost: None };
            return report(&ctx, &self.0, run.as_str(), seq, vec![downloaded]).await;
        }
        let worker = Arc::clone(&self.0);
        let effect = ctx.run(move || async move {
            let downloaded =
                worker.share.download(&worker, effects::download_video(&worker, &download)).await?;
            let artifact = match downloaded {
                Ok(Ok(artifact)) => artifact,
                Ok(Err(failed)) => return Ok(Json(Err(failed))),
                Err(EffectError::Failure(failure)) => {
                    return Ok(Json(Err(FailedDownload { failure, partial_bytes: 0 })));
                }
                Err(EffectError::Outage(error)) => return Err(error.into()),
            };
            let cost = effects::cost(&worker, &spec, node, artifact.duration).await?;
            Ok(Json(Ok((artifact, cost.map(workflow::units::Money::as_micros)))))
        });
        let Json(done): Json<Result<(Artifact, Option<u64>), FailedDownload>> =
            effect.name("download").await?;
        let (settlement, event) = match done {
            Ok((artifact, cost)) => {
                let cost = cost.map(workflow::units::Money::from_micros);
                let was_open = record.attempt(&attempt).is_some_and(|attempt| attempt.state.is_in_flight());
                let artifact = record.completed(&attempt, artifact);
                ctx.set(RECORD, Json(record));
                let settlement =
                    cost.map_or(AccountSettlement::Full, |cost| AccountSettlement::Actual { cost });
                (
                    was_open.then_some(settlement),
                    Event::Downloaded { node, attempt: attempt.clone(), artifact, cost },
                )
            }
            Err(FailedDownload { failure, partial_bytes }) => {
                let attempt = attempt.clone();
                (None, Event::DownloadFailed { node, attempt, failure, partial_bytes, next: None })
            }
        };
        if let Some(settlement) = settlement {
            finish(&ctx, &self.0, &attempt, settlement, None).await?;
        }
        report(&ctx, &self.0, run.as_str(), seq, vec![event]).await
    }

    /// The task is gone from the service, and the shot's `retry` pays for another one.
    #[handler]
    async fn expire(&self, ctx: ObjectContext<'_>, message: Json<EndAttempt>) -> Result<(), HandlerError> {
        let reason = "its task is gone from the service";
        end(&ctx, &self.0, &message.0.attempt, AttemptState::Expired, reason).await
    }

    /// The service does not know the task, which is paid for, or has no intact video of it.
    #[handler]
    async fn mark_missing(
        &self,
        ctx: ObjectContext<'_>,
        message: Json<EndAttempt>,
    ) -> Result<(), HandlerError> {
        let reason = "the service does not know its task, or has no intact video of it";
        end(&ctx, &self.0, &message.0.attempt, AttemptState::Missing, reason).await
    }

    /// A person resolves an attempt that is indeterminate.
    #[handler]
    async fn resolve(
        &self,
        ctx: ObjectContext<'_>,
        message: Json<Resolve>,
    ) -> Result<Json<ResolutionResult>, HandlerError> {
        let Resolve { attempt, resolution } = message.0;
        let mut record = record(&ctx).await?;
        let mut resolved = record.clone();
        let settlement = match resolved.resolve(&attempt, &resolution) {
            Ok(settlement) => settlement,
            Err(None) => return Ok(Json(ResolutionResult::NoSuchAttempt)),
            Err(Some(state)) => return Ok(Json(ResolutionResult::NotResolvable { state })),
        };
        if let Resolution::Accepted { task } = &resolution
            && claim_task(&ctx, &self.0, &attempt, vec![task.clone()]).await?.is_none()
        {
            return Ok(Json(ResolutionResult::TaskTaken));
        }
        record = resolved;
        let workflow = record.attempt(&attempt).map(|attempt| attempt.workflow.clone());
        ctx.set(RECORD, Json(record));
        if let Some(settlement) = settlement {
            finish(&ctx, &self.0, &attempt, settlement, None).await?;
        }
        if let (Resolution::Abandoned, Some(workflow), Some(key)) =
            (&resolution, workflow, NodeKey::parse(ctx.key()))
        {
            let index = RequestTarget::object(INDEX, index_key(&workflow), "record");
            let _handle = ctx.request::<_, ()>(index, Json(vec![RenderFact::Abandoned { key }])).send();
        }
        Ok(Json(ResolutionResult::Done))
    }

    /// The key's attempts.
    #[handler]
    async fn read(&self, ctx: SharedObjectContext<'_>) -> Result<Json<NodeRecord>, HandlerError> {
        Ok(Json(ctx.get::<Json<NodeRecord>>(RECORD).await?.unwrap_or_default().into_inner()))
    }
}

/// Prepares and submits an attempt, unless that was done; returns what happened.
async fn prepare_and_submit(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    record: &mut NodeRecord,
    message: Prepare,
) -> Result<Vec<Event>, TerminalError> {
    let (node, attempt, reservation) = (message.node, message.attempt.clone(), message.reservation);
    let render = message.render;
    let prepared = |digest: String, by_url: bool| Event::Prepared {
        node,
        attempt: attempt.clone(),
        key: ctx.key().to_owned(),
        digest,
        by_url,
        service_independent_key: None,
        reservation,
        render,
        parts: Vec::new(),
    };
    if let Some(recorded) = record.attempt(&attempt) {
        let first = prepared(recorded.digest.clone(), recorded.is_by_url());
        let submitted = submitted_before(ctx, worker, record, node, &attempt).await?;
        return Ok([vec![first], submitted].concat());
    }
    let intended = match preparation::prepare(ctx, worker, message).await? {
        Preparation::Intended(intended) => *intended,
        Preparation::Withdrawn { digest, by_url } => {
            let refusal = Refusal { kind: RefusalKind::Retryable, failure: not_sent(), retry_after: None };
            let refused = Event::refused(node, attempt.clone(), refusal);
            return Ok(vec![prepared(digest, by_url), refused]);
        }
        Preparation::Failed(failure) => return Ok(vec![Event::PrepareFailed { node, failure }]),
        Preparation::BudgetExceeded(cap) => {
            return Ok(vec![Event::BudgetExceeded { node, cap }]);
        }
    };
    let first = prepared(intended.digest.clone(), intended.is_by_url());
    // The key was free, and nothing else of this object has run since.
    drop(record.claim(intended.clone()));
    ctx.set(RECORD, Json(record.clone()));
    let submitted = submission::submit(ctx, worker, record, node, &intended).await?;
    ctx.set(RECORD, Json(record.clone()));
    Ok(vec![first, submitted])
}

/// What became of the submission of an attempt whose intent another invocation recorded. If it has no outcome, that invocation was killed by
/// hand, and the POST may have been sent.
async fn submitted_before(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    record: &mut NodeRecord,
    node: workflow::plan::NodeIx,
    attempt: &AttemptId,
) -> Result<Vec<Event>, TerminalError> {
    if let Some(event) = record.submission_event(attempt, node) {
        return Ok(vec![event]);
    }
    let Some(intended) = record.attempt(attempt).cloned() else { return Ok(Vec::new()) };
    let event = submission::interrupted(ctx, worker, record, node, &intended).await?;
    ctx.set(RECORD, Json(record.clone()));
    Ok(vec![event])
}

fn not_sent() -> Failure {
    Failure::new(FailureKind::Transient, "the run ended before the request was sent")
}

async fn record(ctx: &ObjectContext<'_>) -> Result<NodeRecord, TerminalError> {
    Ok(ctx.get::<Json<NodeRecord>>(RECORD).await?.unwrap_or_default().into_inner())
}

/// Answers a message of a run.
async fn report(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    run: &str,
    seq: u64,
    events: Vec<Event>,
) -> Result<(), HandlerError> {
    if events.is_empty() {
        return Ok(());
    }
    let (worker, run) = (Arc::clone(worker), run.to_owned());
    let reported = ctx.run(move || async move { Ok(worker.report(&run, seq, events).await?) });
    Ok(reported.name("report").await?)
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
    // Two runs that wait for the same attempt may both learn its end, or one of them may have stored its video.
    let Some(recorded) = record.attempt(attempt) else { return Ok(()) };
    let is_open = if state == AttemptState::Expired {
        let video = recorded.artifact.clone().filter(|_| recorded.state.may_expire(false));
        let has_video = match video {
            Some(artifact) => is_stored(ctx, worker, artifact).await?,
            None => false,
        };
        recorded.state.may_expire(has_video)
    } else {
        recorded.holds_key() && recorded.state.has_open_task()
    };
    if !is_open {
        return Ok(());
    }
    let submitted = recorded.submitted_at.unwrap_or(recorded.intended_at);
    let mut settlement = record.end(attempt, state, reason);
    ctx.set(RECORD, Json(record));
    if state == AttemptState::Missing {
        settlement = AccountSettlement::Missing { until: submitted.after(worker.indeterminate_hold) };
    }
    Ok(finish(ctx, worker, attempt, settlement, None).await?)
}

async fn is_stored(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    artifact: Artifact,
) -> Result<bool, TerminalError> {
    let worker = Arc::clone(worker);
    let asked = ctx.run(move || async move {
        Ok(worker.store.has(ObjectKind::Artifact, &artifact.sha256, artifact.bytes).await?)
    });
    asked.name("stored").await
}
