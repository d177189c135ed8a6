//! Submission: from a JSON body to a task that is stored durably and queued for rendering.

use std::sync::Arc;

use contract::Contract;
use serde_json::Value;

use crate::{
    admission::AdmissionController,
    api_error::{ApiError, ApiErrorKind},
    blocking::blocking,
    clock::Clock,
    digest::Digest,
    faults::Faults,
    id::{Randomness, TaskId},
    inputs::MediaFetcher,
    jobs::{ActiveTask, ActiveTasks},
    keys::Key,
    metrics::Metrics,
    render_spec::RenderSpec,
    request::VideoRequest,
    size::Resolution,
    store::{NewTask, Store, StoreError},
    task::Task,
};

/// Accepts tasks.
pub(crate) struct Submitter {
    pub(crate) store: Arc<Store>,
    pub(crate) active_tasks: Arc<ActiveTasks>,
    pub(crate) admission: Arc<AdmissionController>,
    pub(crate) media_fetcher: MediaFetcher,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) randomness: Arc<dyn Randomness>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) faults: Arc<Faults>,
    /// The longest prompt, in characters.
    pub(crate) text_chars: usize,
}

impl Submitter {
    /// Accepts or rejects a request. A task that is returned is on disk and queued.
    ///
    /// The future must be driven to completion: dropped half-way, it could leave a stored task that is not queued until
    /// the next start of the service.
    pub(crate) async fn accept(&self, key: &Key, request: Value) -> Result<Task, ApiError> {
        let text_chars = self.text_chars;
        // Inline pictures make requests of several megabytes.
        let validated =
            blocking("the request could not be validated", move || validate(&request, text_chars));
        let (mut video, digest) = validated.await?;
        if video.resolution >= Resolution::P1080 && !key.permissions.full_hd {
            let message = format!("this key has no permission for {}; use 720p or less", video.resolution);
            return Err(ApiError::invalid("resolution_not_permitted", message).with_param("resolution"));
        }
        let permit = self.admission.admit(key, self.clock.now_ms())?;
        let inputs =
            self.media_fetcher.fetch_all(std::mem::take(&mut video.media), self.clock.now_ms()).await?;
        let spec = RenderSpec::resolve(&video, inputs, self.draw_seed()?);
        let id = TaskId::random(self.randomness.as_ref())
            .map_err(|error| ApiError::internal("the task could not be given an id", &error))?;
        self.faults.bind(&id, &spec.model, &spec.prompt);
        let new = NewTask {
            id,
            key: key.id.clone(),
            request: digest,
            spec,
            created_at: self.clock.now_ms(),
            quota_ms: key.limits.quota_seconds.map(|seconds| seconds.saturating_mul(1000)),
        };
        let task = self.store.accept(new).await.map_err(store_error)?;
        tracing::info!(
            task = %task.id, key = key.name, model = task.spec.model, size = %task.spec.size,
            seconds = task.spec.seconds, "accepted"
        );
        self.metrics.accepted();
        self.active_tasks.insert(ActiveTask::new(task.clone(), permit));
        Ok(task)
    }

    fn draw_seed(&self) -> Result<i64, ApiError> {
        let mut bytes = [0; 8];
        self.randomness
            .fill(&mut bytes)
            .map_err(|error| ApiError::internal("no seed could be drawn", &error))?;
        // 53 bits: every JSON parser represents them exactly.
        Ok(i64::from_be_bytes(bytes) & ((1 << 53) - 1))
    }
}

/// Checks the request against the contract and the text limits; returns it parsed, with its digest.
fn validate(request: &Value, text_chars: usize) -> Result<(VideoRequest, Digest), ApiError> {
    let contract = Contract::embedded();
    if let Some(violation) = contract.check_request(request).into_iter().next() {
        let error = ApiError::invalid(violation.code, violation.message);
        return Err(ApiError { param: violation.param, ..error });
    }
    for name in ["prompt", "user"] {
        let text = request.get(name).and_then(Value::as_str).unwrap_or_default();
        // There are never more characters than bytes, which are cheaper to count.
        if text.len() > text_chars && text.chars().count() > text_chars {
            let message = format!("`{name}` has more than {text_chars} characters");
            return Err(ApiError::invalid("text_too_long", message).with_param(name));
        }
    }
    Ok((VideoRequest::parse(contract, request)?, Digest::of_request(request)))
}

fn store_error(error: StoreError) -> ApiError {
    match error {
        StoreError::Quota { used_ms, quota_ms } => ApiError::new(
            ApiErrorKind::Limited,
            "insufficient_quota",
            format!(
                "this key's quota is {} s of video, of which {} s are used",
                quota_ms / 1000,
                used_ms.div_ceil(1000)
            ),
        ),
        error => ApiError::internal("the task could not be stored", &error),
    }
}
