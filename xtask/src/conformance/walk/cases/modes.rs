//! Sections 1 and 2.1: what each model makes a video from.

use serde_json::{Value, json};

use super::{Case, holds};
use crate::conformance::walk::client::{
    A, A_FAST, B, B_720, PREVIEW, PREVIEW_720, Walker, data_uri, item, request,
};
use crate::conformance::walk::media_host::picture;
use crate::conformance::walk::report::Report;
use crate::conformance::walk::statements::Cite;

const ROWS: [(&str, Cite); 6] = [
    (A, ("2.1", "| `modela-video-2-0-260128`")),
    (A_FAST, ("2.1", "| `modela-video-2-0-fast-260128`")),
    (B, ("2.1", "| `modelb-video-480p`")),
    (B_720, ("2.1", "| `modelb-video-720p`")),
    (PREVIEW, ("2.1", "| `modelb-video-1.5-preview-480p`")),
    (PREVIEW_720, ("2.1", "| `modelb-video-1.5-preview-720p`")),
];
const FAMILY_A: Cite = ("1", "| A | `modela-video`");
const FAMILY_B: Cite = ("1", "| B | `modelb-video`");

fn content(items: &[Value]) -> Value {
    json!({"metadata": {"content": items}})
}

pub(super) fn cases(walker: &Walker) -> Vec<Case> {
    let mut cases = Vec::new();
    let uri = data_uri("image/png", &picture());
    let (png, mp4, wav) = (walker.media("a.png"), walker.media("a.mp4"), walker.media("a.wav"));
    for (model, row) in ROWS {
        let is_a = model.starts_with("modela");
        let is_preview = model.contains("preview");
        let family = if is_a { FAMILY_A } else { FAMILY_B };
        if is_preview {
            cases.push(Case::refused(row, request(model, &json!({})), "image"));
        } else {
            cases.push(Case::accepted(row, request(model, &json!({}))));
            cases.push(Case::accepted(family, request(model, &json!({}))));
            let list = if is_a { "ref_images" } else { "images" };
            cases.push(Case::accepted(family, request(model, &json!({list: [&png, &uri]}))));
        }
        for image in [&png, &uri] {
            cases.push(Case::accepted(row, request(model, &json!({"image": image}))));
            cases.push(Case::accepted(family, request(model, &json!({"image": image}))));
        }
        if is_a {
            for items in [
                vec![item("image_url", Some("first_frame"), &png)],
                vec![
                    item("image_url", Some("first_frame"), &png),
                    item("image_url", Some("last_frame"), &uri),
                ],
                vec![item("image_url", Some("last_frame"), &png)],
                vec![item("video_url", Some("reference_video"), &mp4)],
                vec![item("audio_url", Some("reference_audio"), &wav)],
            ] {
                cases.push(Case::accepted(family, request(model, &content(&items))));
            }
            for resolution in ["480p", "720p", "1080p"] {
                cases.push(Case::accepted(row, request(model, &json!({"resolution": resolution}))));
            }
        }
    }
    cases
}

/// The resolution of family B is that of the model id, with audio; the flow of section 1.
pub(super) async fn walk(walker: &Walker, report: &mut Report) -> Result<(), String> {
    for (model, row) in ROWS.into_iter().filter(|(model, _)| model.starts_with("modelb")) {
        let height = if model.ends_with("480p") { 480 } else { 720 };
        for (field, value) in [("seconds", json!("1")), ("resolution", json!("1080p"))] {
            let body =
                request(model, &json!({"image": walker.media("a.png"), "size": "1280x720", field: value}));
            let task = walker.post(&body).await?.body;
            let size = task["size"].as_str().unwrap_or_default().to_owned();
            let sent = format!("{model} with {field} {value}: size");
            report.record(row, &sent, holds(size.ends_with(&format!("x{height}")), &task));
            report.record(FAMILY_B, &sent, holds(size.ends_with(&format!("x{height}")), &task));
        }
    }
    for model in ["modelc-video", "modela-video", "MODELB-VIDEO-480P"] {
        let answer = walker.post(&request(model, &json!({}))).await?;
        let is_met = answer.status == 400 && answer.body["error"]["param"] == "model";
        report.record(
            FAMILY_A,
            format!("POST with model {model} -> 400 model"),
            holds(is_met, answer.summary()),
        );
    }
    let task = walker.final_task(&request(A, &json!({}))).await?;
    let id = task["id"].as_str().unwrap_or_default();
    report.record(
        ("1", "The service renders video"),
        "POST, then polls",
        holds(task["status"] == "completed", &task),
    );
    report.record(
        ("1", "1. `POST /v1/videos`"),
        "POST -> a task object",
        holds(task["object"] == "video", &task),
    );
    let polled = walker.get(&format!("/v1/videos/{id}")).await?;
    report.record(
        ("1", "Its `id` is the task id"),
        "GET with the id of the answer",
        holds(polled.body["id"] == id, polled.summary()),
    );
    report.record(
        ("1", "2. `GET /v1/videos/{task_id}`"),
        "GET until completed",
        holds(polled.body["status"] == "completed", &polled.body),
    );
    let by_url = walker.get_url(task["metadata"]["url"].as_str().unwrap_or_default()).await?;
    let by_path = walker.get(&format!("/v1/videos/{id}/content")).await?;
    let is_same = by_url.status == 200 && by_path.status == 200 && by_url.bytes == by_path.bytes;
    report.record(
        ("1", "3. The video is fetched"),
        "GET metadata.url and GET …/content -> the same bytes",
        holds(is_same && by_url.bytes.get(4..8) == Some(b"ftyp"), by_url.summary()),
    );
    report.record(
        ("1", "Paths are relative to a base URL"),
        format!("POST and GET below {}", walker.base_url()),
        holds(polled.status == 200, polled.summary()),
    );
    Ok(())
}
