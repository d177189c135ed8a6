//! `runner worker`: executes runs of a cluster until a shutdown signal.

use std::sync::Arc;
use std::time::Duration;

use cluster::account::AccountLimits;
use cluster::{ClusterError, EngineClient, Worker, WorkerConfig};
use engine::Clock;
use scheduler::policy::Rate;
use tokio::net::{TcpListener, TcpSocket};
use url::Url;

use crate::args::WorkerArgs;
use crate::backend::Backend;
use crate::budget;
use crate::clock::now;
use crate::commands::cluster_address::{engine_error, price_source};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ffmpeg;
use crate::service_address::BASE_URL;
use crate::shared_store;
use crate::shutdown::shutdown_signal;

/// Minimum time between two polls of a task of a remote service, and of one on this machine.
const MIN_POLL_INTERVAL: Duration = Duration::from_secs(2);
const MIN_LOCAL_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How often Restate's admin API is asked while Restate starts.
const MAX_REGISTER_TRIES: u32 = 30;
/// Connections that wait to be accepted.
const LISTEN_BACKLOG: u32 = 1_024;

pub(crate) async fn worker(args: WorkerArgs) -> Result<Exit, CommandError> {
    let (worker, is_local) = connect(&args)?;
    if args.reset_permits {
        let client = EngineClient::new(args.engine.clone()).map_err(engine_error)?;
        let freed = client.reset_permits(worker.account_key()).await.map_err(engine_error)?;
        outln!("{freed} permits freed");
        return Ok(Exit::Done);
    }
    tracing::info!(local_service = is_local, "the worker starts");
    if !args.listen.ip().is_loopback() && args.identity_keys.is_empty() {
        errln!(
            "{} is reachable by others, and whoever reaches it can have this worker submit: set --identity-key, or restrict the address",
            args.listen
        );
    }
    let advertised = advertised(&args)?;
    let version = program_version()?;
    if let (Some(admin), Some(url)) = (&args.register, &advertised) {
        // Before anybody can connect: Restate would send runs in flight here.
        with_retries(|| EngineClient::check_version(admin, url, &version)).await?;
    }
    let listener = listen(&args)
        .map_err(|error| CommandError::unusable(format!("{} cannot be listened on: {error}", args.listen)))?;
    let address = listener.local_addr()?;
    let mut interrupt = shutdown_signal();
    let stopped = async move {
        if interrupt.wait_for(|is_interrupted| *is_interrupted).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let serving = tokio::spawn({
        let (worker, keys) = (Arc::new(worker.with_version(version.clone())), args.identity_keys.clone());
        async move { worker.serve(listener, &keys, stopped).await }
    });
    if let Some(admin) = &args.register {
        let own_url = Url::parse(&format!("http://{address}/")).map_err(CommandError::unusable)?;
        let url = advertised.as_ref().unwrap_or(&own_url);
        with_retries(|| EngineClient::register_version(admin, url, &version)).await?;
    }
    // The only output on standard output, so that scripts can wait for it and read the port.
    outln!("http://{address}/");
    serving.await.map_err(CommandError::unusable)?.map_err(engine_error)?;
    Ok(Exit::Done)
}

/// The worker of the service that the environment names, and whether that is on this machine.
fn connect(args: &WorkerArgs) -> Result<(Worker, bool), CommandError> {
    let backend = match &args.api_key_file {
        Some(file) => Backend::with_key_file(file)?,
        None => Backend::from_environment()?,
    };
    let Backend::Remote(remote) = &backend else {
        return Err(CommandError::unusable(format!("{BASE_URL} is not set: workers share one service"))
            .hint("start one with `runner serve`, or name the service that the account is at"));
    };
    let is_local = workflow::is_loopback(&remote.url);
    let min_poll_interval = if is_local { MIN_LOCAL_POLL_INTERVAL } else { MIN_POLL_INTERVAL };
    let ffmpeg = ffmpeg::find();
    let (provider, policy) = backend.connect_remote()?;
    let mut boot = [0_u8; 16];
    getrandom::fill(&mut boot).map_err(CommandError::unusable)?;
    let config = WorkerConfig {
        provider,
        store: shared_store::open(&args.store)?,
        client: EngineClient::new(args.engine.clone()).map_err(engine_error)?,
        clock: Clock::starting_at(now()),
        ffmpeg,
        digital_source: media::DigitalSource::TrainedAlgorithmicMedia,
        limits: AccountLimits {
            in_flight: args.max_in_flight.map(usize::from),
            submit_rate: args.max_submits_per_minute.map(Rate::per_minute),
            polls_per_second: args.max_polls_per_second.map(|polls| polls as usize),
            downloads: args.max_downloads.map(usize::from),
            caps: budget::caps(&args.caps),
        },
        min_poll_interval: args.min_poll_interval.unwrap_or(min_poll_interval),
        min_download_rate: policy.min_download_rate,
        reconcile_delay: args.reconcile_after,
        indeterminate_hold: args.hold_indeterminate,
        prices: price_source(),
        boot: hex::encode(boot),
    };
    Ok((Worker::new(config), is_local))
}

fn listen(args: &WorkerArgs) -> std::io::Result<TcpListener> {
    let socket = if args.listen.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As `TcpListener::bind` does, so that a worker can start again at once.
    socket.set_reuseaddr(cfg!(unix))?;
    #[cfg(unix)]
    socket.set_reuseport(args.share_port)?;
    socket.bind(args.listen)?;
    socket.listen(LISTEN_BACKLOG)
}

/// The URL at which Restate reaches the worker, if it is known before it listens.
fn advertised(args: &WorkerArgs) -> Result<Option<Url>, CommandError> {
    match &args.advertise {
        Some(url) => Ok(Some(url.clone())),
        None if args.listen.port() == 0 => Ok(None),
        None => Url::parse(&format!("http://{}/", args.listen)).map(Some).map_err(CommandError::unusable),
    }
}

/// The version of this program: its number, and what the build is, because two builds may have the same number.
fn program_version() -> Result<String, CommandError> {
    let digest = engine::artifact::file_sha256(&std::env::current_exe()?)?;
    Ok(format!("{}+{}", env!("CARGO_PKG_VERSION"), digest.get(..12).unwrap_or(&digest)))
}

/// Asks Restate's admin API, also while Restate is starting.
async fn with_retries<F: Future<Output = Result<(), ClusterError>>>(
    ask: impl Fn() -> F,
) -> Result<(), CommandError> {
    let mut tries = 1;
    loop {
        match ask().await {
            Ok(()) => return Ok(()),
            Err(error) if error.is_transient() && tries < MAX_REGISTER_TRIES => {
                tries += 1;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Err(error) => return Err(engine_error(error)),
        }
    }
}
