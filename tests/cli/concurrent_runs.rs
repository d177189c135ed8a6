//! Runs of one ledger at the same time: each shot is submitted once, and none waits for another run without a bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::project_state::shots;
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::scripted::{ScriptedService, response};
use crate::support::{Project, cli_snapshot};

const TWO: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea }\n";

const ONE: &str = "version: 1\nname: one\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: lamp, prompt: a quiet sea, retry: { attempts: 2, on: [expired] } }\n";

fn against(proxy: &RecordingProxy) -> Project {
    Project::new("two.yaml", TWO).against(&proxy.url, KEY)
}

/// The second run has looked at the ledger before the first one began its reruns: it goes on with them.
#[test]
fn concurrent_reruns_submit_each_shot_once() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy);
    project.runner(&["run", "two.yaml"]).expect(0);
    // For the second time, a rerun is on record already.
    for posts in [4, 6] {
        let second = project.runner_held_at("before prepared", "", &["run", "two.yaml", "--rerun"], || {
            project.runner(&["run", "two.yaml", "--rerun"]).expect(0);
        });
        assert_eq!((second.code, proxy.posts().len()), (Some(0), posts), "{}", second.transcript());
    }
    let output = project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "two").len()), (6, 6), "{}", output.transcript());
}

const CHAIN: &str = "version: 1\nname: chain\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea, continues: one }\n";

/// What a rerun renders after a new video is what any other run would render after it.
#[test]
fn run_beside_a_rerun_of_a_chain_submits_each_shot_once() {
    for held_is_rerun in [true, false] {
        let proxy = RecordingProxy::faithful();
        let project = Project::new("chain.yaml", CHAIN).against(&proxy.url, KEY);
        project.runner(&["run", "chain.yaml"]).expect(0);
        // The first shot is rendered again; the second one is still to be rendered after it.
        project.runner_killed_at("after downloaded", &["run", "chain.yaml", "--rerun"]);
        assert_eq!(proxy.posts().len(), 3);
        let (held_arguments, other_arguments): (&[&str], &[&str]) = if held_is_rerun {
            (&["run", "chain.yaml", "--rerun"], &["run", "chain.yaml"])
        } else {
            (&["run", "chain.yaml"], &["run", "chain.yaml", "--rerun"])
        };
        let output = project.runner_held_at("before prepared", "", held_arguments, || {
            project.runner(other_arguments).expect(0);
        });
        assert_eq!((output.code, proxy.posts().len()), (Some(0), 4), "{}", output.transcript());
        let next_run = project.runner(&["run", "chain.yaml"]).expect(0);
        assert_eq!(proxy.posts().len(), 4, "{}", next_run.transcript());
    }
}

/// That run is suspended, or its POST hangs: whether it is paid for is not known before it ends.
#[test]
fn claim_of_a_suspended_run_ends_with_the_timeout() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy);
    let write = |text: &str| fs_err::write(project.file("two.yaml"), text).expect("the file can be written");
    let only = ["run", "two.yaml", "--only", "one"];
    let first = project.runner_held_at("after prepared", "", &only, || {
        // For the run that waits alone: the first one has as much time as it needs once it goes on.
        write(&TWO.replace("size: 480x480", "size: 480x480, timeout: 1s"));
        cli_snapshot!("claimed_longer_than_the_timeout", project.runner(&only).expect(1));
        write(TWO);
    });
    assert_eq!((first.code, proxy.posts().len()), (Some(0), 1), "{}", first.transcript());
    project.runner(&only).expect(0);
    assert_eq!(proxy.posts().len(), 1);
}

/// The service forgets a task, `retry` gives it up, and `fetch` stores its video before another one is submitted: at each step between.
#[test]
fn run_uses_what_is_fetched_before_its_next_attempt() {
    for step in ["after polled", "before task-expired", "after task-expired"] {
        let is_gone = Arc::new(AtomicBool::new(true));
        let shared = Arc::clone(&is_gone);
        let service = ScriptedService::start(move |call| {
            let error =
                r#"{"error":{"code":"task_not_found","message":"gone","type":"invalid_request_error"}}"#;
            let is_poll = call.path.starts_with("/v1/videos/");
            (is_poll && shared.load(Ordering::Relaxed)).then(|| response(410, &[], error))
        });
        let project = Project::new("one.yaml", ONE).against(&service.url, KEY);
        let run = project.runner_held_at(step, "", &["run", "one.yaml"], || {
            is_gone.store(false, Ordering::Relaxed);
            let fetched = project.runner(&["ledger", "fetch", "--all"]).expect(0);
            if step == "after task-expired" {
                cli_snapshot!("fetch_before_the_next_attempt", fetched);
            }
        });
        assert_eq!((run.code, service.posts()), (Some(0), 1), "{step}: {}", run.transcript());
        assert_eq!(shots(&project, "one").len(), 1);
        if step == "after task-expired" {
            cli_snapshot!("fetched_before_the_next_attempt", run);
        }
        project.runner(&["run", "one.yaml"]).expect(0);
        assert_eq!(service.posts(), 1);
    }
}
