//! Start and shutdown: creates the components and wires them together.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use renderer::Renderer;
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::watch,
    task::{JoinHandle, spawn_blocking},
    time::timeout,
};
use url::Url;

use crate::{
    admission::AdmissionController,
    clock::{Clock, SystemClock},
    config::Config,
    digest::Digest,
    error::ServiceError,
    faults::Faults,
    http::{AppState, ConnectionHandle, HttpListener, router},
    id::{OsRandomness, Randomness, TaskId},
    inputs::MediaFetcher,
    jobs::{ActiveTask, ActiveTasks, WorkerContext, WorkerPool},
    keys::ApiKeys,
    limits::ConnectionLimits,
    maintenance,
    memory::MemoryBudget,
    store::Store,
    submit::Submitter,
};

/// How long open connections may continue after shutdown has begun.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Injected dependencies: time and randomness.
#[derive(Clone)]
pub struct Deps {
    pub clock: Arc<dyn Clock>,
    /// Randomness for ids, seeds and file tokens.
    pub randomness: Arc<dyn Randomness>,
}

impl Deps {
    /// The system clock and the operating system's randomness.
    pub fn system() -> Self {
        Self { clock: Arc::new(SystemClock), randomness: Arc::new(OsRandomness) }
    }
}

/// A running service. Dropping it stops it without waiting. Unfinished tasks continue at the next start on the same
/// directory.
pub struct Service {
    store: Arc<Store>,
    address: SocketAddr,
    base: Url,
    stop: watch::Sender<bool>,
    server: JoinHandle<io::Result<()>>,
    maintenance: JoinHandle<()>,
    workers: WorkerPool,
}

/// Connections that wait to be accepted. With fewer, as many clients that connect at once make another one wait for a second, after which its
/// system asks again (RFC 6298); the system may allow fewer.
const BACKLOG: u32 = 4_096;

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Elsewhere this would let two processes listen at one address.
    if cfg!(unix) {
        socket.set_reuseaddr(true)?;
    }
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Service {
    /// Opens the data directory, queues the unfinished tasks in it, and listens. Must be called within a Tokio runtime,
    /// on which it spawns.
    ///
    /// # Errors
    /// When the directory is in use or unusable, the address cannot be listened on, or a thread cannot be started.
    pub async fn start(
        config: Config,
        renderer: Arc<dyn Renderer>,
        deps: Deps,
    ) -> Result<Self, ServiceError> {
        let Deps { clock, randomness } = deps;
        let faults = Arc::new(Faults::new(config.faults)?);
        let (data, durability) = (config.data, config.durability);
        let store = spawn_blocking(move || Store::open(&data, durability))
            .await
            .map_err(|error| ServiceError::Start(error.to_string()))??;
        let store = Arc::new(store);
        let failed = |source| ServiceError::Listen { address: config.listen, source };
        let listener = listen(config.listen).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let base = match config.public_url {
            Some(url) => url,
            None => url_of(address)?,
        };

        let admission = Arc::new(AdmissionController::new(&config.limits));
        let active_tasks = Arc::new(ActiveTasks::new());
        let unfinished = store.unfinished().map_err(|error| ServiceError::Store(error.to_string()))?;
        if !unfinished.is_empty() {
            tracing::info!(tasks = unfinished.len(), "resuming unfinished tasks");
        }
        for task in unfinished {
            let permit = admission.readmit(&task.key);
            active_tasks.insert(ActiveTask::new(task, permit));
        }
        let media_fetcher = MediaFetcher::new(
            Arc::clone(&store),
            config.limits.media.clone(),
            config.limits.decodes.max(1),
            config.ffmpeg.clone(),
            config.allow_private_media,
            base.clone(),
        );
        let workers = WorkerPool::start(
            config.workers,
            WorkerContext {
                store: Arc::clone(&store),
                active_tasks: Arc::clone(&active_tasks),
                renderer,
                clock: Arc::clone(&clock),
                randomness: Arc::clone(&randomness),
                faults: Arc::clone(&faults),
                lifetime_ms: i64::try_from(config.retention.files.as_millis()).unwrap_or(i64::MAX),
                ffmpeg: config.ffmpeg.clone(),
            },
        )?;
        let submitter = Submitter {
            store: Arc::clone(&store),
            active_tasks: Arc::clone(&active_tasks),
            admission: Arc::clone(&admission),
            media_fetcher,
            clock: Arc::clone(&clock),
            randomness,
            faults: Arc::clone(&faults),
            text_chars: config.limits.text_chars,
            lenient_fields: config.lenient_fields,
        };
        let state = Arc::new(AppState {
            submitter,
            store: Arc::clone(&store),
            active_tasks,
            admission,
            keys: ApiKeys::new(&config.keys, config.limits.per_key),
            clock: Arc::clone(&clock),
            faults,
            dialects: config.dialects,
            base: base.clone(),
            body_memory: MemoryBudget::new(config.limits.body.total_bytes, config.limits.body.bytes),
            body_limits: config.limits.body,
            record: config.retention.record,
        });
        let (stop, stopped) = watch::channel(false);
        let server = tokio::spawn(serve(listener, config.limits.connections, state, stopped.clone()));
        let sweeps = maintenance::run(Arc::clone(&store), clock, config.retention, stopped);
        let maintenance = tokio::spawn(sweeps);
        tracing::info!(%address, "the video service is listening");
        Ok(Self { store, address, base, stop, server, maintenance, workers })
    }

    /// The listening address, with the actual port.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The base URL: everything before `/v1/videos`.
    pub fn base_url(&self) -> Url {
        self.base.clone()
    }

    /// The tasks whose request body has this digest, oldest first. `digest` is SHA-256 over [`contract::canonical_json`] in
    /// lower-case hexadecimal; other text matches no task. For the embedded service only: the runner resolves
    /// indeterminate submissions with it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn find_by_request(&self, digest: &str) -> Result<Vec<TaskId>, ServiceError> {
        let Some(digest) = Digest::from_hex(digest) else { return Ok(Vec::new()) };
        self.store.by_request(&digest).map_err(|error| ServiceError::Store(error.to_string()))
    }

    /// Shuts down: accepts no more connections, gives open ones a few seconds to finish, cancels renderings. Unfinished
    /// tasks continue at the next start.
    pub async fn shutdown(self) {
        self.stop.send_replace(true);
        let workers = self.workers;
        let stopped = spawn_blocking(move || workers.stop());
        let mut server = self.server;
        if timeout(SHUTDOWN_TIMEOUT, &mut server).await.is_err() {
            tracing::warn!("connections are still open; closing them");
            server.abort();
        }
        if stopped.await.is_err() || self.maintenance.await.is_err() {
            tracing::error!("a component of the service panicked");
        }
        tracing::info!("the video service has stopped");
    }
}

/// The URL of a listening address; an unspecified address is reached on loopback.
fn url_of(address: SocketAddr) -> Result<Url, ServiceError> {
    let mut reachable = address;
    if address.ip().is_unspecified() {
        reachable.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    Url::parse(&format!("http://{reachable}/"))
        .map_err(|error| ServiceError::Start(format!("{reachable} makes no URL: {error}")))
}

async fn serve(
    listener: TcpListener,
    connections: ConnectionLimits,
    state: Arc<AppState>,
    mut stopped: watch::Receiver<bool>,
) -> io::Result<()> {
    let app = router(state).into_make_service_with_connect_info::<ConnectionHandle>();
    axum::serve(HttpListener::new(listener, &connections), app)
        .with_graceful_shutdown(async move {
            // An error means that the service was dropped, which stops it too.
            drop(stopped.wait_for(|stopped| *stopped).await);
        })
        .await
}
