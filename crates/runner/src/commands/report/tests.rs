//! Reports of one manifest in each format, hostile text included.

use serde_json::json;
use viewer::Manifest;

use super::{junit, markdown, table};

fn manifest() -> Manifest {
    let clip = |id: &str, state: &str, rest: serde_json::Value| {
        let mut clip = json!({
            "id": id, "shot": id.split(['@', '#']).next(), "cell": {}, "take": null, "state": state, "is_picked": false,
            "file": null, "poster": null, "proxy": null, "sha256": null, "bytes": null, "width": null, "height": null,
            "seconds": 5.0, "frame_rate": null, "has_audio": null, "model": "modelb-video-480p", "family": "B",
            "prompt": "a pier", "seed": null, "dialogue": null, "request": {}, "key": null, "task": null, "cost": null,
            "elapsed_ms": null, "attempts": [], "failure": null, "parents": [],
            "command": format!("runner run pier.yaml --only {id}"),
        });
        for (key, value) in rest.as_object().unwrap() {
            clip[key] = value.clone();
        }
        clip
    };
    let shot = |id: &str| json!({ "id": id, "axes": [], "takes": 1, "pick": null, "note": null });
    let done = json!({
        "file": "pier-0123.mp4", "task": "task_1", "cost": 250_000, "elapsed_ms": 61_500, "seed": 7, "is_picked": true,
        "width": 854, "height": 480, "cell": { "look": "noir" },
        "attempts": [{ "attempt": "a", "task": "task_1", "intended_at": 1, "result": "completed", "message": null }],
    });
    let failed = json!({
        "prompt": "=1+1 | <b>\"&\u{0}\n`x`", "failure": "refused: see https://example.com/?key=secret | *now*",
        "attempts": [{ "attempt": "b", "task": null, "intended_at": 2, "result": "failed", "message": "refused" }],
    });
    let mut pier = shot("pier");
    pier["axes"] = json!([{ "name": "look", "values": ["noir"] }]);
    serde_json::from_value(json!({
        "version": 4, "generator": "runner", "created_at": 0, "currency": "EUR",
        "workflow": { "name": "pier", "file": "pier.yaml", "title": null },
        "shots": [pier, shot("sea"), shot("lamp")],
        "clips": [
            clip("pier@look=noir", "done", done),
            clip("sea", "failed", failed),
            clip("lamp", "pending", json!({})),
        ],
        "films": [{
            "name": "pier.mp4", "file": null, "poster": null, "seconds": null, "state": "pending",
            "cuts": [{ "clip": "pier@look=noir", "kind": "shot", "start": 0.0, "seconds": 5.0 }],
            "captions": [],
        }],
    }))
    .unwrap()
}

#[test]
fn report_as_markdown() {
    insta::assert_snapshot!(markdown::report(&manifest()));
}

#[test]
fn report_as_table() {
    insta::assert_snapshot!(table::report(&manifest()));
}

#[test]
fn report_as_junit() {
    insta::assert_snapshot!(junit::report(&manifest()));
}
