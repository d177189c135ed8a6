//! A task from its submission to its end (spec 2.5, 3, 4).

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{B, TestRenderer, TestServer, request};

#[tokio::test]
async fn task_passes_through_states_with_frame_progress() {
    let renderer = TestRenderer::held_at(0);
    let server = TestServer::with(renderer.clone(), |config| config.workers = 1).await;
    let mut body = request("the lamp turns on");
    body["return_last_frame"] = json!(true);
    body["seed"] = json!(7);
    let created = server.create(&body).await;
    insta::assert_json_snapshot!("created", server.stable(&created));
    let id = &created["id"];
    let second = server.create(&request("the second waits")).await;

    server.until(id, |task| task["status"] == "in_progress").await;
    assert_eq!(server.task(&second["id"]).await["status"], "queued");
    renderer.let_frames(37);
    let in_progress = server.until(id, |task| task["progress"] == 37).await;
    insta::assert_json_snapshot!("half_way", server.stable(&in_progress));

    renderer.let_frames(u32::MAX);
    let done = server.ended(id).await;
    insta::assert_json_snapshot!("completed", server.stable(&done));
    // No last frame where none was asked for.
    let second = server.ended(&second["id"]).await;
    assert_eq!(second["metadata"].as_object().unwrap().keys().collect::<Vec<_>>(), ["url"]);
    assert_eq!(renderer.prompts(), ["the lamp turns on", "the second waits"]);
    server.service.shutdown().await;
}

#[tokio::test]
async fn progress_is_monotonic_and_100_only_when_completed() {
    let renderer = TestRenderer::held_at(0);
    let server = TestServer::open(renderer.clone()).await;
    let id = server.create(&request("rising tide")).await["id"].clone();
    let (mut last, mut frames) = (0, 0);
    loop {
        let task = server.task(&id).await;
        let progress = task["progress"].as_u64().unwrap();
        assert!(progress >= last, "{progress} after {last}");
        assert_eq!(progress == 100, task["status"] == "completed", "{task}");
        if task["status"] == "completed" {
            break;
        }
        last = progress;
        frames += 7;
        renderer.let_frames(frames);
    }
    server.service.shutdown().await;
}

#[tokio::test]
async fn failed_rendering_fails_only_its_task() {
    let server = TestServer::with(TestRenderer::free(), |config| config.workers = 1).await;
    let broken = server.make(&request("this one breaks")).await;
    insta::assert_json_snapshot!("failed", server.stable(&broken));
    let panicked = server.make(&request("this one panics")).await;
    assert_eq!(panicked["error"]["code"], "render_failed");
    assert!(!panicked["error"]["message"].as_str().unwrap().contains("prompt says"));
    assert_eq!(server.make(&request("this one is fine")).await["status"], "completed");
    let path = format!("/v1/videos/{}/content", broken["id"].as_str().unwrap());
    let response = server.ask(Method::GET, &path).send().await.unwrap();
    assert_eq!(crate::support::error_summary(response).await, "409 task_failed task_id");
    server.service.shutdown().await;
}

#[tokio::test]
async fn task_responses_match_the_contract() {
    let renderer = TestRenderer::held_at(0);
    let server = TestServer::open(renderer.clone()).await;
    let contract = contract::Contract::embedded();
    let agrees = |task: &Value| {
        let violations = contract.check_task(task);
        assert!(violations.is_empty(), "{violations:?}\n{task}");
        serde_json::from_value::<client::types::Task>(task.clone()).expect("the client reads it");
    };
    for body in [request("a"), json!({"model": B, "prompt": "b"}), request("it breaks")] {
        let created = server.create(&body).await;
        agrees(&created);
        agrees(&server.until(&created["id"], |task| task["status"] != "queued").await);
        renderer.let_frames(u32::MAX);
        agrees(&server.ended(&created["id"]).await);
        renderer.let_frames(0);
    }
    server.service.shutdown().await;
}

#[tokio::test]
async fn malformed_paths_are_not_found() {
    let server = TestServer::open(TestRenderer::free()).await;
    for path in
        ["/v1/videos/..%2f..%2fetc", "/v1/videos/%ff", "/v1/videos/%00", "/v1/videos/a/b", "/v1/videos/"]
    {
        let response = server.ask(Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
    }
    server.service.shutdown().await;
}

#[tokio::test]
async fn operator_endpoints_need_no_key() {
    let server = TestServer::open(TestRenderer::free()).await;
    let get =
        async |path: &str| server.http.get(server.url(path)).send().await.unwrap().text().await.unwrap();
    assert_eq!(get("/healthz").await, r#"{"status":"ok"}"#);
    let document: Value = serde_json::from_str(&get("/openapi.json").await).unwrap();
    assert_eq!(document["openapi"], "3.0.3");
    server.service.shutdown().await;
}
