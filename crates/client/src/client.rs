//! The calls.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use futures_util::FutureExt;
use progenitor_client::{ByteStream, Error, ResponseValue};
use reqwest::{
    ClientBuilder, StatusCode,
    header::{AUTHORIZATION, DATE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER},
};
use secrecy::SecretString;
use serde_json::Value;
use tracing::{Instrument, debug, debug_span};
use url::Url;

use crate::{
    ApiError, CallError, Captured, ClientConfig, ConfigError, Download, MAX_ANSWER, Refusal, Resume,
    TaskAnswer,
    answer::retry_after,
    body,
    capture::Slot,
    generated,
    hooks::{self, Shell},
    http, origin, request, task_id,
};

/// Of a refusal, this much is kept.
const EXCERPT: usize = 4096;
/// A redirect that leads through more hops is taken for a ring.
const MAX_HOPS: usize = 5;

/// A service, and the key to it. Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// For submissions: no connection is used twice. A POST that meets a connection which the other side is closing is
    /// lost without anyone knowing whether it was read; on a fresh one that cannot happen.
    submits: generated::Client,
    /// For everything that may be repeated.
    reads: generated::Client,
    /// For downloads by https from elsewhere, where the service itself is reached by http: made when the first one comes.
    secure: OnceLock<Result<reqwest::Client, String>>,
    connect_timeout: Duration,
    read_timeout: Duration,
    base: Url,
    key: SecretString,
}

impl Client {
    /// Makes a client; nothing is sent yet.
    ///
    /// # Errors
    /// The base URL or the key cannot be used, or the system has no usable TLS set-up.
    pub fn new(config: ClientConfig) -> Result<Self, ConfigError> {
        let base = config.base()?;
        let shell = Shell {
            bearer: config.bearer()?,
            submit_timeout: config.submit_timeout,
            poll_timeout: config.poll_timeout,
            body: None,
            from: Resume::default(),
            capture: None,
        };
        let text = base.as_str().trim_end_matches('/');
        let client = |pool: fn(ClientBuilder) -> ClientBuilder| {
            let timed = |builder: ClientBuilder| {
                pool(builder).connect_timeout(config.connect_timeout).read_timeout(config.read_timeout)
            };
            http::build(&base, timed)
        };
        let submits = client(|builder| builder.pool_max_idle_per_host(0))?;
        let reads = client(|builder| builder.pool_idle_timeout(Duration::from_secs(20)))?;
        Ok(Self {
            shared: Arc::new(Shared {
                submits: generated::Client::new_with_client(text, submits, shell.clone()),
                reads: generated::Client::new_with_client(text, reads, shell),
                secure: OnceLock::new(),
                connect_timeout: config.connect_timeout,
                read_timeout: config.read_timeout,
                base,
                key: config.api_key,
            }),
        })
    }

    /// Where the service is, without `/v1`: its identity, as far as a URL can tell.
    #[must_use]
    pub fn base_url(&self) -> &Url {
        &self.shared.base
    }

    /// Submits a task (spec 4.1). The request goes onto the wire as it is given, byte for byte.
    ///
    /// # Errors
    /// [`CallError::NotSent`] also when the request does not fit the contract's types; [`CallError::Lost`] also when the
    /// service answered with success and no task id can be found in its answer.
    pub async fn create(&self, request: &Value) -> Result<TaskAnswer, CallError> {
        let prepared = request::prepare(request)?;
        let mut generated = self.shared.submits.clone();
        generated.inner.body = Some(prepared.json);
        let span = debug_span!("create_video", task_id = tracing::field::Empty);
        async {
            let answer = self.settle(generated.create_video().body(prepared.typed).send().await).await?;
            let task = self.task(answer.stream, None).await?;
            tracing::Span::current().record("task_id", task.id.as_str());
            debug!(status = %task.status, "the task was accepted");
            Ok(task)
        }
        .instrument(span)
        .await
    }

    /// Looks at a task (spec 4.2).
    ///
    /// # Errors
    /// [`CallError::NotSent`] also for an id that cannot be part of a path; [`CallError::Lost`] for an answer that is not a task.
    pub async fn get(&self, task_id: &str) -> Result<TaskAnswer, CallError> {
        task_id::check(task_id)?;
        let span = debug_span!("get_video", task_id);
        async {
            let answer = self.settle(self.shared.reads.get_video().task_id(task_id).send().await).await?;
            let task = self.task(answer.stream, Some(task_id)).await?;
            debug!(status = %task.status, progress = task.progress, "the task was polled");
            Ok(task)
        }
        .instrument(span)
        .await
    }

    /// Downloads a task's video (spec 4.3). A redirect is followed, with the key only within the API's origin.
    ///
    /// # Errors
    /// As [`Self::get`]; a download that breaks off says so in its stream.
    pub async fn content(&self, task_id: &str) -> Result<Download, CallError> {
        self.content_from(task_id, &Resume::default()).await
    }

    /// Downloads a task's video from a byte on. A service without ranges sends all of it: see [`Download::offset`].
    ///
    /// # Errors
    /// As [`Self::content`].
    pub async fn content_from(&self, task_id: &str, from: &Resume) -> Result<Download, CallError> {
        task_id::check(task_id)?;
        let span = debug_span!("get_video_content", task_id, first = from.first);
        async {
            let mut generated = self.shared.reads.clone();
            generated.inner.from = from.clone();
            let sent = generated.get_video_content().task_id(task_id).send().await;
            let answer = self.opened(sent)?;
            match redirect_target(&answer, self.content_url(task_id)?)? {
                Some((here, to)) => self.follow(here, to, from).await,
                None => self.downloaded(answer).await,
            }
        }
        .instrument(span)
        .await
    }

    /// Downloads what an answer points to, such as `metadata.url`, from whichever host. The key is sent only within the
    /// API's own origin. A path without a host is taken relative to the API.
    ///
    /// # Errors
    /// [`CallError::NotSent`] also for what is not an address on the web.
    pub async fn fetch(&self, url: &str) -> Result<Download, CallError> {
        self.fetch_from(url, &Resume::default()).await
    }

    /// As [`Self::fetch`], from a byte on.
    ///
    /// # Errors
    /// As [`Self::fetch`].
    pub async fn fetch_from(&self, url: &str, from: &Resume) -> Result<Download, CallError> {
        let target = self.shared.base.join(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(target) = target else {
            let scheme = url.split(':').next().unwrap_or_default();
            let shown: String = scheme.chars().take(32).collect();
            return Err(CallError::not_sent(format!("{shown:?} does not begin an address on the web")));
        };
        let span = debug_span!("fetch", host = target.host_str(), first = from.first);
        self.follow(target.clone(), target, from).instrument(span).await
    }

    /// The request that [`Self::create`] would send, without sending it. Needs no runtime.
    ///
    /// # Errors
    /// [`CallError::NotSent`], when the request does not fit the contract's types.
    pub fn capture_create(&self, request: &Value) -> Result<Captured, CallError> {
        let prepared = request::prepare(request)?;
        let slot = Slot::default();
        let mut generated = self.shared.submits.clone();
        generated.inner.body = Some(prepared.json);
        generated.inner.capture = Some(slot.clone());
        // The hook ends the call before it waits for anything.
        let ended = generated.create_video().body(prepared.typed).send().now_or_never();
        slot.take().ok_or_else(|| match ended {
            Some(Err(Error::CommunicationError(error))) => CallError::of_transport(&error),
            _ => CallError::not_sent("the request did not reach the hook that captures it"),
        })
    }

    /// Goes after a download from hop to hop.
    async fn follow(&self, mut here: Url, mut to: Url, from: &Resume) -> Result<Download, CallError> {
        for _ in 0..=MAX_HOPS {
            if !origin::may_follow(&here, &to) {
                return Err(CallError::not_sent(format!(
                    "{} points to {}, which is less safe",
                    here.host_str().unwrap_or("the service"),
                    to.host_str().unwrap_or(to.scheme()),
                )));
            }
            let mut headers = HeaderMap::new();
            if origin::same(&self.shared.base, &to) {
                headers.insert(AUTHORIZATION, self.shared.reads.inner.bearer.clone());
            }
            hooks::go_on_from(&mut headers, from);
            // Of a host's own addresses neither path nor query is told: either may be what lets one in.
            debug!(method = "GET", host = to.host_str(), "asking");
            let sent = self.transport(&to)?.get(to.clone()).headers(headers).send().await;
            let response = sent.map_err(|error| CallError::of_transport(&error))?;
            debug!(status = response.status().as_u16(), "answered");
            let answer = Answer::of(ResponseValue::stream(response));
            match redirect_target(&answer, to)? {
                Some((answered, next)) => (here, to) = (answered, next),
                None => return self.downloaded(answer).await,
            }
        }
        Err(CallError::not_sent(format!("the address leads through more than {MAX_HOPS} redirects")))
    }

    /// What goes to `url`.
    fn transport(&self, url: &Url) -> Result<&reqwest::Client, CallError> {
        let shared = &*self.shared;
        if url.scheme() == shared.base.scheme() || url.scheme() != "https" {
            return Ok(&shared.reads.client);
        }
        let made = shared.secure.get_or_init(|| {
            let timed = |builder: ClientBuilder| {
                builder.connect_timeout(shared.connect_timeout).read_timeout(shared.read_timeout)
            };
            http::secure(timed).map_err(|error| error.to_string())
        });
        made.as_ref().map_err(|reason| CallError::not_sent(reason.as_str()))
    }

    async fn downloaded(&self, answer: Answer) -> Result<Download, CallError> {
        let answer = self.successful(answer).await?;
        Ok(Download::new(answer.status, &answer.headers, answer.stream))
    }

    fn content_url(&self, task_id: &str) -> Result<Url, CallError> {
        let text = format!("{}/v1/videos/{task_id}/content", self.shared.base.as_str().trim_end_matches('/'));
        text.parse().map_err(|error| CallError::not_sent(format!("the address cannot be built: {error}")))
    }

    /// What the generated client hands over, whatever the status.
    fn opened(
        &self,
        sent: Result<ResponseValue<ByteStream>, Error<ByteStream>>,
    ) -> Result<Answer, CallError> {
        match sent {
            Ok(answer) | Err(Error::ErrorResponse(answer)) => Ok(Answer::of(answer)),
            Err(Error::UnexpectedResponse(response)) => Ok(Answer::of(ResponseValue::stream(response))),
            Err(Error::CommunicationError(error)) => Err(CallError::of_transport(&error)),
            Err(Error::InvalidRequest(reason) | Error::Custom(reason)) => Err(CallError::not_sent(reason)),
            Err(other) => Err(CallError::lost(self.without_key(&other.to_string()))),
        }
    }

    async fn settle(
        &self,
        sent: Result<ResponseValue<ByteStream>, Error<ByteStream>>,
    ) -> Result<Answer, CallError> {
        let answer = self.opened(sent)?;
        self.successful(answer).await
    }

    async fn successful(&self, answer: Answer) -> Result<Answer, CallError> {
        if answer.status.is_success() {
            return Ok(answer);
        }
        let status = answer.status;
        let header = |name| answer.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let wait = retry_after(header(RETRY_AFTER), header(DATE), SystemTime::now());
        let beginning = body::read_beginning(answer.stream, EXCERPT).await;
        let text = self.without_key(&String::from_utf8_lossy(&beginning));
        let error = ApiError::decode(&text);
        let code = error.as_ref().and_then(|error| error.code.as_deref());
        debug!(status = status.as_u16(), code, "the call was refused");
        let refusal = Refusal { status: status.as_u16(), error, retry_after: wait, body: text };
        Err(CallError::Refused(Box::new(refusal)))
    }

    /// Reads a task. What may be kept and shown has the key blotted out; what is used, such as addresses, is as it came.
    async fn task(&self, stream: ByteStream, asked: Option<&str>) -> Result<TaskAnswer, CallError> {
        let bytes = body::read(stream, MAX_ANSWER).await?;
        let text = String::from_utf8_lossy(&bytes);
        let mut task =
            TaskAnswer::decode(&text, asked).map_err(|why| CallError::lost(self.without_key(&why)))?;
        task.raw = self.without_key(&task.raw);
        if let Some(failure) = &mut task.error {
            failure.message = self.without_key(&failure.message);
        }
        Ok(task)
    }

    fn without_key(&self, text: &str) -> String {
        body::without_key(text, &self.shared.key)
    }
}

/// An answer whose body is still to come.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    stream: ByteStream,
}

impl Answer {
    fn of(answer: ResponseValue<ByteStream>) -> Self {
        Self { status: answer.status(), headers: answer.headers().clone(), stream: answer.into_inner() }
    }
}

/// Where an answer redirects to, with where it came from.
fn redirect_target(answer: &Answer, here: Url) -> Result<Option<(Url, Url)>, CallError> {
    if !matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let target = answer.headers.get(LOCATION).and_then(|value| value.to_str().ok());
    match target.and_then(|target| here.join(target).ok()) {
        Some(to) => Ok(Some((here, to))),
        None => Err(CallError::lost("the service redirects the download to no address")),
    }
}
