//! For operators: health, metrics, the contract and a page to look at. Without a key, and without anything that
//! belongs to one.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::header,
    response::{Html, IntoResponse},
};
use contract::Contract;
use serde_json::{Value, json};

use super::{Front, get::read};
use crate::{metrics::Gauges, refusal::Refusal};

/// 200 when the task store answers.
pub(super) async fn health(State(front): State<Arc<Front>>) -> Result<Json<Value>, Refusal> {
    read(&front, |store| store.task("").map(drop)).await?;
    Ok(Json(json!({"status": "ok"})))
}

pub(super) async fn metrics(State(front): State<Arc<Front>>) -> impl IntoResponse {
    let text = front.metrics.text(gauges(&front));
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}

pub(super) async fn document() -> Json<&'static Value> {
    Json(Contract::embedded().document())
}

pub(super) async fn status_page(State(front): State<Arc<Front>>) -> impl IntoResponse {
    let Gauges { unfinished, waiting, workers } = gauges(&front);
    let rendering = unfinished.saturating_sub(waiting).min(workers);
    let version = Contract::embedded().version();
    let page = format!(
        r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="5">
<title>Video service</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }}
  dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem }}
  dt {{ opacity: .7 }} dd {{ margin: 0; font-variant-numeric: tabular-nums }}
</style>
<h1>Video service</h1>
<dl>
  <dt>rendering</dt><dd>{rendering} of {workers} at once</dd>
  <dt>waiting</dt><dd>{waiting}</dd>
  <dt>contract</dt><dd>version {version}, <a href="/openapi.json">openapi.json</a></dd>
  <dt>health</dt><dd><a href="/healthz">healthz</a>, <a href="/metrics">metrics</a></dd>
</dl>
<p>Tasks are submitted with <code>POST /v1/videos</code> and an API key.</p>
</html>
"#
    );
    ([(header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'")], Html(page))
}

fn gauges(front: &Front) -> Gauges {
    Gauges { unfinished: front.gate.unfinished(), waiting: front.board.waiting(), workers: front.workers }
}
