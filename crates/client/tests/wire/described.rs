//! The transport of services for which no client is generated.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::response::Response;
use client::{CallError, Client, PreparedRequest, Refused, Resume, TaskState};
use contract::Contract;
use serde_json::{Value, json};
use url::Url;

use crate::server::{RecordedRequest, Server, answer, config, json_response, request, task};

fn described(base: &Url, description: &Arc<Contract>) -> Client {
    Client::new(config(base).described(Arc::clone(description))).expect("a usable configuration")
}

/// openapi.yaml, for which this program has a generated client, read as any other description.
fn read_again() -> Arc<Contract> {
    let document = Contract::embedded().document().clone();
    Arc::new(Contract::from_document(document).expect("a sound document"))
}

/// Method, path, headers and body of all that a client sends in the life of a task.
async fn wire(client: impl Fn(&Url) -> Client, request: &PreparedRequest) -> Vec<String> {
    let server = Server::answering(|recorded| match recorded.path.as_str() {
        path if path.ends_with("/content") || path.starts_with("/files") => answer(200, &[], "bytes"),
        _ => json_response(200, &task("queued")),
    })
    .await;
    let client = client(&server.url);
    client.create(request).await.expect("accepted");
    client.get("task_1").await.expect("answered");
    client.content("task_1").await.expect("streamed");
    let resume = Resume { offset: 100, validator: Some("\"a\"".to_owned()) };
    client.content_from("task_1", &resume).await.expect("streamed");
    client.fetch("/files/a.mp4").await.expect("streamed");
    let port = server.url.port().expect("a port").to_string();
    server.requests().iter().map(|recorded| format!("{recorded:?}").replace(&port, "PORT")).collect()
}

#[tokio::test]
async fn both_transports_send_the_same_for_the_built_in_contract() {
    let description = read_again();
    let image = json!({
        "model": "modela-video-2-0-260128", "prompt": "é \"quoted\" \u{1F30A}", "duration": 5, "seed": -1,
        "metadata": { "mine": [1, 2.50], "list": [], "content": [
            { "type": "image_url", "role": "first_frame", "image_url": { "url": "data:image/png;base64,AAAA" } },
        ] },
    });
    for value in [request(), image] {
        let generated = PreparedRequest::new(&value).expect("acceptable");
        let again = PreparedRequest::described(&description, "", &value).expect("acceptable");
        assert_eq!(
            wire(|base| described(base, &description), &again).await,
            wire(|base| Client::new(config(base)).expect("a client"), &generated).await
        );
    }
}

/// Answers with bodies in order, the last one again and again.
async fn scripted(answers: &'static [(u16, &'static str)]) -> Server {
    let next = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    Server::answering(move |_: &RecordedRequest| -> Response {
        let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed).min(answers.len() - 1);
        let (status, body) = answers[index];
        answer(status, &[("content-type", "application/json")], body)
    })
    .await
}

fn prepared(description: &Arc<Contract>, model: &str, value: &Value) -> PreparedRequest {
    PreparedRequest::described(description, model, value).expect("acceptable")
}

/// Where submissions and polls go, and where the key is, for each service.
#[tokio::test]
async fn paths_and_keys_are_those_of_the_descriptions() {
    let mut sent = String::new();
    for (service, model, id, answers) in [
        ("ark", "doubao-seedance-2-0-260128", "cgt-1", r#"{"id":"cgt-1","status":"queued"}"#),
        ("xai", "grok-imagine-video", "r-1", r#"{"request_id":"r-1","status":"pending"}"#),
        ("replicate", "bytedance/seedance-2.0", "p1", r#"{"id":"p1","status":"starting"}"#),
        (
            "veo",
            "veo-3.1-generate-preview",
            "models/veo-3.1-generate-preview/operations/abc",
            r#"{"name":"models/veo-3.1-generate-preview/operations/abc"}"#,
        ),
        ("minimax", "MiniMax-H3", "42", r#"{"task_id":"42","task":{"status":"queued"}}"#),
        ("openrouter", "google/veo-3.1", "j1", r#"{"id":"j1","status":"pending"}"#),
        (
            "fal",
            "bytedance/seedance-2.0/text-to-video",
            "bytedance/seedance-2.0/requests/q-1",
            r#"{"status":"IN_QUEUE","status_url":"https://queue.fal.run/bytedance/seedance-2.0/requests/q-1/status"}"#,
        ),
        ("new-api", "kling-v1", "t1", r#"{"code":"success","data":{"task_id":"t1","status":"NOT_START"}}"#),
    ] {
        let description = Contract::shipped(service).expect("a description");
        let server = Server::answering(move |_| answer(200, &[], answers)).await;
        let client = described(&server.url.join("base/v9").expect("a URL"), description);
        let task = client.create(&prepared(description, model, &json!({}))).await.expect("accepted");
        assert_eq!((task.id.as_str(), task.state != TaskState::Completed), (id, true), "{service}");
        let polled = client.get(id).await.expect("a task");
        assert!(matches!(polled.task.state, TaskState::Queued | TaskState::Running), "{service}: {polled:?}");
        sent += service;
        for recorded in server.requests() {
            let key = recorded.headers.iter().find(|(_, value)| value.contains(crate::server::KEY));
            let (name, value) = key.expect("the key is sent");
            let value = value.replace(crate::server::KEY, "KEY");
            let _ = write!(sent, "\n  {} {} ({name}: {value})", recorded.method, recorded.path);
        }
        sent += "\n";
    }
    insta::assert_snapshot!(sent);
}

#[tokio::test]
async fn answer_without_a_body_says_that_the_task_is_running() {
    let description = Contract::shipped("xai").expect("a description");
    let server = scripted(&[(202, "")]).await;
    let polled = described(&server.url, description).get("r-1").await.expect("a task");
    assert_eq!(polled.task.state, TaskState::Running);
}

#[tokio::test]
async fn refusal_is_what_the_description_says() {
    let description = Contract::shipped("xai").expect("a description");
    let request = prepared(description, "grok-imagine-video", &json!({ "model": "grok-imagine-video" }));
    for (status, body, expected) in [
        (400, r#"{"code":"c","error":"Incorrect API key provided: x"}"#, Some(Refused::NoKey)),
        (422, r#"{"code":"c","error":"Prompt rejected by content moderation."}"#, Some(Refused::Moderated)),
        (500, r#"{"code":"c","error":"overloaded"}"#, None),
    ] {
        let server = Server::answering(move |_| answer(status, &[], body)).await;
        let failed = described(&server.url, description).create(&request).await;
        let CallError::Http(error) = failed.expect_err("an error") else { panic!("{status}: another error") };
        assert_eq!(error.refusal.refused, expected, "{status}");
    }
}

/// Without an operation for it, the task is asked for the URL of its video, which may be another one by now.
#[tokio::test]
async fn video_without_an_operation_is_fetched_from_the_url_that_a_poll_gives() {
    let description = Contract::shipped("xai").expect("a description");
    let server = Server::answering(|recorded| match recorded.path.as_str() {
        "/v.mp4" => answer(200, &[], "bytes"),
        _ => answer(200, &[], r#"{"status":"done","video":{"url":"/v.mp4"}}"#),
    })
    .await;
    described(&server.url, description).content("r-1").await.expect("streamed");
    let paths: Vec<String> = server.requests().into_iter().map(|recorded| recorded.path).collect();
    assert_eq!(paths, ["/videos/r-1", "/v.mp4"]);
}

/// A video at another host than the service is fetched without the key.
#[tokio::test]
async fn key_goes_to_the_service_only() {
    let description = Contract::shipped("veo").expect("a description");
    let (own, other) = (
        Server::answering(|_| answer(200, &[], "bytes")).await,
        Server::answering(|_| answer(200, &[], "bytes")).await,
    );
    let client = described(&own.url, description);
    for server in [&own, &other] {
        client.fetch(server.url.join("files/x").expect("a URL").as_str()).await.expect("streamed");
    }
    let has_key = |server: &Server| server.requests()[0].header("x-goog-api-key").is_some();
    assert_eq!((has_key(&own), has_key(&other)), (true, false));
}
