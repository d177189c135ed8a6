//! Watches a project: what the page shows changes with the workflow file, the picks, the prices and the ledger, whoever
//! changes them.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use viewer::Manifest;
use workflow::CheckOutcome;
use workflow::plan::Plan;

use super::action::Target;
use crate::args::{EngineAddressArgs, OverrideArgs, WorkflowArgs};
use crate::backend;
use crate::commands::plan::PlannedFile;
use crate::commands::view::{self, ViewedFile};
use crate::edited_file;
use crate::error::CommandError;
use crate::load;
use crate::picks::PickStore;
use crate::price_table;
use crate::project_paths::ProjectPaths;
use crate::records::Records;
use crate::services;
use crate::task_owners;

/// How often the files are checked.
const REFRESH_INTERVAL: Duration = Duration::from_millis(200);

/// Minimum time between two manifests.
const MIN_INTERVAL: Duration = Duration::from_millis(500);

/// A manifest is collected at least so often: a workflow may depend on more files than are watched.
const MAX_INTERVAL: Duration = Duration::from_secs(5);

/// As [`MAX_INTERVAL`], with a cluster: nothing on this machine shows that something has changed there.
const CLUSTER_INTERVAL: Duration = Duration::from_secs(2);

/// A project as of now.
#[derive(Debug, Clone)]
pub(super) struct ProjectSnapshot {
    /// The folder of the clips.
    pub(super) folder: PathBuf,
    /// The last manifest of a valid file.
    pub(super) manifest: Arc<Manifest>,
    /// The files that the manifest names.
    pub(super) files: Arc<HashSet<String>>,
    /// The SHA-256 of the workflow file.
    digest: String,
    /// Why the file is not valid now.
    problem: Option<String>,
    /// Tasks that no shot asks for.
    unclaimed: Arc<[UnclaimedTask]>,
    /// Other files that the workflow depends on.
    pub(super) inputs: Arc<[PathBuf]>,
}

/// A task that is paid for and that no shot asks for any more: `fetch` downloads it.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct UnclaimedTask {
    task: String,
    /// The instance that it was submitted for.
    clip: String,
}

impl ProjectSnapshot {
    /// As the page receives it.
    pub(super) fn json(&self) -> String {
        json!({
            "manifest": *self.manifest,
            "digest": self.digest,
            "problem": self.problem,
            "unclaimed": *self.unclaimed,
        })
        .to_string()
    }

    fn is_same_state(&self, other: &Self) -> bool {
        // The time at which it was collected does not count.
        let mut manifest = (*other.manifest).clone();
        manifest.created_at = self.manifest.created_at;
        (&self.digest, &self.problem, &self.unclaimed, &self.inputs, &*self.manifest)
            == (&other.digest, &other.problem, &other.unclaimed, &other.inputs, &manifest)
    }
}

/// The workflow file and the arguments with which the server was started.
#[derive(Debug, Clone)]
pub(super) struct Project {
    pub(super) file: PathBuf,
    pub(super) overrides: OverrideArgs,
    pub(super) output_dir: Option<PathBuf>,
    pub(super) engine: EngineAddressArgs,
}

impl Project {
    pub(super) fn target(&self) -> Target<'_> {
        let (file, overrides, engine) = (&self.file, &self.overrides, &self.engine);
        Target { file, overrides, output_dir: self.output_dir.as_deref(), engine }
    }

    pub(super) fn planned_file(&self) -> PlannedFile<'_> {
        PlannedFile {
            file: &self.file,
            engine: &self.engine,
            overrides: None,
            output_dir: self.output_dir.as_deref(),
        }
    }

    /// Collects the first manifest, and watches the project from then on, on a thread of its own.
    ///
    /// # Errors
    /// The file is not valid now, or the ledger cannot be read, in words.
    pub(super) fn watch(self) -> Result<watch::Receiver<ProjectSnapshot>, CommandError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| CommandError::unusable(format!("cannot start threads: {error}")))?;
        let state = self.state(&[]);
        let mut records = None;
        let first = runtime.block_on(self.collect(None, &mut records))?;
        let (sender, receiver) = watch::channel(first);
        thread::Builder::new()
            .name("project".to_owned())
            .spawn(move || self.follow(&runtime, &sender, state, records))
            .map_err(|error| CommandError::unusable(format!("cannot start threads: {error}")))?;
        Ok(receiver)
    }

    /// Until nobody listens any more.
    fn follow(
        &self,
        runtime: &Runtime,
        sender: &watch::Sender<ProjectSnapshot>,
        mut last_state: FileStates,
        mut records: Option<Records>,
    ) {
        let mut collected = Instant::now();
        while !sender.is_closed() {
            thread::sleep(REFRESH_INTERVAL);
            let state = self.state(&sender.borrow().inputs);
            // The server itself listens, too.
            let interval = if self.engine.is_cluster() { CLUSTER_INTERVAL } else { MAX_INTERVAL };
            let is_due = sender.receiver_count() > 1 && collected.elapsed() >= interval;
            if collected.elapsed() < MIN_INTERVAL || (state == last_state && !is_due) {
                continue;
            }
            let last = sender.borrow().clone();
            let new = match runtime.block_on(self.collect(Some(&last), &mut records)) {
                Ok(new) => new,
                Err(error) => {
                    let problem =
                        error.hints.iter().fold(error.message.clone(), |text, hint| text + "\n" + hint);
                    ProjectSnapshot { problem: Some(problem), ..last }
                }
            };
            sender.send_if_modified(|last| {
                let is_new = !last.is_same_state(&new);
                if is_new {
                    *last = new;
                }
                is_new
            });
            (last_state, collected) = (state, Instant::now());
        }
    }

    /// The project as of now; with `last`, its manifest where the file is not valid.
    ///
    /// # Errors
    /// What is wrong, in words.
    async fn collect(
        &self,
        last: Option<&ProjectSnapshot>,
        records: &mut Option<Records>,
    ) -> Result<ProjectSnapshot, CommandError> {
        let (_, digest) = edited_file::read(&self.file)?;
        let (checked, inputs) = load::check_with_files(&self.file, &self.overrides);
        let inputs: Arc<[PathBuf]> = inputs.into();
        let plan = match checked {
            Ok(CheckOutcome { plan: Some(plan), .. }) => Arc::new(plan),
            invalid => {
                let problem = match invalid {
                    Ok(CheckOutcome { report, .. }) => report.render(false),
                    Err(error) => error.text(),
                };
                let last = last.ok_or_else(|| CommandError::invalid(&problem))?.clone();
                return Ok(ProjectSnapshot { digest, problem: Some(problem), inputs, ..last });
            }
        };
        let records = self.records(&plan, records).await?;
        let viewed = ViewedFile {
            file: &self.file,
            overrides: &self.overrides,
            engine: &self.engine,
            output_dir: self.output_dir.as_deref(),
        };
        let collected = view::collect(&plan, viewed, records).await;
        let (folder, manifest) = match collected? {
            Ok(collected) => collected,
            Err(error) => return Err(CommandError::invalid(error.text())),
        };
        let files = Arc::new(named_files(&manifest));
        let unclaimed = self.unclaimed(&plan).await?;
        let manifest = Arc::new(manifest);
        Ok(ProjectSnapshot { folder, manifest, files, digest, problem: None, unclaimed, inputs })
    }

    /// The records as of now: a ledger is opened again, because there may be one by now; those of a cluster remember what they have read.
    async fn records<'r>(
        &self,
        plan: &Plan,
        last: &'r mut Option<Records>,
    ) -> Result<&'r Records, CommandError> {
        let paths = ProjectPaths::for_workflow(&self.file)?;
        let reused = if self.engine.is_cluster() { last.take() } else { None };
        let records = match reused {
            Some(records) => records,
            None => Records::open(&paths, &self.engine, Some(plan.name())).await?,
        };
        Ok(last.insert(records))
    }

    async fn unclaimed(&self, plan: &Plan) -> Result<Arc<[UnclaimedTask]>, CommandError> {
        if self.engine.is_cluster() {
            return Ok(Arc::from([]));
        }
        let paths = ProjectPaths::for_workflow(&self.file)?;
        let workflow = WorkflowArgs { file: self.file.clone(), overrides: self.overrides.clone() };
        let services = backend::planned_without_keys(plan)?;
        let tasks =
            task_owners::unclaimed_tasks(&workflow, None, &paths, plan, &services.identities()).await?;
        Ok(tasks.into_iter().map(|(clip, task)| UnclaimedTask { task: task.to_string(), clip }).collect())
    }

    /// A digest of what a run is planned from, besides the ledger. `inputs` are those of a snapshot.
    ///
    /// # Errors
    /// The workflow file cannot be read.
    pub(super) fn digest(&self, inputs: &[PathBuf]) -> Result<String, CommandError> {
        let (_, digest) = edited_file::read(&self.file)?;
        let paths = ProjectPaths::for_workflow(&self.file)?;
        let states = file_states(&self.settings(&paths), inputs);
        Ok(engine::artifact::sha256(format!("{digest} {states:?}").as_bytes()))
    }

    /// Of the files whose change shows that something is new.
    fn state(&self, inputs: &[PathBuf]) -> FileStates {
        let Ok(paths) = ProjectPaths::for_workflow(&self.file) else { return Vec::new() };
        let ledger = paths.ledger();
        let log = ledger.with_extension("db-wal");
        let [file, picks, prices, services] = self.settings(&paths);
        file_states(&[file, picks, prices, services, ledger, log], inputs)
    }

    /// The workflow file, the picks, the prices and the services.
    fn settings(&self, paths: &ProjectPaths) -> [PathBuf; 4] {
        let beside = |name| paths.folder.join(name);
        [self.file.clone(), PickStore::path(paths), beside(price_table::DEFAULT_FILE), beside(services::FILE)]
    }
}

/// Time of the last change and size of each file that exists.
type FileStates = Vec<Option<(SystemTime, u64)>>;

fn file_states(files: &[PathBuf], inputs: &[PathBuf]) -> FileStates {
    let state = |file: &PathBuf| {
        let metadata = std::fs::metadata(file).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    files.iter().chain(inputs).map(state).collect()
}

/// The files that a manifest names: what the server serves.
fn named_files(manifest: &Manifest) -> HashSet<String> {
    let renders = manifest.clips.iter().flat_map(|clip| &clip.renders);
    let renders = renders.flat_map(|render| [&render.file, &render.poster]);
    let clips = manifest.clips.iter().flat_map(|clip| [&clip.file, &clip.poster, &clip.proxy]).chain(renders);
    let films = manifest.films.iter().flat_map(|film| [&film.file, &film.poster]);
    clips.chain(films).flatten().cloned().collect()
}
