//! Taking a request in: from a JSON body to a task that is on disk and up for rendering.

use std::sync::Arc;

use contract::Contract;
use serde_json::Value;

use crate::{
    blocking::blocking,
    clock::Clock,
    digest::Digest,
    faults::Faults,
    id::{Randomness, TaskId},
    inputs::Intake,
    keys::Key,
    limits::Gate,
    metrics::Metrics,
    order::Order,
    refusal::{Refusal, RefusalKind},
    size::Resolution,
    store::{Acceptance, Store, StoreError},
    task::Task,
    wish::Wish,
    workshop::{Board, Live},
};

/// Where tasks come in.
pub(crate) struct Reception {
    pub(crate) store: Arc<Store>,
    pub(crate) board: Arc<Board>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) intake: Intake,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) randomness: Arc<dyn Randomness>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) faults: Arc<Faults>,
    /// The longest prompt, in characters.
    pub(crate) text_chars: usize,
}

impl Reception {
    /// Accepts a request or says why not. When this returns a task, the task is on disk and will be rendered.
    ///
    /// Must be driven to its end: a caller that goes away in between would leave a task that nobody renders until
    /// the next start.
    pub(crate) async fn accept(&self, key: &Key, request: Value) -> Result<Task, Refusal> {
        let text_chars = self.text_chars;
        // With pictures in it, a request is megabytes of text.
        let examined = blocking("the request could not be examined", move || examine(&request, text_chars));
        let (mut wish, request) = examined.await?;
        if wish.resolution >= Resolution::P1080 && !key.permissions.full_hd {
            let message = format!("this key has no permission for {}; use 720p or less", wish.resolution);
            return Err(Refusal::invalid("resolution_not_permitted", message).about("resolution"));
        }
        let place = self.gate.admit(key, self.clock.now_ms())?;
        let inputs = self.intake.take(std::mem::take(&mut wish.media), self.clock.now_ms()).await?;
        let order = Order::settle(&wish, inputs, self.draw_seed()?);
        let id = TaskId::random(self.randomness.as_ref())
            .map_err(|error| Refusal::internal("the task could not be given an id", &error))?;
        self.faults.bind(&id, &order.model, &order.prompt);
        let acceptance = Acceptance {
            id,
            key: key.id.clone(),
            request,
            order,
            created_at: self.clock.now_ms(),
            quota_ms: key.limits.quota_seconds.map(|seconds| seconds.saturating_mul(1000)),
        };
        let task = self.store.accept(acceptance).await.map_err(refused_by_store)?;
        tracing::info!(
            task = %task.id, key = key.name, model = task.order.model, size = %task.order.size,
            seconds = task.order.seconds, "accepted"
        );
        self.metrics.accepted();
        self.board.post(Live::new(task.clone(), place));
        Ok(task)
    }

    fn draw_seed(&self) -> Result<i64, Refusal> {
        let mut bytes = [0; 8];
        self.randomness
            .fill(&mut bytes)
            .map_err(|error| Refusal::internal("no seed could be drawn", &error))?;
        // Kept within what every JSON reader holds exactly, should it ever be shown.
        Ok(i64::from_be_bytes(bytes) & ((1 << 53) - 1))
    }
}

/// Everything that the request itself says, and its identity.
fn examine(request: &Value, text_chars: usize) -> Result<(Wish, Digest), Refusal> {
    let contract = Contract::embedded();
    if let Some(violation) = contract.check_request(request).into_iter().next() {
        let refusal = Refusal::invalid(violation.code, violation.message);
        return Err(Refusal { param: violation.param, ..refusal });
    }
    for name in ["prompt", "user"] {
        let text = request.get(name).and_then(Value::as_str).unwrap_or_default();
        // Bytes first: characters are never more.
        if text.len() > text_chars && text.chars().count() > text_chars {
            let message = format!("`{name}` has more than {text_chars} characters");
            return Err(Refusal::invalid("text_too_long", message).about(name));
        }
    }
    Ok((Wish::read(contract, request)?, Digest::of_request(request)))
}

fn refused_by_store(error: StoreError) -> Refusal {
    match error {
        StoreError::Quota { used_ms, quota_ms } => Refusal::new(
            RefusalKind::Limited,
            "insufficient_quota",
            format!(
                "this key's quota is {} s of video, of which {} s are used",
                quota_ms / 1000,
                used_ms.div_ceil(1000)
            ),
        ),
        error => Refusal::internal("the task could not be stored", &error),
    }
}
