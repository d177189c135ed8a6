//! Section 1, from a request to its video, and options of section 2 whose effect a finished task shows.

use serde_json::json;

use super::client::{A, B, Walker, path_of, request};
use super::report::Report;

pub(super) async fn walk(walker: &Walker, report: &mut Report) -> Result<(), String> {
    let task = walker.final_task(&request(A, &json!({}))).await?;
    let path = path_of(&task);
    let polled = walker.get(&path).await?;
    let by_url = walker.get_url(&task["metadata"]["url"]).await?;
    let by_path = walker.get(&format!("{path}/content")).await?;
    let is_same = by_url.status == 200 && by_path.status == 200 && by_url.bytes == by_path.bytes;
    for (part, sent, is_met) in [
        ("The service renders video", "POST, then polls", task["status"] == "completed"),
        ("1. `POST /v1/videos`", "POST -> a task object", task["object"] == "video"),
        ("Its `id` is the task id", "GET with the id of the answer", polled.body["id"] == task["id"]),
        ("2. `GET /v1/videos/{task_id}`", "GET until completed", polled.body["status"] == "completed"),
        (
            "3. The video is fetched",
            "GET metadata.url and GET …/content -> the same bytes",
            is_same && by_url.bytes.get(4..8) == Some(b"ftyp"),
        ),
        ("Paths are relative to a base URL", "POST and GET below a base URL", polled.status == 200),
    ] {
        report.check(("1", part), sent, is_met, &task);
    }
    for requested in [true, false] {
        let task = walker.final_task(&request(A, &json!({"return_last_frame": requested}))).await?;
        let url = &task["metadata"]["last_frame_url"];
        let is_met =
            if requested { walker.get_url(url).await?.bytes.starts_with(b"\x89PNG") } else { url.is_null() };
        let sent = format!("{requested}: a PNG at metadata.last_frame_url");
        report.check(("2.2", "| `return_last_frame` |"), sent, is_met, &task);
    }
    let mut files = Vec::new();
    for _ in 0..2 {
        let task = walker.final_task(&request(A, &json!({"seed": 7}))).await?;
        files.push(walker.get_url(&task["metadata"]["url"]).await?.bytes);
    }
    let sent = "the same request with the same seed, twice: similar videos";
    report.check(("2.2", "| `seed` |"), sent, files[0] == files[1], "other bytes");
    let task = walker.final_task(&request(B, &json!({"user": "someone"}))).await?;
    report.check(("2.4", "| `user` |"), "a task with a user", task["status"] == "completed", &task);
    Ok(())
}
