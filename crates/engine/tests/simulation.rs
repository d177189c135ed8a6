//! Simulation: thousands of runs against a service with every fault, interrupted at any moment and started again, with the real ledger.
//!
//! The oracle: no shot is paid for twice, no budget cap is exceeded, every paid task is accounted for, the limit on tasks in flight is
//! kept, a run submits only what it selects and at most as often as its shots allow, nothing after a halt, and ends; finished videos are on
//! disk, complete; and after every run, also one that was cut off, the tables of the ledger agree with the projection of its events.
//! `SIMULATION_SEEDS=10000` runs more seeds, `SIMULATION_SEED=17` a single one.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod support;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use engine::reporter::Silent;
use engine::{Clock, Ledger, RunConfig};
use futures_util::FutureExt as _;
use scheduler::budget::{Amount, BudgetCaps, Reservation, TaskPrices};
use scheduler::policy::Rate;
use scheduler::{
    Artifact, Event, FilmOutcome, Halt, Outcome, Policy, RunId, RunScope, RunSummary, StatusKind, Timestamp,
};
use support::world::{Rng, World};
use support::{plan, plan_with};
use workflow::plan::{Node, NodeIx, Plan, Selection};
use workflow::units::{Money, VideoDuration};

/// The short one comes first, so that a resumed run meets it before the chains with tasks in flight.
const SHOTS: &[&str] = &["f", "a", "b<a", "c<b", "d", "e<d"];
const LIMIT: usize = 2;
/// Submissions: rarely enough for the shots to wait for each other.
const SUBMITS: Rate = Rate { count: 4, per: Duration::from_secs(15) };
/// Poll rate: lower than the tasks in flight need.
const POLLS: Rate = Rate { count: 2, per: Duration::from_secs(5) };
/// Simulated time, far beyond what any run may take: deadlines are an hour, and chains have three shots.
const ENDS_WITHIN: Duration = Duration::from_hours(48);
/// The most that a task costs; the actual cost is a little less.
const PRICE: u64 = 100;

fn policy() -> Policy {
    Policy {
        max_in_flight: LIMIT,
        submit_rate: Some(SUBMITS),
        poll_rate: POLLS,
        max_downloads: 2,
        ..Policy::remote()
    }
}

/// A ledger in which nothing has happened: made once, because that takes longer than a simulated run.
static NEW_LEDGER: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("ledger.db");
    drop(Ledger::open_without_sync(&file, folder.path()).expect("a new ledger"));
    fs_err::read(&file).expect("the ledger's file")
});

#[derive(Debug)]
struct FixedPrice;

impl TaskPrices for FixedPrice {
    fn reservation(&self, _ix: NodeIx, node: &Node) -> Reservation {
        Reservation { cost: Some(Money::from_micros(PRICE)), ..Reservation::unpriced(node.duration) }
    }

    fn actual_cost(&self, ix: NodeIx, _node: &Node, _video: VideoDuration) -> Option<Money> {
        Some(Money::from_micros(PRICE - 10 * ix.index() as u64))
    }
}

/// By shot: how many tasks were accepted, and how many of these failed.
type Counts = BTreeMap<String, (usize, usize)>;

/// A project folder with its ledger, and the time since its first run began.
struct Project {
    folder: Arc<tempfile::TempDir>,
    ledger: Arc<Ledger>,
    clock: Clock,
    runs: u32,
    /// Whether the folder and the ledger are cleared for the next project of this thread.
    is_reused: bool,
}

thread_local! {
    /// A folder with a ledger in which nothing has happened. To open one and to compile its statements takes as long as a simulated run.
    static CLEARED: Cell<Option<(Arc<tempfile::TempDir>, Arc<Ledger>)>> = const { Cell::new(None) };
}

impl Drop for Project {
    fn drop(&mut self) {
        // What a run that was cut off has left behind may still write to it.
        let is_done = Arc::strong_count(&self.ledger) == 1 && !std::thread::panicking();
        if self.is_reused && is_done {
            self.ledger.clear().expect("a writable ledger");
            let records = self.folder.path().join(".runner");
            remove_all(self.folder.path(), |name| name == ".runner");
            remove_all(&records, |name| name.to_str().is_some_and(|name| name.starts_with("ledger.db")));
            CLEARED.set(Some((Arc::clone(&self.folder), Arc::clone(&self.ledger))));
        }
    }
}

/// Removes what is in a folder, except for what `stays`.
fn remove_all(folder: &Path, stays: impl Fn(&std::ffi::OsStr) -> bool) {
    for entry in fs_err::read_dir(folder).expect("a folder") {
        let entry = entry.expect("a readable folder");
        if stays(&entry.file_name()) {
            continue;
        }
        let is_folder = entry.file_type().expect("a file type").is_dir();
        let remove = if is_folder { fs_err::remove_dir_all } else { fs_err::remove_file };
        remove(entry.path()).expect("it can be removed");
    }
}

/// How a run is cut off.
#[derive(Debug, Clone, Copy)]
enum Cut {
    Never,
    After(Duration),
    /// By an interrupt after this time: it ends in good order.
    Asked(Duration),
    /// At this boundary of the ledger, counted from its beginning: on one side of a commit or the other.
    AtBoundary(u32),
}

impl Project {
    fn new() -> Self {
        let (folder, ledger) = Self::new_ledger();
        Self::with(folder, ledger, false)
    }

    /// A project that is as new: one of this thread whose ledger and folder were cleared, if there is one.
    fn cleared() -> Self {
        let (folder, ledger) = CLEARED.take().unwrap_or_else(Self::new_ledger);
        Self::with(folder, ledger, true)
    }

    fn with(folder: Arc<tempfile::TempDir>, ledger: Arc<Ledger>, is_reused: bool) -> Self {
        let clock = Clock::starting_at(Timestamp(1_000_000));
        Self { folder, ledger, clock, runs: 0, is_reused }
    }

    fn new_ledger() -> (Arc<tempfile::TempDir>, Arc<Ledger>) {
        // In memory if the machine has a folder for it: the simulation covers the end of the process, not of the disk.
        let memory = std::path::Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.expect("a temporary folder");
        let file = folder.path().join(".runner").join("ledger.db");
        fs_err::create_dir_all(file.with_file_name("")).expect("a folder");
        fs_err::write(&file, &*NEW_LEDGER).expect("a new ledger");
        let ledger = Ledger::open_without_sync(&file, folder.path()).expect("a new ledger");
        (Arc::new(folder), Arc::new(ledger))
    }

    /// What all runs have recorded, with the times.
    fn recorded_history(&self) -> String {
        let events = (1..=self.runs).flat_map(|run| {
            self.ledger.events(&RunId(format!("run{run}"))).expect("a readable ledger").into_iter()
        });
        let folder = self.folder.path().display().to_string();
        let text: Vec<String> = events.map(|(time, event)| format!("{time}: {event:?}")).collect();
        // The folder has another name each time, and files the time of day.
        let text = text.join("\n").replace(&folder, "");
        let mut parts = text.split("modified_at: Some(ModificationTime(");
        let first = parts.next().unwrap_or_default().to_owned();
        first + &parts.filter_map(|part| part.split_once("))").map(|(_, rest)| rest)).collect::<String>()
    }

    fn setup(
        &mut self,
        plan: &Plan,
        world: &World,
        caps: BudgetCaps,
        scope: RunScope,
    ) -> (RunConfig, tokio::sync::watch::Sender<bool>) {
        self.runs += 1;
        let (sender, interrupt) = tokio::sync::watch::channel(false);
        let output_dir = self.folder.path().join("out");
        let setup = RunConfig {
            run: RunId(format!("run{}", self.runs)),
            ledger: Arc::clone(&self.ledger),
            services: engine::RunServices::new(Arc::new(world.clone()), policy()),
            clock: self.clock.clone(),
            output_dir,
            workflow_dir: self.folder.path().to_owned(),
            ffmpeg: media::Ffmpeg::default(),
            digital_source: media::DigitalSource::TrainedAlgorithmicMedia,
            budget: scheduler::Budget::new(caps, Arc::new(FixedPrice)),
            keys: self
                .ledger
                .key_resolver(plan, "simulated")
                .expect("a readable ledger")
                .with_selection(plan, scope.selection.as_ref()),
            arguments: None,
            scope,
            verify: engine::artifact_store::Verify::Metadata,
            repeats_unrecorded: false,
            interrupt,
        };
        (setup, sender)
    }

    /// Runs all of it to the end.
    async fn run(&mut self, plan: &Arc<Plan>, world: &World) -> RunSummary {
        let ended = self.run_until(plan, world, BudgetCaps::default(), RunScope::default(), Cut::Never).await;
        ended.expect("it is not cut off")
    }

    /// Runs until the end, or until it is cut off.
    async fn run_until(
        &mut self,
        plan: &Arc<Plan>,
        world: &World,
        caps: BudgetCaps,
        scope: RunScope,
        cut: Cut,
    ) -> Option<RunSummary> {
        let (setup, asked) = self.setup(plan, world, caps, scope);
        world.begin_run();
        let mut silent = Silent;
        crash::arm(match cut {
            Cut::AtBoundary(number) => Some(number),
            Cut::Never | Cut::After(_) | Cut::Asked(_) => None,
        });
        let run = Box::pin(engine::run(Arc::clone(plan), setup, &mut silent));
        let bounded = tokio::time::timeout(ENDS_WITHIN, run);
        let number = self.runs;
        let run = AssertUnwindSafe(async move {
            bounded.await.unwrap_or_else(|_| panic!("run {number} has not ended after {ENDS_WITHIN:?}"))
        })
        .catch_unwind();
        let ended = match cut {
            Cut::After(limit) => tokio::time::timeout(limit, run).await.ok(),
            Cut::Never | Cut::AtBoundary(_) => Some(run.await),
            Cut::Asked(after) => {
                let mut run = std::pin::pin!(run);
                let early = tokio::time::timeout(after, &mut run).await;
                asked.send_replace(true);
                Some(match early {
                    Ok(ended) => ended,
                    Err(_) => run.await,
                })
            }
        };
        crash::arm(None);
        match ended? {
            // A crash in a part of the run that works beside its loop.
            Ok(Err(engine::RunError::Internal(_))) if matches!(cut, Cut::AtBoundary(_)) => None,
            Ok(ended) => Some(ended.expect("the run can go on")),
            Err(crashed) if crashed.is::<crash::Crash>() => None,
            Err(panicked) => std::panic::resume_unwind(panicked),
        }
    }
}

/// Ends a simulated run at a boundary of the ledger, as the end of its process would: everything that it has in memory is gone.
mod crash {
    use std::cell::Cell;

    use engine::failpoint::{Boundary, install};

    pub(super) struct Crash;

    thread_local! {
        static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
    }

    pub(super) fn arm(boundaries: Option<u32>) {
        install(reached);
        LEFT.set(boundaries);
    }

    fn reached(_side: Boundary, _kind: &str) {
        match LEFT.get() {
            None => {}
            Some(0) => {
                LEFT.set(None);
                // Not a reported panic: the simulated crash itself.
                std::panic::resume_unwind(Box::new(Crash));
            }
            Some(left) => LEFT.set(Some(left - 1)),
        }
    }
}

/// Successive runs keep to the limits at every instant, whatever happened to earlier ones; n concurrent runs to n times the limits.
fn check_limits(seed: u64, world: &World, runs: usize) {
    let in_flight = world.max_in_flight();
    assert!(in_flight <= runs * LIMIT, "seed {seed}: {in_flight} tasks were out under a limit of {LIMIT}");
    let posts = world.max_posts_within(SUBMITS.per);
    assert!(posts <= runs * SUBMITS.count as usize, "seed {seed}: {posts} POSTs came under {SUBMITS:?}");
    let polls = world.max_polls_within(POLLS.per);
    assert!(polls <= runs * POLLS.count as usize, "seed {seed}: {polls} polls came under {POLLS:?}");
    let downloads = world.max_downloading();
    assert!(downloads <= runs * policy().max_downloads, "seed {seed}: {downloads} downloads at once");
    // Concurrent runs do not share the service's throttling.
    let impatient = world.impatient();
    assert!(
        runs > 1 || impatient.is_empty(),
        "seed {seed}: although it was asked to wait came {impatient:?}"
    );
}

fn check(seed: u64, world: &World, summary: &RunSummary) {
    check_paid_once(seed, world);
    check_videos(seed, summary, |artifact| artifact.path.clone());
}

fn check_paid_once(seed: u64, world: &World) {
    for (shot, (accepted, failed)) in world.accepted() {
        assert!(accepted - failed <= 1, "seed {seed}: {shot} was paid for {} times", accepted - failed);
    }
}

/// The videos of a run are whole, at these paths.
fn check_videos(seed: u64, summary: &RunSummary, path: impl Fn(&Artifact) -> PathBuf) {
    for node in &summary.nodes {
        if let Outcome::Done { artifact, .. } = &node.outcome {
            let artifact = Artifact { path: path(artifact), ..artifact.clone() };
            assert!(
                engine::artifact::verify(&artifact).expect("a readable file"),
                "seed {seed}: the file of {} is not whole",
                node.name
            );
        }
    }
}

/// Every paid task has arrived, or the summary names it.
fn check_every_paid_task_is_accounted_for(seed: u64, world: &World, summary: &RunSummary) {
    for (shot, paid) in world.paid() {
        let node = summary.nodes.iter().find(|node| node.name == shot).expect("a shot of the plan");
        let is_known = match &node.outcome {
            Outcome::Done { task, .. } | Outcome::Detached { task, .. } | Outcome::Missing { task, .. } => {
                *task == paid
            }
            Outcome::AtOtherService { task, .. } => task.as_ref() == Some(&paid),
            Outcome::Indeterminate { .. } => true,
            Outcome::Failed { .. }
            | Outcome::Unrecorded { .. }
            | Outcome::Blocked { .. }
            | Outcome::Unpicked { .. }
            | Outcome::NotSelected { .. }
            | Outcome::NotStarted => false,
        };
        assert!(is_known, "seed {seed}: {paid} is paid for, and {shot} ended as {:?}", node.outcome);
    }
}

/// Under a cap, no more is accepted than it allows, and no more is held and spent.
struct Watch {
    caps: BudgetCaps,
    accepted_before: usize,
    spent_before: Amount,
}

impl Watch {
    fn new(caps: BudgetCaps, world: &World, ledger: &Ledger) -> Self {
        let (_, spent_before) = ledger.spending().expect("a readable ledger");
        Self { caps, accepted_before: world.total(), spent_before }
    }

    fn check(&self, seed: u64, world: &World, ledger: &Ledger) {
        let accepted = world.total() - self.accepted_before;
        let allowed = self.caps.tasks.unwrap_or(u64::MAX);
        assert!(accepted as u64 <= allowed, "seed {seed}: {accepted} tasks under a cap of {allowed}");
        let (mut sum, spent) = ledger.spending().expect("a readable ledger");
        sum += spent;
        sum -= self.spent_before;
        // Tasks in flight before the run may exceed the limit already; then nothing is added.
        if accepted > 0 {
            assert_eq!(
                self.caps.exceeded_by(sum),
                None,
                "seed {seed}: {sum:?} held and spent under {:?}",
                self.caps
            );
        }
    }
}

fn caps(rng: &mut Rng) -> BudgetCaps {
    match rng.roll(4) {
        0 => BudgetCaps { tasks: Some(rng.roll(6)), ..BudgetCaps::default() },
        1 => BudgetCaps { cost: Some(Money::from_micros(rng.roll(6) * PRICE)), ..BudgetCaps::default() },
        _ => BudgetCaps::default(),
    }
}

/// Replays the recorded events of the latest run, whether it ended or not, and checks that nothing was submitted after a halt. Without
/// caps: they depend on moments at which nothing else happened, which are not recorded.
fn replay(seed: u64, plan: &Arc<Plan>, project: &Project) -> RunSummary {
    let run = RunId(format!("run{}", project.runs));
    let mut replayed = scheduler::RunState::new(Arc::clone(plan), "simulated", policy())
        .replaying()
        .with_budget(scheduler::Budget::new(BudgetCaps::default(), Arc::new(FixedPrice)));
    let mut too_late = Vec::new();
    for (time, event) in project.ledger.events(&run).expect("a readable ledger") {
        match &event {
            Event::Prepared { attempt, .. } if replayed.halt().is_some() => too_late.push(attempt.clone()),
            Event::Submitted { node, attempt, .. } => assert!(
                !too_late.contains(attempt),
                "seed {seed}: {} was submitted although the run had stopped: {:?}",
                plan.node(*node).name,
                replayed.halt()
            ),
            _ => {}
        }
        drop(replayed.apply(event, time));
    }
    replayed.into_summary(run)
}

/// Replaying the recorded events of a run leads to the same outcomes.
fn check_replay(seed: u64, replayed: &RunSummary, summary: &RunSummary) {
    let ends = |summary: &RunSummary| {
        let nodes = summary.nodes.iter().map(|node| node.outcome.clone()).collect::<Vec<_>>();
        (nodes, summary.halt.clone())
    };
    assert_eq!(ends(replayed), ends(summary), "seed {seed}: a replay ends otherwise");
}

/// The projection of a run's recorded events, without its plan and policy, equals the state of each shot in the run.
fn check_projection(seed: u64, plan: &Plan, project: &Project, summary: &RunSummary) {
    let record =
        project.ledger.last_run(plan.name(), Path::new("")).expect("a readable ledger").expect("a run");
    let mut projection = record.projection;
    projection.on_run_ended(project.clock.now());
    // A cap that is reached without an intent, and a shot that fails without an event of its own, are not recorded.
    if !matches!(summary.halt, Some(Halt::BudgetExceeded { .. } | Halt::FailFast { .. })) {
        assert_eq!(projection.halt(), summary.halt.as_ref(), "seed {seed}: the record halted otherwise");
    }
    for node in &summary.nodes {
        let Some(shot) = projection.shot(&node.name) else {
            assert!(
                matches!(
                    node.outcome,
                    Outcome::Blocked { .. } | Outcome::NotStarted | Outcome::NotSelected { task: None }
                ),
                "seed {seed}: {} has no events and ended as {:?}",
                node.name,
                node.outcome
            );
            continue;
        };
        let states = |attempts: &[scheduler::Attempt]| {
            attempts.iter().map(|attempt| (attempt.id.clone(), attempt.state)).collect::<Vec<_>>()
        };
        assert_eq!(
            (shot.outcome(), shot.decision(), states(shot.attempts())),
            (Some(&node.outcome), node.decision, states(&node.attempts)),
            "seed {seed}: the record of {} tells otherwise",
            node.name
        );
    }
}

/// The table of attempts says of each attempt that the last run began what the projection of the recorded events says.
fn check_tables(seed: u64, plan: &Plan, project: &Project) {
    let Some(record) = project.ledger.last_run(plan.name(), Path::new("")).expect("a readable ledger") else {
        return;
    };
    for (name, shot) in record.projection.shots() {
        let rows = project.ledger.attempts_of_shot(name).expect("a readable ledger");
        for attempt in shot.attempts().iter().filter(|attempt| !attempt.is_adopted) {
            let row = rows.iter().find(|row| row.attempt == attempt.id).expect("its intent");
            assert_eq!(
                row.state, attempt.state,
                "seed {seed}: table and projection disagree about {} of {name}",
                attempt.id
            );
        }
    }
}

/// The scope of a run: mostly the default, sometimes some of the shots, or fail-fast.
fn scope(rng: &mut Rng, plan: &Plan) -> RunScope {
    let is_partial = rng.roll(3) == 0;
    let nodes: Vec<NodeIx> = plan.nodes().map(|(ix, _)| ix).filter(|_| rng.roll(2) == 0).collect();
    RunScope { selection: is_partial.then(|| Selection::only(nodes)), fail_fast: rng.roll(3) == 0 }
}

/// A run submitted only what it selects, and no shot more often than it allows.
fn check_scope(seed: u64, plan: &Plan, scope: &RunScope, before: &Counts, after: &Counts) {
    let count = |counts: &Counts, shot: &str| counts.get(shot).map_or(0, |(accepted, _)| *accepted);
    for (ix, node) in plan.nodes() {
        let submissions = count(after, &node.name) - count(before, &node.name);
        let is_selected = scope.selection.as_ref().is_none_or(|selection| selection.contains(ix));
        let allowed = if is_selected { node.retry as usize } else { 0 };
        assert!(
            submissions <= allowed,
            "seed {seed}: {} was submitted {submissions} times in a run that may do so {allowed} times",
            node.name
        );
    }
}

async fn simulate(seed: u64) -> String {
    let mut rng = Rng::new(seed.wrapping_mul(0x5851_F42D_4C95_7F2D));
    let world = World::new(seed, rng.roll(2) == 0, [0, 5, 20, 40][rng.roll(4) as usize]);
    let attempts = [1, 1, 3][rng.roll(3) as usize];
    let plan = plan_with(SHOTS, |node| node["retry"] = attempts.into());
    let mut project = Project::cleared();
    for _ in 0..rng.roll(4) {
        let cut = match rng.roll(4) {
            0 => Cut::AtBoundary(rng.roll(60) as u32),
            1 => Cut::Asked(Duration::from_millis(rng.roll(30_000))),
            _ => Cut::After(Duration::from_millis(rng.roll(30_000))),
        };
        let (caps, scope) = (caps(&mut rng), scope(&mut rng, &plan));
        let (watch, before) = (Watch::new(caps, &world, &project.ledger), world.accepted());
        let ended = project.run_until(&plan, &world, caps, scope.clone(), cut).await;
        let replayed = replay(seed, &plan, &project);
        check_tables(seed, &plan, &project);
        if let Some(summary) = ended {
            check(seed, &world, &summary);
            check_projection(seed, &plan, &project, &summary);
            if caps == BudgetCaps::default() {
                check_replay(seed, &replayed, &summary);
            }
        }
        watch.check(seed, &world, &project.ledger);
        check_limits(seed, &world, 1);
        check_scope(seed, &plan, &scope, &before, &world.accepted());
    }
    let before = world.accepted();
    let summary = project.run(&plan, &world).await;
    check(seed, &world, &summary);
    check_limits(seed, &world, 1);
    check_scope(seed, &plan, &RunScope::default(), &before, &world.accepted());
    check_every_paid_task_is_accounted_for(seed, &world, &summary);
    check_replay(seed, &replay(seed, &plan, &project), &summary);
    check_projection(seed, &plan, &project, &summary);
    check_tables(seed, &plan, &project);
    let indeterminate = summary.count(&[StatusKind::Indeterminate]);
    assert!(
        indeterminate == 0 || !world.finds_tasks,
        "seed {seed}: a service that can find tasks leaves nothing indeterminate"
    );
    project.recorded_history()
}

/// Two runs at once over one ledger, under one cap each: together they stay below it as well.
async fn simulate_two(seed: u64) {
    let mut rng = Rng::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
    let world = World::new(seed, rng.roll(2) == 0, [0, 5, 20][rng.roll(3) as usize]);
    let plan = plan(SHOTS);
    let mut project = Project::cleared();
    let caps = BudgetCaps { tasks: Some(1 + rng.roll(4)), ..BudgetCaps::default() };
    let watch = Watch::new(caps, &world, &project.ledger);
    let (first_config, _asked) = project.setup(&plan, &world, caps, RunScope::default());
    let (second_config, _asked_too) = project.setup(&plan, &world, caps, RunScope::default());
    let (mut quiet, mut silent) = (Silent, Silent);
    let (first, second) = tokio::join!(
        engine::run(Arc::clone(&plan), first_config, &mut quiet),
        engine::run(Arc::clone(&plan), second_config, &mut silent),
    );
    watch.check(seed, &world, &project.ledger);
    check_limits(seed, &world, 2);
    for summary in [first.expect("the run can go on"), second.expect("the run can go on")] {
        for (shot, (accepted, failed)) in world.accepted() {
            assert!(accepted - failed <= 1, "seed {seed}: {shot} was paid for {} times", accepted - failed);
        }
        drop(summary);
    }
}

/// `fetch` beside a run whose shots give tasks up: a video that it stores for a shot is never paid for again. A task that it finds replaced
/// is stored beside that.
async fn simulate_fetches(seed: u64) {
    let mut rng = Rng::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let world = World::new(seed, rng.roll(2) == 0, [5, 20, 40][rng.roll(3) as usize]);
    let plan = plan_with(SHOTS, |node| {
        node["retry"] = 3.into();
        node["retry_on"] = serde_json::json!(["expired", "corrupt", "failed", "transient"]);
    });
    let mut project = Project::cleared();
    let config = engine::FetchConfig {
        ledger: Arc::clone(&project.ledger),
        provider: Arc::new(world.clone()),
        policy: policy(),
        clock: project.clock.clone(),
        ffmpeg: media::Ffmpeg::default(),
        turns: engine::Turns::default(),
        on_wait: Box::new(|_, _| ()),
        interrupt: tokio::sync::watch::channel(false).1,
    };
    let folder = project.folder.path().join("out");
    // By shot, the number of tasks that were accepted when its video was stored.
    let mut stored: BTreeMap<String, usize> = BTreeMap::new();
    let accepted = |shot: &str| world.accepted().get(shot).map_or(0, |(accepted, _)| *accepted);
    for _ in 0..2 {
        let (setup, _asked) = project.setup(&plan, &world, BudgetCaps::default(), RunScope::default());
        let mut silent = Silent;
        let mut run = Box::pin(engine::run(Arc::clone(&plan), setup, &mut silent));
        'run: loop {
            tokio::select! {
                ended = &mut run => {
                    ended.expect("the run can go on");
                    break;
                }
                () = tokio::time::sleep(Duration::from_millis(rng.roll(20_000))) => {}
            }
            let open = project.ledger.open_tasks().expect("a readable ledger");
            for row in &open {
                let fetch = engine::fetch_task(&config, row, folder.clone(), Duration::from_secs(20));
                let fetched = tokio::select! {
                    ended = &mut run => {
                        ended.expect("the run can go on");
                        break 'run;
                    }
                    fetched = fetch => fetched,
                };
                let now = project.ledger.attempt(&row.attempt).expect("a readable ledger").expect("its row");
                if fetched.is_ok() && !project.ledger.is_extra_render(&now).expect("a readable ledger") {
                    stored.entry(row.node.clone()).or_insert_with(|| accepted(&row.node));
                }
            }
        }
    }
    let summary = project.run(&plan, &world).await;
    for (shot, before) in stored {
        assert_eq!(
            accepted(&shot),
            before,
            "seed {seed}: {shot} was paid for again after its video was stored"
        );
        let node = summary.nodes.iter().find(|node| node.name == shot).expect("a shot of the plan");
        assert!(
            matches!(node.outcome, Outcome::Done { .. }),
            "seed {seed}: {shot} ended as {:?}",
            node.outcome
        );
    }
}

/// Videos are removed when the service has long finished their tasks, and put back later: nothing is paid for in between, whatever the service
/// answers about the tasks and their files, and whatever `retry` says.
async fn simulate_removed_videos(seed: u64) {
    let mut rng = Rng::new(seed.wrapping_mul(0xD134_2543_DE82_EF95));
    let world = World::new(seed, rng.roll(2) == 0, [0, 5, 20][rng.roll(3) as usize]);
    let plan = plan_with(SHOTS, |node| {
        node["retry"] = 3.into();
        node["retry_on"] = serde_json::json!(["expired", "corrupt", "failed", "transient"]);
    });
    let mut project = Project::cleared();
    let summary = project.run(&plan, &world).await;
    let accepted = |shot: &str| world.accepted().get(shot).map_or(0, |(accepted, _)| *accepted);
    let is_done = |outcome: &Outcome| matches!(outcome, Outcome::Done { .. });
    let finished = summary.nodes.iter().filter(|node| is_done(&node.outcome));
    let finished: Vec<(String, usize)> =
        finished.map(|node| (node.name.clone(), accepted(&node.name))).collect();
    if finished.is_empty() {
        return;
    }
    let folders = ["out", ".runner/artifacts"].map(|folder| project.folder.path().join(folder));
    for folder in &folders {
        fs_err::rename(folder, folder.with_extension("aside")).expect("the videos can be moved");
    }
    world.age();
    for _ in 0..2 {
        project.run(&plan, &world).await;
        for (shot, before) in &finished {
            assert_eq!(accepted(shot), *before, "seed {seed}: {shot} was paid for again");
        }
    }
    for folder in &folders {
        drop(fs_err::remove_dir_all(folder));
        fs_err::rename(folder.with_extension("aside"), folder).expect("the videos can be moved");
    }
    let summary = project.run(&plan, &world).await;
    for (shot, before) in &finished {
        let node = summary.nodes.iter().find(|node| node.name == *shot).expect("a shot of the plan");
        assert!(is_done(&node.outcome), "seed {seed}: {shot} ended as {:?}", node.outcome);
        assert_eq!(accepted(shot), *before, "seed {seed}: {shot} was paid for again");
    }
    check_tables(seed, &plan, &project);
}

/// Renders are asked for, withdrawn and picked, by runs that are cut off, capped and beside each other. Each wish is paid for once, and none is
/// forgotten.
async fn simulate_renders(seed: u64) {
    const OF_ITS_OWN: [&str; 4] = ["f", "a", "d", "g"];
    let shots = ["f", "a", "b<a", "d", "g"];
    let mut rng = Rng::new(seed.wrapping_mul(0x94D0_49BB_1331_11EB));
    // A service that can be asked leaves nothing for a person to resolve.
    let world = World::new(seed, true, [0, 5, 20][rng.roll(3) as usize]);
    let unpicked = plan(&shots);
    let mut project = Project::cleared();
    // Failed tasks are submitted again by the next run; about one that is gone a person decides.
    let until_done = async |project: &mut Project, closes_missing: bool| {
        for _ in 0..40 {
            let summary = project.run(&unpicked, &world).await;
            let asked = project.ledger.asked_renders().expect("a readable ledger");
            let is_open = asked.values().flat_map(BTreeMap::values).any(|asked| asked.open.is_some());
            if summary.count(&[StatusKind::Done, StatusKind::Reused]) == shots.len() && !is_open {
                return true;
            }
            if summary.count(&[StatusKind::Missing]) > 0 {
                if !closes_missing {
                    return false;
                }
                for row in project.ledger.open_tasks().expect("a readable ledger") {
                    let abandoned = scheduler::Resolution::Abandoned;
                    project
                        .ledger
                        .resolve(&row.attempt, &abandoned, project.clock.now())
                        .expect("no run is alive");
                }
            }
        }
        panic!("seed {seed}: what is asked for is not done after forty runs");
    };
    if !until_done(&mut project, false).await {
        return;
    }
    let (mut asked, mut withdrawn) = (BTreeMap::<&str, usize>::new(), BTreeMap::<String, usize>::new());
    let check_bound = |asked: &BTreeMap<&str, usize>| {
        for (shot, (accepted, failed)) in world.accepted() {
            let of = |shot: &str| asked.get(shot).copied().unwrap_or_default();
            // Each video of `a` begins another `b`.
            let allowed = 1 + of(&shot) + if shot == "b" { of("a") } else { 0 };
            let paid = accepted - failed;
            assert!(
                paid <= allowed,
                "seed {seed}: {shot} was paid for {paid} times, and {allowed} are asked for"
            );
        }
    };
    for _ in 0..=rng.roll(6) {
        let picked = rng.roll(4) == 0;
        let plan = if picked {
            plan_with(&shots, |node| node["picked"] = (1 + seed % 3).into())
        } else {
            Arc::clone(&unpicked)
        };
        let names: Vec<String> =
            OF_ITS_OWN.iter().filter(|_| rng.roll(2) == 0).map(|name| (*name).to_owned()).collect();
        let before = project.ledger.asked_renders().expect("a readable ledger");
        let now = project.clock.now();
        match rng.roll(6) {
            0 => {
                for name in
                    project.ledger.withdraw_renders(plan.name(), &names, now).expect("a writable ledger")
                {
                    *withdrawn.entry(name).or_default() += 1;
                }
            }
            _ => project
                .ledger
                .ask_for_renders(&plan, &names, rng.roll(4) == 0, now)
                .expect("a writable ledger"),
        }
        let after = project.ledger.asked_renders().expect("a readable ledger");
        for name in OF_ITS_OWN {
            let open = |asked: &BTreeMap<String, BTreeMap<String, workflow::AskedRenders>>| {
                asked.get(plan.name()).and_then(|asked| asked.get(name)).and_then(|asked| asked.open)
            };
            // One of several that are open may be withdrawn, so that an earlier one is shown.
            *asked.entry(name).or_default() += usize::from(open(&after) > open(&before));
        }
        let cut = match rng.roll(4) {
            0 => Cut::AtBoundary(rng.roll(60) as u32),
            1 => Cut::Asked(Duration::from_millis(rng.roll(30_000))),
            2 => Cut::After(Duration::from_millis(rng.roll(30_000))),
            _ => Cut::Never,
        };
        if rng.roll(3) == 0 {
            let (first, _asked) = project.setup(&plan, &world, BudgetCaps::default(), RunScope::default());
            let (second, _asked) = project.setup(&plan, &world, BudgetCaps::default(), RunScope::default());
            let (mut quiet, mut silent) = (Silent, Silent);
            let (first, second) = tokio::join!(
                engine::run(Arc::clone(&plan), first, &mut quiet),
                engine::run(Arc::clone(&plan), second, &mut silent),
            );
            first.and(second).expect("the runs can go on");
        } else {
            let (caps, scope) = (caps(&mut rng), scope(&mut rng, &plan));
            let watch = Watch::new(caps, &world, &project.ledger);
            project.run_until(&plan, &world, caps, scope, cut).await;
            watch.check(seed, &world, &project.ledger);
            check_tables(seed, &plan, &project);
        }
        check_bound(&asked);
    }
    until_done(&mut project, true).await;
    check_bound(&asked);
    let ends = project.ledger.wish_ends().expect("a readable ledger");
    for shot in OF_ITS_OWN {
        let (accepted, failed) = world.accepted()[shot];
        let (paid, count) =
            (accepted - failed, |end: &str| ends.get(&(shot.to_owned(), end.to_owned())).copied());
        let done = count("done").unwrap_or_default();
        let withdrawn = withdrawn.get(shot).copied().unwrap_or_default();
        let closed = count("failed").unwrap_or_default() + withdrawn;
        assert_eq!(done + closed, asked[shot], "seed {seed}: a wish for {shot} is forgotten: {ends:?}");
        assert!(
            (1 + done..=1 + done + closed).contains(&paid),
            "seed {seed}: {shot} has {done} more renders, and was paid for {paid} times"
        );
    }
}

/// Simulates a seed alone in its world: nothing of the machine's own time or threads gets in. Gives what happened.
fn simulate_alone(seed: u64) -> String {
    engine::failpoint::run_blocking_inline();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let happened = simulate(seed).await;
        if seed.is_multiple_of(4) {
            simulate_two(seed).await;
        }
        if seed % 4 == 2 {
            simulate_renders(seed).await;
        }
        if seed % 8 == 1 {
            simulate_fetches(seed).await;
        }
        if seed % 16 == 3 {
            simulate_removed_videos(seed).await;
        }
        happened
    })
}

#[test]
fn simulation_never_pays_twice() {
    let seeds: u64 =
        std::env::var("SIMULATION_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(120);
    let only: Option<u64> = std::env::var("SIMULATION_SEED").ok().and_then(|seed| seed.parse().ok());
    let range = only.map_or(0..seeds, |seed| seed..seed + 1);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    // Some seeds take longer than others, and regularly so.
    let next = AtomicU64::new(range.start);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if !range.contains(&seed) {
                        break;
                    }
                    drop(simulate_alone(seed));
                }
            });
        }
    });
}

#[test]
fn simulation_seed_replays_exactly() {
    for seed in 0..12 {
        let (first, second) = (simulate_alone(seed), simulate_alone(seed));
        assert!(first.lines().count() > 5, "seed {seed} tells what happened: {first}");
        assert_eq!(first, second, "seed {seed}");
    }
}

/// All rows of a project's ledger, and the names of its other files.
fn contents(project: &Project) -> String {
    let records = project.folder.path().join(".runner");
    let ledger = rusqlite::Connection::open(records.join("ledger.db")).expect("a ledger");
    let mut names =
        ledger.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").expect("SQL");
    let names = names.query_map([], |row| row.get(0)).expect("names");
    let mut contents = String::new();
    for name in names.collect::<rusqlite::Result<Vec<String>>>().expect("names") {
        let mut rows = ledger.prepare(&format!("SELECT * FROM {name}")).expect("SQL");
        let columns = rows.column_count();
        let mut rows = rows.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            let values = (0..columns).map(|column| row.get_unwrap::<_, rusqlite::types::Value>(column));
            writeln!(contents, "{name}: {:?}", values.collect::<Vec<_>>()).expect("memory");
        }
    }
    for folder in [project.folder.path(), &records] {
        let names =
            fs_err::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<_> =
            names.filter(|name| !name.to_string_lossy().starts_with("ledger.db-")).collect();
        names.sort();
        writeln!(contents, "{names:?}").expect("memory");
    }
    contents
}

#[tokio::test(start_paused = true)]
async fn simulation_begins_with_nothing_of_the_project_before() {
    let new = contents(&Project::new());
    let mut project = Project::cleared();
    assert_eq!(contents(&project), new);
    project.run(&plan(SHOTS), &World::new(7, false, 0)).await;
    assert_ne!(contents(&project), new);
    let folder = project.folder.path().to_owned();
    drop(project);
    let project = Project::cleared();
    assert_eq!((project.folder.path(), contents(&project)), (folder.as_path(), new));
}

#[tokio::test(start_paused = true)]
async fn simulation_second_run_submits_nothing_and_keeps_the_film() {
    let world = World::new(7, false, 0);
    let plan = plan(&["a", "b<a"]);
    let mut project = Project::new();
    // The next run submits failed tasks again, so in the end everything is done.
    let mut summary = project.run(&plan, &world).await;
    for _ in 0..10 {
        if summary.count(&[StatusKind::Done, StatusKind::Reused]) == 2 {
            break;
        }
        summary = project.run(&plan, &world).await;
    }
    let before = world.accepted();
    let summary = project.run(&plan, &world).await;
    assert_eq!(world.accepted(), before);
    assert_eq!(summary.submitted(), 0);
    assert!(matches!(&summary.films[0].outcome, FilmOutcome::Done { film } if film.reused));
}

#[tokio::test(start_paused = true)]
async fn simulation_concurrent_runs_pay_once() {
    let world = World::new(11, false, 0);
    let plan = plan(SHOTS);
    let mut project = Project::new();
    let (first_config, _asked) = project.setup(&plan, &world, BudgetCaps::default(), RunScope::default());
    let (second_config, _asked_too) =
        project.setup(&plan, &world, BudgetCaps::default(), RunScope::default());
    let (mut quiet, mut silent) = (Silent, Silent);
    let (first, second) = tokio::join!(
        engine::run(Arc::clone(&plan), first_config, &mut quiet),
        engine::run(Arc::clone(&plan), second_config, &mut silent),
    );
    check_paid_once(11, &world);
    for summary in [first, second] {
        // The service delivers other bytes to each run, and the file in the output folder is that of the later one.
        let store = project.ledger.store();
        check_videos(11, &summary.expect("the run can go on"), |artifact| store.path(&artifact.sha256));
    }
}

#[tokio::test(start_paused = true)]
async fn simulation_full_disk_stops_submissions_and_reports_accepted_tasks() {
    let mut stopped = 0;
    for pages in 16..28 {
        let world = World::new(pages, false, 0);
        let plan = plan(SHOTS);
        let mut project = Project::new();
        project.ledger.limit_pages(u32::try_from(pages).expect("few pages")).expect("a bound");
        let (setup, _asked) = project.setup(&plan, &world, BudgetCaps::default(), RunScope::default());
        let mut silent = Silent;
        let ended = engine::run(Arc::clone(&plan), setup, &mut silent).await;
        let posts = world.total();
        tokio::time::sleep(Duration::from_mins(10)).await;
        assert_eq!(world.total(), posts, "nothing is on its way any more");
        let unrecorded = match ended {
            Ok(_) => continue,
            Err(engine::RunError::LedgerWrite { source, unrecorded }) => {
                assert!(source.to_string().contains("full"), "{source}");
                unrecorded
            }
            Err(engine::RunError::Ledger(source)) => {
                assert!(source.to_string().contains("full"), "{source}");
                Vec::new()
            }
            Err(error) => panic!("{error}"),
        };
        stopped += 1;
        // There is room again: what could not be recorded is, as the message says, and nothing is paid for twice or left open.
        project.ledger.limit_pages(1 << 20).expect("a bound");
        for task in &unrecorded {
            project
                .ledger
                .resolve(
                    &task.attempt,
                    &scheduler::Resolution::Accepted { task: task.task.clone() },
                    Timestamp(1),
                )
                .expect("its intent is on record");
        }
        let open = project.ledger.resolvable_attempts().expect("a readable ledger");
        let unsent = open.len();
        for row in open {
            let not_accepted = scheduler::Resolution::NotAccepted;
            project.ledger.resolve(&row.attempt, &not_accepted, Timestamp(1)).expect("it was never sent");
        }
        let summary = project.run(&plan, &world).await;
        check(pages, &world, &summary);
        check_every_paid_task_is_accounted_for(pages, &world, &summary);
        assert!(unsent <= LIMIT, "{unsent} intents without a POST");
    }
    assert!(stopped > 3, "some of these disks are too small: {stopped}");
}
