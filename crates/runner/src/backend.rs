//! Which service a run talks to: the one that the environment names, or the embedded one.

use std::sync::Arc;
use std::time::Duration;

use client::{Client, ClientConfig};
use engine::provider::{
    DownloadSink, Provider, Remote, Resume, Submission, SubmissionLookup, TaskDescription,
};
use futures_util::future::BoxFuture;
use scheduler::{Failure, Policy, PollResult, TaskId, Timestamp};
use secrecy::SecretString;
use serde_json::Value;
use service::Service;
use url::Url;

use crate::project_paths::ProjectPaths;

const BASE_URL: &str = "RUNNER_BASE_URL";
const API_KEY: &str = "RUNNER_API_KEY";

/// The service to talk to.
pub(crate) enum Backend {
    /// A real one.
    Remote {
        /// Its address.
        url: Url,
        /// The key for it.
        key: SecretString,
    },
    /// The one in this program.
    Embedded,
}

/// A service that can be talked to.
pub(crate) struct Connection {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) policy: Policy,
    pub(crate) service: Option<EmbeddedService>,
}

/// The embedded service while it runs.
pub(crate) struct EmbeddedService(Arc<Service>);

impl EmbeddedService {
    /// Stops it in good order; what it has accepted goes on with the next start.
    pub(crate) async fn stop(self) {
        // The run is over, so nobody else holds it.
        if let Some(service) = Arc::into_inner(self.0) {
            service.shutdown().await;
        }
    }
}

impl Backend {
    /// Reads the environment, the only place that a key comes from.
    pub(crate) fn from_environment() -> Result<Self, String> {
        let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        match (set(BASE_URL), set(API_KEY)) {
            (None, _) => Ok(Self::Embedded),
            (Some(_), None) => Err(format!("{BASE_URL} names a service, but {API_KEY} holds no key for it")),
            (Some(url), Some(key)) => {
                let url: Url =
                    url.trim().parse().map_err(|error| format!("{BASE_URL} is not an address: {error}"))?;
                if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
                    return Err(format!("{BASE_URL} must be an http or https address"));
                }
                if url.scheme() == "http" && !is_loopback(&url) {
                    return Err(format!("{BASE_URL} would send the key unencrypted: use https"));
                }
                Ok(Self::Remote { url, key: SecretString::from(key.trim().to_owned()) })
            }
        }
    }

    /// What stands for the service in every key.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Remote { url, .. } => engine::provider::service_identity(url),
            Self::Embedded => "embedded".to_owned(),
        }
    }

    /// Whether it costs nothing, whatever a table of prices says.
    pub(crate) fn is_free(&self) -> bool {
        matches!(self, Self::Embedded)
    }

    /// Makes the service ready to be talked to. The embedded one is started, and says so.
    pub(crate) async fn connect(
        self,
        paths: &ProjectPaths,
        ffmpeg: media::Ffmpeg,
    ) -> Result<Connection, String> {
        match self {
            Self::Remote { url, key } => {
                let policy = if is_loopback(&url) { Policy::local() } else { Policy::remote() };
                let client = Client::new(ClientConfig::new(url, key)).map_err(|error| error.to_string())?;
                Ok(Connection { provider: Arc::new(Remote::new(client)), policy, service: None })
            }
            Self::Embedded => {
                errln!(
                    "embedded service: renders on this machine and costs nothing; for a real one set {BASE_URL} and {API_KEY}"
                );
                let key = SecretString::from("embedded");
                let service = start_embedded(paths, &key, &ffmpeg).await?;
                let service = Arc::new(service);
                let client = Client::new(ClientConfig::new(service.base_url(), key))
                    .map_err(|error| error.to_string())?;
                let provider =
                    EmbeddedProvider { remote: Remote::new(client), service: Arc::clone(&service) };
                Ok(Connection {
                    provider: Arc::new(provider),
                    policy: Policy::local(),
                    service: Some(EmbeddedService(service)),
                })
            }
        }
    }
}

/// Starts the embedded service. Its store belongs to one process at a time, so a second run in the same folder waits for the first.
async fn start_embedded(
    paths: &ProjectPaths,
    key: &SecretString,
    ffmpeg: &media::Ffmpeg,
) -> Result<Service, String> {
    let mut said = false;
    loop {
        let mut config = service::Config::embedded(paths.service(), key.clone());
        config.ffmpeg = ffmpeg.clone();
        let renderer = Arc::new(renderer::Procedural);
        match Service::start(config, renderer, service::Deps::system()).await {
            Ok(service) => return Ok(service),
            Err(service::ServiceError::InUse { .. }) => {
                if !said {
                    errln!("another run in this folder uses the embedded service; waiting until it ends");
                    said = true;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            Err(error) => return Err(format!("the embedded service cannot start: {error}")),
        }
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The embedded service as a provider: over HTTP like any other, and beyond that it can say what became of a submission whose answer was lost.
struct EmbeddedProvider {
    remote: Remote,
    service: Arc<Service>,
}

impl Provider for EmbeddedProvider {
    // Its port changes with every start; what it has made does not.
    fn identity(&self) -> &'static str {
        "embedded"
    }

    fn is_paid(&self) -> bool {
        false
    }

    fn describe<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Result<TaskDescription, Failure>> {
        self.remote.describe(task)
    }

    fn body(&self, request: &Value) -> Result<Value, Failure> {
        self.remote.body(request)
    }

    fn submit<'a>(&'a self, request: &'a Value) -> BoxFuture<'a, Submission> {
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
        let found = match self.service.find_by_request(digest) {
            Ok(tasks) => {
                SubmissionLookup::Tasks(tasks.into_iter().map(|task| TaskId(task.to_string())).collect())
            }
            // A store that cannot be read says nothing about what was accepted.
            Err(_) => SubmissionLookup::Unsupported,
        };
        Box::pin(std::future::ready(found))
    }
}
