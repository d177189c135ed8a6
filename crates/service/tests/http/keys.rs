//! Keys of the data directory (spec 5): what one may do another need not, and none sees the other's tasks.

use std::time::Instant;

use reqwest::{Method, Response, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use service::{ApiKeyStore, KeyLimits, Keys, NewKey, OsRandomness, Permissions, SystemClock};

use crate::support::{TIMEOUT, TestRenderer, TestServer, error_summary, request};

fn add(store: &ApiKeyStore, name: &str, permissions: Permissions, limits: Option<KeyLimits>) -> SecretString {
    let new = NewKey { name: name.to_owned(), permissions, limits };
    store.add(&new, &SystemClock, &OsRandomness).unwrap()
}

async fn post(server: &TestServer, key: &SecretString, body: &Value) -> Response {
    let post = server.http.post(server.url("/v1/videos")).bearer_auth(key.expose_secret());
    post.json(body).send().await.unwrap()
}

async fn get(server: &TestServer, key: &SecretString, path: &str) -> Response {
    server.http.get(server.url(path)).bearer_auth(key.expose_secret()).send().await.unwrap()
}

#[tokio::test]
async fn key_changes_apply_at_once() {
    let server = TestServer::with(TestRenderer::free(), |config| config.keys = Keys::Stored).await;
    let embedded = server.ask(Method::GET, "/v1/videos/task_0").send().await.unwrap();
    assert_eq!(error_summary(embedded).await, "401 invalid_api_key -");
    let store = ApiKeyStore::open(&server.folder.path().join("data")).unwrap();
    let key = add(&store, "film school", Permissions::all(), None);
    assert_eq!(get(&server, &key, "/v1/videos/task_0").await.status(), StatusCode::NOT_FOUND);
    let task: Value = post(&server, &key, &request("one")).await.json().await.unwrap();
    let duplicate = NewKey { name: "film school".to_owned(), permissions: Permissions::all(), limits: None };
    let taken = store.add(&duplicate, &SystemClock, &OsRandomness).unwrap_err();
    assert!(taken.to_string().contains("film school"));
    assert!(store.revoke("film school", &SystemClock).unwrap());
    assert!(!store.revoke("film school", &SystemClock).unwrap());
    assert_eq!(get(&server, &key, "/v1/videos/task_0").await.status(), StatusCode::UNAUTHORIZED);
    let path = format!("/v1/videos/{}", task["id"].as_str().unwrap());
    assert_eq!(error_summary(get(&server, &key, &path).await).await, "401 invalid_api_key -");
    let [entry] = &store.list().unwrap()[..] else { panic!("one key") };
    assert_eq!((entry.tasks, entry.video_ms, entry.revoked_at.is_some()), (1, 5_000, true));
    // The secret itself is nowhere to be found.
    let stored = std::fs::read(server.folder.path().join("data/service.db")).unwrap();
    let secret = key.expose_secret().as_bytes();
    assert!(!stored.windows(secret.len()).any(|window| window == secret));
    server.service.shutdown().await;
}

#[tokio::test]
async fn permissions_limits_and_quotas_are_per_key() {
    let server = TestServer::with(TestRenderer::free(), |config| config.keys = Keys::Stored).await;
    let store = ApiKeyStore::open(&server.folder.path().join("data")).unwrap();
    let small = KeyLimits { quota_seconds: Some(12), ..KeyLimits::default() };
    let poor = add(&store, "poor", Permissions { full_hd: false }, Some(small));
    let rich = add(&store, "rich", Permissions::all(), None);
    assert_eq!(get(&server, &rich, "/v1/videos/task_0").await.status(), StatusCode::NOT_FOUND);

    let mut large = request("large");
    large["resolution"] = json!("1080p");
    assert_eq!(
        error_summary(post(&server, &poor, &large).await).await,
        "400 resolution_not_permitted resolution"
    );
    let by_size = json!({"model": large["model"], "prompt": "p", "size": "1920x1080"});
    assert_eq!(
        error_summary(post(&server, &poor, &by_size).await).await,
        "400 resolution_not_permitted resolution"
    );
    let task: Value = post(&server, &rich, &large).await.json().await.unwrap();
    assert_eq!(task["size"], "1920x1080");

    // Another key's task does not exist.
    let path = format!("/v1/videos/{}", task["id"].as_str().unwrap());
    let (own, foreign) = (get(&server, &rich, &path).await, get(&server, &poor, &path).await);
    assert_eq!(own.status(), StatusCode::OK);
    let unknown = get(&server, &poor, "/v1/videos/task_00000000000000000000000000").await;
    assert_eq!(foreign.text().await.unwrap(), unknown.text().await.unwrap());
    let content = get(&server, &poor, &format!("{path}/content")).await;
    assert_eq!(error_summary(content).await, "404 task_not_found task_id");

    // Twelve seconds are two videos of five; one that fails is given back.
    let first: Value = post(&server, &poor, &request("this breaks")).await.json().await.unwrap();
    let path = format!("/v1/videos/{}", first["id"].as_str().unwrap());
    let begin = Instant::now();
    while get(&server, &poor, &path).await.json::<Value>().await.unwrap()["status"] != "failed" {
        assert!(begin.elapsed() < TIMEOUT);
    }
    for _ in 0..2 {
        assert_eq!(post(&server, &poor, &request("fine")).await.status(), StatusCode::OK);
    }
    assert_eq!(
        error_summary(post(&server, &poor, &request("one more")).await).await,
        "429 insufficient_quota -"
    );
    server.service.shutdown().await;
}
