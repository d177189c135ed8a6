//! Starting and stopping: the parts are made here and handed to each other.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use renderer::Renderer;
use tokio::{
    net::TcpListener,
    sync::{Semaphore, watch},
    task::{JoinHandle, spawn_blocking},
    time::{MissedTickBehavior, interval, timeout},
};
use url::Url;

use crate::{
    clock::{Clock, SystemClock},
    config::{Config, Retention},
    digest::Digest,
    error::ServiceError,
    faults::Faults,
    http::{Front, Wire, WireListener, router},
    id::{OsRandomness, Randomness, TaskId},
    inputs::Intake,
    keys::{KeyRing, Keys},
    limits::{Gate, KeyLimits},
    metrics::Metrics,
    reception::Reception,
    store::Store,
    workshop::{Board, Live, Workers, Workshop},
};

/// How long open downloads may go on after a shutdown has begun.
const GRACE: Duration = Duration::from_secs(5);

/// How often keys that were made or revoked meanwhile are looked for.
const KEYS_EVERY: Duration = Duration::from_secs(1);

/// How often what has expired is cleared away.
const SWEEP_EVERY: Duration = Duration::from_mins(1);

/// Where time and randomness come from.
#[derive(Clone)]
pub struct Sources {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ids, seeds and file tokens.
    pub randomness: Arc<dyn Randomness>,
}

impl Sources {
    /// The machine's clock and the operating system's randomness.
    #[must_use]
    pub fn system() -> Self {
        Self { clock: Arc::new(SystemClock), randomness: Arc::new(OsRandomness) }
    }
}

/// A running service. Dropping it stops it as well, without waiting; whatever was accepted goes on at the next
/// start on the same directory.
pub struct Service {
    store: Arc<Store>,
    address: SocketAddr,
    base: Url,
    stop: watch::Sender<bool>,
    server: JoinHandle<io::Result<()>>,
    upkeep: JoinHandle<()>,
    workers: Workers,
}

impl Service {
    /// Opens the data directory, takes up what an earlier life left unfinished, and listens. Needs a Tokio
    /// runtime, and spawns on it.
    ///
    /// # Errors
    /// When the directory is in use or unusable, the address cannot be listened on, or a thread cannot be started.
    pub async fn start(
        config: Config,
        renderer: Arc<dyn Renderer>,
        sources: Sources,
    ) -> Result<Self, ServiceError> {
        let Sources { clock, randomness } = sources;
        let faults = Arc::new(Faults::new(config.faults)?);
        let data = config.data;
        let store = spawn_blocking(move || Store::open(&data))
            .await
            .map_err(|error| ServiceError::Start(error.to_string()))??;
        let store = Arc::new(store);
        let refused = |source| ServiceError::Listen { address: config.listen, source };
        let listener = TcpListener::bind(config.listen).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let base = match config.public_url {
            Some(url) => url,
            None => url_of(address)?,
        };

        let gate = Arc::new(Gate::new(&config.limits, config.workers));
        let board = Arc::new(Board::new());
        let unfinished = store.unfinished().map_err(|error| ServiceError::Store(error.to_string()))?;
        if !unfinished.is_empty() {
            tracing::info!(tasks = unfinished.len(), "taking up unfinished tasks");
        }
        for task in unfinished {
            let place = gate.readmit(&task.key);
            board.post(Live::new(task, place));
        }
        let keys = Arc::new(match &config.keys {
            Keys::Given(secret) => KeyRing::given(secret, config.limits.per_key.clone()),
            Keys::Stored => KeyRing::default(),
        });
        let metrics = Arc::new(Metrics::default());
        let intake = Intake::new(
            Arc::clone(&store),
            config.limits.media.clone(),
            config.ffmpeg.clone(),
            config.allow_private_media,
            base.clone(),
        )?;
        let workers = Workers::start(
            config.workers,
            Workshop {
                store: Arc::clone(&store),
                board: Arc::clone(&board),
                gate: Arc::clone(&gate),
                renderer,
                clock: Arc::clone(&clock),
                randomness: Arc::clone(&randomness),
                metrics: Arc::clone(&metrics),
                faults: Arc::clone(&faults),
                lifetime_ms: i64::try_from(config.retention.files.as_millis()).unwrap_or(i64::MAX),
                starts: config.limits.starts,
                ffmpeg: config.ffmpeg.clone(),
            },
        )?;
        let reception = Reception {
            store: Arc::clone(&store),
            board: Arc::clone(&board),
            gate: Arc::clone(&gate),
            intake,
            clock: Arc::clone(&clock),
            randomness,
            metrics: Arc::clone(&metrics),
            faults: Arc::clone(&faults),
            text_chars: config.limits.text_chars,
        };
        let stored_keys = match config.keys {
            Keys::Given(_) => None,
            Keys::Stored => {
                let upkeep = StoredKeys { ring: Arc::clone(&keys), default: config.limits.per_key };
                upkeep.refresh(&store)?;
                Some(upkeep)
            }
        };
        let front = Arc::new(Front {
            reception,
            store: Arc::clone(&store),
            board,
            gate,
            keys,
            clock: Arc::clone(&clock),
            metrics,
            faults,
            base: base.clone(),
            workers: config.workers.max(1),
            body_bytes: config.limits.body_bytes,
            body_memory: Semaphore::new((config.limits.bodies_bytes.max(config.limits.body_bytes) >> 10) + 1),
            record: config.retention.record,
        });
        let (stop, stopped) = watch::channel(false);
        let server = tokio::spawn(serve(listener, front, stopped.clone()));
        let upkeep = tokio::spawn(upkeep(Arc::clone(&store), stored_keys, clock, config.retention, stopped));
        tracing::info!(%address, "the video service is up");
        Ok(Self { store, address, base, stop, server, upkeep, workers })
    }

    /// The address that is listened on, with the real port.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// What clients put before `/v1/videos`.
    #[must_use]
    pub fn base_url(&self) -> Url {
        self.base.clone()
    }

    /// The tasks whose request body has this digest, oldest first: SHA-256 over [`contract::canonical_json`], as lower-case
    /// hexadecimal; what is no digest has no tasks. For the embedded service only: it is how the runner finds the task of
    /// a submission whose answer was lost when both were killed.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn find_by_request(&self, digest: &str) -> Result<Vec<TaskId>, ServiceError> {
        let Some(digest) = Digest::from_hex(digest) else { return Ok(Vec::new()) };
        self.store.by_request(&digest).map_err(|error| ServiceError::Store(error.to_string()))
    }

    /// Stops: takes no more connections, lets open ones finish within a few seconds, breaks off what is being
    /// rendered. Unfinished tasks go on at the next start.
    pub async fn shutdown(self) {
        self.stop.send_replace(true);
        let workers = self.workers;
        let stopped = spawn_blocking(move || workers.stop());
        let mut server = self.server;
        if timeout(GRACE, &mut server).await.is_err() {
            tracing::warn!("connections are still open; they are cut");
            server.abort();
        }
        if stopped.await.is_err() || self.upkeep.await.is_err() {
            tracing::error!("a part of the service ended by a panic");
        }
        tracing::info!("the video service is down");
    }
}

/// The URL of a listening address; one that listens everywhere is reached on loopback at least.
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
    front: Arc<Front>,
    mut stopped: watch::Receiver<bool>,
) -> io::Result<()> {
    let app = router(front).into_make_service_with_connect_info::<Wire>();
    axum::serve(WireListener::new(listener), app)
        .with_graceful_shutdown(async move {
            // An error means that the service was dropped, which is a stop as well.
            drop(stopped.wait_for(|stopped| *stopped).await);
        })
        .await
}

/// Keys that may change while the service runs.
struct StoredKeys {
    ring: Arc<KeyRing>,
    default: KeyLimits,
}

impl StoredKeys {
    fn refresh(&self, store: &Store) -> Result<(), ServiceError> {
        let keys = store.good_keys(&self.default).map_err(|error| ServiceError::Store(error.to_string()))?;
        self.ring.replace(keys);
        Ok(())
    }
}

/// What upkeep turns to next.
enum Due {
    Stop,
    Keys,
    Sweep,
}

/// What must be done now and then.
async fn upkeep(
    store: Arc<Store>,
    keys: Option<StoredKeys>,
    clock: Arc<dyn Clock>,
    retention: Retention,
    mut stopped: watch::Receiver<bool>,
) {
    let keys = Arc::new(keys);
    let (mut look, mut sweep) = (interval(KEYS_EVERY), interval(SWEEP_EVERY));
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // Decided first and done afterwards: nothing that the watch lends may be held while working.
        let due = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => Due::Stop,
            _ = look.tick(), if keys.is_some() => Due::Keys,
            _ = sweep.tick() => Due::Sweep,
        };
        let (store, keys, now) = (Arc::clone(&store), Arc::clone(&keys), clock.now_ms());
        let done = match due {
            Due::Stop => return,
            Due::Keys => {
                spawn_blocking(move || keys.as_ref().as_ref().map_or(Ok(()), |keys| keys.refresh(&store)))
            }
            Due::Sweep => spawn_blocking(move || {
                store.sweep(now, retention.record).map_err(|error| ServiceError::Store(error.to_string()))
            }),
        };
        let done = done.await;
        match done {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "upkeep failed; it is tried again"),
            Err(error) => tracing::error!(%error, "upkeep broke down; it is tried again"),
        }
    }
}
