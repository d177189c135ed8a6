//! The event loop of a run: appends events to the ledger, applies them to the scheduler, reports them and executes the resulting actions.
//!
//! The loop is the only writer of [`RunState`]. Slow effects (network, frame extraction, joining) run in tasks that each return one event.
//! Invariant: an event is durable before anything outside of the process depends on it. Most are before they are applied; those that only lead to
//! reads, or to other events, are stored with the next one ([`RunState::may_be_deferred`]).

mod attempt_ids;
mod drain;
mod effect_runner;
mod event_log;
pub mod fetch;
mod lookup_queue;
mod run_error;
mod services;
mod sidecars;
mod trace;
mod wake_timer;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use workflow::plan::Plan;

use attempt_ids::AttemptIds;
use event_log::MAX_BATCH;
pub use run_error::{RunError, UnrecordedTask};
pub use services::{RunServices, ServiceOfRun};

use crate::adopt::UnrecordedVideos;
use crate::artifact_store::Verify;
use crate::blocking::run_blocking;
use crate::clean;
use crate::ledger::{Ledger, PlanArguments, RecordedServices};
use crate::reporter::{FilmProgress, Reporter};
use crate::storage::Storage;
use crate::time::Clock;
use scheduler::budget::BudgetCaps;
use scheduler::{Budget, Event, KeyResolver, ObservedLimits, Policy, RunId, RunScope, RunState, RunSummary};

/// Inputs of a run besides its plan.
pub struct RunConfig {
    /// The run's id, unique in the ledger.
    pub run: RunId,
    pub ledger: Arc<Ledger>,
    /// The services, each with its limits, timeouts and back-off.
    pub services: RunServices,
    /// The clock of the run.
    pub clock: Clock,
    /// The folder for videos and films.
    pub output_dir: PathBuf,
    /// The folder that file names in the workflow are relative to.
    pub workflow_dir: PathBuf,
    /// External programs for formats that the `media` crate does not decode.
    pub ffmpeg: media::Ffmpeg,
    /// Where the frames of the service's videos come from, for the films that are made of them.
    pub digital_source: media::DigitalSource,
    /// Spending limits and prices.
    pub budget: Budget,
    /// Resolves the key of each node: service identity, recorded salts and forced reruns.
    pub keys: KeyResolver,
    /// The arguments that determine the plan, for the record.
    pub arguments: Option<PlanArguments>,
    /// The selected nodes, and whether to stop at the first failure.
    pub scope: RunScope,
    /// How files of earlier runs are verified.
    pub verify: Verify,
    /// Whether shots are submitted although their videos are there, which the ledger does not know: the user has said so.
    pub repeats_unrecorded: bool,
    /// Becomes true when the user interrupts the run.
    pub interrupt: watch::Receiver<bool>,
}

/// Runs `plan` until every node and film has ended, and summarizes it.
///
/// # Errors
/// [`RunError`] when the run was aborted. Every submission of it has its intent in the ledger.
pub async fn run(
    plan: Arc<Plan>,
    config: RunConfig,
    reporter: &mut dyn Reporter,
) -> Result<RunSummary, RunError> {
    let RunConfig { run, ledger, services, clock, output_dir, workflow_dir, ffmpeg, .. } = config;
    let budget = config.budget;
    let mut interrupt = std::pin::pin!(interrupted(config.interrupt));
    fs_err::create_dir_all(&output_dir)?;
    let accounts = services.accounts();
    let is_paid = accounts.any_is_paid();
    let arguments = config.arguments.as_ref();
    let unrecorded = if is_paid && !config.repeats_unrecorded {
        let (folder, ledger) = (output_dir.clone(), Arc::clone(&ledger));
        let videos =
            run_blocking(move || UnrecordedVideos::read(&folder, &ledger.store(), &ledger.short_keys()?));
        Some(Arc::new(videos.await.map_err(RunError::Internal)??))
    } else {
        None
    };
    // What costs nothing exceeds no cost, whatever is in flight at a service that is paid.
    let cost = budget.shared_caps().cost.filter(|_| is_paid);
    let caps = BudgetCaps { cost, ..budget.shared_caps() };
    let service = services.unnamed();
    let recorded = RecordedServices { unnamed: service, accounts: &accounts };
    let run_lock = ledger.begin_with(run.clone(), plan.name(), arguments, recorded, caps, clock.now())?;
    let run_lock = Arc::new(run_lock);
    let state = RunState::new(Arc::clone(&plan), service, Policy::remote());
    let state = state.with_budget(budget).with_keys(config.keys);
    let mut state = services.begin(state, &ledger, clock.now())?;
    let mut limits: Vec<ObservedLimits> = state.observed_limits().map(|(_, limits)| limits).collect();
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let (joins, mut joining) = mpsc::unbounded_channel::<FilmProgress>();
    let (lookups, lookup_requests) = mpsc::unbounded_channel();
    let span = trace::run(&run, &plan, &accounts);
    let storage = Arc::new(Storage::new(ledger.store().folder(), &output_dir));
    let mut effects = effect_runner::EffectRunner {
        span: span.clone(),
        workflow_file: arguments.map(|arguments| arguments.file.clone()),
        lookups,
        plan: Arc::clone(&plan),
        ledger: Arc::clone(&ledger),
        services,
        clock: clock.clone(),
        output_dir,
        workflow_dir,
        ffmpeg: Arc::new(ffmpeg),
        digital_source: config.digital_source,
        attempts: AttemptIds { run: run.clone(), next: Arc::new(AtomicU64::new(1)) },
        storage,
        sender,
        joins,
        wakes: wake_timer::WakeTimer::new(clock.clone()),
        prepared: effect_runner::PreparedRequests::default(),
        unrecorded,
        tasks: JoinSet::new(),
    };
    effects.start_lookups(lookup_requests, config.verify);
    let mut events: Vec<Event> = config.scope.to_event(&plan).into_iter().chain([Event::Started]).collect();
    let mut log = event_log::EventLog::new(Arc::clone(&ledger), Arc::clone(&run_lock), Arc::clone(&plan));
    let mut interruptible = true;
    let mut received = Vec::new();
    let failed = loop {
        let now = clock.now();
        // The next step is recorded with the event.
        events = events.into_iter().map(|event| state.decide(event, now)).collect();
        let unsaved: Vec<Event> =
            events.iter().filter(|event| drain::submission_result(event).is_some()).cloned().collect();
        let applied = match log.append(&state, std::mem::take(&mut events), now).await? {
            Ok(applied) => applied,
            Err(source) => break Some((source, unsaved)),
        };
        for event in applied {
            let is_news = !state.repeats_claim(&event);
            let actions = state.apply(event.clone(), now);
            debug_assert_eq!(state.unexpected(), None, "no event comes in a phase that does not wait for it");
            if is_news {
                span.in_scope(|| trace::event(&state, &event));
                reporter.on(&state, &event, now);
            }
            events.extend(actions.into_iter().filter_map(|action| effects.execute(action, &state, now)));
        }
        reporter.flush();
        for ((service, observed), known) in state.observed_limits().zip(&mut limits) {
            if observed != *known {
                *known = observed;
                let (ledger, service) = (Arc::clone(&ledger), service.to_owned());
                // If it cannot be written, the next run learns them again.
                drop(run_blocking(move || ledger.record_limits(&service, observed)).await);
            }
        }
        if !events.is_empty() {
            // First, because these events may release a key that the next intent claims.
            continue;
        }
        if state.is_over() {
            break None;
        }
        let mut failure = None;
        tokio::select! {
            count = receiver.recv_many(&mut received, MAX_BATCH) => debug_assert!(count > 0, "the effect runner holds a sender"),
            Some(ended) = effects.tasks.join_next() => ended.map_err(RunError::Internal)?,
            Some(progress) = joining.recv() => reporter.on_join(&state, progress, clock.now()),
            fired = effects.wakes.fired() => events.extend(std::iter::repeat_n(Event::TimerFired, fired)),
            () = log.is_due() => failure = log.flush(clock.now()).await?.err(),
            () = &mut interrupt, if interruptible => {
                interruptible = false;
                events.push(Event::Interrupted);
            }
        }
        // What was sent before an event is reported before it: no progress follows the end of a film.
        while let Ok(progress) = joining.try_recv() {
            reporter.on_join(&state, progress, clock.now());
        }
        // Finished effects keep their memory until they are joined, and many end between two steps of this loop.
        while let Some(ended) = effects.tasks.try_join_next() {
            ended.map_err(RunError::Internal)?;
        }
        for result in received.drain(..) {
            match result {
                Ok(event) => events.push(event),
                Err(source) => failure = failure.or(Some(source)),
            }
        }
        if let Some(source) = failure {
            break Some((
                source,
                events.into_iter().filter(|event| drain::submission_result(event).is_some()).collect(),
            ));
        }
    };
    if let Some((source, unsaved)) = failed {
        let source = ledger.cause(source);
        return Err(drain::drain(source, unsaved, &state, &ledger, &run_lock, &clock, &mut receiver).await);
    }
    // Polls and downloads of detached tasks, whose events would not be applied.
    effects.tasks.shutdown().await;
    let flushed = log.flush(clock.now()).await?;
    if let Err(source) = flushed.and_then(|()| ledger.end(&run_lock, clock.now())) {
        let source = ledger.cause(source);
        if source.is_ledger_gone() {
            return Err(drain::ledger_replaced(source, &state, &[], &HashSet::new()));
        }
        return Err(source.into());
    }
    // It has no part in the result of the run.
    drop(run_blocking(move || clean::remove_downloaded(&ledger)).await);
    Ok(state.into_summary(run))
}

/// Resolves when the user interrupts the run; never once the sender is gone.
async fn interrupted(mut interrupt: watch::Receiver<bool>) {
    if interrupt.wait_for(|interrupted| *interrupted).await.is_err() {
        std::future::pending::<()>().await;
    }
}
