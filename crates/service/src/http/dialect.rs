//! The APIs of other services, below `/dialects/NAME`: requests are checked, and answered, as their descriptions say. What comes of them is the same as
//! of `POST /v1/videos`.

use std::{collections::BTreeMap, future, sync::Arc};

use axum::{
    Json,
    extract::{ConnectInfo, Path, Request, State},
    http::{HeaderMap, Method, StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use contract::answer::{TaskToWrite, Written};
use contract::{Contract, KeyPlace, Operation, PollError, Refused, TaskState};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::{
    AppState, ConnectionHandle,
    error_response::unknown_path,
    file_response,
    get_task::{TaskEntry, find},
    request_body::RequestBody,
    task_body::file_url,
};
use crate::{
    api_error::{ApiError, ApiErrorKind},
    blocking::blocking,
    dialect,
    digest::Digest,
    faults::AfterAcceptance,
    keys::Key,
    task::Status,
};

/// The descriptions of the services that are answered for, by name.
pub(crate) type Dialects = BTreeMap<String, Arc<Contract>>;

pub(super) async fn answer(
    State(state): State<Arc<AppState>>,
    ConnectInfo(connection): ConnectInfo<ConnectionHandle>,
    Path((name, path)): Path<(String, String)>,
    request: Request,
) -> Response {
    let Some(contract) = state.dialects.get(&name).map(Arc::clone) else {
        return unknown_path(request).await.into_response();
    };
    let path = format!("/{path}");
    let method = request.method().clone();
    let is_asked = |operation: &Operation| {
        (operation.method.eq_ignore_ascii_case(method.as_str()))
            .then(|| parameters(operation, &path))
            .flatten()
    };
    let dialect = Dialect { state: &state, contract: &contract };
    if let Some(parameters) = is_asked(contract.submit()) {
        return dialect.submit(request, &parameters, &connection).await;
    }
    let poll = is_asked(contract.poll());
    let result = contract.result().and_then(is_asked);
    let content = contract.content().and_then(is_asked);
    let (parts, _) = request.into_parts();
    let key = match dialect.key(&parts.headers, &parts.uri) {
        Ok(key) => key,
        Err(error) => return dialect.refuse(&error),
    };
    match (poll, result, content) {
        (Some(parameters), ..) => dialect.poll(&key, &parameters).await,
        (None, Some(parameters), _) => dialect.result(&key, &parameters).await,
        (None, None, Some(parameters)) => {
            dialect.content(&key, &parameters, &parts.method, &parts.headers).await
        }
        (None, None, None) => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A description, and what answers in its words.
struct Dialect<'a> {
    state: &'a Arc<AppState>,
    contract: &'a Arc<Contract>,
}

impl Dialect<'_> {
    async fn submit(
        &self,
        request: Request,
        parameters: &[(String, String)],
        connection: &ConnectionHandle,
    ) -> Response {
        let (parts, body) = request.into_parts();
        let mut body = RequestBody::new(&parts.headers, body, self.state.body_limits.clone());
        let submitted = self.accept(&parts.headers, &parts.uri, &mut body, parameters, connection).await;
        if submitted.is_err() {
            body.drain().await;
        }
        submitted.unwrap_or_else(|error| self.refuse(&error))
    }

    async fn accept(
        &self,
        headers: &HeaderMap,
        uri: &Uri,
        body: &mut RequestBody,
        parameters: &[(String, String)],
        connection: &ConnectionHandle,
    ) -> Result<Response, ApiError> {
        let key = self.key(headers, uri)?;
        self.state.admission.check_rate(&key, self.state.clock.now_ms())?;
        let (bytes, memory) = body.read(&self.state.body_memory).await?;
        let request: Value = serde_json::from_slice(&bytes)
            .map_err(|error| ApiError::invalid("invalid_json", format!("the body is not JSON: {error}")))?;
        let in_path = self.contract.model_parameter();
        let in_path = in_path.and_then(|name| parameters.iter().find(|(own, _)| own == name));
        let in_body = || self.contract.model_place()?.get(&request)?.as_str().map(str::to_owned);
        let id = in_path.map(|(_, id)| id.clone()).or_else(in_body).unwrap_or_default();
        let model = self
            .contract
            .model(&id)
            .ok_or_else(|| ApiError::invalid("unknown_model", format!("there is no model `{id}`")))?;
        let canonical = contract::canonical_json(&request);
        let digest = match in_path {
            Some((_, model)) => Digest::sha256(format!("{model}\0{canonical}").as_bytes()),
            None => Digest::sha256(canonical.as_bytes()),
        };
        let contract = Arc::clone(self.contract);
        let video = blocking("the request could not be validated", move || {
            dialect::read(&contract, &model, &request)
        });
        let video = video.await?;
        let fault = self.state.faults.on_create(&json!({ "model": video.model, "prompt": video.prompt }));
        if let Some(response) = fault.instead {
            return Ok(response);
        }
        if fault.is_moderated {
            return Err(ApiError::moderated());
        }
        let shared = Arc::clone(self.state);
        // Spawned, so that a client that disconnects cannot cancel it half-way.
        let accepted =
            tokio::spawn(async move { shared.submitter.accept_video(&key, video, digest, memory).await });
        let task = accepted
            .await
            .map_err(|error| ApiError::internal("the request could not be handled", &error))??;
        let entry = TaskEntry::Stored(Box::new(task));
        let response = self.written(&entry, Contract::write_accepted);
        match fault.after {
            Some(AfterAcceptance::CutConnection) => connection.cut(),
            Some(AfterAcceptance::NeverRespond) => future::pending().await,
            None => {}
        }
        Ok(response)
    }

    async fn poll(&self, key: &Key, parameters: &[(String, String)]) -> Response {
        match self.find(key, parameters).await {
            Ok(entry) => self.written(&entry, Contract::write_task),
            Err(error) if error.kind == ApiErrorKind::NotFound => {
                response(self.contract.write_poll_error(PollError::Missing, &error.message))
            }
            Err(error) => self.refuse(&error),
        }
    }

    async fn result(&self, key: &Key, parameters: &[(String, String)]) -> Response {
        match self.find(key, parameters).await {
            Ok(entry) => self.written(&entry, Contract::write_result),
            Err(error) => self.refuse(&error),
        }
    }

    async fn content(
        &self,
        key: &Key,
        parameters: &[(String, String)],
        method: &Method,
        headers: &HeaderMap,
    ) -> Response {
        let sent = async {
            let entry = self.find(key, parameters).await?;
            let missing = || ApiError::new(ApiErrorKind::NotFound, "no_video", "the task has no video");
            let file = file_response::video(self.state, entry.task()).ok_or_else(missing)?;
            file_response::serve(self.state, entry.task(), file, method, headers).await
        };
        sent.await.unwrap_or_else(|error| self.refuse(&error))
    }

    async fn find(&self, key: &Key, parameters: &[(String, String)]) -> Result<TaskEntry, ApiError> {
        let id = parameters.first().map_or("", |(_, id)| id);
        find(self.state, key, id).await
    }

    /// What an answer says of a task.
    fn written(&self, entry: &TaskEntry, write: impl Fn(&Contract, TaskToWrite<'_>) -> Written) -> Response {
        let (task, (status, progress)) = (entry.task(), entry.progress());
        let failure = task.failure.as_ref();
        let state = match status {
            Status::Queued => TaskState::Queued,
            Status::InProgress => TaskState::Running,
            Status::Completed => TaskState::Completed,
            Status::Failed if failure.is_some_and(|failure| failure.code.ends_with("moderated")) => {
                TaskState::Moderated
            }
            Status::Failed => TaskState::Failed,
        };
        let video = task.video.as_ref().map(|video| file_url(&self.state.base, &video.token, "mp4"));
        let frame = task.last_frame.as_ref().map(|frame| file_url(&self.state.base, &frame.token, "png"));
        response(write(
            self.contract,
            TaskToWrite {
                id: task.id.as_str(),
                state,
                progress,
                model: &task.spec.model,
                seconds: &task.spec.seconds_text(),
                created_at_ms: task.created_at,
                video: video.as_deref(),
                last_frame: frame.as_deref(),
                message: failure.map_or("", |failure| &failure.message),
            },
        ))
    }

    /// The key of a request, where the description says that it is.
    fn key(&self, headers: &HeaderMap, uri: &Uri) -> Result<Arc<Key>, ApiError> {
        let rejected =
            || ApiError::new(ApiErrorKind::Unauthenticated, "invalid_api_key", "the API key is not valid");
        let secret = match self.contract.key_place() {
            KeyPlace::Header { name, prefix } => {
                let value = headers.get(name).and_then(|value| value.to_str().ok());
                value.and_then(|value| value.strip_prefix(prefix.as_str())).map(str::to_owned)
            }
            KeyPlace::Query { name } => {
                let mut pairs = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
                pairs.find(|(own, _)| own == name.as_str()).map(|(_, value)| value.into_owned())
            }
        };
        let key = self.state.keys.find(&secret.ok_or_else(rejected)?, &self.state.store);
        key.map_err(|error| ApiError::internal("the API keys cannot be read", &error))?.ok_or_else(rejected)
    }

    /// An error in the words of the description.
    fn refuse(&self, error: &ApiError) -> Response {
        let refused = match error.kind {
            ApiErrorKind::Internal => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            ApiErrorKind::Unauthenticated => Refused::NoKey,
            ApiErrorKind::Limited | ApiErrorKind::Unavailable => Refused::Later,
            _ if error.is_moderated() => Refused::Moderated,
            ApiErrorKind::Invalid
            | ApiErrorKind::NotFound
            | ApiErrorKind::Conflict
            | ApiErrorKind::MethodNotAllowed
            | ApiErrorKind::Gone
            | ApiErrorKind::TooLarge => Refused::Invalid,
        };
        response(self.contract.write_refusal(refused, &error.message))
    }
}

fn response(written: Written) -> Response {
    let status = StatusCode::from_u16(written.http).unwrap_or(StatusCode::OK);
    (status, Json(written.body)).into_response()
}

/// The parameters of an operation in a path, decoded; `None` if it is another path.
fn parameters(operation: &Operation, path: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let (mut form, mut rest) = (operation.path.as_str(), path);
    for parameter in &operation.parameters {
        let (before, after) = form.split_once('{')?;
        rest = rest.strip_prefix(before)?;
        form = after.split_once('}')?.1;
        let next = form.split('{').next().unwrap_or_default();
        // Up to what follows it in the form.
        let length = match (next.is_empty(), parameter.has_slashes) {
            (true, true) => rest.len(),
            (true, false) => rest.find('/').unwrap_or(rest.len()),
            (false, true) => rest.rfind(next)?,
            (false, false) => rest.find(next)?,
        };
        let (value, after) = rest.split_at(length);
        found.push((parameter.name.clone(), percent_decode_str(value).decode_utf8().ok()?.into_owned()));
        rest = after;
    }
    (rest == form).then_some(found)
}
