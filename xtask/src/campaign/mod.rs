//! A campaign against the built program: processes that are killed at any moment, a service that misbehaves, folders that are moved, copied
//! and lose their ledger; renders that are asked for, withdrawn and picked. In the end every shot has its video, and was paid for once and for
//! each render that was asked for.
//!
//! The simulation covers the state machine with its ledger; this covers the program, the network and the file system.

mod project;
mod service;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use project::Project;
use service::Service;

use crate::release::release_runner;

/// Arguments of `cargo xtask campaign`.
#[derive(Debug, Args)]
pub(crate) struct Campaign {
    /// How long new projects are begun.
    #[arg(long, default_value_t = 900)]
    seconds: u64,
    /// The seed of all choices; the timing of processes is not repeated.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The program to attack, instead of a release build of the runner.
    #[arg(long)]
    program: Option<PathBuf>,
}

/// What was done.
#[derive(Debug, Default)]
struct Counts {
    projects: usize,
    runs: usize,
    reruns: usize,
    decisions: usize,
    killed: usize,
    interrupted: usize,
    moved: usize,
    copied: usize,
    ledgers_removed: usize,
    adopted: usize,
    resubmitted: usize,
}

struct Choices(SplitMix64);

impl Choices {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0.next_u64() % sides
    }

    fn milliseconds(&mut self, max: u64) -> Duration {
        Duration::from_millis(self.roll(max))
    }
}

/// Builds the program and runs the campaign.
pub(crate) fn run(root: &Path, args: &Campaign) -> Result<String, String> {
    let program = match &args.program {
        Some(program) => std::path::absolute(program).map_err(|error| error.to_string())?,
        None => release_runner(root)?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let service = runtime.block_on(Service::start(args.seed))?;
    let mut choices = Choices(SplitMix64::seed_from_u64(args.seed));
    let mut counts = Counts::default();
    let until = Instant::now() + Duration::from_secs(args.seconds);
    while Instant::now() < until {
        counts.projects += 1;
        let mut project = Project::new(&program, &service, counts.projects, &mut choices)?;
        project.play(&mut choices, &mut counts).map_err(|violation| {
            format!("{violation} (project {} of seed {})", counts.projects, args.seed)
        })?;
    }
    Ok(report(&counts, &service))
}

fn report(counts: &Counts, service: &Service) -> String {
    let Counts { projects, runs, reruns, decisions, killed, interrupted, moved, copied, .. } = counts;
    let Counts { ledgers_removed, adopted, resubmitted, .. } = counts;
    let mut text = format!(
        "campaign: {projects} projects, {runs} runs, {reruns} of which ask for renders, {killed} killed, {interrupted} interrupted; folders moved {moved} times, copied {copied} times; \
         {ledgers_removed} ledgers removed; {decisions} picks and withdrawals; {adopted} tasks adopted by hand, {resubmitted} submissions repeated by hand\n"
    );
    let _ = write!(text, "{}", service.report());
    text.push_str("\nevery shot was paid for once and for each render that was asked for, and every paid video is on disk");
    text
}
