//! The shell around the scheduler: it appends events to the ledger, applies them, reports them and performs the actions.
//!
//! The loop is the only writer of the run's state. Everything slow (the network, frames, joining) happens in tasks of its own that
//! answer with an event. Invariant: an event is durable before it is applied, and so before anything acts on it.

mod download;
mod drain;
mod film;
mod inputs;
pub(crate) mod look;
mod looks;
mod perform;
mod trace;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use scheduler::{AttemptId, Budget, Event, Keys, Policy, RunId, RunState, RunSummary, Scope, TaskId};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet};
use workflow::plan::Plan;

use crate::blocking::blocking;
use crate::ledger::{Kept, Ledger, LedgerError};
use crate::provider::Provider;
use crate::reporter::Reporter;
use crate::store::Check;
use crate::time::Clock;

/// How many events are appended in one transaction at most.
const BATCH: usize = 1_024;

/// What a run needs besides its plan.
pub struct Setup {
    /// The run's id, unique in the ledger.
    pub run: RunId,
    /// The ledger.
    pub ledger: Arc<Ledger>,
    /// The service.
    pub provider: Arc<dyn Provider>,
    /// The numbers.
    pub policy: Policy,
    /// The time.
    pub clock: Clock,
    /// Where videos and films are put.
    pub folder: PathBuf,
    /// The folder that the workflow's file names are relative to.
    pub sources: PathBuf,
    /// Programs of this machine that may help with unusual formats.
    pub tools: media::Tools,
    /// What may be spent, and what work costs.
    pub budget: Budget,
    /// What stands for each node: of the service's identity, with the salts on record, and with what is to be made anew.
    pub keys: Keys,
    /// What it is told besides the plan.
    pub scope: Scope,
    /// How closely files of earlier runs are looked at.
    pub check: Check,
    /// Becomes true when the user asks the run to end.
    pub interrupt: watch::Receiver<bool>,
}

/// Why a run itself could not go on. Failed shots are outcomes in the summary instead.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// What happened could not be made durable, so nothing more may be submitted. Tasks that are out are adopted by the next run.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The folder for the videos cannot be used.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A part of this program panicked.
    #[error(
        "a part of this program failed in a way that it should not: {0}; tasks that are out are kept and adopted by the next run"
    )]
    Internal(JoinError),
    /// What happened could not be made durable any more while the run went on: nothing more was submitted.
    #[error("{source}; nothing more was submitted{}", drain::told(unrecorded))]
    Broken {
        /// Why.
        source: LedgerError,
        /// Accepted tasks that the ledger does not know: to be told to it once it can be written again.
        unrecorded: Vec<Unrecorded>,
    },
}

/// An accepted task that could not be recorded. Its intent is on record, so it is not submitted again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrecorded {
    /// The node's name.
    pub node: String,
    /// The attempt.
    pub attempt: AttemptId,
    /// The task.
    pub task: TaskId,
}

/// Runs `plan` to its end and says what it came to.
///
/// # Errors
/// [`RunError`]: only when the run itself could not go on. Whatever had been submitted is in the ledger.
pub async fn run(plan: Arc<Plan>, setup: Setup, reporter: &mut dyn Reporter) -> Result<RunSummary, RunError> {
    let Setup { run, ledger, provider, policy, clock, folder, sources, tools, .. } = setup;
    let (budget, mut interrupt) = (setup.budget, setup.interrupt);
    fs_err::create_dir_all(&folder)?;
    let lease =
        Arc::new(ledger.begin(run.clone(), plan.name(), provider.identity(), budget.caps(), clock.now())?);
    let submits = policy.submits.map_or(0, |rate| rate.most);
    let mut state = RunState::new(Arc::clone(&plan), provider.identity(), policy)
        .with_budget(budget)
        .with_keys(setup.keys)
        .after_submissions(ledger.intents(provider.identity(), submits)?)
        .after_tasks(ledger.durations(provider.identity())?);
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let (looks, asked_for) = mpsc::unbounded_channel();
    let span = trace::run(&run, &plan, provider.identity());
    let mut hands = perform::Hands {
        span: span.clone(),
        looks,
        plan: Arc::clone(&plan),
        ledger: Arc::clone(&ledger),
        provider,
        clock: clock.clone(),
        folder,
        sources,
        tools: Arc::new(tools),
        attempts: Attempts { run: run.clone(), next: Arc::new(AtomicU64::new(1)) },
        sender,
        prepared: perform::Prepared::default(),
        tasks: JoinSet::new(),
    };
    hands.begin_looking(asked_for, setup.check);
    let mut events: Vec<Event> = setup.scope.told(&plan).into_iter().chain([Event::Started]).collect();
    let mut interruptible = true;
    loop {
        let now = clock.now();
        let known: Vec<Event> = events.iter().filter(|event| drain::is_needed(event)).cloned().collect();
        let batch = events
            .drain(..)
            .map(|event| {
                let kept = if state.decides(&event, now) { Kept::Yes } else { Kept::No };
                (event, kept)
            })
            .collect();
        let applied = {
            let (ledger, lease, plan) = (Arc::clone(&ledger), Arc::clone(&lease), Arc::clone(&plan));
            blocking(move || ledger.append(&lease, &plan, now, batch)).await.map_err(RunError::Internal)?
        };
        let applied = match applied {
            Ok(applied) => applied,
            Err(source) => {
                return Err(drain::drain(source, known, &state, &ledger, &lease, &clock, &mut receiver).await);
            }
        };
        for event in applied {
            let actions = state.apply(event.clone(), now);
            span.in_scope(|| trace::event(&state, &event));
            reporter.on(&state, &event, now);
            for action in actions {
                hands.perform(action, &state, now)?;
            }
        }
        reporter.settled();
        if state.is_over() {
            break;
        }
        tokio::select! {
            received = receiver.recv_many(&mut events, BATCH) => debug_assert!(received > 0, "the hands hold a sender"),
            Some(ended) = hands.tasks.join_next() => ended.map_err(RunError::Internal)?,
            () = asked(&mut interrupt), if interruptible => {
                interruptible = false;
                events.push(Event::Interrupted);
            }
        }
    }
    // Whatever still runs has lost its purpose: polls and downloads of tasks that were let go.
    hands.tasks.shutdown().await;
    ledger.end(&lease, clock.now())?;
    Ok(state.summary(run))
}

/// Resolves when the user has asked the run to end; never, when nobody can ask any more.
async fn asked(interrupt: &mut watch::Receiver<bool>) {
    if interrupt.wait_for(|asked| *asked).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Names attempts: unique within the ledger, because runs are.
#[derive(Debug, Clone)]
struct Attempts {
    run: RunId,
    next: Arc<AtomicU64>,
}

impl Attempts {
    fn next(&self) -> AttemptId {
        AttemptId(format!("{}.{}", self.run, self.next.fetch_add(1, Ordering::Relaxed)))
    }
}
