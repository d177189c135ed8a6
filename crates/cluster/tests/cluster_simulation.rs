//! Simulation of the cluster: runs on workers that are killed at any message, against a service with every fault, with a Restate in memory.
//!
//! The handlers, the SDK, the endpoint of the workers and the client are those of the product (`simulated`); the service is the one of the
//! engine's simulation. The oracle: no shot is paid for twice, the limits and caps of the account hold, every paid task is accounted for and
//! its video is in the store, and runs end. For faults that depend on nothing but the shot, a run on one machine has the same outcomes.
//! `SIMULATION_SEEDS=10000` runs more seeds, `SIMULATION_SEED=17` a single one.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

#[path = "simulated/mod.rs"]
mod simulated;
#[path = "../../engine/tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cluster::account::AccountLimits;
use cluster::client::Ingress;
use cluster::index::RenderSnapshot;
use cluster::messages::AskRenders;
use cluster::store::ObjectKind;
use cluster::{
    ClusterError, EngineClient, Follower, PriceSource, RunSpec, SharedStore, Worker, WorkerConfig,
};
use engine::reporter::Silent;
use engine::{Clock, Ledger, RunConfig};
use futures_util::future::BoxFuture;
use scheduler::budget::{BudgetCaps, NoPrices};
use scheduler::renders::Wishes;
use scheduler::{
    AttemptState, FilmOutcome, Outcome, Policy, RunId, RunScope, RunState, RunSummary, StatusKind, TaskId,
    Timestamp,
};
use simulated::process::{Processes, unless_gone};
use simulated::restate::Restate;
use support::plan_with;
use support::world::{Rng, World};
use tokio::sync::watch;
use url::Url;
use workflow::plan::Plan;

const SHOTS: &[&str] = &["f", "a", "b<a", "c<b", "d", "e<d"];
/// Tasks in flight that the account allows.
const LIMIT: usize = 2;
const WORKERS: usize = 2;
/// Simulated time, far beyond what any run may take.
const ENDS_WITHIN: Duration = Duration::from_hours(48);
/// How often a client asks for events; less often while there are none.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(300);
const MAX_FOLLOW_INTERVAL: Duration = Duration::from_secs(30);
/// How long what a run tells the index may be under way.
const FACTS_ARRIVE_WITHIN: Duration = Duration::from_mins(2);
/// How long an indeterminate submission counts as in flight: longer than a task takes.
const HOLD: Duration = Duration::from_mins(1);
/// Cuts of a simulated run, at most: a run that is cut off for ever does not end.
const MAX_CUTS: u64 = 25;

/// The ingress of a server that is made after its workers, as a worker reaches it for as long as it lives.
#[derive(Debug, Clone)]
struct LateIngress {
    server: Arc<OnceLock<Restate>>,
    gone: watch::Receiver<bool>,
}

impl Ingress for LateIngress {
    fn call<'a>(
        &'a self,
        object: &'a str,
        key: &'a str,
        handler: &'a str,
        body: Vec<u8>,
    ) -> BoxFuture<'a, Result<Vec<u8>, ClusterError>> {
        let call = self.server.get().expect("a server").call(object, key, handler, body);
        Box::pin(unless_gone(self.gone.clone(), call))
    }
}

fn url(text: &str) -> Url {
    Url::parse(text).expect("a URL")
}

fn prices() -> PriceSource {
    Arc::new(|_, _| Ok(Arc::new(NoPrices)))
}

/// A cluster with its shared store.
struct Cluster {
    restate: Restate,
    client: EngineClient,
    store: SharedStore,
    runs: u32,
    asked: i64,
}

impl Cluster {
    /// One out of `cut_one_in` messages is cut off.
    async fn start(seed: u64, world: &World, limits: AccountLimits, cut_one_in: u64) -> Self {
        let store = SharedStore::in_memory();
        let server = Arc::new(OnceLock::new());
        let clock = Clock::starting_at(Timestamp(1_000_000));
        let (worker_store, ingress) = (store.clone(), Arc::clone(&server));
        let new_worker = move |number: u64, provider, gone| {
            let ingress = LateIngress { server: Arc::clone(&ingress), gone };
            Worker::new(WorkerConfig {
                provider,
                store: worker_store.clone(),
                client: EngineClient::in_process(Arc::new(ingress), url("http://simulated/")),
                clock: clock.clone(),
                ffmpeg: media::Ffmpeg::default(),
                digital_source: media::DigitalSource::TrainedAlgorithmicMedia,
                limits,
                min_poll_interval: Duration::from_millis(250),
                min_download_rate: Policy::remote().min_download_rate,
                reconcile_delay: Duration::from_secs(150),
                indeterminate_hold: HOLD,
                prices: prices(),
                boot: format!("boot-{number}"),
            })
        };
        let processes = Processes::new(WORKERS, world.clone(), Box::new(new_worker));
        let restate = Restate::new(seed, processes, cut_one_in, MAX_CUTS).await;
        server.set(restate.clone()).expect("one server");
        let client = EngineClient::in_process(Arc::new(restate.clone()), url("http://simulated/"));
        Self { restate, client, store, runs: 0, asked: 0 }
    }

    async fn begin(&mut self, plan: &Plan, caps: BudgetCaps) -> RunId {
        self.runs += 1;
        let run = RunId(format!("run{}", self.runs));
        let renders = self.renders(plan).await;
        let plan = serde_json::to_vec(plan).expect("JSON");
        let spec = RunSpec {
            run: run.clone(),
            plan: self.store.put(ObjectKind::Plan, plan).await.expect("stored"),
            only: None,
            fail_fast: false,
            salt: None,
            policy: policy(),
            caps,
            prices: None,
            files: Vec::new(),
            renders,
            arguments: None,
        };
        let spec = serde_json::to_vec(&spec).expect("JSON");
        let spec = self.store.put(ObjectKind::Spec, spec).await.expect("stored");
        self.client.start(&run, &spec).await.expect("it starts");
        run
    }

    async fn renders(&self, plan: &Plan) -> RenderSnapshot {
        self.client.renders(plan.name()).await.expect("readable").snapshot(plan)
    }

    /// What was asked for of a shot.
    async fn wishes(&self, plan: &Plan, shot: &str) -> Wishes {
        self.renders(plan).await.renders().wishes().get(shot).cloned().unwrap_or_default()
    }

    /// A client asks for one more render of shots. Its message may come twice.
    async fn ask(&mut self, plan: &Plan, shots: &[&str]) {
        self.asked += 1;
        let asked = AskRenders {
            instances: shots.iter().map(|shot| (*shot).to_owned()).collect(),
            asks_for_another: false,
            gone: Vec::new(),
            time: Timestamp(self.asked),
        };
        for _ in 0..2 {
            self.client.ask_for_renders(plan.name(), &asked).await.expect("recorded");
        }
    }

    async fn follow(&self, run: &RunId) -> RunSummary {
        self.follow_to_end(run).await.into_summary()
    }

    async fn follow_to_end(&self, run: &RunId) -> Follower {
        let followed = async {
            let (client, store) = (self.client.clone(), self.store.clone());
            let follower = Follower::open(client, store, run, None, &prices()).await.expect("readable");
            let mut follower = follower.expect("a run");
            let mut interval = FOLLOW_INTERVAL;
            while !follower.is_over() {
                if follower.read(&mut |_, _, _| {}).await.expect("readable") > 0 {
                    interval = FOLLOW_INTERVAL;
                    continue;
                }
                tokio::time::sleep(interval).await;
                interval = (interval * 2).min(MAX_FOLLOW_INTERVAL);
            }
            follower
        };
        let ended = tokio::time::timeout(ENDS_WITHIN, followed).await;
        ended.unwrap_or_else(|_| panic!("{run} has not ended after {ENDS_WITHIN:?}"))
    }
}

fn policy() -> Policy {
    Policy { max_in_flight: 4, max_downloads: 2, ..Policy::remote() }
}

/// No shot is paid for twice, and the account's limit on tasks in flight holds.
fn check(seed: u64, world: &World) {
    for (shot, (accepted, failed)) in world.accepted() {
        assert!(accepted - failed <= 1, "seed {seed}: {shot} was paid for {} times", accepted - failed);
    }
    let in_flight = world.max_in_flight();
    assert!(in_flight <= LIMIT, "seed {seed}: {in_flight} tasks were out under a limit of {LIMIT}");
}

/// The records of nodes, which the cluster's handlers keep, say the same of each attempt as the events of the run.
async fn check_records(seed: u64, cluster: &Cluster, state: &RunState) {
    for (node, _) in state.plan().nodes() {
        let Some(key) = state.key(node) else { continue };
        let record = cluster.client.node(&key).await.expect("readable");
        for attempt in state.node(node).shot().attempts() {
            let recorded =
                record.attempt(&attempt.id).map(|recorded| (recorded.state, recorded.task.clone()));
            // A task that an earlier run found missing is so on record until its end is seen: this run has only not found it missing itself.
            let was_missing = attempt.is_adopted
                && attempt.state == AttemptState::Submitted
                && recorded.as_ref().is_some_and(|(state, _)| *state == AttemptState::Missing);
            let state_on_record = if was_missing { AttemptState::Missing } else { attempt.state };
            let expected = Some((state_on_record, attempt.task.clone()));
            let name = &state.plan().node(node).name;
            assert_eq!(recorded, expected, "seed {seed}: {} of {name}", attempt.id);
        }
    }
}

/// Every paid task has arrived, or the summary names it; what has arrived is in the store.
async fn check_paid(seed: u64, world: &World, cluster: &Cluster, summary: &RunSummary) {
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
    for node in &summary.nodes {
        if let Outcome::Done { artifact, .. } = &node.outcome {
            let stored = cluster.store.get(ObjectKind::Artifact, &artifact.sha256).await;
            assert!(stored.is_ok(), "seed {seed}: the video of {} is lost", node.name);
        }
    }
}

fn plan_for(attempts: u64) -> Arc<Plan> {
    plan_with(SHOTS, |node| node["retry"] = attempts.into())
}

/// Runs and clients come and go while workers, connections and the server are cut off.
async fn simulate(seed: u64) -> u64 {
    let mut rng = Rng::new(seed.wrapping_mul(0x5851_F42D_4C95_7F2D));
    let world = World::new(seed, rng.roll(2) == 0, [0, 5, 20, 40][rng.roll(4) as usize]);
    let plan = plan_for([1, 1, 3][rng.roll(3) as usize]);
    let cap = (rng.roll(4) == 0).then(|| 1 + rng.roll(6));
    let limits = AccountLimits {
        in_flight: Some(LIMIT),
        caps: BudgetCaps { tasks: cap, ..BudgetCaps::default() },
        ..AccountLimits::default()
    };
    let cut_one_in = [0, 8, 40, 150][rng.roll(4) as usize];
    let mut cluster = Cluster::start(seed, &world, limits, cut_one_in).await;
    for _ in 0..=rng.roll(2) {
        let own = (rng.roll(4) == 0).then(|| rng.roll(6));
        let first = cluster.begin(&plan, BudgetCaps { tasks: own, ..BudgetCaps::default() }).await;
        // Another client, while the first run goes on.
        let second = if rng.roll(2) == 0 {
            tokio::time::sleep(Duration::from_millis(rng.roll(20_000))).await;
            Some(cluster.begin(&plan, BudgetCaps::default()).await)
        } else {
            None
        };
        if rng.roll(3) == 0 {
            tokio::time::sleep(Duration::from_millis(rng.roll(30_000))).await;
            cluster.client.interrupt(&first).await.expect("it is interrupted");
        }
        for run in [Some(first), second].into_iter().flatten() {
            cluster.follow(&run).await;
            check(seed, &world);
        }
    }
    cluster.restate.calm_down();
    let last = cluster.begin(&plan, BudgetCaps::default()).await;
    let last = cluster.follow_to_end(&last).await;
    check_records(seed, &cluster, last.state()).await;
    let summary = last.into_summary();
    check(seed, &world);
    check_paid(seed, &world, &cluster, &summary).await;
    if let Some(cap) = cap {
        let accepted = world.total() as u64;
        assert!(accepted <= cap, "seed {seed}: {accepted} tasks under a cap of {cap}");
    }
    let indeterminate = summary.count(&[StatusKind::Indeterminate]);
    assert!(
        indeterminate == 0 || !world.finds_tasks,
        "seed {seed}: a service that can find tasks leaves nothing indeterminate"
    );
    cluster.restate.cuts()
}

/// Two runs wait for one task, and the service forgets it once its video was delivered to one of them. Returns whether the other one gave the
/// task up.
async fn forget_delivered(seed: u64) -> bool {
    let world = World::new(seed, true, 0);
    world.forget_delivered();
    let plan = plan_with(&["f"], |node| {
        node["retry"] = 3.into();
        node["retry_on"] = serde_json::json!(["expired"]);
    });
    let limits = AccountLimits { in_flight: Some(LIMIT), ..AccountLimits::default() };
    let mut cluster = Cluster::start(seed, &world, limits, 0).await;
    let first = cluster.begin(&plan, BudgetCaps::default()).await;
    tokio::time::sleep(Duration::from_millis(500 + 700 * (seed % 7))).await;
    let second = cluster.begin(&plan, BudgetCaps::default()).await;
    let mut was_given_up = false;
    for run in [first, second] {
        let ended = cluster.follow_to_end(&run).await;
        let state = ended.state();
        was_given_up |= state.plan().nodes().any(|(node, _)| {
            let mut attempts = state.node(node).shot().attempts().iter();
            attempts.any(|attempt| attempt.state == AttemptState::Expired)
        });
        check(seed, &world);
        check_paid(seed, &world, &cluster, &ended.into_summary()).await;
    }
    was_given_up
}

/// The task of a shot's video.
fn task_of(summary: &RunSummary, shot: &str) -> Option<TaskId> {
    let node = summary.nodes.iter().find(|node| node.name == shot).expect("a shot of the plan");
    match &node.outcome {
        Outcome::Done { task, .. } => Some(task.clone()),
        _ => None,
    }
}

/// Reruns of two shots are asked for, cut off, and asked for again. Returns how many of these were continued.
async fn rerun(seed: u64) -> u64 {
    let mut rng = Rng::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let world = World::new(seed, true, 0);
    // Nothing continues the shots that are rendered again.
    let (plan, again) = (plan_for(3), ["f", "c"]);
    let limits = AccountLimits { in_flight: Some(LIMIT), ..AccountLimits::default() };
    let mut cluster = Cluster::start(seed, &world, limits, [0, 8, 40][rng.roll(3) as usize]).await;
    let first = cluster.begin(&plan, BudgetCaps::default()).await;
    let first = cluster.follow(&first).await;
    tokio::time::sleep(FACTS_ARRIVE_WITHIN).await;
    let paid = |shot: &str| world.accepted().get(shot).map_or(0, |(accepted, failed)| accepted - failed);
    let before = again.map(paid);
    cluster.ask(&plan, &again).await;
    let mut continued = 0;
    let mut runs = Vec::new();
    for _ in 0..=rng.roll(3) {
        let run = cluster.begin(&plan, BudgetCaps::default()).await;
        tokio::time::sleep(Duration::from_millis(rng.roll(30_000))).await;
        if rng.roll(4) > 0 {
            cluster.client.interrupt(&run).await.expect("it is interrupted");
        }
        runs.push(run);
        let open = cluster.wishes(&plan, "f").await.open;
        cluster.ask(&plan, &again).await;
        continued += u64::from(open.is_some() && cluster.wishes(&plan, "f").await.open == open);
    }
    for run in runs {
        cluster.follow(&run).await;
    }
    cluster.restate.calm_down();
    let last = cluster.begin(&plan, BudgetCaps::default()).await;
    cluster.follow(&last).await;
    tokio::time::sleep(FACTS_ARRIVE_WITHIN).await;
    for (shot, before) in again.iter().zip(before) {
        let wishes = cluster.wishes(&plan, shot).await;
        assert_eq!(wishes.open, None, "seed {seed}: a rerun of {shot} is not continued");
        // One that has failed for good has cost nothing.
        assert_eq!(paid(shot) - before, wishes.done.len(), "seed {seed}: videos of {shot} for {wishes:?}");
    }
    // Nothing is left to be done, and what was rendered last counts.
    let total = world.total();
    let last = cluster.begin(&plan, BudgetCaps::default()).await;
    let last = cluster.follow(&last).await;
    for shot in again {
        let is_rendered_again = !cluster.wishes(&plan, shot).await.done.is_empty();
        if let (Some(first), Some(last)) = (task_of(&first, shot), task_of(&last, shot)) {
            assert_eq!(first != last, is_rendered_again, "seed {seed}: {shot} is {last}");
        }
    }
    let is_done = last.count(&[StatusKind::Done]) == plan.len();
    assert!(!is_done || world.total() == total, "seed {seed}: a run without wishes pays");
    continued
}

/// What became of each shot and of the film, and how often each was paid for.
fn outcomes(world: &World, summary: &RunSummary) -> BTreeMap<String, String> {
    let accepted = world.accepted();
    let shots = summary.nodes.iter().map(|node| {
        let outcome = match &node.outcome {
            Outcome::Done { .. } => "done".to_owned(),
            Outcome::Failed { failure, .. } => format!("failed: {:?}, {}", failure.kind, failure.message),
            Outcome::Blocked { .. } => "blocked".to_owned(),
            Outcome::Indeterminate { .. } => "indeterminate".to_owned(),
            outcome => format!("{outcome:?}"),
        };
        let (accepted, failed) = accepted.get(&node.name).copied().unwrap_or_default();
        (node.name.clone(), format!("{outcome}; {accepted} tasks, of which {failed} failed"))
    });
    let films = summary.films.iter().map(|film| {
        let is_done = matches!(film.outcome, FilmOutcome::Done { .. });
        ("the film".to_owned(), format!("done: {is_done}"))
    });
    shots.chain(films).collect()
}

/// The run on one machine, with its ledger.
async fn run_alone(world: &World, plan: &Arc<Plan>) -> RunSummary {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = folder.path().join(".runner/ledger.db");
    fs_err::create_dir_all(folder.path().join(".runner")).expect("a folder");
    let ledger = Arc::new(Ledger::open_without_sync(&ledger, folder.path()).expect("a ledger"));
    let (_sender, interrupt) = tokio::sync::watch::channel(false);
    let config = RunConfig {
        run: RunId::from("run1"),
        ledger,
        services: engine::RunServices::new(
            Arc::new(world.clone()),
            Policy { max_in_flight: LIMIT, ..policy() },
        ),
        clock: Clock::starting_at(Timestamp(1_000_000)),
        output_dir: folder.path().join("out"),
        workflow_dir: folder.path().to_owned(),
        ffmpeg: media::Ffmpeg::default(),
        digital_source: media::DigitalSource::TrainedAlgorithmicMedia,
        budget: scheduler::Budget::new(BudgetCaps::default(), Arc::new(NoPrices)),
        keys: scheduler::KeyResolver::new("simulated"),
        arguments: None,
        scope: RunScope::default(),
        verify: engine::artifact_store::Verify::Metadata,
        repeats_unrecorded: false,
        interrupt,
    };
    engine::run(Arc::clone(plan), config, &mut Silent).await.expect("the run can go on")
}

/// One seed on both engines. What goes wrong depends on the shot and on how often it was tried, and on nothing else.
async fn compare(seed: u64) {
    let mut rng = Rng::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
    let (finds_tasks, trouble) = (rng.roll(2) == 0, [0, 10, 30, 60][rng.roll(4) as usize]);
    let plan = plan_for([1, 2, 3][rng.roll(3) as usize]);
    let world = World::by_shot(seed, finds_tasks, trouble);
    let alone = outcomes(&world, &run_alone(&world, &plan).await);
    let world = World::by_shot(seed, finds_tasks, trouble);
    let limits = AccountLimits { in_flight: Some(LIMIT), ..AccountLimits::default() };
    let mut cluster = Cluster::start(seed, &world, limits, 0).await;
    let run = cluster.begin(&plan, BudgetCaps::default()).await;
    let summary = cluster.follow(&run).await;
    check(seed, &world);
    check_paid(seed, &world, &cluster, &summary).await;
    assert_eq!(outcomes(&world, &summary), alone, "seed {seed}: the cluster and one machine differ");
    // With cuts, where what became of each submission can be found out, nothing else comes of it either.
    if finds_tasks {
        let world = World::by_shot(seed, finds_tasks, trouble);
        let mut cluster = Cluster::start(seed, &world, limits, 30).await;
        let run = cluster.begin(&plan, BudgetCaps::default()).await;
        let _cut_off = cluster.follow(&run).await;
        check(seed, &world);
    }
}

/// Simulates a seed alone in its world.
fn alone<T>(simulation: impl Future<Output = T>) -> T {
    engine::failpoint::run_blocking_inline();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(simulation)
}

/// Simulates all seeds, with all processors.
fn for_each_seed(default: u64, simulate: impl Fn(u64) + Sync) {
    let number = |name| std::env::var(name).ok().and_then(|seeds| seeds.parse::<u64>().ok());
    let seeds = number("SIMULATION_SEEDS").unwrap_or(default);
    let range = number("SIMULATION_SEED").map_or(0..seeds, |seed| seed..seed + 1);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicU64::new(range.start);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if !range.contains(&seed) {
                        break;
                    }
                    simulate(seed);
                }
            });
        }
    });
}

#[test]
fn cluster_simulation_never_pays_twice() {
    let cuts = AtomicU64::new(0);
    let is_one = std::env::var_os("SIMULATION_SEED").is_some();
    for_each_seed(30, |seed| {
        cuts.fetch_add(alone(simulate(seed)), Ordering::Relaxed);
    });
    assert!(is_one || cuts.into_inner() > 30, "hardly anything was cut off");
}

#[test]
fn cluster_and_one_machine_have_the_same_outcomes() {
    for_each_seed(15, |seed| alone(compare(seed)));
}

#[test]
fn expired_task_whose_video_another_run_has_stored_is_not_replaced() {
    let given_up = AtomicU64::new(0);
    let is_one = std::env::var_os("SIMULATION_SEED").is_some();
    for_each_seed(24, |seed| {
        given_up.fetch_add(u64::from(alone(forget_delivered(seed))), Ordering::Relaxed);
    });
    assert!(is_one || given_up.into_inner() > 3, "hardly any task was given up");
}

#[test]
fn rerun_that_is_cut_off_is_continued_and_not_asked_for_twice() {
    let continued = AtomicU64::new(0);
    let is_one = std::env::var_os("SIMULATION_SEED").is_some();
    for_each_seed(24, |seed| {
        continued.fetch_add(alone(rerun(seed)), Ordering::Relaxed);
    });
    assert!(is_one || continued.into_inner() > 12, "hardly any rerun was continued");
}
