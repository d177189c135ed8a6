//! Selects the service: the one that the environment names, or the embedded one.

use std::sync::Arc;
use std::time::Duration;

use client::{Client, ClientConfig, Proxies};
use engine::provider::{
    DownloadSink, PreparedRequest, Provider, Remote, Resume, ServerErrorPolicy, Submission, SubmissionLookup,
    TaskDescription,
};
use futures_util::future::BoxFuture;
use renderer::{Procedural, Renderer};
use scheduler::{Failure, Policy, PollResult, TaskId, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use service::Service;
use url::Url;

use crate::error::CommandError;
use crate::project_paths::ProjectPaths;
use crate::proxies;
#[cfg(feature = "cluster")]
use crate::service_address::api_key_from;
use crate::service_address::{API_KEY, BASE_URL, api_key, base_url};

/// The identity of the embedded service.
pub(crate) const EMBEDDED: &str = "embedded";
/// What a server error means that says nothing about acceptance: `indeterminate`, or `retry`.
pub(crate) const SERVER_ERRORS: &str = "RUNNER_ON_SERVER_ERROR";

/// A service that is not connected yet.
pub(crate) enum Backend {
    /// A service reached over the network.
    Remote {
        url: Url,
        key: SecretString,
        /// Proxies for everything that is not on this machine.
        proxies: Box<Proxies>,
        /// What its server errors mean.
        server_errors: ServerErrorPolicy,
    },
    /// The service embedded in this program.
    Embedded {
        /// What renders its videos.
        renderer: Arc<dyn Renderer>,
    },
}

/// The service that the environment names.
pub(crate) struct NamedService {
    pub(crate) identity: String,
    /// The digest of the API key; `None` for the embedded service, and without a key.
    pub(crate) account: Option<String>,
    /// Whether tasks are free, whatever the price table says.
    pub(crate) is_free: bool,
}

/// A connected service, with the limits that suit it.
pub(crate) struct Connection {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) policy: Policy,
    pub(crate) service: Option<EmbeddedService>,
}

/// The running embedded service.
pub(crate) struct EmbeddedService(Arc<Service>);

impl EmbeddedService {
    /// Shuts it down. Unfinished tasks resume at its next start.
    pub(crate) async fn stop(self) {
        // The run has ended, so this is the last reference.
        if let Some(service) = Arc::into_inner(self.0) {
            service.shutdown().await;
        }
    }
}

/// A variable of the environment that is not empty.
fn env_var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

impl Backend {
    pub(crate) fn from_environment() -> Result<Self, CommandError> {
        Self::new(env_var(API_KEY).as_deref().map(api_key))
    }

    /// Reads the environment, and the API key from a file.
    #[cfg(feature = "cluster")]
    pub(crate) fn with_key_file(file: &std::path::Path) -> Result<Self, CommandError> {
        let path = file.display();
        if env_var(API_KEY).is_some() {
            return Err(CommandError::invalid(format!(
                "there are two keys: {API_KEY} is set, and {path} is named"
            ))
            .hint(format!("use one of them: `unset {API_KEY}`")));
        }
        let text = fs_err::read_to_string(file)?;
        if text.trim().is_empty() {
            return Err(CommandError::invalid(format!("{path} has no API key: it is empty")));
        }
        let hint = format!("write the key into {path} and nothing else");
        let key = api_key_from(&text, &format!("the API key in {path}"), &hint);
        Self::new(Some(key))
    }

    /// `key` is checked only where a service needs one.
    fn new(key: Option<Result<&str, CommandError>>) -> Result<Self, CommandError> {
        match (env_var(BASE_URL), key) {
            (None, _) => Ok(Self::Embedded { renderer: Arc::new(Procedural) }),
            (Some(_), None) => Err(CommandError::invalid(format!(
                "{BASE_URL} is set, but {API_KEY} is not"
            ))
            .hint(format!(
                "write `export {API_KEY}=…` with your key, or unset {BASE_URL} to use the embedded service"
            ))),
            (Some(url), Some(key)) => {
                let url = base_url(&url)?;
                let key = key?;
                let proxies = match proxies::from_environment() {
                    // Needed for downloads at most.
                    Err(_) if workflow::is_loopback(&url) => Proxies::default(),
                    read => read?,
                };
                let server_errors = match env_var(SERVER_ERRORS).as_deref().map(str::trim) {
                    None | Some("indeterminate") => ServerErrorPolicy::Indeterminate,
                    Some("retry") => ServerErrorPolicy::Retry,
                    Some(other) => {
                        return Err(CommandError::invalid(format!(
                            "{SERVER_ERRORS} is `{other}`; it must be `indeterminate` or `retry`"
                        )));
                    }
                };
                Ok(Self::Remote {
                    url,
                    key: SecretString::from(key.to_owned()),
                    proxies: Box::new(proxies),
                    server_errors,
                })
            }
        }
    }

    /// The identity of the service that the environment names. Needs no API key: nothing is asked of the service.
    pub(crate) fn identity_from_environment() -> Result<String, CommandError> {
        match std::env::var(BASE_URL).ok().filter(|value| !value.trim().is_empty()) {
            None => Ok(EMBEDDED.to_owned()),
            Some(url) => Ok(engine::provider::service_identity(&base_url(&url)?)),
        }
    }

    /// The service and the account that the environment names, for commands that ask the service nothing. Without an API key the account is
    /// unknown, which is reported.
    pub(crate) fn named_by_environment() -> Result<NamedService, CommandError> {
        let identity = Self::identity_from_environment()?;
        let is_free = identity == EMBEDDED;
        let key = std::env::var(API_KEY).ok().filter(|key| !key.trim().is_empty());
        let account = match key.as_deref() {
            _ if is_free => None,
            Some(key) => Some(engine::provider::account_digest(&identity, api_key(key)?)),
            None => {
                errln!("{API_KEY} is not set: whether recorded tasks belong to its account is not checked");
                None
            }
        };
        Ok(NamedService { identity, account, is_free })
    }

    /// The same service, with another renderer if it is the embedded one.
    pub(crate) fn with_renderer(self, renderer: Arc<dyn Renderer>) -> Self {
        match self {
            Self::Embedded { .. } => Self::Embedded { renderer },
            remote @ Self::Remote { .. } => remote,
        }
    }

    /// The service's identity, which is part of every shot's key.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Remote { url, .. } => engine::provider::service_identity(url),
            Self::Embedded { .. } => EMBEDDED.to_owned(),
        }
    }

    /// The digest of the API key, recorded with each run; `None` for the embedded service.
    pub(crate) fn account(&self) -> Option<String> {
        match self {
            Self::Remote { key, .. } => {
                Some(engine::provider::account_digest(&self.identity(), key.expose_secret()))
            }
            Self::Embedded { .. } => None,
        }
    }

    /// Whether tasks are free, whatever the price table says.
    pub(crate) fn is_free(&self) -> bool {
        matches!(self, Self::Embedded { .. })
    }

    /// Connects to a service that is not the embedded one.
    pub(crate) fn connect_remote(self) -> Result<Connection, CommandError> {
        let (account, identity) = (self.account(), self.identity());
        let Self::Remote { url, key, proxies, server_errors } = self else {
            return Err(CommandError::invalid(format!("{BASE_URL} is not set")));
        };
        let policy = if workflow::is_loopback(&url) { Policy::local() } else { Policy::remote() };
        let config = ClientConfig { proxies: *proxies, ..ClientConfig::new(url, key) };
        let client = Client::new(config).map_err(CommandError::unusable)?;
        let provider = Remote::new(client, identity).with_account(account).with_server_errors(server_errors);
        Ok(Connection { provider: Arc::new(provider), policy, service: None })
    }

    /// Connects to the service. Starts the embedded one and prints that it is used.
    pub(crate) async fn connect(
        self,
        paths: &ProjectPaths,
        ffmpeg: media::Ffmpeg,
    ) -> Result<Connection, CommandError> {
        match self {
            remote @ Self::Remote { .. } => remote.connect_remote(),
            Self::Embedded { renderer } => {
                errln!(
                    "using the embedded service, which renders on this machine for free; to use a real one, set {BASE_URL} and {API_KEY}"
                );
                let key = SecretString::from("embedded");
                let service = start_embedded(paths, &key, &ffmpeg, &renderer).await?;
                let service = Arc::new(service);
                let client = Client::new(ClientConfig::new(service.base_url(), key))
                    .map_err(CommandError::unusable)?;
                let provider = EmbeddedProvider {
                    remote: Remote::new(client, EMBEDDED.to_owned()),
                    service: Arc::clone(&service),
                };
                Ok(Connection {
                    provider: Arc::new(provider),
                    policy: Policy::local(),
                    service: Some(EmbeddedService(service)),
                })
            }
        }
    }
}

/// Starts the embedded service. One process at a time can open its store: a second run in the same folder waits for the first.
async fn start_embedded(
    paths: &ProjectPaths,
    key: &SecretString,
    ffmpeg: &media::Ffmpeg,
    renderer: &Arc<dyn Renderer>,
) -> Result<Service, CommandError> {
    let mut reported = false;
    loop {
        let mut config = service::Config::embedded(paths.service(), key.clone());
        config.ffmpeg = ffmpeg.clone();
        match Service::start(config, Arc::clone(renderer), service::Deps::system()).await {
            Ok(service) => return Ok(service),
            Err(service::ServiceError::InUse { .. }) => {
                if !reported {
                    errln!("waiting for another run in this folder that uses the embedded service");
                    reported = true;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            Err(error) => {
                return Err(CommandError::unusable(format!("the embedded service cannot start: {error}")));
            }
        }
    }
}

/// The embedded service as a provider: over HTTP like any other, but it can also look up submissions whose outcome is unknown.
struct EmbeddedProvider {
    remote: Remote,
    service: Arc<Service>,
}

impl Provider for EmbeddedProvider {
    // Not its URL: the port changes with every start.
    fn identity(&self) -> &'static str {
        EMBEDDED
    }

    fn is_paid(&self) -> bool {
        false
    }

    fn describe<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Result<TaskDescription, Failure>> {
        self.remote.describe(task)
    }

    fn submit<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Submission> {
        self.remote.submit(request)
    }

    fn poll<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, PollResult> {
        self.remote.poll(task)
    }

    fn download<'a>(
        &'a self,
        task: &'a TaskId,
        url: Option<&'a str>,
        resume: Option<&'a Resume>,
        sink: &'a mut dyn DownloadSink,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        self.remote.download(task, url, resume, sink)
    }

    fn can_reach(&self, url: &str) -> bool {
        self.remote.can_reach(url)
    }

    fn find_tasks<'a>(&'a self, digest: &'a str, _since: Timestamp) -> BoxFuture<'a, SubmissionLookup> {
        let lookup = match self.service.find_by_request(digest) {
            Ok(tasks) => {
                SubmissionLookup::Tasks(tasks.into_iter().map(|task| TaskId(task.to_string())).collect())
            }
            // An unreadable store does not tell what was accepted.
            Err(_) => SubmissionLookup::Unsupported,
        };
        Box::pin(std::future::ready(lookup))
    }
}
