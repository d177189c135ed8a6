//! The virtual object of an index.

use restate_sdk::prelude::*;
use scheduler::ForcedRerun;

use super::state::{RerunLog, RunList};
use super::{RunEnded, RunEntry};

const RUNS: &str = "runs";
const RERUNS: &str = "reruns";

/// The virtual object of an index of runs. Its key is [`super::index_key`], or [`super::ALL_RUNS`].
#[derive(Debug, Clone, Copy)]
pub struct IndexObject;

#[object(name = "RunIndex")]
impl IndexObject {
    /// A run has begun.
    #[handler]
    async fn started(&self, ctx: ObjectContext<'_>, entry: Json<RunEntry>) -> Result<(), HandlerError> {
        let mut runs = ctx.get::<Json<RunList>>(RUNS).await?.unwrap_or_default().into_inner();
        runs.add(entry.0);
        ctx.set(RUNS, Json(runs));
        Ok(())
    }

    /// A run has ended.
    #[handler]
    async fn ended(&self, ctx: ObjectContext<'_>, ended: Json<RunEnded>) -> Result<(), HandlerError> {
        let mut runs = ctx.get::<Json<RunList>>(RUNS).await?.unwrap_or_default().into_inner();
        runs.end(&ended.0);
        ctx.set(RUNS, Json(runs));
        Ok(())
    }

    /// The intent of a forced rerun is recorded: from now on its video is the one that counts.
    #[handler]
    async fn rerun(&self, ctx: ObjectContext<'_>, rerun: Json<ForcedRerun>) -> Result<(), HandlerError> {
        let mut log = ctx.get::<Json<RerunLog>>(RERUNS).await?.unwrap_or_default().into_inner();
        let key = log.open_segment();
        let mut segment = ctx.get::<Json<Vec<ForcedRerun>>>(&key).await?.unwrap_or_default().into_inner();
        log.append(&mut segment, rerun.0);
        ctx.set(&key, Json(segment));
        ctx.set(RERUNS, Json(log));
        Ok(())
    }

    /// The runs, the latest first.
    #[handler]
    async fn runs(&self, ctx: SharedObjectContext<'_>) -> Result<Json<Vec<RunEntry>>, HandlerError> {
        let runs = ctx.get::<Json<RunList>>(RUNS).await?.unwrap_or_default().into_inner();
        Ok(Json(runs.latest_first()))
    }

    /// The forced reruns of the workflow, oldest first: of equal keys the last one counts.
    #[handler]
    async fn reruns(&self, ctx: SharedObjectContext<'_>) -> Result<Json<Vec<ForcedRerun>>, HandlerError> {
        let log = ctx.get::<Json<RerunLog>>(RERUNS).await?.unwrap_or_default().into_inner();
        let mut reruns = Vec::new();
        for key in log.segments() {
            reruns.extend(ctx.get::<Json<Vec<ForcedRerun>>>(&key).await?.unwrap_or_default().into_inner());
        }
        Ok(Json(reruns))
    }
}
