//! Storage that fails while the service runs: tasks wait, submissions are refused, and all goes on when it is back.

use std::{
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::StatusCode;
use serde_json::{Value, json};
use service::Config;

use crate::support::{
    KEY, TIMEOUT, TestRenderer, TestServer, client, clock, config, data_uri, error_summary, png, request,
    start,
};

async fn health(server: &TestServer) -> (StatusCode, Value) {
    let response = server.http.get(server.url("/healthz")).send().await.unwrap();
    (response.status(), response.json().await.unwrap())
}

/// Waits until `/healthz` has this status.
async fn until_health(server: &TestServer, status: StatusCode) -> Value {
    let begin = Instant::now();
    loop {
        let (now, body) = health(server).await;
        if now == status {
            return body;
        }
        assert!(begin.elapsed() < TIMEOUT, "the health stays {now}: {body}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn metric(server: &TestServer, name: &str) -> String {
    let text = server.http.get(server.url("/metrics")).send().await.unwrap().text().await.unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).trim().to_owned()
}

#[tokio::test]
async fn moved_data_directory_refuses_submissions_until_it_is_back() {
    let renderer = TestRenderer::held_at(40);
    let server = TestServer::open(renderer.clone()).await;
    let mut with_input = request("with an input");
    with_input["image"] = json!(data_uri(&png(64, 36, [9, 8, 7])));
    let tasks = [
        server.create(&request("running")).await,
        server.create(&request("running, too")).await,
        server.create(&with_input).await,
    ];
    server.until(&tasks[0]["id"], |task| task["progress"] == 40).await;
    let (data, moved) = (server.folder.path().join("data"), server.folder.path().join("away"));
    std::fs::rename(&data, &moved).unwrap();
    let refused = server.post(&request("lost")).await;
    let wait = refused.headers().get("retry-after").cloned();
    assert_eq!(error_summary(refused).await, "503 storage_unavailable -");
    assert_eq!(wait.unwrap(), "5");
    renderer.let_frames(u32::MAX);
    let body = until_health(&server, StatusCode::SERVICE_UNAVAILABLE).await;
    assert_eq!(body, json!({"status": "degraded", "reason": "storage_replaced"}));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(server.task(&tasks[0]["id"]).await["status"], "in_progress");
    assert!(!data.exists(), "nothing is created in its stead");
    assert_eq!(metric(&server, "video_storage_available").await, "0");
    std::fs::rename(&moved, &data).unwrap();
    until_health(&server, StatusCode::OK).await;
    for task in &tasks {
        assert_eq!(server.ended(&task["id"]).await["status"], "completed");
    }
    assert_eq!(server.make(&request("after")).await["status"], "completed");
    assert_eq!(metric(&server, r#"video_tasks_ended_total{status="failed"}"#).await, "0");
    server.service.shutdown().await;
}

#[cfg(unix)]
#[tokio::test]
async fn data_directory_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = TestServer::open(TestRenderer::free()).await;
    let task = server.make(&request("private")).await;
    let data = server.folder.path().join("data");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    let video = data.join(format!("videos/{}.mp4", task["id"].as_str().unwrap()));
    for file in [data.join("service.db"), data.join("service.db-wal"), data.join("lock"), video] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    server.service.shutdown().await;
    // One that was opened to others is closed again.
    for path in [data.clone(), data.join("service.db")] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let service = start(config(&server.folder), TestRenderer::free(), clock()).await.unwrap();
    assert_eq!([mode(&data), mode(&data.join("service.db"))], [0o700, 0o600]);
    service.shutdown().await;
}

#[tokio::test]
async fn graceful_restarts_are_not_held_against_a_task() {
    let folder = tempfile::tempdir().unwrap();
    let limited = || {
        let mut config = config(&folder);
        config.limits.max_starts = 2;
        config
    };
    let mut id = Value::Null;
    for _ in 0..4 {
        let renderer = TestRenderer::held_at(40);
        let service = start(limited(), renderer, clock()).await.unwrap();
        let server =
            TestServer { service, clock: clock(), http: client(), folder: tempfile::tempdir().unwrap() };
        if id.is_null() {
            id = server.create(&request("long")).await["id"].clone();
        }
        server.until(&id, |task| task["progress"] == 40).await;
        server.service.shutdown().await;
    }
    let service = start(limited(), TestRenderer::free(), clock()).await.unwrap();
    let server = TestServer { service, clock: clock(), http: client(), folder: tempfile::tempdir().unwrap() };
    assert_eq!(server.ended(&id).await["status"], "completed");
    server.service.shutdown().await;
}

/// Names the small file system that the test has mounted for its own second run.
const MOUNTED: &str = "SERVICE_TEST_SMALL_DISK";

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

/// Runs itself once more in a mount namespace of its own, where a file system of 24 megabytes is the data directory.
#[test]
fn full_disk_keeps_tasks_waiting_until_there_is_space() {
    if let Some(folder) = std::env::var_os(MOUNTED) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(full_disk(Path::new(&folder)));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
        command.env(MOUNTED, folder.path()).env("TEST", std::env::current_exe().unwrap());
        command.output()
    };
    let mount = format!("mount -t tmpfs -o size=24m tmpfs \"${MOUNTED}\"");
    match unshare(&mount) {
        Ok(tried) if tried.status.success() => {}
        tried => {
            let why = tried.map_or_else(|error| error.to_string(), |tried| format!("{tried:?}"));
            skip(&format!("no file system of limited size can be mounted here: {why}"));
            return;
        }
    }
    let name = "storage::full_disk_keeps_tasks_waiting_until_there_is_space";
    let run = unshare(&format!("{mount} && exec \"$TEST\" --exact {name} --nocapture")).unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

async fn full_disk(disk: &Path) {
    let renderer = TestRenderer::held_at(40);
    let config = |data: &Path| {
        let mut config = Config::embedded(data.to_owned(), KEY.into());
        config.workers = 2;
        config
    };
    let service = start(config(disk), Arc::clone(&renderer), clock()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer { service, clock: clock(), http: client(), folder };
    let mut tasks = Vec::new();
    for number in 0..6 {
        tasks.push(server.create(&request(&format!("shot {number}"))).await);
    }
    // Fails, as an external renderer does that finds no room.
    tasks.push(server.create(&request("needs a free disk")).await);
    renderer.require_room(disk);
    server.until(&tasks[0]["id"], |task| task["progress"] == 40).await;
    let ballast = disk.join("ballast");
    // Until there is no room for a single byte.
    let mut file = std::fs::File::create(&ballast).unwrap();
    while std::io::Write::write_all(&mut file, &[1; 4096]).is_ok() {}
    drop(file);
    renderer.let_frames(u32::MAX);
    let body = until_health(&server, StatusCode::SERVICE_UNAVAILABLE).await;
    assert_eq!(body["reason"], "storage_full");
    assert_eq!(error_summary(server.post(&request("refused")).await).await, "503 storage_unavailable -");
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    for task in &tasks {
        let status = server.task(&task["id"]).await["status"].clone();
        assert!(status == "queued" || status == "in_progress", "{status}");
    }
    std::fs::remove_file(ballast).unwrap();
    until_health(&server, StatusCode::OK).await;
    for task in &tasks {
        assert_eq!(server.ended(&task["id"]).await["status"], "completed");
    }
    assert_eq!(server.make(&request("after")).await["status"], "completed");
    assert_eq!(metric(&server, r#"video_tasks_ended_total{status="failed"}"#).await, "0");
    assert!(!disk.join("trial.part").exists());
    server.service.shutdown().await;
}
