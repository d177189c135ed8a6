//! Ledgers of versions that took the base URL of a service as it was written: the work of that time is found under its present identity.

use rusqlite::Connection;
use scheduler::{Artifact, KeyResolver};
use workflow::plan::Plan;

use crate::support::proxy::{KEY, RecordingProxy, ResponseFault};
use crate::support::scripted::{ScriptedService, response};
use crate::support::{Project, cli_snapshot};

const CHAIN: &str = "version: 1\nname: chain\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: a, prompt: a quiet sea }\n  - { id: b, prompt: a loud sea, continues: a }\n  - { id: c, prompt: no sea, continues: b }\n";

/// The video of a node, as far as keys depend on it.
fn video(ledger: &Connection, node: &str) -> Option<Artifact> {
    let sha256 = ledger.query_row(
        "SELECT f.sha256 FROM attempts a JOIN artifacts f ON f.attempt = a.id WHERE a.node = ?1",
        [node],
        |row| row.get(0),
    );
    Some(Artifact {
        sha256: sha256.ok()?,
        first_sha256: None,
        path: "a.mp4".into(),
        bytes: 1,
        duration: std::time::Duration::from_secs(1),
        width: 1,
        height: 1,
        last_frame_url: None,
        expires_at: None,
        modified_at: None,
    })
}

/// Makes the ledger one of format 6 that calls the service `name`, in its rows and in its keys.
fn make_older(project: &Project, plan: &Plan, name: &str) {
    let ledger = Connection::open(project.file(".runner/ledger.db")).expect("a ledger");
    let videos: Vec<Option<Artifact>> = plan.nodes().map(|(_, node)| video(&ledger, &node.name)).collect();
    for (ix, node) in plan.nodes() {
        let key = KeyResolver::new(name).key(plan, ix, |parent| videos[parent.index()].as_ref());
        let key = key.map(|key| key.to_string()).unwrap_or_default();
        ledger.execute("UPDATE attempts SET key = ?2 WHERE node = ?1", (&node.name, key)).expect("rows");
    }
    ledger.execute("UPDATE runs SET service = ?1", [name]).expect("rows");
    ledger.execute("UPDATE attempts SET service = ?1", [name]).expect("rows");
    ledger
        .execute_batch(
            "DROP INDEX attempts_replaced_key; ALTER TABLE attempts DROP COLUMN replaced_key;
             ALTER TABLE attempts DROP COLUMN suggested_task; ALTER TABLE runs DROP COLUMN arguments;
             DROP TABLE redeliveries; ALTER TABLE artifacts DROP COLUMN first_sha256;
             DROP TABLE service_aliases; DROP TABLE linked_accounts; PRAGMA user_version = 6;",
        )
        .expect("an older ledger");
}

/// The names of a service that older versions recorded.
fn older_names(url: &str) -> [String; 3] {
    [format!("{url}/v1"), url.replace("127.0.0.1", "localhost"), format!("{url}/")]
}

#[test]
fn work_under_an_older_name_of_the_service_is_not_paid_for_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    for (number, name) in older_names(&proxy.url).iter().enumerate() {
        let before = proxy.posts().len();
        let project = Project::new("chain.yaml", CHAIN).against(&proxy.url, KEY);
        let plan = project.plan("chain.yaml");
        // Two videos, and a task in flight.
        project.runner(&["run", "chain.yaml", "--only", "a", "b"]).expect(0);
        let killed = project.runner_killed_at("before polled", &["run", "chain.yaml"]);
        assert_eq!((killed.code, proxy.posts().len()), (None, before + 3), "{}", killed.transcript());
        make_older(&project, &plan, name);
        let planned = project.runner(&["plan", "chain.yaml"]).expect(0);
        if number == 0 {
            cli_snapshot!("plan_older_name_of_service", planned);
        }
        let status = project.runner(&["status", "chain.yaml"]).expect(3).action_needed();
        cli_snapshot!("status_older_name_of_service", status);
        project.runner(&["run", "chain.yaml"]).expect(0);
        project.runner(&["run", "chain.yaml"]).expect(0);
        assert_eq!(proxy.posts().len(), before + 3, "{name}");
        // A rerun is a decision to pay again, and counts from then on.
        project.runner(&["run", "chain.yaml", "--rerun", "c"]).expect(0);
        project.runner(&["run", "chain.yaml"]).expect(0);
        assert_eq!(proxy.posts().len(), before + 4, "{name}");
    }
}

/// Its task is gone: the next attempt holds the same key, whichever process makes it.
#[test]
fn missing_task_under_an_older_name_is_not_paid_for_again_unasked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
    let project = Project::new("chain.yaml", CHAIN).against(&proxy.url, KEY);
    let plan = project.plan("chain.yaml");
    let killed = project.runner_killed_at("before polled", &["run", "chain.yaml"]);
    assert_eq!((killed.code, proxy.posts().len()), (None, 1), "{}", killed.transcript());
    make_older(&project, &plan, &format!("{}/v1", proxy.url));
    proxy.forget_tasks(410);
    for _ in 0..2 {
        project.runner(&["run", "chain.yaml"]).expect(3);
    }
    assert_eq!(proxy.posts().len(), 1);
    proxy.forget_tasks(0);
    let mut runs: Vec<_> = (0..3).map(|_| project.start(&["run", "chain.yaml"])).collect();
    for run in &mut runs {
        assert_eq!(run.wait().expect("the child ends").code(), Some(0));
    }
    assert_eq!(proxy.posts().len(), 3);
}

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
    let fetched = project.runner(&["fetch", "--all"]).expect(0);
    cli_snapshot!("fetch_of_service_below_v1", fetched);
    project.runner(&["run", "chain.yaml", "--only", "a"]).expect(0);
    assert_eq!(service.posts(), 1);
}
