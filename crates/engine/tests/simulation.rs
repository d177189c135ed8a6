//! Thousands of simulated runs against a service where everything goes wrong, cut off at any moment and begun again, with the real ledger.
//!
//! The oracle: no shot is ever paid for twice, the limit on tasks out is kept, every run ends, and what is done is on disk, whole.
//! `SIMULATION_SEEDS=5000` looks harder.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use engine::reporter::Silent;
use engine::state::{FilmOutcome, Outcome};
use engine::{Clock, Ledger, Millis, Policy, RunId, RunSummary, Setup};
use support::plan;
use support::world::{Dice, World};
use workflow::plan::Plan;

const SHOTS: &[&str] = &["a", "b<a", "c<b", "d", "e<d", "f"];
const LIMIT: usize = 3;

fn policy() -> Policy {
    Policy { in_flight: LIMIT, ..Policy::remote() }
}

/// A project folder with its ledger, and the time since its first run began.
struct Project {
    folder: tempfile::TempDir,
    ledger: Arc<Ledger>,
    clock: Clock,
    runs: u32,
}

impl Project {
    fn new() -> Self {
        // Memory, where the machine has a folder of it: what is simulated is the end of the process, not of the disk.
        let memory = std::path::Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.expect("a temporary folder");
        let file = folder.path().join(".runner").join("ledger.db");
        let ledger = Arc::new(Ledger::open_without_sync(&file, folder.path()).expect("a new ledger"));
        Self { folder, ledger, clock: Clock::starting_at(Millis(1_000_000)), runs: 0 }
    }

    fn setup(&mut self, world: &World) -> (Setup, tokio::sync::watch::Sender<bool>) {
        self.runs += 1;
        let (sender, interrupt) = tokio::sync::watch::channel(false);
        let folder = self.folder.path().join("out");
        let setup = Setup {
            run: RunId(format!("run{}", self.runs)),
            ledger: Arc::clone(&self.ledger),
            provider: Arc::new(world.clone()),
            policy: policy(),
            clock: self.clock.clone(),
            film: Some(folder.join("film.mp4")),
            folder,
            sources: self.folder.path().to_owned(),
            tools: media::Tools::default(),
            budget: engine::Budget::default(),
            keys: engine::state::Keys::of_service("simulated"),
            check: engine::store::Check::Quick,
            interrupt,
        };
        (setup, sender)
    }

    /// Runs until the end, or until it is cut off after `at_most`.
    async fn run(
        &mut self,
        plan: &Arc<Plan>,
        world: &World,
        at_most: Option<Duration>,
    ) -> Option<RunSummary> {
        let (setup, _asked) = self.setup(world);
        let mut silent = Silent;
        let run = engine::run(Arc::clone(plan), setup, &mut silent);
        match at_most {
            None => Some(run.await.expect("the run can go on")),
            Some(limit) => {
                tokio::time::timeout(limit, run).await.ok().map(|ended| ended.expect("the run can go on"))
            }
        }
    }
}

fn check(seed: u64, world: &World, summary: &RunSummary) {
    for (shot, (accepted, failed)) in world.accepted() {
        assert!(accepted - failed <= 1, "seed {seed}: {shot} was paid for {} times", accepted - failed);
    }
    assert!(
        world.most_out() <= LIMIT,
        "seed {seed}: {} tasks were out under a limit of {LIMIT}",
        world.most_out()
    );
    for node in &summary.nodes {
        if let Outcome::Done { artifact, .. } = &node.outcome {
            assert!(
                artifact.verify().expect("a readable file"),
                "seed {seed}: the file of {} is not whole",
                node.name
            );
        }
    }
}

/// Replaying what the ledger kept of a run leads to the same ends.
fn check_replay(seed: u64, plan: &Arc<Plan>, project: &Project, summary: &RunSummary) {
    let mut replayed = engine::RunState::new(Arc::clone(plan), "simulated", policy());
    for (at, event) in project.ledger.events(&summary.run).expect("a readable ledger") {
        drop(replayed.apply(event, at));
    }
    let ends =
        |summary: &RunSummary| summary.nodes.iter().map(|node| node.outcome.clone()).collect::<Vec<_>>();
    assert_eq!(
        ends(&replayed.summary(summary.run.clone())),
        ends(summary),
        "seed {seed}: a replay ends otherwise"
    );
}

async fn simulate(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x5851_F42D_4C95_7F2D));
    let world = World::new(seed, dice.roll(2) == 0, [0, 5, 20, 40][dice.roll(4) as usize]);
    let plan = plan(SHOTS);
    let mut project = Project::new();
    for _ in 0..dice.roll(4) {
        let cut = Duration::from_millis(dice.roll(30_000));
        if let Some(summary) = project.run(&plan, &world, Some(cut)).await {
            check(seed, &world, &summary);
        }
    }
    let summary = project.run(&plan, &world, None).await.expect("it is not cut off");
    check(seed, &world, &summary);
    check_replay(seed, &plan, &project, &summary);
    let lost = summary.count(|outcome| matches!(outcome, Outcome::Ambiguous { .. }));
    assert!(lost == 0 || !world.can_tell, "seed {seed}: a service that can tell leaves nothing ambiguous");
}

#[test]
fn nothing_is_paid_twice_whatever_happens() {
    let seeds: u64 =
        std::env::var("SIMULATION_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(400);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for seed in (0..seeds).filter(|seed| seed % threads == thread) {
                    let runtime = tokio::runtime::Builder::new_current_thread()
                        .enable_all()
                        .start_paused(true)
                        .build()
                        .expect("a runtime");
                    runtime.block_on(simulate(seed));
                }
            });
        }
    });
}

#[tokio::test(start_paused = true)]
async fn a_second_run_submits_nothing_and_leaves_the_film_alone() {
    let world = World::new(7, false, 0);
    let plan = plan(&["a", "b<a"]);
    let mut project = Project::new();
    // Failed tasks are made anew by the next run, so this ends with everything done.
    let mut summary = project.run(&plan, &world, None).await.expect("it is not cut off");
    for _ in 0..10 {
        if summary.count(|outcome| matches!(outcome, Outcome::Done { .. })) == 2 {
            break;
        }
        summary = project.run(&plan, &world, None).await.expect("it is not cut off");
    }
    let before = world.accepted();
    let again = project.run(&plan, &world, None).await.expect("it is not cut off");
    assert_eq!(world.accepted(), before);
    assert_eq!(again.submitted(), 0);
    assert!(matches!(again.film, FilmOutcome::Done { film } if film.reused));
}

#[tokio::test(start_paused = true)]
async fn two_runs_at_once_share_the_ledger_and_pay_once() {
    let world = World::new(11, false, 0);
    let plan = plan(SHOTS);
    let mut project = Project::new();
    let (one, _asked) = project.setup(&world);
    let (two, _asked_too) = project.setup(&world);
    let (mut quiet, mut silent) = (Silent, Silent);
    let (first, second) = tokio::join!(
        engine::run(Arc::clone(&plan), one, &mut quiet),
        engine::run(Arc::clone(&plan), two, &mut silent),
    );
    check(11, &world, &first.expect("the run can go on"));
    check(11, &world, &second.expect("the run can go on"));
}
