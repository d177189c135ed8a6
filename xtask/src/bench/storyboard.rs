//! Overhead of the whole program over rendering: submission, polling, ledger, store, downloads, frames of chained shots, joining the film.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::Contract;
use media::RgbImage;
use renderer::{Animatic, Job, Quality, Renderer as _};
use workflow::plan::{NodeIx, Plan};
use workflow::{DirFiles, Options};

use super::load::median;
use crate::release::release_runner;

/// Upper bound of the ratio to rendering alone.
const MAX_RATIO: f64 = 1.3;
/// Runs of each, in turns. A single one of two seconds differs by 5 % from the next.
const RUNS: usize = 7;

pub(super) fn measure(root: &Path) -> Result<String, String> {
    let folder = root.join("workflows");
    let text = fs_err::read(folder.join("storyboard.yaml")).map_err(|error| error.to_string())?;
    let plan = workflow::load(
        &text,
        "storyboard.yaml",
        &DirFiles::new(&folder, engine::MEDIA_GATE),
        &Options::default(),
        Contract::embedded(),
    )
    .map_err(|report| report.to_string())?;
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let program = release_runner(root)?;
    let (mut runs, mut renderings) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        runs.push(run(&program, &text)?.as_secs_f64());
        renderings.push(render_only(&plan, threads)?.as_secs_f64());
    }
    let (run, render_only) = (median(runs.into_iter()), median(renderings.into_iter()));
    let ratio = run / render_only;
    let report = format!(
        "storyboard: {} shots in {run:.2} s; rendering alone on {threads} threads {render_only:.2} s; medians of {RUNS} runs; ratio {ratio:.2} (bound {MAX_RATIO})",
        plan.len(),
    );
    if ratio > MAX_RATIO { Err(report) } else { Ok(report) }
}

/// The time of `runner run storyboard.yaml` in a new folder.
fn run(program: &Path, text: &[u8]) -> Result<Duration, String> {
    let project = tempfile::tempdir().map_err(|error| error.to_string())?;
    fs_err::write(project.path().join("storyboard.yaml"), text).map_err(|error| error.to_string())?;
    let started = Instant::now();
    let output = Command::new(program)
        .args(["run", "storyboard.yaml"])
        .current_dir(project.path())
        .env_remove("RUNNER_BASE_URL")
        .output()
        .map_err(|error| error.to_string())?;
    let elapsed = started.elapsed();
    if output.status.success() {
        Ok(elapsed)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The last frames of rendered shots; shots that continue one wait for it.
#[derive(Default)]
struct Frames {
    done: Mutex<Vec<(NodeIx, RgbImage)>>,
    changed: Condvar,
}

impl Frames {
    fn wait_for(&self, node: NodeIx) -> RgbImage {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some((_, frame)) = done.iter().find(|(rendered, _)| *rendered == node) {
                return frame.clone();
            }
            done = self.changed.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn insert(&self, node: NodeIx, frame: RgbImage) {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push((node, frame));
        self.changed.notify_all();
    }
}

/// The time of only rendering the plan's shots, in the order of chains, longest chain first.
fn render_only(plan: &Plan, threads: usize) -> Result<Duration, String> {
    let mut order: Vec<NodeIx> = plan.nodes().map(|(node, _)| node).collect();
    order.sort_by_key(|node| std::cmp::Reverse(plan.rank(*node)));
    let queue = Mutex::new(order.into_iter());
    let frames = Arc::new(Frames::default());
    let started = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| -> Result<(), String> {
                    loop {
                        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some(node) = next else { return Ok(()) };
                        let first_frame =
                            plan.predecessors(node).first().map(|predecessor| frames.wait_for(*predecessor));
                        let rendering = Animatic
                            .render(&job(plan, node, first_frame), &mut |_| ControlFlow::Continue(()))
                            .map_err(|error| error.to_string())?;
                        frames.insert(node, rendering.last_frame);
                    }
                })
            })
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or_else(|_| Err("a rendering panicked".to_owned())))
    })?;
    Ok(started.elapsed())
}

/// The render job of a request at 480p and 16:9.
fn job(plan: &Plan, node: NodeIx, first_frame: Option<RgbImage>) -> Job {
    let node = plan.node(node);
    Job {
        prompt: node.request.get("prompt").and_then(|prompt| prompt.as_str()).unwrap_or_default().to_owned(),
        model: String::new(),
        width: 854,
        height: 480,
        frame_rate: 24,
        seconds: node.duration.as_secs_f64(),
        seed: 1,
        first_frame,
        last_frame: None,
        references: Vec::new(),
        reference_videos: Vec::new(),
        reference_audio: None,
        generate_audio: node
            .request
            .get("generate_audio")
            .and_then(serde_json::Value::as_bool)
            .unwrap_or(false),
        camera_fixed: false,
        watermark: false,
        quality: Quality::Standard,
    }
}
