//! `runner serve`: the video service on its own, until it is told to end.

mod keys;

use std::{io::Write as _, sync::Arc, time::Duration};

use renderer::{Command, Procedural, Renderer};
use service::{ApiKeyStore, Config, Deps, FaultProfile, Service, ServiceError};

use super::print_error;
use crate::{
    args::{ServeArgs, ServeCommand},
    exit::Exit,
    ffmpeg,
    project_paths::display_path,
    shutdown::shutdown_signal,
};

/// Why a service does not come up, and how that ends the program.
struct Refused(Exit, String);

pub(crate) async fn serve(args: ServeArgs) -> Exit {
    let ended = match &args.command {
        Some(ServeCommand::Keys(command)) => keys::keys(&args.data, command),
        None => until_told(args).await,
    };
    match ended {
        Ok(()) => Exit::Done,
        Err(Refused(exit, why)) => {
            print_error(why);
            exit
        }
    }
}

async fn until_told(args: ServeArgs) -> Result<(), Refused> {
    let renderer = renderer(&args)?;
    let config = config(&args)?;
    warn_of_open_doors(&args)?;
    let mut interrupt = shutdown_signal();
    let service = Service::start(config, renderer, Deps::system()).await?;
    {
        // Alone on standard output, so that scripts can wait for it and read a port that was free: where it listens, whatever
        // it is called from outside.
        let mut out = std::io::stdout().lock();
        // Whoever closed it does not want to know.
        let _ = writeln!(out, "http://{}/", service.local_addr()).and_then(|()| out.flush());
    }
    // An error means that nobody can interrupt any more, which is no reason to end.
    if interrupt.wait_for(|asked| *asked).await.is_err() {
        std::future::pending::<()>().await;
    }
    tracing::info!("asked to end");
    service.shutdown().await;
    Ok(())
}

fn config(args: &ServeArgs) -> Result<Config, Refused> {
    let mut config = Config::standalone(args.listen, args.data.clone());
    config.public_url.clone_from(&args.public_url);
    config.allow_private_media = args.allow_private_media;
    config.ffmpeg = ffmpeg::find();
    if let Some(workers) = args.workers {
        config.workers = usize::from(workers);
    }
    if let Some(file) = &args.faults {
        let text =
            fs_err::read_to_string(file).map_err(|error| Refused(Exit::InvalidInput, error.to_string()))?;
        let profile = FaultProfile::from_json(&text)
            .map_err(|error| Refused(Exit::InvalidInput, format!("{}: {error}", display_path(file))))?;
        config.faults = Some(profile);
    }
    if let Some(url) = config.public_url.as_mut() {
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            let why = format!("--public-url {url}: expected an http or https address");
            return Err(Refused(Exit::InvalidInput, why));
        }
        // Paths are put behind it.
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
    }
    Ok(config)
}

fn renderer(args: &ServeArgs) -> Result<Arc<dyn Renderer>, Refused> {
    let Some(command) = &args.renderer else { return Ok(Arc::new(Procedural)) };
    let invalid = |why: String| Refused(Exit::InvalidInput, why);
    let words = shlex::split(command)
        .ok_or_else(|| invalid(format!("--renderer {command}: a quote is opened and never closed")))?;
    let limit = Duration::from_secs(args.render_limit);
    let command = Command::new(&words, std::env::var_os("PATH"), &args.data, limit)
        .map_err(|error| invalid(error.to_string()))?;
    Ok(Arc::new(command))
}

/// Without keys nobody can do anything: said at once on this machine, and refused where others could see it.
fn warn_of_open_doors(args: &ServeArgs) -> Result<(), Refused> {
    let book = ApiKeyStore::open(&args.data)?;
    let good = book.list()?.iter().filter(|key| key.revoked_at.is_none()).count();
    let remedy = format!("runner serve keys add NAME --data {}", display_path(&args.data));
    let private = args.listen.ip().is_loopback();
    if good == 0 && !private {
        let why =
            format!("{} is open to others, and there are no keys yet; make one first: {remedy}", args.listen);
        return Err(Refused(Exit::InvalidInput, why));
    }
    if good == 0 {
        errln!("no keys yet, so every request is refused; make one, also while the service runs: {remedy}");
    }
    if !private {
        errln!(
            "keys and videos travel unencrypted: put a proxy that speaks TLS in front, and name it with --public-url"
        );
    }
    Ok(())
}

impl From<ServiceError> for Refused {
    fn from(error: ServiceError) -> Self {
        let exit = match error {
            ServiceError::KeyName(_) | ServiceError::Faults { .. } => Exit::InvalidInput,
            _ => Exit::Unusable,
        };
        Self(exit, error.to_string())
    }
}
