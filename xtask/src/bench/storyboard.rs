//! What the whole program adds to rendering: submission, polling, the ledger, the store, downloads, frames fed forward and the film.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::Contract;
use media::RgbImage;
use renderer::{Job, Procedural, Quality, Renderer as _};
use workflow::plan::{NodeIx, Plan};
use workflow::{Folder, Options};

/// The whole may take this much longer than rendering alone.
const BOUND: f64 = 1.3;

pub(super) fn measure(root: &Path) -> Result<String, String> {
    let folder = root.join("workflows");
    let text = fs_err::read(folder.join("storyboard.yaml")).map_err(|error| error.to_string())?;
    let plan = workflow::load(
        &text,
        "storyboard.yaml",
        &Folder::new(&folder),
        &Options::default(),
        Contract::embedded(),
    )
    .map_err(|report| report.to_string())?;
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let whole = whole(root, &text)?;
    let alone = alone(&plan, threads)?;
    let ratio = whole.as_secs_f64() / alone.as_secs_f64();
    let said = format!(
        "storyboard: {} shots in {:.1} s; rendering alone on {threads} threads {:.1} s; ratio {ratio:.2} (bound {BOUND})",
        plan.len(),
        whole.as_secs_f64(),
        alone.as_secs_f64(),
    );
    if ratio > BOUND { Err(said) } else { Ok(said) }
}

/// The time of `runner run storyboard.yaml` in a new folder.
fn whole(root: &Path, text: &[u8]) -> Result<Duration, String> {
    let cargo = |arguments: &[&str]| Command::new("cargo").args(arguments).current_dir(root).status();
    cargo(&["build", "--release", "--quiet", "-p", "runner"]).map_err(|error| error.to_string())?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("runner");
    let project = tempfile::tempdir().map_err(|error| error.to_string())?;
    fs_err::write(project.path().join("storyboard.yaml"), text).map_err(|error| error.to_string())?;
    let started = Instant::now();
    let ended = Command::new(program)
        .args(["run", "storyboard.yaml"])
        .current_dir(project.path())
        .env_remove("RUNNER_BASE_URL")
        .output()
        .map_err(|error| error.to_string())?;
    let took = started.elapsed();
    if ended.status.success() { Ok(took) } else { Err(String::from_utf8_lossy(&ended.stderr).into_owned()) }
}

/// The last frames of what is rendered; shots wait for those that they continue.
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

    fn put(&self, node: NodeIx, frame: RgbImage) {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push((node, frame));
        self.changed.notify_all();
    }
}

/// The time of rendering the plan's shots and nothing else, chains kept, longest first.
fn alone(plan: &Plan, threads: usize) -> Result<Duration, String> {
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
                            plan.predecessors(node).first().map(|before| frames.wait_for(*before));
                        let rendering = Procedural
                            .render(&job(plan, node, first_frame), &mut |_| ControlFlow::Continue(()))
                            .map_err(|error| error.to_string())?;
                        frames.put(node, rendering.last_frame);
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

/// The job that the service makes of a 480p request at 16:9.
fn job(plan: &Plan, node: NodeIx, first_frame: Option<RgbImage>) -> Job {
    let node = plan.node(node);
    Job {
        prompt: node.request.get("prompt").and_then(|prompt| prompt.as_str()).unwrap_or_default().to_owned(),
        width: 854,
        height: 480,
        frame_rate: 24,
        seconds: node.seconds,
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
