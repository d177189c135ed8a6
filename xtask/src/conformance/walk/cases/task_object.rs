//! Sections 2.5 and 3: the task object in all of its states.

use serde_json::{Value, json};

use super::holds;
use crate::conformance::walk::client::{A, B_720, PREVIEW, Walker, request};
use crate::conformance::walk::report::Report;
use crate::conformance::walk::statements::Cite;

/// A row of the table of 2.5: whether a task object, at its place among those seen, agrees with it.
struct Member {
    cite: Cite,
    agrees: fn(&Value) -> bool,
}

fn has_status(task: &Value, status: &str) -> bool {
    task["status"] == status
}

/// Milliseconds since the epoch, in this century.
fn is_time(value: &Value) -> bool {
    value.as_i64().is_some_and(|time| (946_684_800_000..4_102_444_800_000).contains(&time))
}

const MEMBERS: [Member; 12] = [
    Member { cite: ("2.5", "| `id` |"), agrees: |task| task["id"].as_str().is_some_and(|id| !id.is_empty()) },
    Member { cite: ("2.5", "| `object` |"), agrees: |task| task["object"] == "video" },
    Member {
        cite: ("2.5", "| `model` |"),
        agrees: |task| task["model"].as_str().is_some_and(|id| id.starts_with("model")),
    },
    Member {
        cite: ("2.5", "| `status` |"),
        agrees: |task| {
            ["queued", "in_progress", "completed", "failed"].iter().any(|status| has_status(task, status))
        },
    },
    Member {
        cite: ("2.5", "| `progress` |"),
        agrees: |task| task["progress"].as_u64().is_some_and(|percent| percent <= 100),
    },
    Member { cite: ("2.5", "| `created_at` |"), agrees: |task| is_time(&task["created_at"]) },
    Member { cite: ("2.5", "| `seconds` |"), agrees: |task| task["seconds"] == "4" },
    Member {
        cite: ("2.5", "| `completed_at` |"),
        agrees: |task| {
            !has_status(task, "completed")
                || (is_time(&task["completed_at"])
                    && task["completed_at"].as_i64() >= task["created_at"].as_i64())
        },
    },
    Member {
        cite: ("2.5", "| `expires_at` |"),
        agrees: |task| {
            task.get("expires_at")
                .is_none_or(|time| is_time(time) && time.as_i64() > task["created_at"].as_i64())
        },
    },
    Member {
        cite: ("2.5", "| `size` |"),
        agrees: |task| {
            let sides = task["size"].as_str().and_then(|size| size.split_once('x'));
            sides.is_some_and(|(width, height)| width.parse::<u32>().is_ok() && height.parse::<u32>().is_ok())
        },
    },
    Member {
        cite: ("2.5", "| `error` |"),
        agrees: |task| {
            has_status(task, "failed") == task.get("error").is_some()
                && task
                    .get("error")
                    .is_none_or(|error| error["message"].is_string() && error["code"].is_string())
        },
    },
    Member {
        cite: ("2.5", "| `metadata` |"),
        agrees: |task| {
            !has_status(task, "completed")
                || task["metadata"]["url"].as_str().is_some_and(|url| url.starts_with("http"))
        },
    },
];

pub(super) async fn walk(walker: &Walker, report: &mut Report) -> Result<(), String> {
    for (model, prompt, fields) in [
        (A, "slowly", json!({})),
        (A, "it fails slowly", json!({"return_last_frame": true})),
        (A, "slowly", json!({"return_last_frame": true, "size": "720x1280"})),
        (B_720, "slowly", json!({"size": "720x1280"})),
        (B_720, "it fails", json!({})),
        (PREVIEW, "slowly from a picture", json!({"image": walker.media("a.png")})),
    ] {
        let mut body = request(model, &fields);
        body["prompt"] = prompt.into();
        body["seconds"] = "4".into();
        let polls = walker.follow(&body).await?;
        for task in &polls {
            let sent = format!("a task object of {model}: {} at {} %", task["status"], task["progress"]);
            for Member { cite, agrees } in MEMBERS {
                report.record(cite, &sent, holds(agrees(task), task));
            }
            report.record(("8", "| progress |"), &sent, holds((MEMBERS[4].agrees)(task), task));
        }
        states(&polls, model, report);
    }
    for (fields, size) in
        [(json!({"size": "720x1280"}), "720x1280"), (json!({"size": "1280x720"}), "1280x720")]
    {
        let task = walker.post(&request(B_720, &fields)).await?.body;
        report.record(
            ("2.5", "| `size` |"),
            format!("POST {fields} to {B_720}"),
            holds(task["size"] == size, &task),
        );
    }
    Ok(())
}

/// The tasks in the order in which polls returned them.
fn states(polls: &[Value], model: &str, report: &mut Report) {
    let (Some(first), Some(last)) = (polls.first(), polls.last()) else { return };
    let sent = format!("the states of a task of {model}");
    let is_new = has_status(first, "queued") && first["progress"] == 0 && is_time(&first["created_at"]);
    report.record(("3", "An accepted `POST /v1/videos` creates"), &sent, holds(is_new, first));
    report.record(
        ("2.5", "Returned by the create request and by polls."),
        &sent,
        holds(first["id"] == last["id"], last),
    );
    let rank = |task: &Value| {
        ["queued", "in_progress", "completed", "failed"]
            .iter()
            .position(|status| has_status(task, status))
            .map(|rank| rank.min(2))
    };
    let is_forward = polls.windows(2).all(|pair| {
        rank(&pair[0]) <= rank(&pair[1]) && pair[0]["progress"].as_u64() <= pair[1]["progress"].as_u64()
    });
    report.record(
        ("3", "A client polls until"),
        &sent,
        holds(is_forward && rank(last) == Some(2), Value::from(polls.to_vec())),
    );
    report.record(
        ("6", "Progress is read by polling"),
        &sent,
        holds(polls.len() >= 2 && is_forward, Value::from(polls.to_vec())),
    );
    if has_status(last, "completed") {
        let is_set =
            last["metadata"]["url"].is_string() && is_time(&last["completed_at"]) && last["progress"] == 100;
        report.record(("3", "- `completed`:"), &sent, holds(is_set, last));
    } else {
        let has_error = last["error"]["message"].is_string() && last["error"]["code"].is_string();
        report.record(("3", "- `failed`:"), &sent, holds(has_error, last));
        report.record(
            ("7", "A task that fails reports it"),
            "GET of a failed task -> 200 with `error`",
            holds(has_error, last),
        );
    }
}
