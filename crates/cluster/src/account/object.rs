//! The virtual object of an account. Its key is [`super::account_key`].

use std::collections::BTreeMap;

use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use scheduler::{TaskId, Timestamp};

use super::state::{AccountState, AdmissionReply};
use crate::messages::{
    ACCOUNT, AccountBatch, AccountReply, AccountRequest, ClaimTask, FinishAttempt, HoldUntil, Withdraw,
};

const STATE: &str = "account";

/// The virtual object of an account.
#[derive(Debug, Clone, Copy)]
pub struct AccountObject;

#[object(name = "Account")]
impl AccountObject {
    /// Takes requests of a worker, and replies to each. Requests that have to wait are answered by their awakeables.
    #[handler]
    async fn update(
        &self,
        ctx: ObjectContext<'_>,
        batch: Json<AccountBatch>,
    ) -> Result<Json<Vec<AccountReply>>, HandlerError> {
        let AccountBatch { now, limits, requests } = batch.0;
        let mut owners = Owners::read(&ctx, &requests).await?;
        let mut state = state(&ctx).await?;
        state.observe(now, limits);
        let mut replies = Vec::with_capacity(requests.len());
        // Permits that are freed go to those who wait, before new requests.
        let (admits, others): (Vec<_>, Vec<_>) = requests
            .into_iter()
            .enumerate()
            .partition(|(_, request)| matches!(request, AccountRequest::Admit(_)));
        for (index, request) in others {
            let reply = match request {
                AccountRequest::Finish(FinishAttempt { attempt, settlement, throttled }) => {
                    state.finish(&attempt, settlement, throttled);
                    AccountReply::Done
                }
                AccountRequest::HoldUntil(HoldUntil { attempt, until }) => {
                    state.hold_until(&attempt, until);
                    AccountReply::Done
                }
                AccountRequest::ClaimTask(claim) => {
                    state.accepted(&claim.attempt);
                    AccountReply::Claimed { task: owners.claim(&ctx, claim) }
                }
                AccountRequest::RenewShare(renew) => AccountReply::Share { share: state.renew_share(&renew) },
                AccountRequest::Admit(_) => AccountReply::Done,
            };
            replies.push((index, reply));
        }
        let woken = state.serve();
        for (index, request) in admits {
            if let AccountRequest::Admit(admit) = request {
                replies.push((index, AccountReply::Admission { admission: state.admit(&admit) }));
            }
        }
        store(&ctx, state, woken);
        replies.sort_unstable_by_key(|(index, _)| *index);
        Ok(Json(replies.into_iter().map(|(_, reply)| reply).collect()))
    }

    /// A limit may admit more than before.
    #[handler]
    async fn wake(&self, ctx: ObjectContext<'_>, deadline: Json<Timestamp>) -> Result<(), HandlerError> {
        let mut state = state(&ctx).await?;
        state.timer_fired(deadline.0);
        let woken = state.serve();
        store(&ctx, state, woken);
        Ok(())
    }

    /// Takes back the requests of a run that has ended early.
    #[handler]
    async fn withdraw(&self, ctx: ObjectContext<'_>, message: Json<Withdraw>) -> Result<(), HandlerError> {
        let mut state = state(&ctx).await?;
        let woken = state.withdraw(&message.0.run);
        store(&ctx, state, woken);
        Ok(())
    }

    /// Frees all permits, after invocations were killed by hand. Returns how many there were.
    #[handler]
    async fn reset_permits(&self, ctx: ObjectContext<'_>) -> Result<u64, HandlerError> {
        let mut state = state(&ctx).await?;
        let freed = state.reset_permits();
        let woken = state.serve();
        store(&ctx, state, woken);
        Ok(freed as u64)
    }

    /// The account as it is.
    #[handler]
    async fn read(&self, ctx: SharedObjectContext<'_>) -> Result<Json<AccountState>, HandlerError> {
        Ok(Json(ctx.get::<Json<AccountState>>(STATE).await?.unwrap_or_default().into_inner()))
    }
}

async fn state(ctx: &ObjectContext<'_>) -> Result<AccountState, TerminalError> {
    Ok(ctx.get::<Json<AccountState>>(STATE).await?.unwrap_or_default().into_inner())
}

/// Stores the state, answers those who do not wait any more, and sets a timer for the others.
fn store(ctx: &ObjectContext<'_>, mut state: AccountState, woken: Vec<AdmissionReply>) {
    let timer = state.set_timer();
    let wait = timer.map(|deadline| deadline.since(state.now()));
    ctx.set(STATE, Json(state));
    for AdmissionReply { awakeable, admission } in woken {
        ctx.resolve_awakeable(&awakeable, Json(admission));
    }
    if let (Some(deadline), Some(wait)) = (timer, wait) {
        let target = RequestTarget::object(ACCOUNT, ctx.key(), "wake");
        let _handle = ctx.request::<_, ()>(target, Json(deadline)).send_after(wait);
    }
}

/// Owners of tasks. A task has one owner, for ever, in a state key of its own.
struct Owners(BTreeMap<String, Option<String>>);

impl Owners {
    /// Reads the owners of all candidates of a batch. The reads are in progress at once.
    async fn read(ctx: &ObjectContext<'_>, requests: &[AccountRequest]) -> Result<Self, TerminalError> {
        let claims = requests.iter().filter_map(|request| match request {
            AccountRequest::ClaimTask(claim) => Some(&claim.candidates),
            AccountRequest::Admit(_)
            | AccountRequest::Finish(_)
            | AccountRequest::HoldUntil(_)
            | AccountRequest::RenewShare(_) => None,
        });
        let mut keys: Vec<String> = claims.flatten().map(owner_key).collect();
        keys.sort_unstable();
        keys.dedup();
        let reads: Vec<_> = keys.iter().map(|key| ctx.get::<String>(key)).collect();
        let mut owners = Vec::with_capacity(reads.len());
        for read in reads {
            owners.push(read.await?);
        }
        Ok(Self(keys.into_iter().zip(owners).collect()))
    }

    /// The first of the tasks that no other attempt owns; it is the attempt's from then on.
    fn claim(&mut self, ctx: &ObjectContext<'_>, claim: ClaimTask) -> Option<TaskId> {
        let ClaimTask { attempt, candidates } = claim;
        candidates.into_iter().find(|task| {
            let key = owner_key(task);
            let owner = self.0.entry(key.clone()).or_default();
            if owner.is_none() {
                ctx.set(&key, attempt.as_str().to_owned());
                *owner = Some(attempt.as_str().to_owned());
            }
            owner.as_deref() == Some(attempt.as_str())
        })
    }
}

fn owner_key(task: &TaskId) -> String {
    format!("task/{task}")
}
