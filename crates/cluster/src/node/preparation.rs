//! The preparation of an attempt: its request, a permit and a reservation.

use std::sync::Arc;
use std::time::Duration;

use engine::effects::InputSource;
use restate_sdk::prelude::*;
use scheduler::budget::BudgetCap;
use scheduler::{AttemptState, Failure, Timestamp};
use serde::{Deserialize, Serialize};

use super::NodeAttempt;
use crate::account::Admission;
use crate::effects::{self, EffectError};
use crate::messages::{Admit, Prepare};
use crate::worker::Worker;

/// After this time a request that waits for a permit is repeated, in case that its answer was lost with an invocation that was killed by hand.
const PERMIT_TIMEOUT: Duration = Duration::from_mins(10);

/// The result of preparing an attempt.
pub(super) enum Preparation {
    /// The attempt has a permit, and its intent may be recorded.
    Intended(Box<NodeAttempt>),
    /// The run ended early while it waited for a permit.
    Withdrawn { digest: String, by_url: bool },
    /// The request cannot be made.
    Failed(Failure),
    /// A cap of the account is reached.
    BudgetExceeded(BudgetCap),
}

/// A request that is prepared, as it is journalled.
#[derive(Debug, Serialize, Deserialize)]
struct PreparedAttempt {
    digest: String,
    name: String,
    workflow: String,
    admission: Admission,
    #[serde(rename = "at")]
    time: Timestamp,
}

/// Prepares an attempt, and waits for its permit.
pub(super) async fn prepare(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    message: Prepare,
) -> Result<Preparation, TerminalError> {
    let (awakeable, mut woken) = ctx.awakeable::<Json<Admission>>();
    let mut admit = Admit {
        attempt: message.attempt.clone(),
        run: message.run.clone(),
        reservation: message.reservation,
        lease: message.lease,
        awakeable,
    };
    let (asker, request, asked) = (Arc::clone(worker), message.clone(), admit.clone());
    let effect = ctx.run(move || async move {
        let (digest, name, workflow) = match digest(&asker, &request).await {
            Ok(prepared) => prepared,
            Err(EffectError::Failure(failure)) => return Ok(Json(Err(failure))),
            Err(EffectError::Outage(error)) => return Err(error.into()),
        };
        let admission = asker.admit(asked).await?;
        Ok(Json(Ok(PreparedAttempt { digest, name, workflow, admission, time: asker.clock.now() })))
    });
    let Json(prepared): Json<Result<PreparedAttempt, Failure>> = effect.name("prepare").await?;
    let PreparedAttempt { digest, name, workflow, mut admission, mut time } = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => return Ok(Preparation::Failed(failure)),
    };
    let by_url = message.sources.iter().any(InputSource::is_by_url);
    loop {
        match admission {
            Admission::Queued => {}
            Admission::Granted => break,
            Admission::Withdrawn => return Ok(Preparation::Withdrawn { digest, by_url }),
            Admission::BudgetExceeded { cap } => return Ok(Preparation::BudgetExceeded(cap)),
        }
        let answer = restate_sdk::select! {
            answer = woken => Some(answer?.into_inner()),
            waited = ctx.sleep(PERMIT_TIMEOUT) => { waited?; None }
        };
        // For another round, if the answer is that it still waits.
        (admit.awakeable, woken) = ctx.awakeable::<Json<Admission>>();
        let (asker, repeated) = (Arc::clone(worker), admit.clone());
        let read = ctx.run(move || async move {
            let admission = match answer {
                Some(answer) => answer,
                None => asker.admit(repeated).await?,
            };
            Ok(Json((admission, asker.clock.now())))
        });
        Json((admission, time)) = read.name("permit").await?;
    }
    Ok(Preparation::Intended(Box::new(NodeAttempt {
        id: message.attempt,
        run: message.run,
        plan: message.plan,
        node: message.node,
        name,
        workflow,
        sources: message.sources,
        digest,
        service: worker.provider.identity().to_owned(),
        account: worker.provider.account().map(str::to_owned),
        state: AttemptState::Intended,
        reservation: Some(message.reservation),
        intended_at: time,
        submitted_at: None,
        task: None,
        suggested_task: None,
        reason: None,
        artifact: None,
        is_replaced: false,
    })))
}

/// The digest of the request, and the names of the node and the plan.
async fn digest(worker: &Worker, message: &Prepare) -> Result<(String, String, String), EffectError> {
    let plan = worker.plan(&message.plan).await?;
    let name = plan.node(message.node).name.clone();
    let request = effects::prepare_request(worker, &plan, message.node, &message.sources).await?;
    Ok((request.digest().to_owned(), name, plan.name().to_owned()))
}
