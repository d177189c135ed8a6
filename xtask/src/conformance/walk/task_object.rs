//! Sections 2.5 and 3: the task object in all of its states.

use serde_json::{Value, json};

use super::client::{A, B, Walker, request};
use super::report::Report;

/// The states, the final ones last.
const STATES: [&str; 4] = ["queued", "in_progress", "completed", "failed"];

type Agrees = fn(&Value) -> bool;

/// The rows of the table of 2.5: whether a task object agrees with them.
const MEMBERS: [(&str, Agrees); 12] = [
    ("| `id` |", |task| task["id"].as_str().is_some_and(|id| !id.is_empty())),
    ("| `object` |", |task| task["object"] == "video"),
    ("| `model` |", |task| task["model"].as_str().is_some_and(|id| id.starts_with("model"))),
    ("| `status` |", |task| STATES.iter().any(|state| task["status"] == *state)),
    ("| `progress` |", has_progress),
    ("| `created_at` |", |task| is_time(&task["created_at"])),
    ("| `seconds` |", |task| task["seconds"] == "4"),
    ("| `completed_at` |", |task| task["status"] != "completed" || is_later(task, "completed_at")),
    ("| `expires_at` |", |task| {
        task["expires_at"].is_null()
            || is_later(task, "expires_at") && task["expires_at"] != task["created_at"]
    }),
    ("| `size` |", |task| {
        let sides = task["size"].as_str().and_then(|size| size.split_once('x'));
        sides.is_some_and(|(width, height)| width.parse::<u32>().is_ok() && height.parse::<u32>().is_ok())
    }),
    ("| `error` |", |task| {
        (task["status"] == "failed") == has_error(task) && (has_error(task) || task.get("error").is_none())
    }),
    ("| `metadata` |", |task| {
        task["status"] != "completed"
            || task["metadata"]["url"].as_str().is_some_and(|url| url.starts_with("http"))
    }),
];

/// Milliseconds since the epoch, in this century.
fn is_time(value: &Value) -> bool {
    value.as_i64().is_some_and(|time| (946_684_800_000..4_102_444_800_000).contains(&time))
}

fn is_later(task: &Value, name: &str) -> bool {
    is_time(&task[name]) && task[name].as_i64() >= task["created_at"].as_i64()
}

fn has_progress(task: &Value) -> bool {
    task["progress"].as_u64().is_some_and(|percent| percent <= 100)
}

fn has_error(task: &Value) -> bool {
    task["error"]["message"].is_string() && task["error"]["code"].is_string()
}

pub(super) async fn walk(walker: &Walker, report: &mut Report) -> Result<(), String> {
    for (model, fields) in [
        (A, json!({"prompt": "slowly"})),
        (A, json!({"prompt": "it fails slowly", "return_last_frame": true})),
        (A, json!({"prompt": "slowly", "return_last_frame": true, "size": "720x1280"})),
        ("modelb-video-720p", json!({"prompt": "slowly", "size": "720x1280"})),
        (B, json!({"prompt": "it fails"})),
        (
            "modelb-video-1.5-preview-480p",
            json!({"prompt": "slowly from an image", "image": format!("{}/a.png", walker.host)}),
        ),
    ] {
        let mut body = request(model, &fields);
        body["seconds"] = "4".into();
        let polls = walker.follow(&body).await?;
        for task in &polls {
            let sent = format!("a task object of {model}: {} at {} %", task["status"], task["progress"]);
            for (part, agrees) in MEMBERS {
                report.check(("2.5", part), &sent, agrees(task), task);
            }
            report.check(("8", "| progress |"), &sent, has_progress(task), task);
        }
        states(&polls, &format!("the states of a task of {model}"), report);
    }
    Ok(())
}

/// The tasks in the order in which polls returned them.
fn states(polls: &[Value], sent: &str, report: &mut Report) {
    let (Some(first), Some(last)) = (polls.first(), polls.last()) else { return };
    let rank =
        |task: &Value| STATES.iter().position(|state| task["status"] == *state).map(|rank| rank.min(2));
    let is_forward = polls.windows(2).all(|pair| {
        rank(&pair[0]) <= rank(&pair[1]) && pair[0]["progress"].as_u64() <= pair[1]["progress"].as_u64()
    });
    let is_new = first["status"] == "queued" && first["progress"] == 0 && is_time(&first["created_at"]);
    let found = json!(polls);
    report.check(("3", "An accepted `POST /v1/videos` creates"), sent, is_new, &found);
    report.check(
        ("2.5", "Returned by the create request and by polls."),
        sent,
        first["id"] == last["id"],
        &found,
    );
    report.check(("3", "A client polls until"), sent, is_forward && rank(last) == Some(2), &found);
    report.check(("6", "Progress is read by polling"), sent, is_forward && polls.len() >= 2, &found);
    if last["status"] == "completed" {
        let is_complete =
            last["metadata"]["url"].is_string() && is_time(&last["completed_at"]) && last["progress"] == 100;
        report.check(("3", "- `completed`:"), sent, is_complete, last);
    } else {
        report.check(("3", "- `failed`:"), sent, has_error(last), last);
        let sent = "GET of a failed task -> 200 with `error`";
        report.check(("7", "A task that fails reports it"), sent, has_error(last), last);
    }
}
