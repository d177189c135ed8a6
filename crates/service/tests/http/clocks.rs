//! Clocks that are set while the service runs: nothing expires early, and no task ends before it began.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::Method;
use serde_json::Value;

use crate::support::{START, TIMEOUT, TestRenderer, TestServer, client, clock, config, request, start};

const MINUTE: Duration = Duration::from_mins(1);
const HOUR_MS: i64 = 3_600_000;

async fn server(renderer: Arc<TestRenderer>) -> TestServer {
    TestServer::with(renderer, |config| config.retention.sweep_interval = Duration::from_millis(5)).await
}

async fn content(server: &TestServer, task: &Value) -> u16 {
    let path = format!("/v1/videos/{}/content", task["id"].as_str().unwrap());
    server.ask(Method::GET, &path).send().await.unwrap().status().as_u16()
}

/// Waits until a whole sweep has seen the clock as it is now: another one has begun after it.
async fn swept(server: &TestServer) {
    let (begin, before) = (Instant::now(), server.clock.comparisons());
    while server.clock.comparisons() < before + 2 {
        assert!(begin.elapsed() < TIMEOUT, "nothing is swept");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn minutes(server: &TestServer, count: u32) {
    for _ in 0..count {
        server.clock.advance(MINUTE);
        swept(server).await;
    }
}

#[tokio::test]
async fn jump_of_the_wall_clock_expires_nothing() {
    let server = server(TestRenderer::free()).await;
    let task = server.make(&request("kept")).await;
    minutes(&server, 11).await;
    server.clock.set_wall(25 * HOUR_MS);
    minutes(&server, 2).await;
    assert_eq!(content(&server, &task).await, 200);
    server.clock.set_wall(-25 * HOUR_MS);
    minutes(&server, 2).await;
    assert_eq!(content(&server, &task).await, 200);
    assert_eq!(server.task(&task["id"]).await["expires_at"], task["expires_at"]);
    server.service.shutdown().await;
}

#[tokio::test]
async fn lasting_change_is_followed_and_shortens_no_life() {
    let server = server(TestRenderer::free()).await;
    let task = server.make(&request("kept")).await;
    server.clock.set_wall(25 * HOUR_MS);
    minutes(&server, 12).await;
    assert_eq!(content(&server, &task).await, 200);
    let shifted = server.task(&task["id"]).await;
    let expiry = |task: &Value| task["expires_at"].as_i64().unwrap();
    assert_eq!(expiry(&shifted) - expiry(&task), 25 * HOUR_MS);
    let next = server.create(&request("next")).await;
    let created = next["created_at"].as_i64().unwrap();
    assert_eq!(created, START + 25 * HOUR_MS + 12 * 60_000, "new tasks have the new time");
    server.service.shutdown().await;
}

#[tokio::test]
async fn start_with_a_wrong_clock_deletes_nothing() {
    let first = server(TestRenderer::free()).await;
    let task = first.make(&request("kept")).await;
    let file = first.folder.path().join(format!("data/videos/{}.mp4", task["id"].as_str().unwrap()));
    let TestServer { service, folder, .. } = first;
    service.shutdown().await;

    let wrong = clock();
    wrong.set_wall(25 * HOUR_MS);
    let mut config = config(&folder);
    config.retention.sweep_interval = Duration::from_millis(5);
    let service = start(config, TestRenderer::free(), Arc::clone(&wrong)).await.unwrap();
    let server = TestServer { service, clock: wrong, http: client(), folder };
    minutes(&server, 5).await;
    assert_eq!(content(&server, &task).await, 410);
    assert!(file.exists(), "one look at the clock deletes nothing");
    server.clock.set_wall(-25 * HOUR_MS);
    minutes(&server, 12).await;
    assert_eq!(content(&server, &task).await, 200);
    // A clock that has agreed for long enough is trusted.
    server.clock.advance(Duration::from_hours(25));
    swept(&server).await;
    assert!(!file.exists());
    assert_eq!(content(&server, &task).await, 410);
    server.service.shutdown().await;
}

#[tokio::test]
async fn task_never_ends_before_it_began() {
    let renderer = TestRenderer::held_at(40);
    let server = server(renderer.clone()).await;
    let task = server.create(&request("back")).await;
    server.until(&task["id"], |task| task["progress"] == 40).await;
    server.clock.set_wall(-240 * HOUR_MS);
    minutes(&server, 12).await;
    renderer.let_frames(u32::MAX);
    let done = server.ended(&task["id"]).await;
    let timestamp = |name: &str| done[name].as_i64().unwrap();
    assert!(timestamp("created_at") <= timestamp("completed_at"), "{done}");
    assert_eq!(timestamp("expires_at") - timestamp("completed_at"), 24 * HOUR_MS);
    assert_eq!(content(&server, &done).await, 200);
    server.service.shutdown().await;
}
