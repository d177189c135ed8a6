//! A worker: a process that serves the objects to Restate and performs effects. It keeps no state of its own.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use engine::Clock;
use engine::provider::Provider;
use http_body_util::{Either, Empty};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http2;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use restate_sdk::prelude::{HandlerOptions, IntoServiceDefinition as _, ServiceOptions};
use scheduler::Event;
use scheduler::budget::TaskPrices;
use scheduler::policy::MinRate;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use workflow::plan::Plan;

use crate::account::{AccountLimits, AccountObject, Admission, account_key};
use crate::batcher::Batcher;
use crate::client::EngineClient;
use crate::deployment;
use crate::describe::EngineService;
use crate::error::ClusterError;
use crate::films::FilmService;
use crate::in_progress::{CountedProvider, InProgress};
use crate::index::IndexObject;
use crate::messages::{AccountBatch, AccountReply, AccountRequest, Admit, Answer, Answers};
use crate::node::NodeObject;
use crate::post_gate::PostGate;
use crate::post_pacer::PostPacer;
use crate::run::{RunCache, RunObject};
use crate::share::OwnShare;
use crate::spec::RunSpec;
use crate::store::{ObjectKind, SharedStore};

/// Flow-control window of connections and streams. With the default of 64 KiB a run with thousands of messages in flight makes no progress.
const WINDOW_BYTES: u32 = 64 << 20;
/// Invocations on one connection. Restate opens more connections for more, which spreads them over workers at one address.
const MAX_STREAMS: u32 = 64;
/// After this time without progress Restate asks an invocation to suspend, which a download or a film cannot.
const INACTIVITY_TIMEOUT: Duration = Duration::from_mins(30);
/// The same for the preparation of a request, which may wait for a permit. A POST takes longer rarely.
const PERMIT_INACTIVITY_TIMEOUT: Duration = Duration::from_secs(20);
/// After this time more it ends the invocation and runs the worker step again.
const ABORT_TIMEOUT: Duration = Duration::from_hours(6);
/// The wait before a worker step that failed is run again, at most.
const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(5);
/// How often a worker step is run again: without end. Restate's own bound is 70 times, some six minutes, after which it pauses the invocation, and
/// an outage of all workers or of the store would leave every run waiting for somebody to resume it.
const MAX_ATTEMPTS: u64 = u32::MAX as u64;
/// How long a worker that is shutting down waits for what it is doing.
const DRAIN_TIMEOUT: Duration = Duration::from_mins(2);
/// How long nothing may be in progress before a worker that is shutting down cuts the connections of what merely waits. In it, results of
/// effects reach Restate.
const QUIET_PERIOD: Duration = Duration::from_secs(3);
/// Plans and specifications in memory, at most.
const MAX_SPECS: usize = 32;

/// Makes prices of a plan and the text of a price table.
pub type PriceSource = Arc<dyn Fn(&Plan, Option<&str>) -> Result<Arc<dyn TaskPrices>, String> + Send + Sync>;

/// What a worker works with.
pub struct WorkerConfig {
    pub provider: Arc<dyn Provider>,
    pub store: SharedStore,
    /// Restate's ingress, through which the log of a run is read.
    pub client: EngineClient,
    pub clock: Clock,
    /// External programs for formats that the `media` crate does not decode.
    pub ffmpeg: media::Ffmpeg,
    /// Where the frames of the service's videos come from.
    pub digital_source: media::DigitalSource,
    /// Limits of the account, over all runs.
    pub limits: AccountLimits,
    /// Minimum interval between two polls of a task.
    pub min_poll_interval: Duration,
    /// Rate below which a download is cut off.
    pub min_download_rate: MinRate,
    /// How long after a submission whose outcome is unknown the service is asked a second time: longer than a POST can take.
    pub reconcile_delay: Duration,
    /// How long a submission whose outcome is unknown counts as in flight.
    pub indeterminate_hold: Duration,
    pub prices: PriceSource,
    /// Random, unique for each start of a process.
    pub boot: String,
}

/// A worker's means, shared by its objects.
pub struct Worker {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) store: SharedStore,
    pub(crate) client: EngineClient,
    pub(crate) clock: Clock,
    pub(crate) ffmpeg: Arc<media::Ffmpeg>,
    pub(crate) digital_source: media::DigitalSource,
    pub(crate) account_key: String,
    pub(crate) min_poll_interval: Duration,
    pub(crate) min_download_rate: MinRate,
    pub(crate) reconcile_delay: Duration,
    pub(crate) indeterminate_hold: Duration,
    pub(crate) gate: PostGate,
    pub(crate) pacer: Arc<PostPacer>,
    pub(crate) in_progress: Arc<InProgress>,
    version: String,
    pub(crate) runs: RunCache,
    /// Answers to runs, by the run's id.
    pub(crate) answers: Arc<Batcher<Answer, ()>>,
    /// This worker's share of the limits on polls and downloads.
    pub(crate) share: OwnShare,
    pub(crate) requests: Arc<Batcher<AccountRequest, AccountReply>>,
    prices: PriceSource,
    specs: Mutex<HashMap<String, Arc<LoadedSpec>>>,
    plans: Mutex<HashMap<String, Arc<Plan>>>,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("account_key", &self.account_key).finish_non_exhaustive()
    }
}

/// A run's specification with its plan and prices.
pub(crate) struct LoadedSpec {
    pub(crate) spec: RunSpec,
    pub(crate) plan: Arc<Plan>,
    pub(crate) prices: Arc<dyn TaskPrices>,
}

impl Worker {
    /// A worker that serves nothing yet.
    pub fn new(config: WorkerConfig) -> Self {
        let account_key = account_key(config.provider.identity(), config.provider.account());
        let in_progress = Arc::new(InProgress::default());
        let provider = CountedProvider { provider: config.provider, in_progress: Arc::clone(&in_progress) };
        let (client, clock, limits) = (config.client.clone(), config.clock.clone(), config.limits);
        let requests = Batcher::new(move |key: String, requests: Vec<AccountRequest>| {
            let (client, batch) = (client.clone(), AccountBatch { now: clock.now(), limits, requests });
            Box::pin(async move { client.ask_account(&key, &batch).await })
        });
        let (client, clock) = (config.client.clone(), config.clock.clone());
        let answers = Batcher::new(move |run: String, answers: Vec<Answer>| {
            let (client, answers) = (client.clone(), Answers { time: clock.now(), answers });
            Box::pin(
                async move { client.answer(&run, &answers).await.map(|()| vec![(); answers.answers.len()]) },
            )
        });
        Self {
            provider: Arc::new(provider),
            store: config.store,
            client: config.client,
            clock: config.clock,
            ffmpeg: Arc::new(config.ffmpeg),
            digital_source: config.digital_source,
            account_key,
            min_poll_interval: config.min_poll_interval,
            min_download_rate: config.min_download_rate,
            reconcile_delay: config.reconcile_delay,
            indeterminate_hold: config.indeterminate_hold,
            gate: PostGate::new(config.boot),
            pacer: Arc::default(),
            in_progress,
            version: String::new(),
            runs: RunCache::default(),
            answers: Arc::new(answers),
            share: OwnShare::default(),
            requests: Arc::new(requests),
            prices: config.prices,
            specs: Mutex::default(),
            plans: Mutex::default(),
        }
    }

    /// The same worker with the version of its program, which Restate keeps with the address ([`EngineClient::register_version`]).
    pub fn with_version(self, version: String) -> Self {
        Self { version, ..self }
    }

    /// The key of the account object of this worker's service and key.
    pub fn account_key(&self) -> &str {
        &self.account_key
    }

    /// Answers a message of a run; returns when the run has taken it.
    pub(crate) async fn report(&self, run: &str, seq: u64, events: Vec<Event>) -> Result<(), ClusterError> {
        self.answers.send(run, Answer { seq, events }).await
    }

    pub(crate) async fn ask_account(&self, request: AccountRequest) -> Result<AccountReply, ClusterError> {
        self.requests.send(&self.account_key, request).await
    }

    /// Asks the account for a permit.
    pub(crate) async fn admit(&self, request: Admit) -> Result<Admission, ClusterError> {
        match self.ask_account(AccountRequest::Admit(request)).await? {
            AccountReply::Admission { admission } => Ok(admission),
            reply @ (AccountReply::Claimed { .. } | AccountReply::Share { .. } | AccountReply::Done) => {
                Err(ClusterError::Unreadable {
                    what: "the answer of the account".to_owned(),
                    reason: format!("{reply:?} is no answer to a request for a permit"),
                })
            }
        }
    }

    /// A run's specification from the shared store.
    pub(crate) async fn spec(&self, hash: &str) -> Result<Arc<LoadedSpec>, ClusterError> {
        if let Some(loaded) = lock(&self.specs).get(hash) {
            return Ok(Arc::clone(loaded));
        }
        let spec: RunSpec = self.store.get_json(ObjectKind::Spec, hash).await?;
        let plan = self.plan(&spec.plan).await?;
        let prices = (self.prices)(&plan, spec.prices.as_deref()).map_err(|reason| {
            ClusterError::Unreadable { what: "the price table of the run".to_owned(), reason }
        })?;
        let loaded = Arc::new(LoadedSpec { spec, plan, prices });
        insert(&self.specs, hash, &loaded);
        Ok(loaded)
    }

    /// A plan from the shared store.
    pub(crate) async fn plan(&self, hash: &str) -> Result<Arc<Plan>, ClusterError> {
        if let Some(plan) = lock(&self.plans).get(hash) {
            return Ok(Arc::clone(plan));
        }
        let plan: Arc<Plan> = Arc::new(self.store.get_json(ObjectKind::Plan, hash).await?);
        insert(&self.plans, hash, &plan);
        Ok(plan)
    }

    /// Serves the objects until `shutdown` resolves, and then what is in progress: submissions, downloads, films. Invocations that merely
    /// wait, for a permit or for another object, are cut off, and Restate continues them on another worker. `identity_keys` are public keys
    /// of Restate: with any, a request that none of them signed is refused.
    ///
    /// # Errors
    /// When an identity key is none.
    pub async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        identity_keys: &[String],
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), ClusterError> {
        let endpoint = HyperEndpoint::new(self.endpoint(identity_keys)?);
        #[cfg(feature = "failpoints")]
        let endpoint = crate::failpoint::FailpointEndpoint(endpoint);
        let drains = Arc::new(AtomicBool::new(false));
        let mut shutdown = std::pin::pin!(shutdown);
        let mut connections = JoinSet::new();
        loop {
            let (stream, peer): (_, SocketAddr) = tokio::select! {
                Some(_) = connections.join_next() => continue,
                accepted = listener.accept() => match accepted {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        tracing::warn!(%error, "a connection cannot be accepted");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    }
                },
                () = &mut shutdown => break,
            };
            // Frames are small and written one by one: without this option each would wait for the acknowledgement of the one before, which Restate's
            // system delays by 40 ms.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%peer, %error, "cannot set TCP_NODELAY");
            }
            let connection = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .initial_stream_window_size(WINDOW_BYTES)
                .initial_connection_window_size(WINDOW_BYTES)
                .max_concurrent_streams(MAX_STREAMS)
                .serve_connection(TokioIo::new(stream), service(endpoint.clone(), Arc::clone(&drains)));
            connections.spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(%peer, %error, "a connection of Restate ended");
                }
            });
        }
        drop(listener);
        tracing::info!("the worker ends what it is doing");
        drains.store(true, Ordering::Relaxed);
        let quiet = self.in_progress.wait_until_quiet(QUIET_PERIOD);
        if tokio::time::timeout(DRAIN_TIMEOUT, quiet).await.is_err() {
            tracing::warn!("worker steps in progress are left to other workers");
        }
        connections.shutdown().await;
        Ok(())
    }

    /// The objects as an endpoint of Restate's service protocol, which [`Worker::serve`] serves over HTTP.
    ///
    /// # Errors
    /// When an identity key is none.
    pub fn endpoint(self: &Arc<Self>, identity_keys: &[String]) -> Result<Endpoint, ClusterError> {
        let options = || {
            ServiceOptions::new()
                .metadata(deployment::VERSION, self.version.as_str())
                .enable_lazy_state(true)
                .inactivity_timeout(INACTIVITY_TIMEOUT)
                .abort_timeout(ABORT_TIMEOUT)
                .journal_retention(Duration::ZERO)
                .retry_policy_initial_interval(Duration::from_millis(50))
                .retry_policy_exponentiation_factor(2.0)
                .retry_policy_max_interval(MAX_RETRY_INTERVAL)
                .retry_policy_max_attempts(MAX_ATTEMPTS)
        };
        // A node's state is its record, which every handler reads. One that waits for a permit gives up its place among the invocations that
        // Restate executes.
        let waits = HandlerOptions::new().inactivity_timeout(PERMIT_INACTIVITY_TIMEOUT);
        let node = options().enable_lazy_state(false).handler("prepare", waits);
        let mut builder = Endpoint::builder()
            .bind(RunObject(Arc::clone(self)).into_service_definition().options(options()))
            .bind(NodeObject(Arc::clone(self)).into_service_definition().options(node))
            .bind(AccountObject.into_service_definition().options(options()))
            .bind(IndexObject.into_service_definition().options(options()))
            .bind(EngineService(Arc::clone(self)).into_service_definition().options(options()))
            .bind(FilmService(Arc::clone(self)).into_service_definition().options(options()));
        for key in identity_keys {
            builder = builder.identity_key(key).map_err(|error| ClusterError::Unreadable {
                what: format!("the identity key {key}"),
                reason: error.to_string(),
            })?;
        }
        Ok(builder.build())
    }
}

/// The endpoint, until the worker drains: then requests that are new are refused, which Restate repeats elsewhere, and those before them go on.
///
/// GOAWAY, HTTP/2's own way to say so, is not used: Restate 1.7 drops a connection that has received it, and cuts off what is in progress there.
fn service<E, B>(
    endpoint: E,
    drains: Arc<AtomicBool>,
) -> impl Service<Request<Incoming>, Response = Response<Either<B, Empty<Bytes>>>, Error = Infallible, Future: Send>
where
    E: Service<Request<Incoming>, Response = Response<B>, Error = Infallible, Future: Send>,
    B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send,
{
    service_fn(move |request| {
        let served = (!drains.load(Ordering::Relaxed)).then(|| endpoint.call(request));
        async move {
            Ok(if let Some(response) = served {
                response.await?.map(Either::Left)
            } else {
                let mut refused = Response::new(Either::Right(Empty::new()));
                *refused.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                refused
            })
        }
    })
}

fn lock<T>(map: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

fn insert<T>(map: &Mutex<HashMap<String, Arc<T>>>, key: &str, value: &Arc<T>) {
    let mut map = lock(map);
    if map.len() >= MAX_SPECS {
        map.clear();
    }
    map.insert(key.to_owned(), Arc::clone(value));
}
