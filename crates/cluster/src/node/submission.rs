//! The submission of an attempt, and what is done when its outcome is unknown.
//!
//! 1. The intent is in the node's state.
//! 2. A token of this process is journalled, once it is the attempt's turn. After a 429, nothing is sent until its Retry-After has passed.
//! 3. A step sends the POST if the token is this process's and unused; if it is used, the step waits for the same response.
//! 4. Otherwise the process that may have sent it is gone: the service is asked for the task, where it can be asked. Where it cannot, the
//!    attempt is indeterminate and is kept for a person.

use std::sync::Arc;
use std::time::Duration;

use engine::provider::{Submission, SubmissionLookup};
use restate_sdk::prelude::*;
use scheduler::{
    AttemptId, AttemptState, Event, Failure, FailureKind, Refusal, RefusalKind, TaskId, Timestamp,
};
use serde::{Deserialize, Serialize};
use workflow::plan::NodeIx;

use super::account::{claim_task, finish, hold};
use super::{NodeAttempt, NodeRecord};
use crate::account::AccountSettlement;
use crate::effects::{self, EffectError};
use crate::error::ClusterError;
use crate::messages::ThrottleNotice;
use crate::post_gate::{PostToken, TokenUse};
use crate::post_pacer::Turn;
use crate::worker::Worker;

/// What an attempt got when it was its turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum TurnOutcome {
    Token {
        token: PostToken,
        turn: Turn,
        #[serde(rename = "at")]
        time: Timestamp,
    },
    /// None: the service throttled another submission, and this much of its Retry-After is left.
    Wait { wait: Duration },
}

/// The outcome of a POST, as it is journalled.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum PostOutcome {
    Accepted {
        task: TaskId,
    },
    Refused {
        refusal: Refusal,
    },
    Indeterminate {
        reason: String,
        task_hint: Option<TaskId>,
        halts: bool,
    },
    /// Another process issued the token.
    OtherProcess,
}

/// Why an attempt is indeterminate.
struct IndeterminateOutcome {
    reason: String,
    task_hint: Option<TaskId>,
    halts: bool,
}

/// Submits an attempt whose intent is recorded, and returns the events that follow.
pub(super) async fn submit(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    record: &mut NodeRecord,
    node: NodeIx,
    attempt: &NodeAttempt,
) -> Result<Event, TerminalError> {
    let id = attempt.id.clone();
    let issuer = Arc::clone(worker);
    let issued = ctx.run(move || async move {
        Ok(Json(match issuer.pacer.turn(&issuer.clock).await {
            Ok(turn) => TurnOutcome::Token { token: issuer.gate.issue(), turn, time: issuer.clock.now() },
            Err(wait) => TurnOutcome::Wait { wait },
        }))
    });
    // Awaited, so that the intent is durable as well: it is before the token in the journal.
    let Json(issued) = issued.name("token").await?;
    let (token, turn, time) = match issued {
        TurnOutcome::Token { token, turn, time } => (token, turn, time),
        TurnOutcome::Wait { wait } => return not_sent(ctx, worker, record, node, id, wait).await,
    };
    let (sender, posted_attempt, posted_token) = (Arc::clone(worker), attempt.clone(), token.clone());
    let posted =
        ctx.run(move || async move { Ok(Json(post(&sender, &posted_attempt, &posted_token, turn).await?)) });
    let Json(posted): Json<PostOutcome> = posted.name("post").await?;
    worker.gate.forget(&token);
    let unknown = match posted {
        PostOutcome::Accepted { task } => {
            let accepted = if claim_task(ctx, worker, &id, vec![task.clone()]).await?.is_some() {
                record.submitted(&id, &task, time);
                Event::Submitted { node, attempt: id, task }
            } else {
                let reason =
                    format!("the service answered with task {task}, which is that of another attempt");
                record.indeterminate(&id, &reason, None);
                hold(ctx, worker, &id, time).await?;
                Event::Indeterminate { node, attempt: id, reason, halts: false, suggested_task: None }
            };
            return Ok(accepted);
        }
        PostOutcome::Refused { refusal } => {
            let settlement = record.refused(&id, &refusal.failure.message);
            let throttled = (refusal.kind == RefusalKind::Throttled)
                .then(|| ThrottleNotice::new(time, refusal.retry_after));
            finish(ctx, worker, &id, settlement, throttled).await?;
            return Ok(Event::refused(node, id, refusal));
        }
        PostOutcome::Indeterminate { reason, task_hint, halts } => {
            IndeterminateOutcome { reason, task_hint, halts }
        }
        PostOutcome::OtherProcess => worker_is_gone(),
    };
    resolve_unknown(ctx, worker, record, node, attempt, time, unknown).await
}

/// Nothing was sent: reports to the run when it may be.
async fn not_sent(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    record: &mut NodeRecord,
    node: NodeIx,
    attempt: AttemptId,
    wait: Duration,
) -> Result<Event, TerminalError> {
    let reason = "not sent, because the service answered another submission with 429";
    let settlement = record.refused(&attempt, reason);
    // The account heard of the 429 from the attempt that got it.
    finish(ctx, worker, &attempt, settlement, None).await?;
    let failure = Failure::new(FailureKind::Transient, reason);
    let refusal = Refusal { kind: RefusalKind::NotSent, failure, retry_after: Some(wait) };
    Ok(Event::refused(node, attempt, refusal))
}

/// The outcome of an attempt whose invocation was killed by hand: the POST may have been sent.
pub(super) async fn interrupted(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    record: &mut NodeRecord,
    node: NodeIx,
    attempt: &NodeAttempt,
) -> Result<Event, TerminalError> {
    resolve_unknown(ctx, worker, record, node, attempt, attempt.intended_at, worker_is_gone()).await
}

fn worker_is_gone() -> IndeterminateOutcome {
    IndeterminateOutcome {
        reason: "the worker that submitted it ended before the response was recorded".to_owned(),
        task_hint: None,
        halts: false,
    }
}

/// Asks the service what became of a submission; where it cannot be asked, the attempt is kept for a person.
async fn resolve_unknown(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    record: &mut NodeRecord,
    node: NodeIx,
    attempt: &NodeAttempt,
    time: Timestamp,
    unknown: IndeterminateOutcome,
) -> Result<Event, TerminalError> {
    let IndeterminateOutcome { reason, task_hint, halts } = unknown;
    if let Some(event) = reconcile(ctx, worker, record, attempt, node, Some(reason.clone())).await? {
        return Ok(event);
    }
    let id = attempt.id.clone();
    record.indeterminate(&id, &reason, task_hint.clone());
    hold(ctx, worker, &id, time).await?;
    Ok(Event::Indeterminate { node, attempt: id, reason, halts, suggested_task: task_hint })
}

/// Sends the POST, or waits for the response to the one that was sent.
async fn post(
    worker: &Arc<Worker>,
    attempt: &NodeAttempt,
    token: &PostToken,
    turn: Turn,
) -> Result<PostOutcome, ClusterError> {
    let mut request = None;
    if worker.gate.is_unused(token) {
        let prepared = async {
            let plan = worker.plan(&attempt.plan).await?;
            effects::prepare_request(worker, &plan, attempt.node, &attempt.sources).await
        };
        request = match prepared.await {
            Ok(prepared) if prepared.digest() == attempt.digest => Some(prepared),
            Ok(_) => {
                worker.pacer.give_back(turn);
                return Ok(refused("the request is not the one whose intent was recorded"));
            }
            Err(EffectError::Failure(failure)) => {
                worker.pacer.give_back(turn);
                return Ok(refused(&failure.message));
            }
            Err(EffectError::Outage(error)) => return Err(error),
        };
    }
    let mut response = match worker.gate.redeem(token) {
        TokenUse::Sent(response) => response,
        TokenUse::Unknown => return Ok(PostOutcome::OtherProcess),
        TokenUse::Unused(sender) => {
            let Some(request) = request else { return Ok(PostOutcome::OtherProcess) };
            let (poster, response) = (Arc::clone(worker), sender.subscribe());
            let sent = poster.pacer.sent(turn);
            // A task of its own: it goes on when the connection to Restate is lost.
            tokio::spawn(async move {
                let submission = poster.provider.submit(&request).await;
                sent.responded(&submission, poster.clock.now());
                sender.send_replace(Some(submission));
            });
            response
        }
    };
    let submission = match response.wait_for(Option::is_some).await {
        Ok(submission) => submission.clone(),
        Err(_) => None,
    };
    Ok(match submission {
        Some(Submission::Accepted { task }) => PostOutcome::Accepted { task },
        Some(Submission::Refused(refusal)) => PostOutcome::Refused { refusal },
        Some(Submission::Indeterminate { reason, task_hint, halts }) => {
            PostOutcome::Indeterminate { reason, task_hint, halts }
        }
        None => PostOutcome::Indeterminate {
            reason: "the worker lost the response".to_owned(),
            task_hint: None,
            halts: false,
        },
    })
}

/// A request that was not sent.
fn refused(message: &str) -> PostOutcome {
    let failure = Failure::new(FailureKind::Local, message);
    PostOutcome::Refused {
        refusal: Refusal { kind: RefusalKind::InvalidRequest, failure, retry_after: None },
    }
}

/// Asks the service for the task of a submission whose outcome is unknown. `None` where it cannot be asked.
///
/// A process that Restate takes for dead may still be sending. So a service that knows no task is asked again after
/// [`crate::WorkerConfig::reconcile_delay`], which is longer than a POST can take.
pub(super) async fn reconcile(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    record: &mut NodeRecord,
    attempt: &NodeAttempt,
    node: NodeIx,
    reason: Option<String>,
) -> Result<Option<Event>, TerminalError> {
    let mut task = None;
    let mut candidates = Vec::new();
    for delay in [None, Some(worker.reconcile_delay)] {
        if let Some(delay) = delay {
            ctx.sleep(delay).await?;
        }
        let Some(tasks) = find_tasks(ctx, worker, attempt).await? else { return Ok(None) };
        candidates.clone_from(&tasks);
        task = claim_task(ctx, worker, &attempt.id, tasks).await?;
        if task.is_some() {
            break;
        }
    }
    if let Some(task) = &task {
        record.submitted(&attempt.id, task, attempt.intended_at);
    } else {
        record.end(&attempt.id, AttemptState::NotAccepted, "the service did not accept it");
        finish(ctx, worker, &attempt.id, AccountSettlement::Released, None).await?;
    }
    Ok(Some(Event::Reconciled {
        node,
        attempt: attempt.id.clone(),
        since: attempt.intended_at,
        reason,
        candidates,
        task,
        next: None,
    }))
}

async fn find_tasks(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    attempt: &NodeAttempt,
) -> Result<Option<Vec<TaskId>>, TerminalError> {
    let (worker, digest, since) = (Arc::clone(worker), attempt.digest.clone(), attempt.intended_at);
    let asked = ctx.run(move || async move {
        Ok(Json(match worker.provider.find_tasks(&digest, since).await {
            SubmissionLookup::Tasks(tasks) => Some(tasks),
            SubmissionLookup::Unsupported => None,
        }))
    });
    Ok(asked.name("find-tasks").await?.into_inner())
}
