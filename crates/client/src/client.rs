//! The API calls: create, poll, download.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use contract::answer::Task;
use contract::{Contract, TaskState};
use progenitor_client::{ByteStream, Error, ResponseValue};
use reqwest::{
    ClientBuilder,
    header::{DATE, HeaderMap, HeaderValue, RETRY_AFTER},
};
use secrecy::SecretString;
use serde_json::Value;
use tracing::{Instrument, debug, debug_span};
use url::Url;

use crate::{
    CallError, ClientConfig, ConfigError, Download, HttpError, PreparedRequest, Proxies, Resume,
    body::{self, ErrorBody},
    described::Described,
    generated,
    hooks::{self, HookState},
    http,
    key::Key,
    origin, redact,
    response::{MAX_REPEATED_REQUEST_BYTES, max_response_bytes, poll_after, retry_after},
    task_id,
    unread_response::{Response, redirect_target},
};

/// How much of an error response's body is read: the error may quote a long prompt, and a truncated one is not known to be the service's.
/// The call's own timeout bounds the time.
const ERROR_BODY: ErrorBody = ErrorBody::in_response_to(0);

/// The bytes of it of a download, whose error only the user reads.
const MAX_DOWNLOAD_ERROR_BODY_BYTES: usize = 4096;
/// Redirects that a download follows at most.
const MAX_REDIRECTS: usize = 5;
/// The path of tasks (spec 4.2), for ids whose URL the hooks replace; a test compares it with that of the generated operation.
const TASKS_PATH: &str = "/v1/videos";

/// A client of one service with one API key. Cheap to clone; clones share their connection pools.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

/// A polled task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polled {
    pub task: Task,
    /// How long the response asks to wait before the next poll.
    pub poll_after: Option<Duration>,
}

/// How requests are built.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one for each client")]
enum Transport {
    /// By the client that is generated from openapi.yaml.
    Generated {
        /// For submissions, without connection reuse. A POST on a pooled connection that the server is closing fails without telling whether
        /// the request was read; on a new connection that cannot happen.
        submits: generated::Client,
        /// For idempotent requests.
        reads: generated::Client,
    },
    /// As a description says.
    Described(Described),
}

#[derive(Debug)]
struct Shared {
    description: Arc<Contract>,
    transport: Transport,
    /// For downloads from the service, and by its scheme.
    reads: reqwest::Client,
    /// For https downloads from other hosts when the service itself is http. Built on first use, because loading the root
    /// certificates is slow.
    https: OnceLock<Result<reqwest::Client, String>>,
    connect_timeout: Duration,
    read_timeout: Duration,
    download_error_timeout: Duration,
    proxies: Proxies,
    base: Url,
    secret: SecretString,
    key: Key,
}

/// What came of the wish to cancel a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    Yes,
    /// It is in a state in which the service does not cancel it.
    Not(TaskState),
    /// The service cancels nothing, as far as its description says.
    Unsupported,
}

impl Client {
    /// Builds a client. Sends nothing.
    ///
    /// # Errors
    /// The base URL or the key cannot be used, or the system has no usable TLS set-up.
    pub fn new(config: ClientConfig) -> Result<Self, ConfigError> {
        let (base, key) = (config.base()?, Key::new(&config.api_key, config.description.key_place())?);
        let client = |pool: fn(ClientBuilder) -> ClientBuilder| {
            let timed = |builder: ClientBuilder| {
                pool(builder).connect_timeout(config.connect_timeout).read_timeout(config.read_timeout)
            };
            http::build(&base, &config.proxies, timed)
        };
        let submits = client(|builder| builder.pool_max_idle_per_host(0))?;
        let reads = client(|builder| builder.pool_idle_timeout(Duration::from_secs(20)))?;
        let transport = if config.is_built_in() {
            let hooks = HookState {
                key: key.clone(),
                submit_timeout: config.submit_timeout,
                poll_timeout: config.poll_timeout,
                url: None,
                resume: Resume::default(),
            };
            let text = base.as_str().trim_end_matches('/');
            Transport::Generated {
                submits: generated::Client::new_with_client(text, submits, hooks.clone()),
                reads: generated::Client::new_with_client(text, reads.clone(), hooks),
            }
        } else {
            Transport::Described(Described {
                submits,
                reads: reads.clone(),
                base: base.clone(),
                key: key.clone(),
                submit_timeout: config.submit_timeout,
                poll_timeout: config.poll_timeout,
            })
        };
        Ok(Self {
            shared: Arc::new(Shared {
                description: config.description,
                transport,
                reads,
                https: OnceLock::new(),
                connect_timeout: config.connect_timeout,
                read_timeout: config.read_timeout,
                download_error_timeout: config.download_error_timeout,
                proxies: config.proxies,
                base,
                secret: config.api_key,
                key,
            }),
        })
    }

    /// What the service is like.
    pub fn description(&self) -> &Arc<Contract> {
        &self.shared.description
    }

    /// The service's base URL; of the built-in contract without `/v1`.
    pub fn base_url(&self) -> &Url {
        &self.shared.base
    }

    /// Serializes a request to a model of the service.
    ///
    /// # Errors
    /// [`CallError::NotSent`] when the client has no type for it.
    pub fn prepare(&self, model: &str, request: &Value) -> Result<PreparedRequest, CallError> {
        PreparedRequest::described(&self.shared.description, model, request)
    }

    /// Submits a task (spec 4.1).
    ///
    /// # Errors
    /// [`CallError::Indeterminate`] also when the response has a success status and contains no task id, or one that no URL can contain.
    pub async fn create(&self, request: &PreparedRequest) -> Result<Task, CallError> {
        let span = debug_span!("create", task_id = tracing::field::Empty);
        async {
            let body = request.body();
            let response = match &self.shared.transport {
                Transport::Generated { submits, .. } => {
                    self.response_from(submits.create_video().body(body.clone()).send().await)?
                }
                Transport::Described(described) => {
                    described.submit(&self.shared.description, request).await?
                }
            };
            let error_body = ErrorBody::in_response_to(body.len());
            let request = String::from_utf8_lossy(body);
            let response = self.ensure_success(response, &request, error_body).await?;
            let task = self.read_accepted(response, &request).await?;
            if redact::has_long_key(&task.id, &self.shared.secret) {
                return Err(CallError::indeterminate("the task id in the response contains the API key"));
            }
            if let Err(CallError::NotSent { reason }) = self.poll_url(&task.id) {
                // Accepted, and never to be asked about.
                return Err(CallError::indeterminate(format!("the service accepted it, and {reason}")));
            }
            tracing::Span::current().record("task_id", task.id.as_str());
            debug!(state = ?task.state, "the task was accepted");
            Ok(task)
        }
        .instrument(span)
        .await
    }

    /// Polls a task (spec 4.2), and asks for its result where that is a request of its own.
    ///
    /// # Errors
    /// [`CallError::NotSent`] also for an id that no URL can contain; [`CallError::Indeterminate`] for a response that is not a task, or is
    /// about another one.
    pub async fn get(&self, task_id: &str) -> Result<Polled, CallError> {
        let span = debug_span!("get", task_id);
        async {
            let description = &self.shared.description;
            let response = match &self.shared.transport {
                Transport::Generated { reads, .. } => {
                    let segment = task_id::path_segment(task_id)?;
                    // Of any other id the generator makes the same URL, and parsing one takes longer than all else here.
                    let url = if segment == task_id { None } else { Some(self.task_url(&segment, "")?) };
                    let mut generated = reads.clone();
                    generated.inner.url = url;
                    self.response_from(generated.get_video().task_id(task_id).send().await)?
                }
                Transport::Described(described) => described.get(description.poll(), task_id).await?,
            };
            let poll_after = poll_after(response.headers());
            let mut task = self
                .read_polled(response, |http, body| {
                    if http < 400 {
                        Some(description.read_task(http, body, task_id))
                    } else {
                        description.read_failed_poll(http, body, task_id).map(Ok)
                    }
                })
                .await?;
            if let (Some(value), Some(operation), Transport::Described(described)) =
                (task.result.clone(), description.result(), &self.shared.transport)
            {
                let response = described.get(operation, &value).await?;
                task = self
                    .read_polled(response, |http, body| {
                        let result = description.read_result(http, body, task.clone());
                        // An error that says nothing of the task is reported as such.
                        if http < 400 || result.is_ok() { Some(result) } else { None }
                    })
                    .await?;
            }
            debug!(state = ?task.state, progress = task.progress, "the task was polled");
            Ok(Polled { task, poll_after })
        }
        .instrument(span)
        .await
    }

    /// The ids of the account's latest tasks whose requests have a mark; `None` where requests have none.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn find_marked(&self, mark: &str) -> Result<Option<Vec<String>>, CallError> {
        let description = &self.shared.description;
        let (Some(operation), Transport::Described(described)) =
            (description.listing(), &self.shared.transport)
        else {
            return Ok(None);
        };
        let response = described.get(operation, "").await?;
        // What is no list has no such task; nothing follows from that.
        let body = self.read_text(response, MAX_REPEATED_REQUEST_BYTES).await?;
        Ok(Some(description.read_marked(&body, mark)))
    }

    /// Cancels a task, if it is in a state in which the service does that.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn cancel(&self, task_id: &str) -> Result<Cancelled, CallError> {
        let description = &self.shared.description;
        let (Some((operation, states)), Transport::Described(described)) =
            (description.cancel(), &self.shared.transport)
        else {
            return Ok(Cancelled::Unsupported);
        };
        let state = self.get(task_id).await?.task.state;
        if !states.contains(&state) {
            return Ok(Cancelled::Not(state));
        }
        let response = described.get(operation, task_id).await?;
        self.ensure_success(response, "", ErrorBody::in_response_to(0)).await?;
        Ok(Cancelled::Yes)
    }

    /// Downloads a task's video (spec 4.3): by the operation for that, or from the URL that a poll gives now. Redirects are followed; the key is sent only within the API's origin.
    ///
    /// # Errors
    /// As [`Self::get`]. A connection that breaks later is an error in the stream.
    pub async fn content(&self, task_id: &str) -> Result<Download, CallError> {
        self.content_from(task_id, &Resume::default()).await
    }

    /// Downloads a task's video from a byte offset on. A service without range support sends the whole file: see
    /// [`Download::offset`].
    ///
    /// # Errors
    /// As [`Self::content`].
    pub async fn content_from(&self, task_id: &str, resume: &Resume) -> Result<Download, CallError> {
        let span = debug_span!("content", task_id, offset = resume.offset);
        async {
            let (response, url) = match &self.shared.transport {
                Transport::Generated { reads, .. } => {
                    let url = self.task_url(&task_id::path_segment(task_id)?, "/content")?;
                    let mut generated = reads.clone();
                    generated.inner.resume = resume.clone();
                    generated.inner.url = Some(url.clone());
                    let sent = generated.get_video_content().task_id(task_id).send().await;
                    (self.response_from(sent)?, url)
                }
                Transport::Described(described) => {
                    let Some(operation) = self.shared.description.content() else {
                        // It has a URL only, and the one that is known may be used up.
                        let task = self.get(task_id).await?.task;
                        let url = task.video.ok_or_else(|| {
                            CallError::not_sent("the service gives no address of the video any more")
                        })?;
                        return self.fetch_from(&url, resume).await;
                    };
                    described.content(operation, task_id, resume).await?
                }
            };
            match redirect_target(&response, url)? {
                Some((from, to)) => self.follow_redirects(from, to, resume).await,
                None => self.download_from(response).await,
            }
        }
        .instrument(span)
        .await
    }

    /// Downloads a URL from a response, such as `metadata.url`, from any host. The key is sent only within the API's origin.
    /// A relative URL is resolved against the base URL.
    ///
    /// # Errors
    /// [`CallError::NotSent`] also for a URL that is neither http nor https.
    pub async fn fetch(&self, url: &str) -> Result<Download, CallError> {
        self.fetch_from(url, &Resume::default()).await
    }

    /// As [`Self::fetch`], from a byte offset on.
    ///
    /// # Errors
    /// As [`Self::fetch`].
    pub async fn fetch_from(&self, url: &str, resume: &Resume) -> Result<Download, CallError> {
        let target = self.shared.base.join(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(target) = target else {
            let scheme = url.split(':').next().unwrap_or_default();
            let shown: String = scheme.chars().take(32).collect();
            return Err(CallError::not_sent(format!("{shown:?} is not the scheme of an http or https URL")));
        };
        let span = debug_span!("fetch", host = target.host_str(), offset = resume.offset);
        self.follow_redirects(target.clone(), target, resume).instrument(span).await
    }

    /// Downloads from `to`, following redirects; `from` is the URL that points there.
    async fn follow_redirects(
        &self,
        mut from: Url,
        mut to: Url,
        resume: &Resume,
    ) -> Result<Download, CallError> {
        for _ in 0..=MAX_REDIRECTS {
            if !origin::may_follow(&from, &to) {
                return Err(CallError::not_sent(format!(
                    "{} points to {}, which is less safe",
                    from.host_str().unwrap_or("the service"),
                    to.host_str().unwrap_or(to.scheme()),
                )));
            }
            let (mut headers, mut url) = (HeaderMap::new(), to.clone());
            if origin::same(&self.shared.base, &to) {
                self.shared.key.apply(&mut url, &mut headers);
            }
            hooks::set_range_headers(&mut headers, resume);
            // Path and query are not logged: with signed URLs they are credentials.
            debug!(method = "GET", host = to.host_str(), "sending a request");
            let sent = self.http_for(&to)?.get(url).headers(headers).send().await;
            let response = sent.map_err(|error| CallError::from_transport(&error))?;
            debug!(status = response.status().as_u16(), "received a response");
            let response = Response(ResponseValue::stream(response));
            match redirect_target(&response, to)? {
                Some((redirecting, target)) => (from, to) = (redirecting, target),
                None => return self.download_from(response).await,
            }
        }
        Err(CallError::not_sent(format!("the URL leads through more than {MAX_REDIRECTS} redirects")))
    }

    /// The HTTP client for `url`: its pool, and with root certificates where they are needed.
    fn http_for(&self, url: &Url) -> Result<&reqwest::Client, CallError> {
        let shared = &*self.shared;
        if url.scheme() == shared.base.scheme() || url.scheme() != "https" {
            return Ok(&shared.reads);
        }
        let https = shared.https.get_or_init(|| {
            let timed = |builder: ClientBuilder| {
                builder.connect_timeout(shared.connect_timeout).read_timeout(shared.read_timeout)
            };
            http::build_https(&shared.proxies, timed).map_err(|error| error.to_string())
        });
        https.as_ref().map_err(|reason| CallError::not_sent(reason.as_str()))
    }

    async fn download_from(&self, response: Response) -> Result<Download, CallError> {
        // A download has no total timeout.
        let error_body = ErrorBody {
            max_bytes: MAX_DOWNLOAD_ERROR_BODY_BYTES,
            timeout: self.shared.download_error_timeout,
        };
        let response = self.ensure_success(response, "", error_body).await?;
        let headers = response.headers().clone();
        let mut download = Download::new(response.status(), &headers, response.into_stream())?;
        // It is stored for a later run.
        download.validator = download.validator.filter(|validator| self.redact_key(validator) == *validator);
        Ok(download)
    }

    /// The URL of a task, whose id is encoded, or of something below it.
    fn task_url(&self, segment: &str, suffix: &str) -> Result<Url, CallError> {
        let base = self.shared.base.as_str().trim_end_matches('/');
        let text = format!("{base}{TASKS_PATH}/{segment}{suffix}");
        text.parse().map_err(|error| CallError::not_sent(format!("the URL cannot be built: {error}")))
    }

    /// The generated client's result as a response, whatever the status.
    fn response_from(
        &self,
        sent: Result<ResponseValue<ByteStream>, Error<ByteStream>>,
    ) -> Result<Response, CallError> {
        match sent {
            Ok(response) | Err(Error::ErrorResponse(response)) => Ok(Response(response)),
            Err(Error::UnexpectedResponse(response)) => Ok(Response(ResponseValue::stream(response))),
            Err(Error::CommunicationError(error)) => Err(CallError::from_transport(&error)),
            Err(Error::InvalidRequest(reason) | Error::Custom(reason)) => Err(CallError::not_sent(reason)),
            Err(error) => Err(CallError::indeterminate(self.redact_key(&error.to_string()))),
        }
    }

    /// A response with a success status as it is; any other as a [`CallError::Http`], of whose body so much is read. `request` is the body of
    /// the request, if it creates a task.
    async fn ensure_success(
        &self,
        response: Response,
        request: &str,
        error_body: ErrorBody,
    ) -> Result<Response, CallError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let wait = retry_after(header(RETRY_AFTER), header(DATE), SystemTime::now());
        let text = body::read_error(response.into_stream(), error_body).await;
        Err(self.http_error(request, status.as_u16(), &String::from_utf8_lossy(&text), wait))
    }

    fn http_error(&self, request: &str, status: u16, body: &str, wait: Option<Duration>) -> CallError {
        let redact = |text: &str| self.redact_key(text);
        let error = HttpError::redacted(&self.shared.description, request, status, body, wait, redact);
        let code = error.refusal.error.as_ref().and_then(|error| error.code.as_deref());
        debug!(status, code, "received an error response");
        CallError::Http(Box::new(error))
    }

    /// Reads the task that a response to a submission says was accepted. Some services refuse with a success status.
    async fn read_accepted(&self, response: Response, request: &str) -> Result<Task, CallError> {
        let status = response.status().as_u16();
        let body = self.read_text(response, request.len()).await?;
        self.shared.description.read_accepted(status, &body).map(|task| self.redacted(task)).map_err(
            |reason| match self.http_error(request, status, &body, None) {
                CallError::Http(error) if error.refusal.refused.is_some() => CallError::Http(error),
                _ => self.not_a_task(&reason, &body),
            },
        )
    }

    /// Reads a task in a response to a poll; `None` from `read` is an error response that says nothing of it.
    async fn read_polled(
        &self,
        response: Response,
        read: impl FnOnce(u16, &str) -> Option<Result<Task, String>>,
    ) -> Result<Task, CallError> {
        let status = response.status();
        let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let wait = retry_after(header(RETRY_AFTER), header(DATE), SystemTime::now());
        let body = if status.is_success() {
            self.read_text(response, MAX_REPEATED_REQUEST_BYTES).await?
        } else {
            let body = body::read_error(response.into_stream(), ERROR_BODY).await;
            String::from_utf8_lossy(&body).into_owned()
        };
        match read(status.as_u16(), &body) {
            Some(Ok(task)) => Ok(self.redacted(task)),
            Some(Err(reason)) => Err(self.not_a_task(&reason, &body)),
            None => Err(self.http_error("", status.as_u16(), &body, wait)),
        }
    }

    /// A whole body that may repeat a request of so many bytes.
    async fn read_text(&self, response: Response, repeated_bytes: usize) -> Result<String, CallError> {
        let read = body::read(response.into_stream(), max_response_bytes(repeated_bytes)).await;
        let bytes = read.map_err(|(error, partial)| {
            error.with_beginning(&self.redact_key(&String::from_utf8_lossy(&partial)))
        })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn not_a_task(&self, reason: &str, body: &str) -> CallError {
        CallError::not_a_task(self.redact_key(reason)).with_beginning(&self.redact_key(body))
    }

    /// Redacts the key in everything that is shown or stored, after decoding, so that escapes do not hide it. A URL with the key in it is
    /// dropped: the video is asked for again.
    fn redacted(&self, mut task: Task) -> Task {
        for text in [&mut task.model, &mut task.seconds].into_iter().flatten() {
            *text = self.redact_key(text);
        }
        task.word = self.redact_key(&task.word);
        task.error = task.error.map(|(error, reason)| (error.map(|text| self.redact_key(text)), reason));
        for url in [&mut task.video, &mut task.last_frame] {
            *url = url.take().filter(|url| !redact::url_has_key(url, &self.shared.secret));
        }
        task
    }

    /// Whether a task can be asked for.
    fn poll_url(&self, task_id: &str) -> Result<(), CallError> {
        match &self.shared.transport {
            Transport::Generated { .. } => task_id::path_segment(task_id).map(drop),
            Transport::Described(described) => {
                described.url(self.shared.description.poll(), task_id).map(drop)
            }
        }
    }

    fn redact_key(&self, text: &str) -> String {
        redact::redact_key(text, &self.shared.secret)
    }
}
