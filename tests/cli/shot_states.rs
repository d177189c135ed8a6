//! A shot has one state, and one name for it: `status` and every report agree, whatever has become of the shot's attempt.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::Ledger;
use engine::ledger::{Persist, RunLock};
use scheduler::budget::BudgetCaps;
use scheduler::{
    AttemptId, AttemptState, Event, ExistingWork, Failure, FailureKind, KeyResolver, NextStep, PollResult,
    Refusal, RefusalKind, Resolution, RunId, TaskId, Timestamp,
};
use serde_json::Value;
use workflow::plan::{NodeIx, Plan};

use crate::support::proxy::KEY;
use crate::support::scripted::{Call, ScriptedService, response, task_id};
use crate::support::{Output, Project, inline_snapshot};

/// A shot by the state of its attempt; for some states there are two ways into it.
const SHOTS: [&str; 12] = [
    "intended",
    "indeterminate",
    "submitted",
    "completed",
    "failed",
    "refused",
    "expired",
    "missing",
    "not-accepted",
    "abandoned",
    "refused-throttled",
    "expired-refused",
];

fn workflow() -> String {
    let shots = SHOTS.map(|shot| format!("  - {{id: {shot}, prompt: the {shot} sea}}\n")).concat();
    format!(
        "version: 1\nname: states\ndefaults: {{model: modelb-video-480p, seconds: 1, size: 480x480}}\nshots:\n{shots}"
    )
}

fn now() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    Timestamp(i64::try_from(now.as_millis()).expect("a time"))
}

/// How the run that has the attempts is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Run {
    Alive,
    Interrupted,
}

struct Seed {
    ledger: Ledger,
    plan: Plan,
    lock: RunLock,
}

impl Seed {
    fn append(&self, events: Vec<Event>) {
        let events = events.into_iter().map(|event| (event, Persist::Yes)).collect();
        self.ledger.append(&self.lock, &self.plan, now(), events).expect("appended");
    }

    fn prepared(&self, node: NodeIx, attempt: &AttemptId) -> Event {
        let key = KeyResolver::new("rehearsal").request_key(&self.plan, node, |_| None).expect("a key");
        Event::Prepared {
            node,
            attempt: attempt.clone(),
            key: key.to_string(),
            digest: String::new(),
            by_url: false,
            service_independent_key: None,
            reservation: scheduler::budget::Reservation::default(),
            render: 1,
            parts: Vec::new(),
        }
    }

    /// The events that lead to the state that a shot is named after.
    fn seed(&self, node: NodeIx, shot: &str) {
        let attempt = AttemptId(format!("seed.{}", node.index()));
        let task = TaskId(format!("task_{shot}"));
        let failure = |kind| Failure::new(kind, format!("{shot}: the service said so"));
        let submitted = || Event::Submitted { node, attempt: attempt.clone(), task: task.clone() };
        let polled =
            |result, next| Event::Polled { node, attempt: attempt.clone(), result, next: Some(next) };
        let refused_as = |attempt: &AttemptId, kind, failure_kind, next| Event::Refused {
            node,
            attempt: attempt.clone(),
            refusal: Refusal { kind, failure: failure(failure_kind), retry_after: None },
            halts: false,
            next: Some(next),
        };
        let refused = |kind, failure_kind, next| refused_as(&attempt, kind, failure_kind, next);
        let resubmit = || NextStep::Resubmit { not_before: now() };
        let retry = || NextStep::Retry { attempt: 2, of: 3, not_before: now() };
        let indeterminate = || Event::Indeterminate {
            node,
            attempt: attempt.clone(),
            reason: "no response".to_owned(),
            halts: false,
            suggested_task: None,
        };
        let unknown = || PollResult::NotFound { expired: false };
        let expired = || {
            vec![
                submitted(),
                polled(unknown(), retry()),
                Event::TaskExpired { node, attempt: attempt.clone() },
            ]
        };
        self.append(vec![self.prepared(node, &attempt)]);
        self.append(match shot {
            "intended" => Vec::new(),
            "submitted" => vec![submitted()],
            "failed" => vec![
                submitted(),
                polled(PollResult::Failed { failure: failure(FailureKind::Task) }, NextStep::Fail),
            ],
            "refused" => vec![refused(RefusalKind::InvalidRequest, FailureKind::Invalid, NextStep::Fail)],
            "refused-throttled" => {
                vec![refused(RefusalKind::Throttled, FailureKind::RateLimited, resubmit())]
            }
            "expired" => expired(),
            "expired-refused" => {
                self.append(expired());
                let second = AttemptId(format!("seed.{}", node.index() + 100));
                self.append(vec![self.prepared(node, &second)]);
                vec![refused_as(&second, RefusalKind::Throttled, FailureKind::RateLimited, resubmit())]
            }
            "missing" => {
                vec![submitted(), polled(unknown(), NextStep::Missing { reason: "unknown".to_owned() })]
            }
            // A person resolves two of them afterwards.
            "indeterminate" | "not-accepted" | "abandoned" => vec![indeterminate()],
            other => panic!("{other}"),
        });
    }
}

/// A ledger with an attempt in each state, of a run in this state, and a video.
fn seeded(project: &Project, run: Run) -> Option<RunLock> {
    project.runner(&["run", "states.yaml", "--only", "completed"]).expect(0);
    let ledger = Ledger::open(&project.file(".runner/ledger.db"), project.path()).expect("a ledger");
    let plan = project.plan("states.yaml");
    let lock = ledger
        .begin(RunId::from("seed"), "states", "rehearsal", BudgetCaps::default(), now())
        .expect("a run");
    let seed = Seed { ledger, plan, lock };
    let mut resolved = Vec::new();
    for (node, shot) in seed.plan.nodes().map(|(node, described)| (node, described.name.clone())) {
        let attempt = AttemptId(format!("seed.{}", node.index()));
        match shot.as_str() {
            "completed" => {
                let key = KeyResolver::new("rehearsal").request_key(&seed.plan, node, |_| None);
                let key = key.expect("a key").to_string();
                let existing = video(project, &key);
                seed.append(vec![Event::LookupDone { node, key, existing, render: 1 }]);
                continue;
            }
            "not-accepted" => resolved.push((attempt, Resolution::NotAccepted)),
            "abandoned" => resolved.push((attempt, Resolution::Abandoned)),
            _ => {}
        }
        seed.seed(node, &shot);
    }
    if run == Run::Interrupted {
        seed.append(vec![Event::Interrupted]);
        seed.ledger.end(&seed.lock, now()).expect("the end");
    }
    for (attempt, resolution) in resolved {
        seed.ledger.resolve(&attempt, &resolution, now()).expect("resolved");
    }
    let states: std::collections::HashSet<AttemptState> = SHOTS
        .iter()
        .flat_map(|shot| seed.ledger.attempts_of_shot(shot).expect("attempts"))
        .map(|attempt| attempt.state)
        .collect();
    assert_eq!(states.len(), AttemptState::ALL.len(), "every state: {states:?}");
    (run == Run::Alive).then_some(seed.lock)
}

/// The recorded video of a key.
fn video(project: &Project, key: &str) -> ExistingWork {
    let ledger = rusqlite::Connection::open(project.file(".runner/ledger.db")).expect("a ledger");
    let read = |row: &rusqlite::Row<'_>| {
        Ok(ExistingWork::Completed {
            attempt: AttemptId(row.get(0)?),
            task: TaskId(row.get(1)?),
            artifact: scheduler::Artifact {
                path: "states.mp4".into(),
                sha256: row.get(2)?,
                first_sha256: None,
                bytes: 1,
                duration: std::time::Duration::from_secs(1),
                width: 2,
                height: 2,
                last_frame_url: None,
                expires_at: None,
                modified_at: None,
            },
        })
    };
    ledger
        .query_row(
            "SELECT a.id, a.task, f.sha256 FROM attempts a JOIN artifacts f ON f.attempt = a.id WHERE a.key = ?1",
            [key],
            read,
        )
        .expect("a video")
}

/// Shots and their states.
type States = BTreeMap<String, String>;

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.out).expect("JSON")
}

fn states(list: &Value, name: &str) -> States {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    list.as_array().expect("a list").iter().map(|entry| (text(&entry[name]), text(&entry["state"]))).collect()
}

fn states_of_status(project: &Project) -> States {
    let status = project.runner(&["status", "states.yaml", "--format", "json"]);
    let mut states = states(&json(&status)["shots"], "shot");
    // What existed before the run exists.
    states.values_mut().filter(|state| *state == "reused").for_each(|state| "done".clone_into(state));
    states
}

/// The states in the report, which `view`, the page and the other formats write as well.
fn states_of_report(project: &Project) -> States {
    let report = project.runner(&["report", "states.yaml", "--format", "json"]).expect(0);
    states(&json(&report)["clips"], "id")
}

fn agree(run: Run) -> String {
    let project = Project::new("states.yaml", &workflow());
    let lock = seeded(&project, run);
    let status = states_of_status(&project);
    assert_eq!(states_of_report(&project), status, "{run:?}: the report (left) and status");
    drop(lock);
    let lines: Vec<String> = status.iter().map(|(shot, state)| format!("{shot}: {state}")).collect();
    lines.join("\n")
}

#[test]
fn reports_agree_with_status_about_an_interrupted_run() {
    inline_snapshot!(agree(Run::Interrupted), @"
    abandoned: failed
    completed: done
    expired: missing
    expired-refused: missing
    failed: failed
    indeterminate: indeterminate
    intended: indeterminate
    missing: missing
    not-accepted: not-started
    refused: failed
    refused-throttled: not-started
    submitted: detached
    ");
}

#[test]
fn reports_agree_with_status_about_a_live_run() {
    inline_snapshot!(agree(Run::Alive), @"
    abandoned: failed
    completed: done
    expired: waiting-for-retry
    expired-refused: waiting
    failed: failed
    indeterminate: indeterminate
    intended: submitting
    missing: missing
    not-accepted: not-started
    refused: failed
    refused-throttled: waiting
    submitted: in-flight
    ");
}

const TWO: &str = "version: 1\nname: states\ndefaults: {model: modelb-video-480p, seconds: 1, size: 480x480}\nshots:\n  \
    - {id: dune, prompt: a dune}\n  - {id: reed, prompt: a reed}\n";

/// A shot that was not started because of another one has the state that the run has given it, and its report is a failure as well.
#[test]
fn shot_that_depends_on_one_without_a_video_is_blocked_in_every_report() {
    let service = ScriptedService::start(|call| {
        let error = r#"{"error":{"message":"bad request","type":"invalid_request_error"}}"#;
        (call.path.ends_with("/videos") && call.nth == 1).then(|| response(400, &[], error))
    });
    let text = format!(
        "{}  - {{id: pond, prompt: a pond, continues: dune}}\n  - {{id: lake, prompt: a lake, continues: pond}}\n",
        TWO.replace("  - {id: reed, prompt: a reed}\n", "")
    );
    let project = Project::new("states.yaml", &text).against(&service.url, KEY);
    let all = |state: &str| ["dune", "lake", "pond"].map(|shot| (shot.to_owned(), state.to_owned()));
    assert_eq!(states_of_report(&project), all("not-started").into());
    let run = project.runner(&["run", "states.yaml"]).expect(1);
    let mut expected = States::from(all("blocked"));
    expected.insert("dune".to_owned(), "failed".to_owned());
    assert_eq!(states_of_report(&project), expected, "{}", run.transcript());
    let junit = project.runner(&["report", "states.yaml", "--format", "junit"]).expect(0).out;
    let failures = junit.lines().map(str::trim).filter(|line| line.starts_with("<failure"));
    inline_snapshot!(failures.collect::<Vec<_>>().join("\n"), @r#"
    <failure type="failed" message="bad request"/>
    <failure type="blocked" message="waits for dune"/>
    <failure type="blocked" message="waits for pond"/>
    "#);
}

/// The failure and the cost of an earlier text are not those of the present one, which was never submitted.
#[test]
fn failure_of_an_earlier_prompt_is_not_that_of_the_present_one() {
    let task = |call: &Call<'_>| {
        let failed = format!(
            r#"{{"id":"{}","object":"video","model":"modelb-video-480p","status":"failed","created_at":0,
            "error":{{"code":"content_policy_violation","message":"the video was withheld by moderation"}}}}"#,
            task_id(1)
        );
        let is_poll = call.path.contains("/videos/");
        is_poll.then(|| response(200, &[("content-type", "application/json")], failed))
    };
    let service = ScriptedService::start(task);
    let text = TWO.replace("  - {id: reed, prompt: a reed}\n", "");
    let project = Project::new("states.yaml", &text).against(&service.url, KEY);
    fs_err::write(project.file("prices.yaml"), crate::budget::PRICES).expect("the folder can be written");
    project.runner(&["run", "states.yaml"]).expect(1);
    let clip = || {
        let report = project.runner(&["report", "states.yaml", "--format", "json"]).expect(0);
        json(&report)["clips"][0].clone()
    };
    let failed = clip();
    assert_eq!((&failed["state"], failed["cost"].is_u64()), (&"failed".into(), true), "{failed:#}");
    project.runner(&["edit", "states.yaml", "dune", "--prompt", "a quiet dune"]).expect(0);
    let edited = clip();
    assert_eq!(
        (&edited["state"], &edited["failure"], &edited["cost"]),
        (&"not-started".into(), &Value::Null, &Value::Null),
        "{edited:#}"
    );
    let attempts = edited["attempts"].as_array().expect("attempts");
    assert!(attempts.len() == 1 && attempts[0]["key"] != edited["key"], "{edited:#}");
}
