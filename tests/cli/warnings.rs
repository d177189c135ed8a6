//! What the service says in `error` beside a finished video: shown, and no failure.

use serde_json::Value;

use crate::support::proxy::KEY;
use crate::support::scripted::{Call, ScriptedService, response};
use crate::support::{Project, cli_snapshot};

const ONE: &str = "version: 1\nname: one\ndefaults: { model: modelb-video-480p, seconds: 1 }\nshots:\n  - { id: sea, prompt: a quiet sea }\n";

/// A service whose tasks are completed with this `error`.
fn service(error: &'static str) -> ScriptedService {
    ScriptedService::start(move |call: &Call<'_>| {
        let id = call.path.strip_prefix("/v1/videos/")?;
        let body = format!(
            r#"{{"id": "{id}", "object": "video", "model": "modelb-video-480p", "status": "completed", "progress": 100,
                "created_at": 0, "seconds": "1", "error": {error}}}"#
        );
        (!id.ends_with("/content")).then(|| response(200, &[("content-type", "application/json")], body))
    })
}

const WARNING: &str =
    r#"{"code": "partial_audio", "message": "the last second is silent, see https://a.test/x?sig=SECRET"}"#;

#[test]
fn warning_beside_a_finished_video_is_shown_and_the_shot_is_done() {
    let service = service(WARNING);
    let project = Project::new("one.yaml", ONE).against(&service.url, KEY);
    cli_snapshot!("run_warning", project.runner(&["run", "one.yaml"]).expect(0).sorted());
    let status = project.runner(&["status", "one.yaml"]).expect(0);
    cli_snapshot!("status_warning", status);
    let status = project.runner(&["status", "one.yaml", "--format", "json"]).expect(0);
    let status: Value = serde_json::from_str(&status.out).expect("JSON");
    let expected = "the last second is silent, see https://a.test/x?… (partial_audio)";
    assert_eq!(
        (status["shots"][0]["state"].as_str(), status["shots"][0]["warning"].as_str()),
        (Some("done"), Some(expected))
    );
}

#[test]
fn warning_beside_a_finished_video_is_in_the_event_stream() {
    let service = service(WARNING);
    let project = Project::new("one.yaml", ONE).against(&service.url, KEY);
    let output = project.runner(&["run", "one.yaml", "--format", "ndjson"]).expect(0);
    let lines: Vec<Value> =
        output.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for kind in ["rendered", "shot-finished"] {
        let line = lines.iter().find(|line| line["kind"] == kind).expect("the event");
        assert!(line["warning"].as_str().is_some_and(|text| text.starts_with("the last second")), "{line}");
    }
    // Absent from a stream whose events depend on timing.
    assert!(!output.transcript().contains("SECRET"));
}
