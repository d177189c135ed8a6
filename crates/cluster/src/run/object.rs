//! The virtual object of a run. Its key is the run's id.

use std::sync::Arc;
use std::time::Duration;

use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use scheduler::{Event, RunId, Timestamp};
use serde::Serialize;

use super::active::RunInput;
use super::log::{LogEntry, PAGE_SEGMENTS, RunHead, SEGMENT_LEN, StoredRun, segment_key};
use super::outgoing::{Outgoing, Target};
use crate::films::StoredFilmFile;
use crate::index::{ALL_RUNS, RunEnded, RunEntry, index_key};
use crate::messages::{ACCOUNT, Answers, Check, EventPage, FILMS, INDEX, NODE, RUN, ReadEvents, Start};
use crate::spec::effective_policy;
use crate::worker::Worker;

const HEAD: &str = "head";
/// How often a run is checked for what it waits for in vain.
const CHECK_INTERVAL: Duration = Duration::from_mins(5);
/// How long the record of a run is kept after its end. Attempts and videos are kept for ever.
const RETENTION: Duration = Duration::from_hours(30 * 24);

/// The virtual object of a run.
#[derive(Debug, Clone)]
pub struct RunObject(pub(crate) Arc<Worker>);

#[object(name = "Run")]
impl RunObject {
    /// Starts the run. Starting it again changes nothing.
    #[handler]
    async fn start(&self, ctx: ObjectContext<'_>, message: Json<Start>) -> Result<(), HandlerError> {
        if stored(&ctx).await?.is_some() {
            return Ok(());
        }
        let Start { spec } = message.0;
        let loaded = match self.0.spec(&spec).await {
            Ok(loaded) => loaded,
            Err(error) if error.is_transient() => return Err(error.into()),
            Err(error) => return Err(TerminalError::new(error.to_string()).into()),
        };
        let worker = Arc::clone(&self.0);
        let asked = loaded.spec.policy.clone();
        // Of the worker that starts the run: others may be configured otherwise.
        let service = ctx.run(move || async move {
            let policy = effective_policy(&asked, worker.min_poll_interval, worker.indeterminate_hold);
            Ok(Json((worker.clock.now(), worker.provider.identity().to_owned(), policy)))
        });
        let Json((now, identity, policy)) = service.name("service").await?;
        let run = RunId(ctx.key().to_owned());
        let workflow = loaded.plan.name().to_owned();
        let entry =
            RunEntry { run: run.clone(), workflow, service: identity.clone(), started: now, ended: None };
        to_indexes(&ctx, &entry.workflow, "started", &entry);
        let head =
            RunHead { run, spec, identity, policy, length: 0, started: now, last: now, is_ended: false };
        let run = StoredRun { head, tail: Vec::new(), next_check: Timestamp::default() };
        let first = loaded.spec.first_events().into_iter().map(RunInput::from).collect();
        self.advance(&ctx, run, first, now).await
    }

    /// Takes answers of nodes and films.
    #[handler]
    async fn step(&self, ctx: ObjectContext<'_>, message: Json<Answers>) -> Result<(), HandlerError> {
        let Answers { time, answers } = message.0;
        self.on(&ctx, answers.into_iter().map(RunInput::Answer).collect(), Some(time)).await
    }

    /// A timer of the run has fired.
    #[handler]
    async fn wake(
        &self,
        ctx: ObjectContext<'_>,
        _message: Json<serde_json::Value>,
    ) -> Result<(), HandlerError> {
        self.on(&ctx, vec![RunInput::from(Event::TimerFired)], None).await
    }

    /// Sends again what was not answered for long, because an invocation was killed by hand, and fires timers that are overdue.
    #[handler]
    async fn check(&self, ctx: ObjectContext<'_>, message: Json<Option<Check>>) -> Result<(), HandlerError> {
        let Some(mut run) = stored(&ctx).await?.filter(|run| !run.head.is_ended) else { return Ok(()) };
        let now = now(&ctx, &self.0, run.head.last).await?;
        // By hand, or the next one of the run's own: those before it are left over.
        if message.0.is_none_or(|check| check.due == run.next_check) {
            run.next_check = Timestamp::default();
        }
        self.advance(&ctx, run, vec![RunInput::Check], now).await
    }

    /// Ends the run early: nothing more is submitted, and tasks in flight are left to later runs.
    #[handler]
    async fn interrupt(&self, ctx: ObjectContext<'_>) -> Result<(), HandlerError> {
        self.on(&ctx, vec![RunInput::from(Event::Interrupted)], None).await
    }

    /// Removes the record of a run that has ended. Returns whether it is gone.
    #[handler]
    async fn purge(
        &self,
        ctx: ObjectContext<'_>,
        _message: Json<serde_json::Value>,
    ) -> Result<bool, HandlerError> {
        if stored(&ctx).await?.is_some_and(|run| !run.head.is_ended) {
            return Ok(false);
        }
        ctx.clear_all();
        Ok(true)
    }

    /// Records the files of a film, before the event that it is joined.
    #[handler]
    #[expect(clippy::unused_async, reason = "handlers are asynchronous")]
    async fn film_joined(
        &self,
        ctx: ObjectContext<'_>,
        message: Json<(usize, Vec<StoredFilmFile>)>,
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
        let Some(Json(run)) = ctx.get::<Json<StoredRun>>(HEAD).await? else {
            return Ok(Json(EventPage { head: None, events: Vec::new() }));
        };
        let full = (run.head.length - run.tail.len() as u64) / SEGMENT_LEN;
        let first = (from / SEGMENT_LEN).min(full);
        let last = (first + PAGE_SEGMENTS).min(full);
        let mut events = Vec::new();
        for segment in first..last {
            let stored = ctx.get::<Json<Vec<LogEntry>>>(&segment_key(segment)).await?;
            events.extend(stored.map(Json::into_inner).unwrap_or_default());
        }
        if last == full {
            events.extend(run.tail);
        }
        let skip = usize::try_from(from - first * SEGMENT_LEN).unwrap_or(usize::MAX);
        let events = events.into_iter().skip(skip).collect();
        Ok(Json(EventPage { head: Some(run.head), events }))
    }

    /// The files of a film that is joined.
    #[handler]
    async fn film_files(
        &self,
        ctx: SharedObjectContext<'_>,
        index: Json<usize>,
    ) -> Result<Json<Vec<StoredFilmFile>>, HandlerError> {
        Ok(ctx.get::<Json<Vec<StoredFilmFile>>>(&film_key(index.0)).await?.unwrap_or_default())
    }
}

impl RunObject {
    /// `time` is the time of the message, if it has one.
    async fn on(
        &self,
        ctx: &ObjectContext<'_>,
        inputs: Vec<RunInput>,
        time: Option<Timestamp>,
    ) -> Result<(), HandlerError> {
        let Some(run) = stored(ctx).await?.filter(|run| !run.head.is_ended) else { return Ok(()) };
        let now = match time {
            Some(time) => time.max(run.head.last),
            None => now(ctx, &self.0, run.head.last).await?,
        };
        self.advance(ctx, run, inputs, now).await
    }

    /// Applies inputs of the run and sends what follows. Everything besides the journalled time is a function of the log and the inputs,
    /// so that a worker that runs this again, with or without the run in its memory, does the same.
    async fn advance(
        &self,
        ctx: &ObjectContext<'_>,
        run: StoredRun,
        inputs: Vec<RunInput>,
        now: Timestamp,
    ) -> Result<(), HandlerError> {
        let mut active = self.0.runs.take(&self.0, &run).await?;
        let workflow = active.loaded.plan.name().to_owned();
        let StoredRun { head, next_check, .. } = run;
        let step = active.step(&head, &*self.0.provider, inputs, now);
        let is_due = next_check.after(CHECK_INTERVAL) <= now;
        let next_check = if is_due { now.after(CHECK_INTERVAL) } else { next_check };
        let run = active.stored(head, now, next_check);
        for (segment, events) in step.segments {
            ctx.set(&segment_key(segment), Json(events));
        }
        ctx.set(HEAD, Json(run.clone()));
        for message in step.messages {
            self.send(ctx, &run.head.run, &workflow, message);
        }
        if run.head.is_ended {
            to_indexes(ctx, &workflow, "ended", &RunEnded { run: run.head.run.clone(), time: now });
            if !active.leaves_open_work() {
                let purge = Outgoing::to_run("purge", &serde_json::Value::Null, RETENTION);
                self.send(ctx, &run.head.run, &workflow, purge);
            }
        } else if is_due {
            self.send(
                ctx,
                &run.head.run,
                &workflow,
                Outgoing::to_run("check", &Check { due: next_check }, CHECK_INTERVAL),
            );
        }
        self.0.runs.insert(&run, active);
        Ok(())
    }

    fn send(&self, ctx: &ObjectContext<'_>, run: &RunId, workflow: &str, message: Outgoing) {
        let Outgoing { target, handler, body, delay, .. } = message;
        let target = match target {
            Target::Node(key) => RequestTarget::object(NODE, key, handler),
            Target::ThisRun => RequestTarget::object(RUN, run.as_str(), handler),
            Target::Films => RequestTarget::service(FILMS, handler),
            Target::WorkflowIndex => RequestTarget::object(INDEX, index_key(workflow), handler),
            Target::Account => RequestTarget::object(ACCOUNT, &self.0.account_key, handler),
        };
        let request = ctx.request::<_, ()>(target, Json(body));
        let _handle = if delay.is_zero() { request.send() } else { request.send_after(delay) };
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

async fn stored(ctx: &ObjectContext<'_>) -> Result<Option<StoredRun>, TerminalError> {
    Ok(ctx.get::<Json<StoredRun>>(HEAD).await?.map(Json::into_inner))
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
