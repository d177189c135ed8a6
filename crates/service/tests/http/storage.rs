//! A disk that is full while the service runs: submissions are refused, and all goes on when there is space.

use std::{path::Path, process::Command, sync::Arc, time::Duration};

use service::Config;

use crate::support::{KEY, TestRenderer, TestServer, client, clock, error_summary, request, start};

#[cfg(unix)]
#[tokio::test]
async fn data_directory_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = TestServer::open(TestRenderer::free()).await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&server.folder.path().join("data")), 0o700);
    server.service.shutdown().await;
    // In a folder of one's own, which is open to others, what is in it is private.
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("open");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = Config::embedded(data.clone(), KEY.into());
    let service = start(config, TestRenderer::free(), clock()).await.unwrap();
    for (name, expected) in [
        ("inputs", 0o700),
        ("videos", 0o700),
        ("frames", 0o700),
        ("service.db", 0o600),
        ("service.db-wal", 0o600),
    ] {
        assert_eq!(mode(&data.join(name)), expected, "{name}");
    }
    service.shutdown().await;
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
    let mut config = Config::embedded(disk.to_owned(), KEY.into());
    config.workers = 2;
    let service = start(config, Arc::clone(&renderer), clock()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer { service, clock: clock(), http: client(), folder };
    let mut tasks = Vec::new();
    for number in 0..6 {
        tasks.push(server.create(&request(&format!("shot {number}"))).await);
    }
    server.until(&tasks[0]["id"], |task| task["progress"] == 40).await;
    let ballast = disk.join("ballast");
    // Until there is no room for a single byte.
    let mut file = std::fs::File::create(&ballast).unwrap();
    while std::io::Write::write_all(&mut file, &[1; 4096]).is_ok() {}
    drop(file);
    // The log has room for some more rows, but not for long.
    let mut accepted = tasks.clone();
    let refused = loop {
        let response = server.post(&request(&"refused ".repeat(1_000))).await;
        if !response.status().is_success() {
            break response;
        }
        accepted.push(response.json().await.unwrap());
    };
    assert_eq!(refused.headers()["retry-after"], "5");
    assert_eq!(error_summary(refused).await, "503 storage_unavailable -");
    renderer.let_frames(u32::MAX);
    tokio::time::sleep(Duration::from_secs(2)).await;
    for task in &tasks {
        let status = server.task(&task["id"]).await["status"].clone();
        assert!(status == "queued" || status == "in_progress", "{status}");
    }
    std::fs::remove_file(ballast).unwrap();
    for task in &accepted {
        assert_eq!(server.ended(&task["id"]).await["status"], "completed");
    }
    assert_eq!(server.make(&request("after")).await["status"], "completed");
    server.service.shutdown().await;
}
