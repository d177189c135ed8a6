//! Every fault profile of docs/service.md: the runner's message, its exit code, and the number of POSTs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use service::FaultProfile;

use crate::support::Project;
use crate::support::proxy::{KEY, RecordingProxy};

/// One fault and its expected result.
struct Case {
    /// In the fault profile: a fault, and how often it applies.
    fault: &'static str,
    /// What the shot says besides its prompt.
    shot: &'static str,
    /// The successive runs: exit code of each, and a text that it prints.
    runs: &'static [(i32, &'static str)],
    /// Number of POSTs that the service has received at the end.
    posts: usize,
}

/// A fault that costs nothing but time: one run, one POST.
const fn harmless(fault: &'static str) -> Case {
    Case { fault, shot: "", runs: &[(0, "done")], posts: 1 }
}

const THRICE: &str = ", retry: {attempts: 3, on: [failed, transient, output-moderated, corrupt, expired]}";
const INDETERMINATE: &[(i32, &str)] = &[(3, "runner resolve"), (3, "runner resolve")];

const CASES: &[Case] = &[
    // POSTs that are refused: nothing was accepted, so they are repeated where that may help.
    Case {
        fault: r#"{"kind": "error_response", "on": "create", "status": 429, "retry_after": 0}, "times": 1"#,
        shot: "",
        runs: &[(0, "throttled")],
        posts: 2,
    },
    Case {
        fault: r#"{"kind": "error_response", "on": "create", "status": 429, "body": "html"}, "times": 2"#,
        shot: "",
        runs: &[(0, "throttled")],
        posts: 3,
    },
    Case {
        fault: r#"{"kind": "error_response", "on": "create", "status": 503}, "times": 1"#,
        shot: "",
        runs: &[(0, "not accepted, retrying")],
        posts: 2,
    },
    Case {
        fault: r#"{"kind": "error_response", "on": "create", "status": 400}"#,
        shot: THRICE,
        runs: &[(1, "failed")],
        posts: 1,
    },
    Case {
        fault: r#"{"kind": "error_response", "on": "create", "status": 401}"#,
        shot: THRICE,
        runs: &[(5, "failed")],
        posts: 1,
    },
    // Indeterminate POSTs: held, whatever the shot's `retry` says.
    Case {
        fault: r#"{"kind": "error_response", "on": "create", "status": 502, "body": "html"}"#,
        shot: THRICE,
        runs: INDETERMINATE,
        posts: 1,
    },
    Case {
        fault: r#"{"kind": "error_response", "on": "create", "status": 503, "body": "empty"}"#,
        shot: THRICE,
        runs: INDETERMINATE,
        posts: 1,
    },
    Case {
        fault: r#"{"kind": "error_response", "on": "create", "status": 500}"#,
        shot: THRICE,
        runs: INDETERMINATE,
        posts: 1,
    },
    Case {
        fault: r#"{"kind": "error_response", "on": "create", "status": 408}"#,
        shot: THRICE,
        runs: INDETERMINATE,
        posts: 1,
    },
    Case {
        fault: r#"{"kind": "error_response", "on": "create", "status": 404, "body": "html"}"#,
        shot: THRICE,
        runs: &[(5, "runner resolve"), (3, "runner resolve")],
        posts: 1,
    },
    Case { fault: r#"{"kind": "lose_response"}"#, shot: THRICE, runs: INDETERMINATE, posts: 1 },
    // Polls.
    harmless(r#"{"kind": "error_response", "on": "poll", "status": 502, "body": "html"}, "times": 3"#),
    harmless(r#"{"kind": "error_response", "on": "poll", "status": 429, "retry_after": 0}, "times": 2"#),
    // Once: after several, the task would be missing where the last one comes seconds after the first.
    harmless(r#"{"kind": "not_found_after_create"}, "times": 1"#),
    harmless(r#"{"kind": "timestamps_in_seconds"}"#),
    harmless(r#"{"kind": "unknown_status", "status": "pondering"}"#),
    Case {
        fault: r#"{"kind": "error_response", "on": "poll", "status": 401}, "times": 1"#,
        shot: "",
        runs: &[(5, "adopts task"), (0, "adopted task")],
        posts: 1,
    },
    Case {
        fault: r#"{"kind": "stuck_at", "percent": 0}"#,
        shot: ", timeout: 0.2",
        runs: &[(3, "adopts task")],
        posts: 1,
    },
    harmless(r#"{"kind": "error_response", "on": "poll", "status": 404, "body": "html"}, "times": 3"#),
    // Videos that are there and hard to get.
    harmless(r#"{"kind": "completed_without_url"}"#),
    harmless(r#"{"kind": "completed_with_error"}"#),
    harmless(r#"{"kind": "dead_url"}"#),
    harmless(r#"{"kind": "expired_url"}"#),
    harmless(r#"{"kind": "cut_body", "after": 700}"#),
    harmless(r#"{"kind": "slow_body", "bytes_per_second": 20000}"#),
    harmless(r#"{"kind": "error_response", "on": "file", "status": 503}, "times": 1"#),
    Case {
        fault: r#"{"kind": "completed_without_url"}}, {"fault": {"kind": "error_response", "on": "content", "status": 502, "body": "html"}, "times": 1"#,
        shot: "",
        runs: &[(0, "retrying")],
        posts: 1,
    },
    // Moderation.
    Case {
        fault: r#"{"kind": "moderation", "of": "prompt"}"#,
        shot: THRICE,
        runs: &[(1, "change the prompt")],
        posts: 1,
    },
    Case {
        fault: r#"{"kind": "moderation", "of": "input"}"#,
        shot: THRICE,
        runs: &[(1, "change the prompt")],
        posts: 1,
    },
    Case { fault: r#"{"kind": "moderation", "of": "output"}"#, shot: "", runs: &[(1, "withheld")], posts: 1 },
    Case {
        fault: r#"{"kind": "moderation", "of": "output"}"#,
        shot: ", retry: 3",
        runs: &[(1, "withheld")],
        posts: 3,
    },
    Case {
        fault: r#"{"kind": "moderation", "of": "output"}"#,
        shot: ", retry: {attempts: 3, on: transient}",
        runs: &[(1, "withheld")],
        posts: 1,
    },
];

/// `never_respond` has a test of its own, because it takes an interrupt: `signals.rs`.
const TESTED_IN_SIGNALS: &[&str] = &["never_respond"];

/// Mismatches of cases whose runs have the same exit codes: each case is a shot of one workflow.
fn scenario(cases: &[&Case]) -> Vec<String> {
    let prompt = |index: usize| format!("the sea, wave {index}.");
    let rule = |(index, case): (usize, &&Case)| {
        // A rule of several faults is written with the text between them.
        let prompt_field = format!(", \"prompt\": \"{}\"}}", prompt(index));
        format!(
            "{{\"fault\": {}{prompt_field}",
            case.fault.replace("}}, {\"fault\"", &format!("}}{prompt_field}, {{\"fault\""))
        )
    };
    let rules: Vec<String> = cases.iter().enumerate().map(rule).collect();
    let profile = format!("{{\"faults\": [{}]}}", rules.join(", "));
    let proxy = RecordingProxy::with_faults(&profile);
    let mut text =
        "version: 1\nname: sea\ndefaults: {model: modelb-video-480p, seconds: 1, size: 480x480}\nshots:\n"
            .to_owned();
    for (index, case) in cases.iter().enumerate() {
        let _ = writeln!(text, "  - {{id: wave{index}, prompt: \"{}\"{}}}", prompt(index), case.shot);
    }
    let project = Project::new("sea.yaml", &text).against(&proxy.url, KEY);
    let mut problems = Vec::new();
    for turn in 0..cases[0].runs.len() {
        let output = project.runner(&["run", "sea.yaml", "--jobs", "32"]);
        for (index, case) in cases.iter().enumerate() {
            let (code, message) = case.runs[turn];
            let transcript = output.transcript();
            // Not a snapshot: which cases are tried at once, and what else is printed about them, depends on timing.
            let mut lines = transcript.lines().filter(|line| line.starts_with(&format!("wave{index}: ")));
            if output.code != Some(code) || !lines.any(|line| line.contains(message)) {
                problems.push(format!(
                    "{}: wanted {code} and wave{index}: `{message}`: {transcript}",
                    case.fault
                ));
            }
        }
    }
    let posts: Vec<String> =
        proxy.posts().iter().map(|post| String::from_utf8_lossy(&post.body).into_owned()).collect();
    for (index, case) in cases.iter().enumerate() {
        let post_count = posts.iter().filter(|post| post.contains(&prompt(index))).count();
        if post_count != case.posts {
            problems.push(format!("{}: {post_count} POSTs instead of {}", case.fault, case.posts));
        }
    }
    problems
}

#[test]
fn every_fault_profile_has_its_documented_outcome() {
    let mut by_exit_codes: BTreeMap<Vec<i32>, Vec<&Case>> = BTreeMap::new();
    for case in CASES {
        by_exit_codes.entry(case.runs.iter().map(|(code, _)| *code).collect()).or_default().push(case);
    }
    // All wait most of the time, so they run at once.
    let problems: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = by_exit_codes.values().map(|cases| scope.spawn(|| scenario(cases))).collect();
        running.into_iter().flat_map(|running| running.join().expect("no case panics")).collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}

#[test]
fn every_fault_kind_has_a_case() {
    let kinds = |text: &str| -> BTreeSet<String> {
        text.split("\"kind\": \"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .map(str::to_owned)
            .collect()
    };
    let mut tested: BTreeSet<String> = CASES.iter().flat_map(|case| kinds(case.fault)).collect();
    tested.extend(TESTED_IN_SIGNALS.iter().map(|kind| (*kind).to_owned()));
    // An unknown kind is refused with the list of all that are known.
    let refused = FaultProfile::from_json(r#"{"faults": [{"fault": {"kind": "none"}}]}"#)
        .expect_err("no such fault")
        .to_string();
    let listed = refused.split("expected one of").nth(1).expect("a list");
    let known_kinds: BTreeSet<String> = listed.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(tested, known_kinds);
}
