//! A disk that is full for some seconds: a file system of 24 MB in a mount namespace, which another process fills.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::victim::Victim;

const TASKS: usize = 6;
/// Seconds until the disk is full, and for which it stays so.
const FULL_AFTER: u64 = 3;
const FULL_FOR: u64 = 20;
/// Upper bound of the time from the moment that there is space again until the last task has ended.
const MAX_RECOVERY: Duration = Duration::from_secs(40);

pub(super) async fn measure(program: &Path) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let data = folder.path().join("disk");
    fs_err::create_dir(&data).map_err(|error| error.to_string())?;
    let namespace = ["--user", "--map-root-user", "--mount"];
    let mounted =
        Command::new("unshare").args(namespace).args(["mount", "-t", "tmpfs", "tmpfs"]).arg(&data).output();
    if !mounted.is_ok_and(|mounted| mounted.status.success()) {
        return Ok("skipped: a full disk: no file system can be mounted here".to_owned());
    }
    let before = format!(
        "mount -t tmpfs -o size=24m tmpfs \"$DATA\"\n\
         (sleep {FULL_AFTER}; cat /dev/zero > \"$DATA/ballast\" 2>/dev/null; sleep {FULL_FOR}; rm \"$DATA/ballast\") > /dev/null &"
    );
    let mut shell = Command::new("unshare");
    let victim = Victim::start(program, &data, shell.args(namespace), &before)?;
    let begin = Instant::now();
    let mut ids = Vec::new();
    for number in 0..TASKS {
        let response = victim.submit(&format!("shot {number}")).await?;
        let task: serde_json::Value = response.json().await.map_err(|error| error.to_string())?;
        ids.push(task["id"].as_str().ok_or_else(|| format!("not accepted: {task}"))?.to_owned());
    }
    let middle = Duration::from_secs(FULL_AFTER + FULL_FOR / 2 + 4);
    tokio::time::sleep(middle.saturating_sub(begin.elapsed())).await;
    let submit_status = victim.submit("refused").await?.status().as_u16();
    let (status, health) = victim.get("/healthz").await?;
    if (submit_status, status) != (503, 503) {
        return Err(format!(
            "full disk: a submission was answered with {submit_status}, /healthz with {status}"
        ));
    }
    let free = Duration::from_secs(FULL_AFTER + FULL_FOR);
    for id in &ids {
        loop {
            let (_, task) = victim.get(&format!("/v1/videos/{id}")).await?;
            match task["status"].as_str() {
                Some("completed") => break,
                Some("failed") => return Err(format!("full disk: a task has failed: {task}")),
                _ if begin.elapsed() > free + MAX_RECOVERY => {
                    return Err(format!(
                        "full disk: {} s after it was freed, a task waits: {task}",
                        MAX_RECOVERY.as_secs()
                    ));
                }
                _ => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }
    Ok(format!(
        "a disk that is full for {FULL_FOR} s: submissions are answered with {submit_status}, the health is {health}, and all {TASKS} tasks \
         have ended {:.1} s after there is space",
        begin.elapsed().saturating_sub(free).as_secs_f64()
    ))
}
