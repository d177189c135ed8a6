//! What a command or a worker asks of Restate, over HTTP.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, RequestBuilder, StatusCode};
use scheduler::RunId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::Url;
use workflow::plan::NodeKey;

use crate::account::AccountState;
use crate::describe::EngineDescription;
use crate::error::ClusterError;
use crate::films::StoredFilmFile;
use crate::index::{ALL_RUNS, RunEntry, WorkflowRenders, index_key};
use crate::messages::{
    ACCOUNT, AccountBatch, AccountReply, Answers, AskRenders, ENGINE, EventPage, INDEX, NODE, RUN,
    ReadEvents, ReadRenders, RenderPage, ResolutionResult, Resolve, Start,
};
use crate::node::NodeRecord;

/// How long an answer may take: a call waits until the object is free.
const CALL_TIMEOUT: Duration = Duration::from_secs(90);
/// In place of a key: services have none.
const SERVICE_KEY: &str = "";
/// The longest text of an answer that an error quotes.
const MAX_QUOTED_LEN: usize = 400;

/// Restate's ingress.
#[derive(Debug, Clone)]
pub struct EngineClient {
    transport: Transport,
    ingress: Url,
}

/// Calls handlers of objects otherwise than over HTTP: a Restate that tests simulate.
pub trait Ingress: std::fmt::Debug + Send + Sync {
    /// Calls a handler with JSON, and returns its answer, which is JSON or empty.
    fn call<'a>(
        &'a self,
        object: &'a str,
        key: &'a str,
        handler: &'a str,
        body: Vec<u8>,
    ) -> BoxFuture<'a, Result<Vec<u8>, ClusterError>>;
}

/// How calls reach the objects.
#[derive(Debug, Clone)]
enum Transport {
    Http(Client),
    InProcess(Arc<dyn Ingress>),
}

impl EngineClient {
    /// A client of the ingress at this address.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub fn new(ingress: Url) -> Result<Self, ClusterError> {
        Ok(Self { transport: Transport::Http(http(&ingress)?), ingress })
    }

    /// A client of an ingress in this process, as the simulation of a cluster has it. `address` is what it is called in messages.
    pub fn in_process(ingress: Arc<dyn Ingress>, address: Url) -> Self {
        Self { transport: Transport::InProcess(ingress), ingress: address }
    }

    pub fn ingress(&self) -> &Url {
        &self.ingress
    }

    /// Starts a run whose specification is in the shared store.
    ///
    /// # Errors
    /// When Restate cannot be reached, no worker serves it, or the specification cannot be read.
    pub async fn start(&self, run: &RunId, spec: &str) -> Result<(), ClusterError> {
        self.call(RUN, run.as_str(), "start", &Start { spec: spec.to_owned() }).await
    }

    /// Events of a run, from the number `from` on.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn events(&self, run: &RunId, from: u64) -> Result<EventPage, ClusterError> {
        self.call(RUN, run.as_str(), "events", &ReadEvents { from }).await
    }

    /// The files of a film of a run.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn film_files(&self, run: &RunId, index: usize) -> Result<Vec<StoredFilmFile>, ClusterError> {
        self.call(RUN, run.as_str(), "film_files", &index).await
    }

    /// Ends a run early.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn interrupt(&self, run: &RunId) -> Result<(), ClusterError> {
        self.call_without_body(RUN, run.as_str(), "interrupt").await
    }

    /// The service and the account that the workers work for.
    ///
    /// # Errors
    /// When Restate cannot be reached, or no worker is registered.
    pub async fn describe(&self) -> Result<EngineDescription, ClusterError> {
        self.call_without_body(ENGINE, SERVICE_KEY, "describe").await
    }

    /// The runs of a workflow, or of all, the latest first. An index is bounded: there may be older ones.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn runs(&self, workflow: Option<&str>) -> Result<Vec<RunEntry>, ClusterError> {
        let key = workflow.map_or_else(|| ALL_RUNS.to_owned(), index_key);
        self.call_without_body(INDEX, &key, "runs").await
    }

    /// The renders of a workflow.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn renders(&self, workflow: &str) -> Result<WorkflowRenders, ClusterError> {
        let mut renders = WorkflowRenders::default();
        let mut next = Some(0);
        while let Some(from) = next {
            let page: RenderPage =
                self.call(INDEX, &index_key(workflow), "renders", &ReadRenders { from }).await?;
            page.facts.into_iter().for_each(|fact| renders.add(fact));
            next = page.next;
        }
        Ok(renders)
    }

    /// Asks for one more render of instances of a workflow.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn ask_for_renders(&self, workflow: &str, asked: &AskRenders) -> Result<(), ClusterError> {
        self.call(INDEX, &index_key(workflow), "ask", asked).await
    }

    /// Withdraws what is asked for of instances of a workflow and not done. Returns their names.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn withdraw_renders(
        &self,
        workflow: &str,
        instances: &[String],
    ) -> Result<Vec<String>, ClusterError> {
        self.call(INDEX, &index_key(workflow), "withdraw", &instances).await
    }

    /// The attempts of a key.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn node(&self, key: &NodeKey) -> Result<NodeRecord, ClusterError> {
        self.call_without_body(NODE, &key.to_string(), "read").await
    }

    /// Resolves an attempt of a key.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn resolve(&self, key: &NodeKey, resolve: &Resolve) -> Result<ResolutionResult, ClusterError> {
        self.call(NODE, &key.to_string(), "resolve", resolve).await
    }

    /// An account, by the key of its object.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn account(&self, key: &str) -> Result<AccountState, ClusterError> {
        self.call_without_body(ACCOUNT, key, "read").await
    }

    /// Frees all permits of an account. Returns how many there were.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn reset_permits(&self, key: &str) -> Result<u64, ClusterError> {
        self.call_without_body(ACCOUNT, key, "reset_permits").await
    }

    /// Sends answers to a run, and waits until it has taken them.
    pub(crate) async fn answer(&self, run: &str, answers: &Answers) -> Result<(), ClusterError> {
        self.call(RUN, run, "step", answers).await
    }

    /// Sends requests to an account.
    pub(crate) async fn ask_account(
        &self,
        key: &str,
        batch: &AccountBatch,
    ) -> Result<Vec<AccountReply>, ClusterError> {
        self.call(ACCOUNT, key, "update", batch).await
    }

    /// Removes the record of a run that has ended. Returns whether it is gone. Attempts and videos stay.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn purge(&self, run: &RunId) -> Result<bool, ClusterError> {
        self.call(RUN, run.as_str(), "purge", &Value::Null).await
    }

    /// Has a run send again what was not answered for long, at once instead of at its next check.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn check(&self, run: &RunId) -> Result<(), ClusterError> {
        self.call(RUN, run.as_str(), "check", &Value::Null).await
    }

    /// Registers a worker that listens at `worker` with Restate's admin API at `admin`. An address that is registered stays as it is, also if
    /// a worker of another version listens there ([`EngineClient::register_version`]).
    ///
    /// # Errors
    /// When Restate cannot be reached, cannot reach the worker, or refuses it.
    pub async fn register(admin: &Url, worker: &Url) -> Result<(), ClusterError> {
        let url = address(admin, &["deployments"]);
        let body = json!({ "uri": worker.as_str(), "force": false });
        let request = http(admin)?.post(url.clone()).json(&body);
        let _deployment: Value = answer(&url, request).await?;
        Ok(())
    }

    async fn call<T: DeserializeOwned>(
        &self,
        object: &str,
        key: &str,
        handler: &str,
        body: &impl Serialize,
    ) -> Result<T, ClusterError> {
        let body = serde_json::to_vec(body).map_err(|error| ClusterError::Unreadable {
            what: handler.to_owned(),
            reason: error.to_string(),
        })?;
        self.post(object, key, handler, Some(body)).await
    }

    async fn call_without_body<T: DeserializeOwned>(
        &self,
        object: &str,
        key: &str,
        handler: &str,
    ) -> Result<T, ClusterError> {
        self.post(object, key, handler, None).await
    }

    async fn post<T: DeserializeOwned>(
        &self,
        object: &str,
        key: &str,
        handler: &str,
        body: Option<Vec<u8>>,
    ) -> Result<T, ClusterError> {
        let path = [object, key, handler];
        let path: Vec<&str> = path.into_iter().filter(|part| *part != SERVICE_KEY).collect();
        let url = address(&self.ingress, &path);
        match &self.transport {
            Transport::Http(http) => {
                let request = http.post(url.clone());
                let request = match body {
                    Some(body) => request.header(CONTENT_TYPE, "application/json").body(body),
                    None => request,
                };
                answer(&url, request).await
            }
            Transport::InProcess(ingress) => {
                read(&url, &ingress.call(object, key, handler, body.unwrap_or_default()).await?)
            }
        }
    }
}

fn http(url: &Url) -> Result<Client, ClusterError> {
    client::http_client_for(url)
        .map_err(|error| ClusterError::Unreachable { url: origin(url), reason: error.to_string() })
}

pub(crate) fn address(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

/// What Restate's admin API answers to a GET.
pub(crate) async fn get<T: DeserializeOwned>(url: &Url) -> Result<T, ClusterError> {
    answer(url, http(url)?.get(url.clone())).await
}

async fn answer<T: DeserializeOwned>(url: &Url, request: RequestBuilder) -> Result<T, ClusterError> {
    let response = request.timeout(CALL_TIMEOUT).send().await.map_err(|error| unreachable(url, &error))?;
    let status = response.status();
    let bytes = response.bytes().await.map_err(|error| unreachable(url, &error))?;
    if !status.is_success() {
        return Err(refused(url, status, &bytes));
    }
    read(url, &bytes)
}

/// An answer, which is JSON or empty.
fn read<T: DeserializeOwned>(url: &Url, bytes: &[u8]) -> Result<T, ClusterError> {
    let bytes = if bytes.is_empty() { b"null".as_slice() } else { bytes };
    serde_json::from_slice(bytes).map_err(|error| ClusterError::Unreadable {
        what: format!("the answer of Restate at {}", origin(url)),
        reason: error.to_string(),
    })
}

fn refused(url: &Url, status: StatusCode, body: &[u8]) -> ClusterError {
    let message = match serde_json::from_slice::<Value>(body)
        .ok()
        .and_then(|body| Some(body.get("message")?.as_str()?.to_owned()))
    {
        Some(message) => message,
        None => String::from_utf8_lossy(body).into_owned(),
    };
    let message = message.chars().take(MAX_QUOTED_LEN).collect();
    ClusterError::Refused { url: origin(url), status: status.as_u16(), message }
}

fn unreachable(url: &Url, error: &reqwest::Error) -> ClusterError {
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        reason = cause.to_string();
        source = cause.source();
    }
    ClusterError::Unreachable { url: origin(url), reason }
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
