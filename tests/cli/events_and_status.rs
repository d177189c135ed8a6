//! Output for machines and other terminals: the event stream, the log, `status`, traces.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::support::program::root;
use crate::support::project_state::shots;
use crate::support::proxy::{KEY, RecordingProxy, ResponseFault};
use crate::support::{Project, cli_snapshot, inline_snapshot};

/// A chain whose frame is sent as a data URI, and an independent shot.
const CHAIN: &str = "version: 1\nname: chain\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: a, prompt: a quiet sea }\n  - { id: b, prompt: a loud sea, continues: a }\n  - { id: c, prompt: a dune }\n\
    film: { output: chain.mp4, shots: [a, b, c] }\n";

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["kind"].as_str().expect("a kind")).collect()
}

#[test]
fn event_stream_matches_schema_and_holds_no_secrets() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("chain.yaml", CHAIN).against(&proxy.url, KEY);
    let output = project.runner(&["run", "chain.yaml", "--format", "ndjson", "-vvv"]).expect(0);

    let schema = project.runner(&["schema", "events"]).expect(0).out;
    let published = fs_err::read_to_string(root().join("docs/events.schema.json")).expect("it is published");
    assert!(schema == published, "say `cargo run -- schema events > docs/events.schema.json`");
    let schema: Value = serde_json::from_str(&schema).expect("a schema");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    let events = lines(&output.out);
    for (line, number) in events.iter().zip(1..) {
        let errors: Vec<String> = validator.iter_errors(line).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}: {line}");
        assert_eq!(line["seq"], number);
    }
    assert!(!validator.is_valid(&serde_json::json!({ "version": 3, "seq": 1, "time": 1, "kind": "gossip" })));
    let kinds = kinds(&events);
    assert_eq!((kinds.first(), kinds.last()), (Some(&"run-started"), Some(&"run-finished")), "{kinds:?}");
    for (kind, times) in
        [("prepared", 3), ("submitted", 3), ("downloaded", 3), ("shot-finished", 3), ("film-finished", 1)]
    {
        assert_eq!(kinds.iter().filter(|other| **other == kind).count(), times, "{kind}: {kinds:?}");
    }
    let last = events.last().expect("a line");
    assert_eq!((&last["exit"], &last["outcomes"]["done"]), (&0.into(), &3.into()));

    // The log names run, shot, attempt and task, and what was asked. How many lines it has, and in which order, depends on timing: the first
    // one of each kind.
    let kinds_of_lines = ["submit{node=\"a\"", "poll{node=\"b\"", "download{node=\"b\"", "ended node=\"b\""];
    let first = |kind: &str| {
        let line = output.err.lines().find(|line| line.contains(kind));
        line.unwrap_or_else(|| panic!("{kind} is missing: {}", output.err)).to_owned()
    };
    let lines: Vec<String> = kinds_of_lines.into_iter().map(first).collect();
    inline_snapshot!(lines.join("\n"), @r#"
    [TIME] DEBUG run{run=[RUN]}:submit{node="a" attempt=[ATTEMPT]}:create: client::hooks: sending a request method=POST path="/v1/videos"
    [TIME] DEBUG run{run=[RUN]}:poll{node="b" attempt=[ATTEMPT] task=[TASK]}:get{task_id="[TASK]"}: client::hooks: sending a request method=GET path="/v1/videos/[TASK]"
    [TIME] DEBUG run{run=[RUN]}:download{node="b" attempt=[ATTEMPT] task=[TASK]}:fetch{host="127.0.0.1" offset=0}: client::client: sending a request method="GET" host="127.0.0.1"
    [TIME]  INFO run{run=[RUN]}: engine::executor::trace: ended node="b" outcome="done"
    "#);
    assert!(output.err.contains("status=200"), "{}", output.err);
    // The request holds an image, and answers hold addresses: neither is for others.
    let bodies =
        proxy.posts().iter().map(|post| String::from_utf8_lossy(&post.body).into_owned()).collect::<String>();
    assert!(bodies.contains("data:image/png;base64,"), "the chain sends a frame along");
    for secret in [KEY, "base64,i", "content?", "Bearer"] {
        assert!(
            !output.out.contains(secret) && !output.err.contains(secret),
            "{secret}: {}",
            output.transcript()
        );
    }
    let quiet = project.runner(&["run", "chain.yaml", "--format", "ndjson"]).expect(0);
    assert_eq!(quiet.err, "", "lines of JSON, and nothing else");
    assert!(
        kinds_of(&quiet.out).is_superset(&BTreeSet::from(["lookup".to_owned(), "run-finished".to_owned()]))
    );
}

/// The clips are scaled, so that each frame is encoded. By the clock of this test each takes 50 ms, so that the film of 40 frames takes two seconds, and the one of 80 four.
#[test]
fn films_that_take_long_report_their_progress() {
    let text = "version: 1\nname: long\ndefaults: { model: modelb-video-480p, seconds: 5, size: 480x480 }\nshots:\n  \
        - { id: a, prompt: a quiet sea }\n  - { id: b, prompt: a dune }\n\
        films:\n  - { output: short.mp4, size: 240x240, shots: [a] }\n  - { output: long.mp4, size: 240x240, shots: [a, b] }\n";
    let project = Project::new("long.yaml", text);
    let arguments = ["run", "long.yaml", "--format", "ndjson"];
    let events = lines(&project.runner_with(("RUNNER_TEST_FRAME_MILLIS", "50"), &arguments).expect(0).out);
    let schema: Value =
        serde_json::from_str(&project.runner(&["schema", "events"]).expect(0).out).expect("a schema");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    assert!(events.iter().all(|line| validator.is_valid(line)));
    let reported = |lines: &[Value], film: &str| -> Vec<String> {
        let is_of_film = |line: &&Value| line["name"] == film;
        let line = |line: &Value| match line["kind"].as_str() {
            Some("film-progress") => format!("{} of {}", line["frames"], line["all_frames"]),
            other => other.unwrap_or_default().to_owned(),
        };
        lines.iter().filter(is_of_film).map(line).collect()
    };
    assert_eq!(reported(&events, "short.mp4"), ["40 of 40", "film-finished"], "{events:?}");
    let expected = ["40 of 80", "60 of 80", "80 of 80", "film-finished"];
    assert_eq!(reported(&events, "long.mp4"), expected, "{events:?}");

    // As fast as this machine is: the films are there, and no line is due.
    let second_events = lines(&project.runner(&arguments).expect(0).out);
    for film in ["short.mp4", "long.mp4"] {
        assert_eq!(reported(&second_events, film), ["film-finished"], "{second_events:?}");
    }
}

fn kinds_of(text: &str) -> BTreeSet<String> {
    kinds(&lines(text)).into_iter().map(str::to_owned).collect()
}

#[test]
fn closed_reader_does_not_end_run_and_status_follows() {
    // The third submission's response is lost: it is indeterminate.
    let proxy =
        RecordingProxy::start(
            |post| {
                if post == 3 { ResponseFault::ConnectionDropped } else { ResponseFault::None }
            },
        );
    let project = Project::new("chain.yaml", CHAIN).against(&proxy.url, KEY);
    let nothing = project.runner(&["status"]).expect(0);
    cli_snapshot!("status_no_ledger", nothing);
    assert!(!project.file(".runner").exists(), "status creates nothing");
    cli_snapshot!("status_missing_file", project.runner(&["status", "other.yaml"]).expect(2));

    let mut child = project
        .command(&["run", "chain.yaml", "--format", "ndjson", "--jobs", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program can be started");
    let mut first = String::new();
    let mut reader = BufReader::new(child.stdout.take().expect("it is piped"));
    reader.read_line(&mut first).expect("a line");
    assert_eq!(kinds(&lines(&first)), ["run-started"], "it comes at once");
    drop(reader);
    let watched = project.runner(&["status", "chain.yaml", "--watch", "--format", "ndjson"]);
    assert_eq!(child.wait().expect("it ends").code(), Some(3), "what it came to, whoever reads");
    assert_eq!(watched.code, Some(3), "{}", watched.transcript());
    let kinds = BTreeSet::from(["action-needed", "run", "shot", "totals"].map(str::to_owned));
    assert_eq!(kinds_of(&watched.out), kinds, "{}", watched.out);

    let schema = project.runner(&["schema", "status"]).expect(0).out;
    let published = fs_err::read_to_string(root().join("docs/status.schema.json")).expect("it is published");
    assert!(schema == published, "say `cargo run -- schema status > docs/status.schema.json`");
    let schema: Value = serde_json::from_str(&schema).expect("a schema");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    for line in lines(&watched.out) {
        let errors: Vec<String> = validator.iter_errors(&line).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}: {line}");
    }

    cli_snapshot!("status_indeterminate", project.runner(&["status", "chain.yaml"]).expect(3));
    let json: Value = serde_json::from_str(&project.runner(&["status", "--format", "json"]).expect(3).out)
        .expect("a document");
    assert_eq!((json["version"].as_u64(), json["runs"][0]["state"].as_str()), (Some(3), Some("ended")));
    let open = &json["action_needed"][0];
    assert_eq!((open["reason"].as_str(), open["shot"].as_str()), (Some("indeterminate"), Some("b")));

    let attempt = open["attempt"].as_str().expect("an attempt");
    let task = &proxy.accepted()[2];
    project.runner(&["resolve", "chain.yaml", attempt, "--adopt", task]).expect(0);
    cli_snapshot!("status_in_flight", project.runner(&["status", "chain.yaml"]).expect(3));
    project.runner(&["run", "chain.yaml"]).expect(0);
    let mut status = project.runner(&["status", "chain.yaml"]).expect(0);
    // Two shots are looked up at the same time, and the table has them in the order of their events.
    let mut lines: Vec<&str> = status.out.lines().collect();
    let rows = 1 + lines.iter().position(|line| line.starts_with("shot ")).expect("a table");
    lines[rows..rows + 3].sort_unstable();
    status.out = lines.iter().flat_map(|line| [*line, "\n"]).collect();
    cli_snapshot!("status_done", status);
    assert_eq!((proxy.posts().len(), shots(&project, "chain").len()), (3, 3));
}

/// Two files share the ledger of their folder.
#[test]
fn status_of_a_file_is_of_its_runs_only() {
    // The response to the first submission, that of `one.yaml`, is lost.
    let proxy =
        RecordingProxy::start(
            |post| {
                if post == 1 { ResponseFault::ConnectionDropped } else { ResponseFault::None }
            },
        );
    let text = |name: &str, shots: &str| {
        format!(
            "version: 1\nname: {name}\ndefaults: {{model: modelb-video-480p, seconds: 1, size: 480x480}}\nshots: {shots}\n"
        )
    };
    let project =
        Project::new("one.yaml", &text("one", "[{id: sea, prompt: the sea}]")).against(&proxy.url, KEY);
    let two = text("two", "[{id: dune, prompt: a dune}, {id: plain, prompt: a plain}]");
    fs_err::write(project.file("two.yaml"), two).expect("a writable folder");
    project.runner(&["run", "one.yaml"]).expect(3);
    project.runner(&["run", "two.yaml"]).expect(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    let status = |arguments: &[&str], code: i32| -> Value {
        let output = project.runner(&[&["status", "--format", "json"], arguments].concat()).expect(code);
        serde_json::from_str(&output.out).expect("a document")
    };
    let summary = |document: &Value| {
        let runs = document["runs"].as_array().expect("runs").iter();
        let names: Vec<&str> = runs.filter_map(|run| run["workflow"].as_str()).collect();
        let tasks = |kind: &str| document["totals"][kind]["tasks"].clone();
        let actions = document["action_needed"].as_array().map_or(0, Vec::len);
        format!(
            "{} actions={actions} reserved={} spent={}",
            names.join(","),
            tasks("reserved"),
            tasks("spent")
        )
    };
    inline_snapshot!(summary(&status(&["one.yaml"], 3)), @"one actions=1 reserved=1 spent=0");
    inline_snapshot!(summary(&status(&["two.yaml"], 0)), @"two,two actions=0 reserved=0 spent=2");
    inline_snapshot!(summary(&status(&["two.yaml", "--runs", "1"], 0)), @"two actions=0 reserved=0 spent=2");
    inline_snapshot!(summary(&status(&["."], 3)), @"two,two,one actions=1 reserved=1 spent=2");
    // A file that was renamed keeps its runs.
    fs_err::rename(project.file("one.yaml"), project.file("first.yaml")).expect("a writable folder");
    inline_snapshot!(summary(&status(&["first.yaml"], 3)), @"one actions=1 reserved=1 spent=0");
}
