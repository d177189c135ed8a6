//! The virtual object of an account. Its key is [`super::account_key`].

use restate_sdk::prelude::*;
use scheduler::TaskId;

use super::{AccountState, Admission};
use crate::messages::{Admit, ClaimTask, FinishAttempt, HoldUntil, Sent};

const STATE: &str = "account";

/// The virtual object of an account.
#[derive(Debug, Clone, Copy)]
pub struct AccountObject;

#[object(name = "Account")]
impl AccountObject {
    /// Gives an attempt a permit and reserves its cost.
    #[handler]
    async fn admit(
        &self,
        ctx: ObjectContext<'_>,
        request: Json<Admit>,
    ) -> Result<Json<Admission>, HandlerError> {
        let mut state = state(&ctx).await?;
        let admission = state.admit(&request.0);
        if admission == Admission::Granted {
            ctx.set(STATE, Json(state));
        }
        Ok(Json(admission))
    }

    /// Ends an attempt: frees its permit and settles its reservation.
    #[handler]
    async fn finish(&self, ctx: ObjectContext<'_>, request: Json<FinishAttempt>) -> Result<(), HandlerError> {
        let mut state = state(&ctx).await?;
        state.finish(&request.0.attempt, request.0.settlement);
        ctx.set(STATE, Json(state));
        Ok(())
    }

    /// Shortens the permit of an attempt whose outcome is unknown.
    #[handler]
    async fn hold_until(&self, ctx: ObjectContext<'_>, request: Json<HoldUntil>) -> Result<(), HandlerError> {
        let mut state = state(&ctx).await?;
        state.hold_until(&request.0.attempt, request.0.until);
        ctx.set(STATE, Json(state));
        Ok(())
    }

    /// Notes when the request of an attempt was sent.
    #[handler]
    async fn sent(&self, ctx: ObjectContext<'_>, request: Json<Sent>) -> Result<(), HandlerError> {
        let mut state = state(&ctx).await?;
        state.sent(&request.0.attempt, request.0.at);
        ctx.set(STATE, Json(state));
        Ok(())
    }

    /// The first of the tasks that no other attempt owns; it is the attempt's from then on. A task has one owner, for ever.
    #[handler]
    async fn claim_task(
        &self,
        ctx: ObjectContext<'_>,
        request: Json<ClaimTask>,
    ) -> Result<Json<Option<TaskId>>, HandlerError> {
        let ClaimTask { attempt, candidates } = request.0;
        for task in candidates {
            let owner_key = format!("task/{task}");
            let owner = ctx.get::<String>(&owner_key).await?;
            if owner.is_none() {
                ctx.set(&owner_key, attempt.as_str().to_owned());
            }
            if owner.is_none_or(|owner| owner == attempt.as_str()) {
                return Ok(Json(Some(task)));
            }
        }
        Ok(Json(None))
    }

    /// Frees all permits, after invocations were killed by hand. Returns how many there were.
    #[handler]
    async fn reset_permits(&self, ctx: ObjectContext<'_>) -> Result<u64, HandlerError> {
        let mut state = state(&ctx).await?;
        let freed = state.reset_permits();
        ctx.set(STATE, Json(state));
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
