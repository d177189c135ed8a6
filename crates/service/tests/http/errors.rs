//! Error responses (spec 7).

use std::time::Duration;

use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::support::{A, B, KEY, TestRenderer, TestServer, data_uri, error_summary, png, request};

#[tokio::test]
async fn authentication_precedes_other_checks() {
    let server = TestServer::open(TestRenderer::free()).await;
    let url = server.url("/v1/videos");
    let wrong = server.http.post(&url).bearer_auth("sk-wrong").body("not even JSON").send().await.unwrap();
    assert_eq!(wrong.headers()[header::WWW_AUTHENTICATE], "Bearer");
    let body: Value = wrong.json().await.unwrap();
    insta::assert_json_snapshot!("unauthorized", body);
    let missing = server.http.get(server.url("/v1/videos/task_0")).send().await.unwrap();
    assert_eq!(error_summary(missing).await, "401 missing_api_key -");
    let content = server.http.get(server.url("/v1/videos/task_0/content")).send().await.unwrap();
    assert_eq!(error_summary(content).await, "401 missing_api_key -");
    server.service.shutdown().await;
}

#[tokio::test]
async fn contract_violations_are_rejected() {
    let server = TestServer::open(TestRenderer::free()).await;
    let image = data_uri(&png(64, 36, [1, 2, 3]));
    let table = [
        json!({}),
        json!({"model": A}),
        json!({"prompt": "p"}),
        json!({"model": "modela-video-9", "prompt": "p"}),
        json!({"model": A, "prompt": "p", "seconds": "16"}),
        json!({"model": A, "prompt": "p", "seconds": 5}),
        json!({"model": A, "prompt": "p", "duration": 3.9}),
        json!({"model": A, "prompt": "p", "seconds": "5", "duration": 5}),
        json!({"model": A, "prompt": "p", "resolution": "4k"}),
        json!({"model": A, "prompt": "p", "size": "wide"}),
        json!({"model": A, "prompt": "p", "size": "0x720"}),
        json!({"model": A, "prompt": "x".repeat(20_001)}),
        json!({"model": A, "prompt": "p", "n": 2}),
        json!({"model": A, "prompt": "p", "seed": 18_446_744_073_709_551_615_u64}),
        json!({"model": B, "prompt": "p", "seconds": "0"}),
        json!({"model": B, "prompt": "p", "size": "1792x1024"}),
        json!({"model": B, "prompt": "p", "image": image, "images": [image]}),
        json!({"model": "modelb-video-1.5-preview-480p", "prompt": "p"}),
        json!({"model": B, "prompt": "p", "image": "data:image/png;base64,AAAA"}),
        json!({"model": B, "prompt": "p", "image": "ftp://example.com/a.png"}),
        json!({"model": B, "prompt": "p", "image": data_uri(&png(8, 8, [0; 3]))}),
        json!({"model": B, "prompt": "p", "images": [image, "?"]}),
        json!({"model": A, "prompt": "p", "metadata": {"content": [
            {"type": "image_url", "role": "first_frame", "image_url": {"url": "http://127.0.0.1:1/x.png"}}]}}),
    ];
    let mut answers = Vec::new();
    for body in &table {
        let answer = error_summary(server.post(body).await).await;
        let mut shown = body.to_string().replace(&image, "…");
        shown.truncate(110);
        answers.push(format!("{answer}   {shown}"));
    }
    insta::assert_snapshot!("contract", answers.join("\n"));
    let body: Value =
        server.post(&json!({"model": A, "prompt": "p", "seconds": "16"})).await.json().await.unwrap();
    insta::assert_json_snapshot!("invalid_duration", body);
    server.service.shutdown().await;
}

#[tokio::test]
async fn malformed_bodies_are_rejected() {
    let server = TestServer::with(TestRenderer::free(), |config| config.limits.body.bytes = 10_000).await;
    let send = async |kind: &str, body: Vec<u8>| {
        let post = server.ask(Method::POST, "/v1/videos").header(header::CONTENT_TYPE, kind);
        error_summary(post.body(body).send().await.unwrap()).await
    };
    let valid = request("p").to_string().into_bytes();
    assert_eq!(send("text/plain", valid.clone()).await, "400 invalid_content_type -");
    assert_eq!(send("application/json", b"{\"model\": ".to_vec()).await, "400 invalid_json -");
    assert_eq!(send("application/json", b"[1]".to_vec()).await, "400 invalid_json -");
    assert_eq!(send("application/json", vec![0xff; 10]).await, "400 invalid_json -");
    assert_eq!(send("application/json", vec![b'['; 9_000]).await, "400 invalid_json -");
    assert_eq!(send("application/json", Vec::new()).await, "400 invalid_json -");
    assert_eq!(send("application/json", vec![b' '; 10_001]).await, "413 body_too_large -");
    // Without a declared length, too, and large enough that the connection would break if it were not read.
    let chunks = futures_util::stream::iter((0..20).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1_000])));
    let post = server.ask(Method::POST, "/v1/videos").header(header::CONTENT_TYPE, "application/json");
    let response = post.body(reqwest::Body::wrap_stream(chunks)).send().await.unwrap();
    assert_eq!(error_summary(response).await, "413 body_too_large -");
    let upper = server
        .ask(Method::POST, "/v1/videos")
        .header(header::CONTENT_TYPE, "Application/JSON; charset=utf-8");
    assert_eq!(upper.body(valid).send().await.unwrap().status(), StatusCode::OK);
    server.service.shutdown().await;
}

#[tokio::test]
async fn misspelled_fields_are_rejected_unless_lenient() {
    let strict = TestServer::open(TestRenderer::free()).await;
    let lenient = TestServer::with(TestRenderer::free(), |config| config.lenient_fields = true).await;
    for (field, nearest) in [
        ("secnods", "seconds"),
        ("Seconds", "seconds"),
        ("generate-audio", "generate_audio"),
        ("returnlastframe", "return_last_frame"),
        ("metdata", "metadata"),
        ("input_refrence", "input_reference"),
    ] {
        let body = json!({"model": A, "prompt": "p", field: "9"});
        let response = strict.post(&body).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{field}");
        let error: Value = response.json().await.unwrap();
        let expected = format!("`{field}` is no field of a request: did you mean `{nearest}`?");
        assert_eq!(error["error"]["message"], expected);
        assert_eq!(
            (&error["error"]["code"], &error["error"]["param"]),
            (&json!("unknown_parameter"), &json!(field))
        );
        assert_eq!(lenient.post(&body).await.status(), StatusCode::OK, "{field}");
    }
    // A name of its own, a field of the other family, a name near one that is there.
    let others = json!({"model": A, "prompt": "p", "negative_prompt": "rain", "fps": 30, "images": 5, "mode": "std", "prompts": []});
    assert_eq!(strict.post(&others).await.status(), StatusCode::OK);
    let misspelled = strict.post(&json!({"model": A, "promt": "p"})).await;
    assert_eq!(error_summary(misspelled).await, "400 unknown_parameter promt");
    strict.service.shutdown().await;
    lenient.service.shutdown().await;
}

#[tokio::test]
async fn unknown_paths_and_methods_are_rejected() {
    let server = TestServer::open(TestRenderer::free()).await;
    let ask = async |method: Method, path: &str| server.ask(method, path).send().await.unwrap();
    assert_eq!(error_summary(ask(Method::GET, "/v2/videos").await).await, "404 unknown_path -");
    let wrong = ask(Method::DELETE, "/v1/videos").await;
    assert_eq!(wrong.headers()[header::ALLOW], "POST");
    assert_eq!(error_summary(wrong).await, "405 method_not_allowed -");
    assert_eq!(error_summary(ask(Method::PUT, "/v1/videos/x").await).await, "405 method_not_allowed -");
    assert_eq!(
        error_summary(ask(Method::GET, "/v1/videos/task_0").await).await,
        "404 task_not_found task_id"
    );
    assert_eq!(error_summary(ask(Method::GET, "/files/abc.mp4").await).await, "404 file_not_found -");
    assert_eq!(error_summary(ask(Method::GET, "/files/..%2flock").await).await, "404 file_not_found -");
    server.service.shutdown().await;
}

#[tokio::test]
async fn limits_are_429_with_retry_after() {
    let renderer = TestRenderer::held_at(0);
    let server = TestServer::with(renderer.clone(), |config| {
        config.limits.per_key.running_tasks = 2;
        config.limits.per_key.submissions_per_second = 0.5;
        config.limits.per_key.burst = 4;
    })
    .await;
    let first = server.create(&request("one")).await;
    server.create(&request("two")).await;
    let full = server.post(&request("three")).await;
    assert!(full.headers().contains_key(header::RETRY_AFTER));
    assert_eq!(error_summary(full).await, "429 too_many_tasks -");
    renderer.let_frames(u32::MAX);
    server.ended(&first["id"]).await;
    // A rejected request releases its permit, and an invalid one takes none.
    assert_eq!(server.post(&json!({"model": A})).await.status(), StatusCode::BAD_REQUEST);
    let fast = server.post(&request("four")).await;
    assert_eq!(fast.headers()[header::RETRY_AFTER], "2");
    assert_eq!(error_summary(fast).await, "429 rate_limit_exceeded -");
    server.clock.advance(Duration::from_secs(2));
    server.create(&request("five")).await;
    server.service.shutdown().await;
}

#[tokio::test]
async fn full_queue_rejects_every_key() {
    let server = TestServer::with(TestRenderer::held_at(0), |config| config.limits.queued_tasks = 1).await;
    server.create(&request("one")).await;
    assert_eq!(error_summary(server.post(&request("two")).await).await, "429 queue_full -");
    server.service.shutdown().await;
}

#[tokio::test]
async fn key_never_appears_in_responses() {
    let server = TestServer::open(TestRenderer::free()).await;
    let task = server.make(&request("a secret index")).await;
    assert!(!task.to_string().contains(KEY));
    let wrong = server.http.get(server.url("/v1/videos/x")).bearer_auth("sk-other").send().await.unwrap();
    assert!(!wrong.text().await.unwrap().contains("sk-other"));
    // Nor does it reach the disk.
    for entry in std::fs::read_dir(server.folder.path().join("data")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "{}", path.display());
        }
    }
    server.service.shutdown().await;
}
