//! Submission: from a JSON body to a task that is stored durably and queued for rendering.

use std::sync::Arc;

use contract::{Contract, Field, nearest_name};
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
    memory::MemoryPermit,
    render_spec::RenderSpec,
    request::VideoRequest,
    size::Resolution,
    store::{NewTask, Store, StoreError},
    task::Task,
};

/// A request, with the memory that it takes.
pub(crate) struct Submission {
    pub(crate) request: Value,
    /// Held while inline media are in memory.
    pub(crate) memory: MemoryPermit,
}

pub(crate) struct Submitter {
    pub(crate) store: Arc<Store>,
    pub(crate) active_tasks: Arc<ActiveTasks>,
    pub(crate) admission: Arc<AdmissionController>,
    pub(crate) media_fetcher: MediaFetcher,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) randomness: Arc<dyn Randomness>,
    pub(crate) faults: Arc<Faults>,
    /// The longest prompt, in characters.
    pub(crate) text_chars: usize,
    /// Whether fields that look misspelled are accepted without effect.
    pub(crate) lenient_fields: bool,
}

impl Submitter {
    /// Accepts or rejects a request. A task that is returned is on disk and queued.
    ///
    /// The future must be driven to completion: dropped half-way, it could leave a stored task that is not queued until
    /// the next start of the service.
    pub(crate) async fn accept(&self, key: &Key, submission: Submission) -> Result<Task, ApiError> {
        let Submission { request, memory } = submission;
        let (text_chars, lenient) = (self.text_chars, self.lenient_fields);
        // Inline images make requests of several megabytes.
        let validated = blocking("the request could not be validated", move || {
            if !lenient {
                refuse_misspelled_field(&request)?;
            }
            validate(&request, text_chars)
        });
        let (video, digest) = validated.await?;
        self.accept_video(key, video, digest, memory).await
    }

    /// The same of a request that is valid, with the digest of its body.
    pub(crate) async fn accept_video(
        &self,
        key: &Key,
        mut video: VideoRequest,
        digest: Digest,
        memory: MemoryPermit,
    ) -> Result<Task, ApiError> {
        if video.resolution >= Resolution::P1080 && !key.permissions.full_hd {
            let message = format!("this key has no permission for {}; use 720p or less", video.resolution);
            return Err(ApiError::invalid("resolution_not_permitted", message).with_param("resolution"));
        }
        let permit = self.admission.admit(key, self.clock.now_ms())?;
        let media = std::mem::take(&mut video.media);
        let inputs = self.media_fetcher.fetch_all(media, memory, self.clock.now_ms()).await?;
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

/// Unknown fields that are compared with the known ones.
const MAX_COMPARED_FIELDS: usize = 64;

/// The spec accepts unknown fields. One that is nearly a known field is a typing error that would render, and charge, something else.
fn refuse_misspelled_field(request: &Value) -> Result<(), ApiError> {
    let Some(members) = request.as_object() else { return Ok(()) };
    let contract = Contract::embedded();
    let model = request.get("model").and_then(Value::as_str).and_then(|id| contract.model(id));
    let own = model.map_or(&[][..], |model| contract.fields(&model.family));
    // A field of the other family has no effect, and is no typing error.
    let fields: Vec<&Field> =
        own.iter().chain(contract.families().flat_map(|family| contract.fields(family))).collect();
    // `mode` beside `model` is another field.
    let is_given = |field: &Field| field.is_required && members.contains_key(&field.name);
    let unknown = members.keys().filter(|name| fields.iter().all(|field| field.name != **name));
    for name in unknown.take(MAX_COMPARED_FIELDS) {
        let candidates = fields.iter().filter(|field| !is_given(field)).map(|field| field.name.as_str());
        if let Some(nearest) = nearest_name(name, candidates) {
            let message = format!("`{name}` is no field of a request: did you mean `{nearest}`?");
            return Err(ApiError::invalid("unknown_parameter", message).with_param(name));
        }
    }
    Ok(())
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
        error => ApiError::from_store("the task could not be stored", &error),
    }
}
