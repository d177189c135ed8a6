//! What a node asks of its account. Each request is a worker step, and arrives at least once; the account's answers do not depend on how often.

use std::sync::Arc;

use restate_sdk::prelude::*;
use scheduler::{AttemptId, TaskId, Timestamp};

use crate::account::AccountSettlement;
use crate::messages::{AccountReply, AccountRequest, ClaimTask, FinishAttempt, HoldUntil, ThrottleNotice};
use crate::worker::Worker;

/// The first of `candidates` that no other attempt owns.
pub(super) async fn claim_task(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    attempt: &AttemptId,
    candidates: Vec<TaskId>,
) -> Result<Option<TaskId>, TerminalError> {
    let request = AccountRequest::ClaimTask(ClaimTask { attempt: attempt.clone(), candidates });
    match ask(ctx, worker, "claim", request).await? {
        AccountReply::Claimed { task } => Ok(task),
        AccountReply::Admission { .. } | AccountReply::Share { .. } | AccountReply::Done => Ok(None),
    }
}

/// An attempt has ended.
pub(super) async fn finish(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    attempt: &AttemptId,
    settlement: AccountSettlement,
    throttled: Option<ThrottleNotice>,
) -> Result<(), TerminalError> {
    let finish = FinishAttempt { attempt: attempt.clone(), settlement, throttled };
    ask(ctx, worker, "finish", AccountRequest::Finish(finish)).await.map(drop)
}

/// The attempt may be in flight: it holds its permit for a while only, and its reservation until it is resolved.
pub(super) async fn hold(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    attempt: &AttemptId,
    submitted: Timestamp,
) -> Result<(), TerminalError> {
    let until = submitted.after(worker.indeterminate_hold);
    let hold = HoldUntil { attempt: attempt.clone(), until };
    ask(ctx, worker, "hold", AccountRequest::HoldUntil(hold)).await.map(drop)
}

async fn ask(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    name: &str,
    request: AccountRequest,
) -> Result<AccountReply, TerminalError> {
    let worker = Arc::clone(worker);
    let asked = ctx.run(move || async move { Ok(Json(worker.ask_account(request).await?)) });
    Ok(asked.name(name).await?.into_inner())
}
