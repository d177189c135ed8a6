//! Durability: what is accepted survives the process.

use std::{sync::Arc, time::Instant};

use reqwest::Method;
use serde_json::{Value, json};
use service::{ServiceError, TaskId};

use crate::support::{
    KEY, TIMEOUT, TestRenderer, TestServer, client, clock, config, data_uri, digest, png, request, start,
};

/// Opens the same directory again, as the next process would.
async fn restart(server: TestServer, renderer: Arc<TestRenderer>) -> TestServer {
    let TestServer { service, clock, folder, .. } = server;
    drop(service);
    let begin = Instant::now();
    let service = loop {
        match start(config(&folder), Arc::clone(&renderer), Arc::clone(&clock)).await {
            // What is left of the one before has the directory until it has noticed, which takes longer on a busy machine.
            Err(ServiceError::InUse { .. }) if begin.elapsed() < TIMEOUT => {}
            started => break started.unwrap(),
        }
    };
    TestServer { service, clock, http: client(), folder }
}

#[tokio::test]
async fn unfinished_tasks_resume_after_restart() {
    let renderer = TestRenderer::held_at(40);
    let server = TestServer::with(renderer.clone(), |config| config.workers = 1).await;
    let mut begun = request("begun");
    begun["image"] = json!(data_uri(&png(64, 36, [9, 8, 7])));
    let begun = server.create(&begun).await;
    let waiting = server.create(&request("waiting")).await;
    server.until(&begun["id"], |task| task["progress"] == 40).await;

    let renderer = TestRenderer::held_at(0);
    let server = restart(server, renderer.clone()).await;
    // It was in progress and does not go back.
    assert_eq!(server.task(&begun["id"]).await["status"], "in_progress");
    renderer.let_frames(u32::MAX);
    for task in [&begun, &waiting] {
        let done = server.ended(&task["id"]).await;
        assert_eq!(done["status"], "completed");
        assert_eq!(done["created_at"], task["created_at"]);
    }
    let jobs = renderer.jobs.lock().unwrap().clone();
    let begun = jobs.iter().find(|job| job.prompt == "begun").unwrap();
    assert_eq!(begun.first_frame.as_ref().unwrap().pixel(3, 3), [9, 8, 7]);
    server.service.shutdown().await;
}

#[tokio::test]
async fn resumed_task_keeps_its_seed() {
    let renderer = TestRenderer::held_at(40);
    let server = TestServer::open(renderer.clone()).await;
    let task = server.create(&request("dice")).await;
    server.until(&task["id"], |task| task["progress"] == 40).await;
    let seed = renderer.last_job().seed;
    let renderer = TestRenderer::free();
    let server = restart(server, renderer.clone()).await;
    server.ended(&task["id"]).await;
    assert_eq!(renderer.last_job().seed, seed);
    server.service.shutdown().await;
}

#[tokio::test]
async fn completed_tasks_and_files_survive_restart() {
    let server = TestServer::open(TestRenderer::free()).await;
    let task = server.make(&request("restored")).await;
    let renderer = TestRenderer::free();
    let server = restart(server, renderer.clone()).await;
    let restored = server.task(&task["id"]).await;
    assert_eq!(restored["completed_at"], task["completed_at"]);
    let path = format!("/v1/videos/{}/content", task["id"].as_str().unwrap());
    let bytes = server.ask(Method::GET, &path).send().await.unwrap().bytes().await.unwrap();
    assert!(bytes.starts_with(b"restored "));
    assert!(renderer.prompts().is_empty());
    server.service.shutdown().await;
}

#[tokio::test]
async fn shutdown_cancels_rendering_and_restart_resumes_it() {
    let renderer = TestRenderer::held_at(40);
    let server = TestServer::open(renderer.clone()).await;
    let task = server.create(&request("long")).await;
    server.until(&task["id"], |task| task["progress"] == 40).await;
    let TestServer { service, clock, folder, .. } = server;
    // The rendering would never end by itself.
    tokio::time::timeout(TIMEOUT, service.shutdown()).await.expect("an end");
    let service = start(config(&folder), TestRenderer::free(), Arc::clone(&clock)).await.unwrap();
    let server = TestServer { service, clock, http: client(), folder };
    assert_eq!(server.ended(&task["id"]).await["status"], "completed");
    server.service.shutdown().await;
}

#[tokio::test]
async fn second_service_on_same_directory_fails() {
    let server = TestServer::open(TestRenderer::free()).await;
    let second = start(config(&server.folder), TestRenderer::free(), clock()).await;
    assert!(matches!(second.err(), Some(ServiceError::InUse { .. })));
    server.service.shutdown().await;
}

#[tokio::test]
async fn find_by_request_ignores_key_order_and_survives_restart() {
    let server = TestServer::open(TestRenderer::free()).await;
    let first = server.create(&request("twice")).await;
    let second = server.create(&request("twice")).await;
    server.create(&request("other")).await;
    let shuffled: Value = serde_json::from_str(
        r#"{"ratio": "16:9", "prompt": "twice", "seconds": "5", "resolution": "480p", "model": "modela-video-2-0-260128"}"#,
    )
    .unwrap();
    let ids = [first, second].map(|task| TaskId::from_text(task["id"].as_str().unwrap()));
    assert_eq!(server.service.find_by_request(&digest(&shuffled)).unwrap(), ids);
    let server = restart(server, TestRenderer::free()).await;
    assert_eq!(server.service.find_by_request(&digest(&shuffled)).unwrap(), ids);
    assert_eq!(server.service.find_by_request(&digest(&json!({}))).unwrap(), []);
    server.service.shutdown().await;
}

#[tokio::test]
async fn concurrent_submissions_survive_restart_and_render_once() {
    let renderer = TestRenderer::held_at(0);
    let server = TestServer::open(renderer.clone()).await;
    let submissions = (0..200).map(|number| {
        let (http, url) = (server.http.clone(), server.url("/v1/videos"));
        tokio::spawn(async move {
            let post = http.post(url).bearer_auth(KEY).json(&request(&format!("shot {number}")));
            post.send().await.unwrap().json::<Value>().await.unwrap()
        })
    });
    let mut tasks = Vec::new();
    for submission in submissions.collect::<Vec<_>>() {
        tasks.push(submission.await.unwrap());
    }
    let renderer = TestRenderer::free();
    let server = restart(server, renderer.clone()).await;
    for task in &tasks {
        assert_eq!(server.ended(&task["id"]).await["status"], "completed");
    }
    let mut prompts = renderer.prompts();
    prompts.sort_unstable();
    prompts.dedup();
    assert_eq!((prompts.len(), renderer.prompts().len()), (200, 200));
    server.service.shutdown().await;
}
