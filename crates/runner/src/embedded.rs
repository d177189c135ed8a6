//! The embedded service: started with a command, and stopped with it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use client::{Client, ClientConfig};
use contract::Contract;
use engine::provider::{
    DownloadSink, PreparedRequest, Provider, Remote, Resume, Submission, SubmissionLookup, TaskDescription,
};
use futures_util::future::BoxFuture;
use renderer::Renderer;
use scheduler::{Failure, PollResult, TaskId, Timestamp};
use secrecy::SecretString;
use serde_json::Value;
use service::Service;
use workflow::services::rehearsed;

use crate::error::CommandError;
use crate::ffmpeg;
use crate::project_paths::ProjectPaths;
use crate::service_address::{API_KEY, BASE_URL};

/// Its key, which only this process uses.
const KEY: &str = "embedded";

/// The running embedded service.
pub(crate) struct EmbeddedService(Arc<Service>);

impl EmbeddedService {
    /// Starts it, and prints that it is used. One process at a time can open its store: a second run in the same folder waits for the first.
    ///
    /// `dialects` are the services that it also answers as, by name.
    pub(crate) async fn start(
        paths: &ProjectPaths,
        dialects: BTreeMap<String, Arc<Contract>>,
        renderer: &Arc<dyn Renderer>,
    ) -> Result<Self, CommandError> {
        if dialects.is_empty() {
            errln!(
                "using the embedded service, which renders on this machine for free; to use a real one, name it with --service (`runner services list`), or set {BASE_URL} and {API_KEY}"
            );
        } else {
            errln!("rehearsing with the embedded service, which renders on this machine for free");
        }
        let mut reported = false;
        loop {
            let mut config = service::Config::embedded(paths.service(), SecretString::from(KEY));
            (config.ffmpeg, config.dialects) = (ffmpeg::find(), dialects.clone());
            match Service::start(config, Arc::clone(renderer), service::Deps::system()).await {
                Ok(service) => return Ok(Self(Arc::new(service))),
                Err(service::ServiceError::InUse { .. }) => {
                    if !reported {
                        errln!("waiting for another run in this folder that uses the embedded service");
                        reported = true;
                    }
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
                Err(error) => {
                    return Err(CommandError::unusable(format!(
                        "the embedded service cannot start: {error}"
                    )));
                }
            }
        }
    }

    /// The service under an identity, in its own API or by another description.
    pub(crate) fn provider(
        &self,
        identity: String,
        description: Option<Arc<Contract>>,
    ) -> Result<Arc<dyn Provider>, CommandError> {
        let mut url = self.0.base_url();
        if let (Some(name), Some(_), Ok(mut path)) =
            (rehearsed(&identity), &description, url.path_segments_mut())
        {
            path.pop_if_empty().extend(["dialects", name]);
        }
        let config = ClientConfig::new(url, SecretString::from(KEY));
        let config = match description {
            Some(description) => config.described(description),
            None => config,
        };
        let client = Client::new(config).map_err(CommandError::unusable)?;
        let service = Arc::clone(&self.0);
        Ok(Arc::new(EmbeddedProvider { remote: Remote::new(client, identity), service }))
    }

    /// Shuts it down. Unfinished tasks resume at its next start.
    pub(crate) async fn stop(self) {
        // The run has ended, so this is the last reference.
        if let Some(service) = Arc::into_inner(self.0) {
            service.shutdown().await;
        }
    }
}

/// The embedded service as a provider: over HTTP like any other, but it can also look up submissions whose outcome is unknown.
struct EmbeddedProvider {
    remote: Remote,
    service: Arc<Service>,
}

impl Provider for EmbeddedProvider {
    fn identity(&self) -> &str {
        self.remote.identity()
    }

    fn is_paid(&self) -> bool {
        false
    }

    fn describe<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Result<TaskDescription, Failure>> {
        self.remote.describe(task)
    }

    fn prepare(&self, model: &str, request: &Value) -> Result<PreparedRequest, Failure> {
        self.remote.prepare(model, request)
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
