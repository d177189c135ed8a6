//! Fault profiles: each misbehaviour, statuses from the outside.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};
use service::{ErrorBodyFormat, Fault, FaultProfile, FaultRule, Operation};

use crate::support::{START, TIMEOUT, TestRenderer, TestServer, digest, error_summary, request};

async fn server(fault: Fault, times: Option<u32>) -> TestServer {
    server_with(TestRenderer::free(), fault, times).await
}

async fn server_with(renderer: Arc<TestRenderer>, fault: Fault, times: Option<u32>) -> TestServer {
    let rule = FaultRule { fault, prompt: None, model: None, chance: 1.0, times };
    TestServer::with(renderer, |config| {
        config.faults = Some(FaultProfile { seed: 1, faults: vec![rule] });
    })
    .await
}

async fn content(server: &TestServer, task: &Value) -> reqwest::Response {
    let path = format!("/v1/videos/{}/content", task["id"].as_str().unwrap());
    server.ask(Method::GET, &path).send().await.unwrap()
}

#[tokio::test]
async fn error_response_fault_on_create_accepts_nothing() {
    let fault = Fault::ErrorResponse {
        on: Operation::Create,
        status: 502,
        body: ErrorBodyFormat::Html,
        retry_after: None,
    };
    let server = server(fault, Some(1)).await;
    let page = server.post(&request("p")).await;
    assert_eq!(page.status(), StatusCode::BAD_GATEWAY);
    assert!(page.text().await.unwrap().contains("<h1>502 Bad Gateway</h1>"));
    assert!(server.service.find_by_request(&digest(&request("p"))).unwrap().is_empty());
    // Once only, as the profile says.
    server.create(&request("p")).await;
    server.service.shutdown().await;
}

#[tokio::test]
async fn error_response_fault_sends_retry_after_if_set() {
    for retry_after in [Some(3), None] {
        let body = ErrorBodyFormat::Json;
        let fault = Fault::ErrorResponse { on: Operation::Poll, status: 429, body, retry_after };
        let server = server(fault, Some(1)).await;
        let task = server.create(&request("p")).await;
        let path = format!("/v1/videos/{}", task["id"].as_str().unwrap());
        let poll = server.ask(Method::GET, &path).send().await.unwrap();
        let hint = poll.headers().get(header::RETRY_AFTER).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(hint, retry_after.map(|seconds| seconds.to_string()));
        assert_eq!(error_summary(poll).await, "429 injected_fault -");
        server.ended(&task["id"]).await;
        server.service.shutdown().await;
    }
}

#[tokio::test]
async fn lose_response_fault_cuts_connection_after_acceptance() {
    let server = server(Fault::LoseResponse {}, Some(1)).await;
    let post = server.ask(Method::POST, "/v1/videos").json(&request("p"));
    let error = post.send().await.expect_err("no answer");
    assert!(!error.is_connect() && !error.is_timeout(), "{error:?}");
    let ids = server.service.find_by_request(&digest(&request("p"))).unwrap();
    assert_eq!(ids.len(), 1);
    assert_eq!(server.ended(&json!(ids[0].as_str())).await["status"], "completed");
    server.service.shutdown().await;
}

#[tokio::test]
async fn never_respond_fault_accepts_and_hangs() {
    let server = server(Fault::NeverRespond {}, None).await;
    let mut post = tokio::spawn(server.ask(Method::POST, "/v1/videos").json(&request("p")).send());
    let begin = Instant::now();
    while server.service.find_by_request(&digest(&request("p"))).unwrap().is_empty() {
        assert!(begin.elapsed() < TIMEOUT, "it is not accepted");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let answer = tokio::time::timeout(Duration::from_millis(700), &mut post).await;
    assert!(answer.is_err(), "{answer:?}");
    assert_eq!(server.service.find_by_request(&digest(&request("p"))).unwrap().len(), 1);
}

#[tokio::test]
async fn not_found_after_create_fault_ends_after_times() {
    let server = server(Fault::NotFoundAfterCreate {}, Some(2)).await;
    let task = server.create(&request("p")).await;
    let path = format!("/v1/videos/{}", task["id"].as_str().unwrap());
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(server.ask(Method::GET, &path).send().await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [404, 404, 200]);
    server.service.shutdown().await;
}

#[tokio::test]
async fn task_object_faults_mutate_polls() {
    let seconds = server(Fault::TimestampsInSeconds {}, None).await;
    let task = seconds.make(&request("p")).await;
    assert_eq!(
        (task["created_at"].as_i64(), task["completed_at"].as_i64()),
        (Some(START / 1000), Some(START / 1000))
    );

    let stuck = server(Fault::StuckAt { percent: 30 }, None).await;
    let id = stuck.create(&request("p")).await["id"].clone();
    let task = stuck.until(&id, |task| task["progress"] == 30).await;
    assert_eq!((task["status"].as_str(), task.get("metadata")), (Some("in_progress"), None));

    let renderer = TestRenderer::held_at(0);
    let unknown = Fault::UnknownStatus { status: "warming_up".to_owned() };
    let unknown = server_with(Arc::clone(&renderer), unknown, None).await;
    let id = unknown.create(&request("p")).await["id"].clone();
    assert_eq!(unknown.task(&id).await["status"], "warming_up");
    renderer.let_frames(u32::MAX);
    assert_eq!(unknown.until(&id, |task| task["status"] != "warming_up").await["status"], "completed");

    let without = server(Fault::CompletedWithoutUrl {}, Some(1)).await;
    let task = without.make(&request("p")).await;
    assert_eq!(task["metadata"].get("url"), None);
    assert!(without.task(&task["id"]).await["metadata"]["url"].is_string());

    let both = server(Fault::CompletedWithError {}, None).await;
    let task = both.make(&request("p")).await;
    assert_eq!(
        (task["status"].as_str(), task["error"]["code"].as_str()),
        (Some("completed"), Some("delivery_failed"))
    );
    for server in [seconds, stuck, unknown, without, both] {
        server.service.shutdown().await;
    }
}

#[tokio::test]
async fn dead_and_expired_url_faults_leave_content_available() {
    for (fault, status) in [(Fault::DeadUrl {}, 404), (Fault::ExpiredUrl {}, 410)] {
        let server = server(fault, None).await;
        let task = server.make(&request("p")).await;
        let answer = server.http.get(task["metadata"]["url"].as_str().unwrap()).send().await.unwrap();
        assert_eq!(answer.status(), status);
        // With the key the video is still to be had.
        assert_eq!(content(&server, &task).await.status(), StatusCode::OK);
        server.service.shutdown().await;
    }
}

#[tokio::test]
async fn cut_body_fault_breaks_download_once() {
    let server = server(Fault::CutBody { after: 1_000 }, Some(1)).await;
    let task = server.make(&request("p")).await;
    let broken = content(&server, &task).await;
    assert_eq!(broken.status(), StatusCode::OK);
    assert!(broken.bytes().await.is_err());
    assert!(content(&server, &task).await.bytes().await.unwrap().len() > 30_000);
    server.service.shutdown().await;
}

#[tokio::test]
async fn slow_body_fault_limits_rate() {
    let server = server(Fault::SlowBody { bytes_per_second: 100_000 }, None).await;
    let task = server.make(&request("p")).await;
    let begin = Instant::now();
    let bytes = content(&server, &task).await.bytes().await.unwrap();
    assert!(bytes.len() > 30_000);
    assert!(begin.elapsed() > Duration::from_millis(300));
    server.service.shutdown().await;
}
