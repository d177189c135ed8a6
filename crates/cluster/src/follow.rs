//! Follows a run: reads its events, brings its videos and films to this machine, and folds the events as the run itself does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::artifact::file_name;
use futures_util::StreamExt as _;
use scheduler::{Event, ExistingWork, RunId, RunState, RunSummary, Timestamp};
use workflow::plan::Plan;

use crate::client::EngineClient;
use crate::download_films::download_film;
use crate::error::ClusterError;
use crate::run::RunHead;
use crate::spec::RunSpec;
use crate::store::{ObjectKind, SharedStore};
use crate::worker::PriceSource;

/// Videos that are brought to this machine at once.
const MAX_FETCHES: usize = 8;

/// A reader of a run.
#[derive(Debug)]
pub struct Follower {
    client: EngineClient,
    store: SharedStore,
    head: RunHead,
    plan: Arc<Plan>,
    state: RunState,
    length: u64,
    /// Where videos and films go; `None` leaves them in the shared store.
    output: Option<PathBuf>,
}

impl Follower {
    /// Begins at the first event of a run. `None` if there is no such run.
    ///
    /// # Errors
    /// When Restate or the shared store cannot be used.
    pub async fn open(
        client: EngineClient,
        store: SharedStore,
        run: &RunId,
        output: Option<PathBuf>,
        prices: &PriceSource,
    ) -> Result<Option<Self>, ClusterError> {
        let Some(head) = client.events(run, 0).await?.head else { return Ok(None) };
        let spec: RunSpec = store.get_json(ObjectKind::Spec, &head.spec).await?;
        let plan: Arc<Plan> = Arc::new(store.get_json(ObjectKind::Plan, &spec.plan).await?);
        let prices = prices(&plan, spec.prices.as_deref()).map_err(|reason| ClusterError::Unreadable {
            what: "the price table of the run".to_owned(),
            reason,
        })?;
        let state = spec.initial_state(Arc::clone(&plan), &head.identity, head.policy.clone(), prices);
        Ok(Some(Self { client, store, head, plan, state, length: 0, output }))
    }

    pub fn head(&self) -> &RunHead {
        &self.head
    }

    /// The plan of the run.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The state that the events so far led to.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// Whether the run has ended and all of its events were read.
    pub fn is_over(&self) -> bool {
        self.head.is_ended && self.length >= self.head.length
    }

    /// Reads the events that are new, brings what they name to this machine, applies them and reports each with the state that it led to.
    /// Returns how many there were.
    ///
    /// # Errors
    /// When Restate or the shared store cannot be used. Reading again goes on where it stopped.
    pub async fn read(
        &mut self,
        report: &mut dyn FnMut(&RunState, &Event, Timestamp),
    ) -> Result<usize, ClusterError> {
        let page = self.client.events(&self.head.run, self.length).await?;
        let count = page.events.len();
        // Several videos at once, in the order of the events that name them.
        let files: Vec<Option<VideoFile>> =
            page.events.iter().map(|logged| self.video_file(&logged.event)).collect();
        let store = self.store.clone();
        let fetches = files.iter().flatten().map(|file| file.fetch(&store));
        let mut fetches = futures_util::stream::iter(fetches).buffered(MAX_FETCHES);
        for (logged, file) in page.events.into_iter().zip(&files) {
            let event = match file {
                Some(file) => {
                    fetches.next().await.transpose()?;
                    located(logged.event, &file.path)
                }
                None => self.localize(logged.event).await?,
            };
            // The run itself performs the actions.
            drop(self.state.apply(event.clone(), logged.time));
            self.length += 1;
            report(&self.state, &event, logged.time);
        }
        if let Some(head) = page.head {
            self.head = head;
        }
        Ok(count)
    }

    /// The summary of the run.
    pub fn into_summary(self) -> RunSummary {
        self.state.into_summary(self.head.run)
    }

    /// The event with paths of this machine, once the files are here.
    async fn localize(&self, event: Event) -> Result<Event, ClusterError> {
        // The node's key was not known before the events of the same page were applied.
        if let Some(file) = self.video_file(&event) {
            file.fetch(&self.store).await?;
            return Ok(located(event, &file.path));
        }
        let Some(output) = &self.output else { return Ok(event) };
        Ok(match event {
            Event::FilmJoined { index, mut film } => {
                download_film(&self.client, &self.store, &self.head.run, &self.plan, index, output).await?;
                film.path = output.join(&film.path);
                Event::FilmJoined { index, film }
            }
            event => event,
        })
    }

    /// The video that an event names, if its place on this machine is known.
    fn video_file(&self, event: &Event) -> Option<VideoFile> {
        let (Event::Downloaded { node, artifact, .. }
        | Event::LookupDone { node, existing: ExistingWork::Completed { artifact, .. }, .. }) = event
        else {
            return None;
        };
        let path = self.output.as_ref()?.join(file_name(self.plan.node(*node), &self.state.key(*node)?));
        Some(VideoFile { sha256: artifact.sha256.clone(), path })
    }
}

/// A video on its way to this machine.
#[derive(Debug)]
struct VideoFile {
    sha256: String,
    path: PathBuf,
}

impl VideoFile {
    async fn fetch(&self, store: &SharedStore) -> Result<(), ClusterError> {
        store.get_file(ObjectKind::Artifact, &self.sha256, &self.path).await
    }
}

/// The event with the place of its video on this machine.
fn located(mut event: Event, path: &Path) -> Event {
    if let Event::Downloaded { artifact, .. }
    | Event::LookupDone { existing: ExistingWork::Completed { artifact, .. }, .. } = &mut event
    {
        path.clone_into(&mut artifact.path);
    }
    event
}
