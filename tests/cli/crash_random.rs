//! SIGKILL at random moments, then another run: nothing is submitted twice, no paid video is lost.

use std::collections::BTreeMap;

use rusqlite::OptionalExtension as _;
use workflow::plan::Node;

use crate::support::program::Output;
use crate::support::project_state::{accepted, indeterminate, shots};
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::{Project, wait_until};

/// Two chains of three short shots and a film of them.
const CHAINS: &str = r"version: 1
name: chains
defaults:
  model: modelb-video-480p
  seconds: 1
  size: 480x480
shots:
  - { id: a1, prompt: a quiet sea }
  - { id: a2, prompt: the sea wakes, continues: a1 }
  - { id: a3, prompt: a loud sea, continues: a2 }
  - { id: b1, prompt: a dune }
  - { id: b2, prompt: a dune in wind, continues: b1 }
  - { id: b3, prompt: a storm of sand, continues: b2 }
film:
  output: chains.mp4
";

fn on_disk(project: &Project) -> usize {
    shots(project, "chains").len()
}

/// What the next run does about each shot. It follows from the last attempt that a killed run has left, and for an intent without a
/// response from whether the embedded service has its task. The service must not be running: its store belongs to one process at a time.
fn expected_decisions(project: &Project, workflow: &str) -> BTreeMap<String, &'static str> {
    let open = |file: &str| rusqlite::Connection::open(project.file(file)).expect("a database");
    let (ledger, service) = (open(".runner/ledger.db"), open(".runner/service/service.db"));
    let plan = project.plan(workflow);
    let decision = |node: &Node| {
        let last = "SELECT state FROM attempts WHERE node = ?1 ORDER BY rowid DESC LIMIT 1";
        let state: Option<String> =
            ledger.query_row(last, [&node.name], |row| row.get(0)).optional().expect("a state");
        match state.as_deref() {
            None => "execute",
            Some("completed") => "reuse",
            Some("submitted") => "adopt",
            Some("intended") => {
                let task = "SELECT EXISTS (SELECT 1 FROM task WHERE spec_json ->> 'prompt' = ?1)";
                let prompt = node.request["prompt"].as_str().expect("a prompt");
                let is_accepted = service.query_row(task, [prompt], |row| row.get(0)).expect("an answer");
                if is_accepted { "adopt" } else { "execute" }
            }
            Some(state) => panic!("{}: a kill does not lead to `{state}`", node.name),
        }
    };
    plan.nodes().map(|(_, node)| (node.name.clone(), decision(node))).collect()
}

/// The decisions in the report of a run.
fn decisions(run: &Output) -> BTreeMap<String, &str> {
    let table = run.out.split("\n\n").next().unwrap_or_default();
    let rows = table.lines().skip(1).map(|row| row.split_whitespace().collect::<Vec<_>>());
    rows.map(|cells| (cells[0].to_owned(), cells[1])).collect()
}

#[test]
fn embedded_run_killed_halfway_submits_each_shot_once() {
    let project = Project::new("chains.yaml", CHAINS);
    // Once just after the first submissions, once when some shots are on disk and others are not. Until the kill it gets no further.
    for boundary in ["after submitted", "after downloaded"] {
        let mut child = project.start_held(boundary, &["run", "chains.yaml"]);
        child.kill().expect("the child can be killed");
        child.wait().expect("the child ends");
        fs_err::remove_file(project.file("waiting")).expect("it has waited");
    }
    let expected = expected_decisions(&project, "chains.yaml");
    for decision in ["reuse", "execute"] {
        assert!(expected.values().any(|other| *other == decision), "{expected:?}");
    }
    let last = project.runner(&["run", "chains.yaml"]).expect(0);
    assert_eq!((accepted(&project), on_disk(&project)), (6, 6), "{}", last.transcript());
    assert_eq!(decisions(&last), expected, "{}", last.transcript());
    assert!(project.file("out/chains/chains.mp4").exists());
}

#[test]
fn run_killed_repeatedly_submits_each_shot_once() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("chains.yaml", CHAINS).against(&proxy.url, KEY);
    for posts in [1, 3, 5] {
        let mut child = project.start(&["run", "chains.yaml"]);
        // A run that has nothing more to submit, because what was lost is held, ends by itself.
        wait_until("posts arrive or the run ends", || {
            proxy.posts().len() >= posts || child.try_wait().expect("the child can be asked").is_some()
        });
        child.kill().expect("the child can be killed");
        child.wait().expect("the child ends");
    }
    // A kill between a POST and its response leaves an indeterminate submission: it is held, not repeated.
    let mut last = project.runner(&["run", "chains.yaml"]);
    let mut resolved = 0;
    while last.code == Some(3) {
        let attempts = indeterminate(&project, "chains.yaml");
        // The service goes on with what a killed run has sent.
        wait_until("every submission is accepted", || proxy.accepted().len() == proxy.posts().len());
        let task = unclaimed_task(&proxy, &project);
        let resolution = task.as_deref().map_or(vec!["--resubmit"], |task| vec!["--adopt", task]);
        let arguments = [vec!["resolve", "chains.yaml", &*attempts[0]], resolution].concat();
        project.runner(&arguments).expect(0);
        resolved += 1;
        assert!(resolved <= 6, "each shot is held at most once");
        last = project.runner(&["run", "chains.yaml"]);
    }
    let last = last.expect(0);
    assert_eq!(
        (proxy.posts().len(), on_disk(&project)),
        (6, 6),
        "each shot was submitted once: {}",
        last.transcript()
    );
}

/// A task that the service has accepted and the ledger does not know.
pub(crate) fn unclaimed_task(proxy: &RecordingProxy, project: &Project) -> Option<String> {
    let ledger = rusqlite::Connection::open(project.file(".runner/ledger.db")).expect("a ledger");
    proxy.accepted().into_iter().find(|task| {
        let is_recorded = "SELECT EXISTS (SELECT 1 FROM attempts WHERE task = ?1)";
        !ledger.query_row(is_recorded, [task], |row| row.get::<_, bool>(0)).expect("an answer")
    })
}
