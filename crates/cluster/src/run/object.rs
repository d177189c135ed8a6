//! The virtual object of a run. Its key is the run's id.

use std::sync::Arc;

use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use scheduler::{Event, RunId, Timestamp};
use serde::Serialize;

use super::log::{Logged, PAGE_SEGMENTS, RunHead, SEGMENT_LEN, segment_key};
use super::outgoing::{Outgoing, Target};
use crate::films::FilmFile;
use crate::index::{ALL_RUNS, RunEnded, RunEntry, index_key};
use crate::messages::{EventPage, Events, FILMS, INDEX, NODE, RUN, ReadEvents, Start};
use crate::spec::effective_policy;
use crate::worker::Worker;

const HEAD: &str = "head";

/// The virtual object of a run.
#[derive(Debug, Clone)]
pub struct RunObject(pub(crate) Arc<Worker>);

#[object(name = "Run")]
impl RunObject {
    /// Starts the run. Starting it again changes nothing.
    #[handler]
    async fn start(&self, ctx: ObjectContext<'_>, message: Json<Start>) -> Result<(), HandlerError> {
        if ctx.get::<Json<RunHead>>(HEAD).await?.is_some() {
            return Ok(());
        }
        let Start { spec } = message.0;
        let loaded = match self.0.spec(&spec).await {
            Ok(loaded) => loaded,
            Err(error) if error.is_transient() => return Err(error.into()),
            Err(error) => return Err(TerminalError::new(error.to_string()).into()),
        };
        let now = now(&ctx, &self.0, Timestamp::default()).await?;
        let worker = Arc::clone(&self.0);
        let asked = loaded.spec.policy.clone();
        // Of the worker that starts the run: others may be configured otherwise.
        let at = ctx.run(move || async move {
            let policy = effective_policy(&asked, worker.min_poll_interval, worker.indeterminate_hold);
            Ok(Json((worker.provider.identity().to_owned(), policy)))
        });
        let Json((identity, policy)) = at.name("service").await?;
        let run = RunId(ctx.key().to_owned());
        let workflow = loaded.plan.name().to_owned();
        let entry =
            RunEntry { run: run.clone(), workflow, service: identity.clone(), started: now, ended: None };
        to_indexes(&ctx, &entry.workflow, "started", &entry);
        let head = RunHead { run, spec, identity, policy, length: 0, started: now, last: now, over: false };
        self.advance(&ctx, head, loaded.spec.first_events(), now).await
    }

    /// Takes events of nodes and films.
    #[handler]
    async fn step(&self, ctx: ObjectContext<'_>, message: Json<Events>) -> Result<(), HandlerError> {
        self.on_events(&ctx, message.0.events).await
    }

    /// A timer of the run has fired.
    #[handler]
    async fn wake(
        &self,
        ctx: ObjectContext<'_>,
        _message: Json<serde_json::Value>,
    ) -> Result<(), HandlerError> {
        self.on_events(&ctx, vec![Event::TimerFired]).await
    }

    /// Ends the run early: nothing more is submitted, and tasks in flight are left to later runs.
    #[handler]
    async fn interrupt(&self, ctx: ObjectContext<'_>) -> Result<(), HandlerError> {
        self.on_events(&ctx, vec![Event::Interrupted]).await
    }

    /// Records the files of a film, before the event that it is joined.
    #[handler]
    #[expect(clippy::unused_async, reason = "handlers are asynchronous")]
    async fn film_joined(
        &self,
        ctx: ObjectContext<'_>,
        message: Json<(usize, Vec<FilmFile>)>,
    ) -> Result<(), HandlerError> {
        let (index, files) = message.0;
        ctx.set(&film_key(index), Json(files));
        Ok(())
    }

    /// Events of the run, in pages.
    #[handler]
    async fn events(
        &self,
        ctx: SharedObjectContext<'_>,
        message: Json<ReadEvents>,
    ) -> Result<Json<EventPage>, HandlerError> {
        let from = message.0.from;
        let Some(Json(head)) = ctx.get::<Json<RunHead>>(HEAD).await? else {
            return Ok(Json(EventPage { head: None, events: Vec::new() }));
        };
        let mut events = Vec::new();
        let first = from / SEGMENT_LEN;
        for segment in
            (first..first + PAGE_SEGMENTS).take_while(|segment| segment * SEGMENT_LEN < head.length)
        {
            let stored = ctx.get::<Json<Vec<Logged>>>(&segment_key(segment)).await?;
            events.extend(stored.map(Json::into_inner).unwrap_or_default());
        }
        let skip = usize::try_from(from - first * SEGMENT_LEN).unwrap_or(usize::MAX);
        let count = usize::try_from(head.length.saturating_sub(from)).unwrap_or(usize::MAX);
        let events = events.into_iter().skip(skip).take(count).collect();
        Ok(Json(EventPage { head: Some(head), events }))
    }

    /// The files of a film that is joined.
    #[handler]
    async fn film_files(
        &self,
        ctx: SharedObjectContext<'_>,
        index: Json<usize>,
    ) -> Result<Json<Vec<FilmFile>>, HandlerError> {
        Ok(ctx.get::<Json<Vec<FilmFile>>>(&film_key(index.0)).await?.unwrap_or_default())
    }
}

impl RunObject {
    async fn on_events(&self, ctx: &ObjectContext<'_>, events: Vec<Event>) -> Result<(), HandlerError> {
        let Some(Json(head)) = ctx.get::<Json<RunHead>>(HEAD).await? else { return Ok(()) };
        if head.over {
            return Ok(());
        }
        let now = now(ctx, &self.0, head.last).await?;
        self.advance(ctx, head, events, now).await
    }

    /// Applies events and sends what follows. Everything besides the journalled time is a function of the log and the events, so that a
    /// worker that runs this again, with or without the run in its memory, does the same.
    async fn advance(
        &self,
        ctx: &ObjectContext<'_>,
        mut head: RunHead,
        events: Vec<Event>,
        now: Timestamp,
    ) -> Result<(), HandlerError> {
        let mut active = self.0.runs.take(&self.0, &head).await?;
        let workflow = active.loaded.plan.name().to_owned();
        let step = active.step(&head, &*self.0.provider, events, now);
        head.length = active.length;
        head.last = now;
        head.over = active.is_over();
        for (segment, events) in step.segments {
            ctx.set(&segment_key(segment), Json(events));
        }
        ctx.set(HEAD, Json(head.clone()));
        for message in step.messages {
            send(ctx, &head.run, &workflow, message);
        }
        if head.over {
            to_indexes(ctx, &workflow, "ended", &RunEnded { run: head.run.clone(), at: now });
        }
        self.0.runs.put(&head, active);
        Ok(())
    }
}

/// Tells the index of the workflow, and that of all runs.
fn to_indexes<T: Serialize + Clone + Send + 'static>(
    ctx: &ObjectContext<'_>,
    workflow: &str,
    handler: &'static str,
    message: &T,
) {
    for key in [index_key(workflow), ALL_RUNS.to_owned()] {
        let target = RequestTarget::object(INDEX, key, handler);
        let _handle = ctx.request::<_, ()>(target, Json(message.clone())).send();
    }
}

fn send(ctx: &ObjectContext<'_>, run: &RunId, workflow: &str, message: Outgoing) {
    let Outgoing { target, handler, body, delay } = message;
    let target = match target {
        Target::Node(key) => RequestTarget::object(NODE, key, handler),
        Target::ThisRun => RequestTarget::object(RUN, run.as_str(), handler),
        Target::Films => RequestTarget::service(FILMS, handler),
        Target::WorkflowIndex => RequestTarget::object(INDEX, index_key(workflow), handler),
    };
    let request = ctx.request::<_, ()>(target, Json(body));
    let _handle = if delay.is_zero() { request.send() } else { request.send_after(delay) };
}

/// The time, journalled, and not before the last event of the run.
async fn now(
    ctx: &ObjectContext<'_>,
    worker: &Arc<Worker>,
    last: Timestamp,
) -> Result<Timestamp, TerminalError> {
    let worker = Arc::clone(worker);
    let read = ctx.run(move || async move { Ok(Json(worker.clock.now())) });
    Ok(read.name("now").await?.into_inner().max(last))
}

fn film_key(index: usize) -> String {
    format!("film/{index}")
}
