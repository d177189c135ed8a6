//! `runner serve`: runs the video service as a server until a shutdown signal.

mod keys;

use std::{sync::Arc, time::Duration};

use contract::Contract;
use renderer::{ExternalRenderer, Renderer};
use service::{ApiKeyStore, Config, Deps, FaultProfile, LimitsFile, Service, ServiceError};

use crate::{
    args::{ServeArgs, ServeCommand},
    error::CommandError,
    exit::Exit,
    ffmpeg,
    project_paths::display_path,
    shutdown::shutdown_signal,
};

pub(crate) async fn serve(args: ServeArgs, renderer: Arc<dyn Renderer>) -> Result<Exit, CommandError> {
    match &args.command {
        Some(ServeCommand::Keys(command)) => keys::keys(&args.data, command)?,
        None => run_server(args, renderer).await?,
    }
    Ok(Exit::Done)
}

async fn run_server(args: ServeArgs, renderer: Arc<dyn Renderer>) -> Result<(), CommandError> {
    let renderer = external_renderer(&args)?.unwrap_or(renderer);
    let config = config(&args)?;
    check_keys(&args)?;
    let mut interrupt = shutdown_signal();
    let service = Service::start(config, renderer, Deps::system()).await?;
    // The only output on standard output, so that scripts can wait for it and read the port: the listen address, not --public-url.
    outln!("http://{}/", service.local_addr());
    // An error means that no signal can arrive any more, which is no reason to stop.
    if interrupt.wait_for(|is_interrupted| *is_interrupted).await.is_err() {
        std::future::pending::<()>().await;
    }
    tracing::info!("shutting down");
    service.shutdown().await;
    Ok(())
}

fn config(args: &ServeArgs) -> Result<Config, CommandError> {
    let mut config = Config::standalone(args.listen, args.data.clone());
    config.public_url.clone_from(&args.public_url);
    config.allow_private_media = args.allow_private_media;
    config.lenient_fields = args.lenient_fields;
    config.ffmpeg = ffmpeg::find();
    let shipped = |name: &str| Some((name.to_owned(), Arc::clone(Contract::shipped(name)?)));
    config.dialects = Contract::shipped_names().filter_map(shipped).collect();
    if let Some(workers) = args.workers {
        config.workers = usize::from(workers);
    }
    if let Some(file) = &args.limits {
        let text = fs_err::read_to_string(file).map_err(CommandError::invalid)?;
        let LimitsFile { queued_tasks, per_key } = LimitsFile::from_json(&text)
            .map_err(|error| CommandError::invalid(format!("{}: {error}", display_path(file))))?;
        (config.limits.queued_tasks, config.limits.per_key) = (queued_tasks, per_key);
    }
    if let Some(file) = &args.faults {
        let text = fs_err::read_to_string(file).map_err(CommandError::invalid)?;
        let profile = FaultProfile::from_json(&text)
            .map_err(|error| CommandError::invalid(format!("{}: {error}", display_path(file))))?;
        config.faults = Some(profile);
    }
    if let Some(url) = config.public_url.as_mut() {
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            let message = format!("--public-url {url}: expected an http or https URL");
            return Err(CommandError::invalid(message));
        }
        // Paths are appended to it.
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
    }
    Ok(config)
}

fn external_renderer(args: &ServeArgs) -> Result<Option<Arc<dyn Renderer>>, CommandError> {
    let Some(command) = &args.renderer else { return Ok(None) };
    let words = shlex::split(command)
        .ok_or_else(|| CommandError::invalid(format!("--renderer {command}: unbalanced quotes")))?;
    let timeout = Duration::from_secs(args.render_timeout);
    let command = ExternalRenderer::new(&words, std::env::var_os("PATH"), &args.data, timeout)
        .map_err(CommandError::invalid)?;
    Ok(Some(Arc::new(command)))
}

/// Without API keys every request is rejected: a warning on a loopback address, an error on any other.
fn check_keys(args: &ServeArgs) -> Result<(), CommandError> {
    let keys = ApiKeyStore::open(&args.data)?;
    let active = keys.list()?.iter().filter(|key| key.revoked_at.is_none()).count();
    let command = format!("runner serve keys add NAME --data {}", display_path(&args.data));
    let loopback = args.listen.ip().is_loopback();
    if active == 0 && !loopback {
        return Err(CommandError::invalid(format!(
            "{} is reachable by others, and there are no API keys yet",
            args.listen
        ))
        .hint(format!("create one first: {command}")));
    }
    if active == 0 {
        errln!(
            "no API keys yet, so every request is rejected; create one, also while the service runs: {command}"
        );
    }
    if !loopback {
        errln!(
            "API keys and videos are sent unencrypted: put a TLS proxy in front, and set --public-url to it"
        );
    }
    Ok(())
}

impl From<ServiceError> for CommandError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::KeyName(_) | ServiceError::Faults { .. } | ServiceError::Limits { .. } => {
                Self::invalid(error)
            }
            _ => Self::unusable(error),
        }
    }
}
