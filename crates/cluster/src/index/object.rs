//! The virtual object of an index.

use restate_sdk::prelude::*;
use scheduler::renders::Asked;

use super::renders::{RenderFact, RenderLog, WorkflowRenders, segment_key};
use super::state::RunList;
use super::{RunEnded, RunEntry};
use crate::messages::{AskRenders, ReadRenders, RenderPage};

const RUNS: &str = "runs";
const RENDERS: &str = "renders";
/// Segments of facts in one page of a reader.
const PAGE_SEGMENTS: u64 = 16;

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

    /// Records facts about renders of the workflow.
    #[handler]
    async fn record(&self, ctx: ObjectContext<'_>, facts: Json<Vec<RenderFact>>) -> Result<(), HandlerError> {
        append(&ctx, facts.0).await
    }

    /// Asks for one more render of instances, and withdraws what is asked for of those that are gone. Asking again changes nothing.
    #[handler]
    async fn ask(&self, ctx: ObjectContext<'_>, message: Json<AskRenders>) -> Result<(), HandlerError> {
        let AskRenders { instances, asks_for_another, gone, time } = message.0;
        let known = renders(&ctx).await?;
        let (asked, withdrawn) = (known.ask(instances, asks_for_another, time), known.open(&gone).collect());
        let is_news = asked != Asked::default();
        let Asked { new: renders, continued } = asked;
        let asked = is_news.then_some(RenderFact::Asked { renders, continued, time });
        append(&ctx, asked.into_iter().chain(withdrawal(withdrawn)).collect()).await
    }

    /// Withdraws what is asked for of instances and not done. Returns their names.
    #[handler]
    async fn withdraw(
        &self,
        ctx: ObjectContext<'_>,
        instances: Json<Vec<String>>,
    ) -> Result<Json<Vec<String>>, HandlerError> {
        let open: Vec<_> = renders(&ctx).await?.open(&instances.0).collect();
        let mut names: Vec<String> = open.iter().map(|asked| asked.instance.clone()).collect();
        names.dedup();
        append(&ctx, withdrawal(open).into_iter().collect()).await?;
        Ok(Json(names))
    }

    /// The runs, the latest first.
    #[handler]
    async fn runs(&self, ctx: SharedObjectContext<'_>) -> Result<Json<Vec<RunEntry>>, HandlerError> {
        let runs = ctx.get::<Json<RunList>>(RUNS).await?.unwrap_or_default().into_inner();
        Ok(Json(runs.latest_first()))
    }

    /// Facts about renders of the workflow, in pages: the log only grows.
    #[handler]
    async fn renders(
        &self,
        ctx: SharedObjectContext<'_>,
        message: Json<ReadRenders>,
    ) -> Result<Json<RenderPage>, HandlerError> {
        let log = ctx.get::<Json<RenderLog>>(RENDERS).await?.unwrap_or_default().into_inner();
        let next = (message.0.from + PAGE_SEGMENTS).min(log.open_segment() + 1);
        let mut facts = Vec::new();
        for segment in message.0.from..next {
            let stored = ctx.get::<Json<Vec<RenderFact>>>(&segment_key(segment)).await?;
            facts.extend(stored.unwrap_or_default().into_inner());
        }
        Ok(Json(RenderPage { facts, next: (next <= log.open_segment()).then_some(next) }))
    }
}

fn withdrawal(renders: Vec<scheduler::AskedRender>) -> Option<RenderFact> {
    (!renders.is_empty()).then_some(RenderFact::Withdrawn { renders })
}

/// What all facts amount to.
async fn renders(ctx: &ObjectContext<'_>) -> Result<WorkflowRenders, TerminalError> {
    let log = ctx.get::<Json<RenderLog>>(RENDERS).await?.unwrap_or_default().into_inner();
    let mut renders = WorkflowRenders::default();
    for segment in 0..=log.open_segment() {
        let facts = ctx.get::<Json<Vec<RenderFact>>>(&segment_key(segment)).await?.unwrap_or_default();
        facts.into_inner().into_iter().for_each(|fact| renders.add(fact));
    }
    Ok(renders)
}

async fn append(ctx: &ObjectContext<'_>, facts: Vec<RenderFact>) -> Result<(), HandlerError> {
    if facts.is_empty() {
        return Ok(());
    }
    let mut log = ctx.get::<Json<RenderLog>>(RENDERS).await?.unwrap_or_default().into_inner();
    let mut open = log.open_segment();
    let stored = ctx.get::<Json<Vec<RenderFact>>>(&segment_key(open)).await?;
    let mut segment = stored.unwrap_or_default().into_inner();
    for fact in facts {
        log.append(&mut segment, fact);
        if log.open_segment() != open {
            ctx.set(&segment_key(open), Json(std::mem::take(&mut segment)));
            open = log.open_segment();
        }
    }
    ctx.set(&segment_key(open), Json(segment));
    ctx.set(RENDERS, Json(log));
    Ok(())
}
