//! One service has one identity in everything that is recorded.

use rusqlite::Connection;

use crate::support::proxy::KEY;
use crate::support::scripted::{ScriptedService, response};
use crate::support::{Project, cli_snapshot};

const CHAIN: &str = "version: 1\nname: chain\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: a, prompt: a quiet sea }\n";

/// A gateway whose path ends in `/v1`: what a run records is what every other command looks for.
#[test]
fn service_whose_path_ends_in_v1_has_one_identity_in_every_command() {
    let service = ScriptedService::start(|call| {
        let task = |status: &str| {
            let url = "/files/task_1.mp4";
            let body = serde_json::json!({
                "id": "task_1", "object": "video", "status": status, "metadata": { "url": url },
            });
            response(200, &[], body.to_string())
        };
        match call.path {
            "/v1/v1/videos" => Some(task("queued")),
            "/v1/v1/videos/task_1" => Some(task("completed")),
            _ => None,
        }
    });
    let project = Project::new("chain.yaml", CHAIN).against(&format!("{}/v1/v1", service.url), KEY);
    let killed = project.runner_killed_at("before polled", &["run", "chain.yaml", "--only", "a"]);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    let ledger = Connection::open(project.file(".runner/ledger.db")).expect("a ledger");
    for table in ["runs", "attempts"] {
        let recorded: String = ledger
            .query_row(&format!("SELECT DISTINCT service FROM {table}"), [], |row| row.get(0))
            .expect("one service");
        assert_eq!(recorded, format!("{}/v1", service.url), "{table}");
    }
    drop(ledger);
    let fetched = project.runner(&["ledger", "fetch", "--all"]).expect(0);
    cli_snapshot!("fetch_of_service_below_v1", fetched);
    project.runner(&["run", "chain.yaml", "--only", "a"]).expect(0);
    assert_eq!(service.posts(), 1);
}
