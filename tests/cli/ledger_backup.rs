//! A backup of the ledger from before some runs is put back: what these runs paid for is recorded again by `ledger adopt`, and by nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::project_state::{back_up, remove_ledger, restore, shots};
use crate::support::proxy::KEY;
use crate::support::scripted::{Call, ScriptedService, response, task_id};
use crate::support::{Project, cli_snapshot, inline_snapshot, wait_until};

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

fn workflow(of_one: &str, of_two: &str) -> String {
    format!(
        "version: 1\nname: two\ndefaults: {{ model: modelb-video-480p, seconds: 1, size: 480x480 }}\nshots:\n  \
         - {{ id: one, prompt: a quiet sea{of_one} }}\n  - {{ id: two, prompt: a loud sea{of_two} }}\n"
    )
}

fn polled_task<'a>(call: &Call<'a>) -> Option<&'a str> {
    call.path.strip_prefix("/v1/videos/").filter(|rest| !rest.is_empty() && !rest.contains('/'))
}

fn status(task: &str, rest: &str) -> String {
    format!(r#"{{"id":"{task}","object":"video",{rest}}}"#)
}

/// A service that renders every task at once but those named, which wait for `is_done`.
fn rendering(slow: &'static [usize], is_done: &Arc<AtomicBool>) -> ScriptedService {
    let done = Arc::clone(is_done);
    ScriptedService::start(move |call| {
        let task = polled_task(call).filter(|_| !done.load(Ordering::Relaxed))?;
        let is_slow = slow.iter().any(|nth| task == task_id(*nth));
        is_slow.then(|| response(200, JSON, status(task, r#""status":"in_progress""#)))
    })
}

/// The tasks that count for the two shots.
fn tasks(project: &Project) -> Vec<String> {
    let run = project.runner(&["run", "two.yaml", "--format", "json"]).expect(0);
    let document: serde_json::Value = serde_json::from_str(&run.out).expect("a document");
    let shots = document["shots"].as_array().expect("shots").iter();
    shots.map(|shot| shot["task"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn rerun_after_the_backup_is_adopted_as_the_video_that_counts() {
    for continues in ["", ", continues: one"] {
        let service = ScriptedService::start(|_| None);
        let project = Project::new("two.yaml", &workflow("", continues)).against(&service.url, KEY);
        project.runner(&["run", "two.yaml"]).expect(0);
        let backup = back_up(&project);
        project.runner(&["run", "two.yaml", "--rerun", "one"]).expect(0);
        project.runner(&["run", "two.yaml", "--rerun", "one"]).expect(0);
        let (posts, counting, videos) = (service.posts(), tasks(&project), shots(&project, "two"));
        restore(&project, &backup);
        // Before it submits anything, and although it would not.
        let (planned, stopped) =
            (project.runner(&["plan", "two.yaml"]).expect(0), project.runner(&["run", "two.yaml"]).expect(3));
        if continues.is_empty() {
            cli_snapshot!("plan_rerun_unknown", planned);
            cli_snapshot!("run_rerun_unknown", stopped);
            let adopted = project.runner(&["ledger", "adopt", "two.yaml", "--dry-run"]).expect(0);
            cli_snapshot!("adopt_rerun_dry_run", adopted);
        }
        project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
        assert_eq!((tasks(&project), shots(&project, "two")), (counting, videos), "{continues}");
        let second_adopt = project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
        assert!(second_adopt.out.starts_with("nothing to adopt"), "{}", second_adopt.transcript());
        // A new rerun counts instead.
        project.runner(&["run", "two.yaml", "--rerun", "two", "--only", "two"]).expect(0);
        assert_eq!(service.posts(), posts + 1, "{continues}");
        project.runner(&["run", "two.yaml"]).expect(0);
        assert_eq!(service.posts(), posts + 1, "{continues}");
    }
}

/// A video that was paid for again counts, not an earlier rerun that the ledger has lost.
#[test]
fn earlier_rerun_does_not_count_instead_of_a_later_video() {
    let service = ScriptedService::start(|_| None);
    let project = Project::new("two.yaml", &workflow("", "")).against(&service.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    project.runner(&["run", "two.yaml", "--rerun", "one"]).expect(0);
    remove_ledger(&project);
    project.runner(&["run", "two.yaml", "--force"]).expect(0);
    let posts = service.posts();
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(service.posts(), posts);
}

/// The rerun's video is the only one that is left of its shot.
#[test]
fn rerun_alone_stops_the_run_and_is_adopted() {
    let service = ScriptedService::start(|_| None);
    let project = Project::new("two.yaml", &workflow("", "")).against(&service.url, KEY);
    project.runner(&["run", "two.yaml", "--jobs", "1"]).expect(0);
    project.runner(&["run", "two.yaml", "--rerun", "one", "--only", "one"]).expect(0);
    let superseded = format!("\"task\": \"{}\"", task_id(1));
    let artifacts = project.file(".runner/artifacts");
    for entry in fs_err::read_dir(&artifacts).expect("a folder").filter_map(Result::ok) {
        let path = entry.path();
        if fs_err::read_to_string(&path).is_ok_and(|text| text.contains(&superseded)) {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            fs_err::remove_file(&path).expect("removable");
            drop(fs_err::remove_file(artifacts.join(format!("{}.mp4", &name[..64]))));
        }
    }
    fs_err::remove_dir_all(project.file("out")).expect("removable");
    remove_ledger(&project);
    project.runner(&["run", "two.yaml"]).expect(3);
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    let counting = tasks(&project);
    assert_eq!((service.posts(), &*counting[0]), (3, &*task_id(3)));
}

/// A rerun was killed after the backup: its task is in flight, and the lock file names its key.
#[test]
fn task_of_a_killed_rerun_is_adopted_as_one() {
    for is_ledger_gone in [false, true] {
        let is_done = Arc::new(AtomicBool::new(false));
        let service = rendering(&[3], &is_done);
        let project = Project::new("two.yaml", &workflow("", "")).against(&service.url, KEY);
        project.runner(&["run", "two.yaml", "--jobs", "1"]).expect(0);
        let backup = back_up(&project);
        let mut rerun = project.start(&["run", "two.yaml", "--rerun", "one"]);
        wait_until("it is polled", || service.gets(&format!("/v1/videos/{}", task_id(3))) > 0);
        rerun.kill().expect("it can be killed");
        rerun.wait().expect("it ends");
        if is_ledger_gone {
            remove_ledger(&project);
        } else {
            restore(&project, &backup);
        }
        project.runner(&["run", "two.yaml"]).expect(3);
        let assignment = format!("one={}", task_id(3));
        let adopted = project.runner(&["ledger", "adopt", "two.yaml", "--task", &assignment]).expect(0);
        if !is_ledger_gone {
            inline_snapshot!(adopted.transcript(), @"
            exit code: 0
            --- stdout
            one: the next run adopts task [TASK]
            --- stderr
            ");
        }
        is_done.store(true, Ordering::Relaxed);
        assert_eq!(tasks(&project), [task_id(3), task_id(2)]);
        assert_eq!(service.posts(), 3);
    }
}

/// A task that is in flight in the backup has failed since, and a `retry` has paid for another one, which was in flight when its run was killed.
#[test]
fn task_of_an_unrecorded_retry_is_adopted_instead_of_the_one_on_record() {
    let is_failed = Arc::new(AtomicBool::new(false));
    let failed = Arc::clone(&is_failed);
    let is_done = Arc::new(AtomicBool::new(false));
    let done = Arc::clone(&is_done);
    let service = ScriptedService::start(move |call| {
        let task = polled_task(call)?;
        let waits = r#""status":"in_progress""#;
        let fails = r#""status":"failed","error":{"code":"internal_error","message":"no"}"#;
        let body = match task {
            _ if task == task_id(1) && failed.load(Ordering::Relaxed) => fails,
            _ if done.load(Ordering::Relaxed) => return None,
            _ => waits,
        };
        Some(response(200, JSON, status(task, body)))
    });
    let text = workflow(", timeout: 2s, retry: 2", "");
    let project = Project::new("two.yaml", &text).against(&service.url, KEY);
    project.runner(&["run", "two.yaml", "--only", "one"]).expect(3);
    // The next runs have as much time as they need.
    fs_err::write(project.file("two.yaml"), workflow(", retry: 2", "")).expect("a writable folder");
    let backup = back_up(&project);
    is_failed.store(true, Ordering::Relaxed);
    let mut killed = project.start(&["run", "two.yaml", "--only", "one"]);
    wait_until("the retry is polled", || service.gets(&format!("/v1/videos/{}", task_id(2))) > 0);
    killed.kill().expect("it can be killed");
    killed.wait().expect("it ends");
    restore(&project, &backup);
    project.runner(&["run", "two.yaml"]).expect(3);
    let assignment = format!("one={}", task_id(2));
    project.runner(&["ledger", "adopt", "two.yaml", "--task", &assignment]).expect(0);
    is_done.store(true, Ordering::Relaxed);
    assert_eq!(tasks(&project), [task_id(2), task_id(3)]);
    assert_eq!(service.posts(), 3);
}

/// The backup is one of the same run, before its `retry` paid for another task: the attempt on record has the key of the lost one, and is no
/// trace of it. The same after a rerun, whose key is a salted one.
#[test]
fn retry_after_a_backup_of_its_own_run_is_noticed_and_adopted() {
    for is_rerun in [false, true] {
        let first = usize::from(is_rerun);
        let is_failed = Arc::new(AtomicBool::new(false));
        let failed = Arc::clone(&is_failed);
        let is_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_done);
        let service = ScriptedService::start(move |call| {
            let task = polled_task(call)?;
            let fails = r#""status":"failed","error":{"code":"internal_error","message":"no"}"#;
            if task == task_id(first + 1) {
                let running = r#""status":"in_progress""#;
                return Some(response(
                    200,
                    JSON,
                    status(task, if failed.load(Ordering::Relaxed) { fails } else { running }),
                ));
            }
            let is_slow = task == task_id(first + 2) && !done.load(Ordering::Relaxed);
            is_slow.then(|| response(200, JSON, status(task, r#""status":"in_progress""#)))
        });
        let project = Project::new("two.yaml", &workflow(", retry: 2", "")).against(&service.url, KEY);
        let only: Vec<&str> = if is_rerun {
            project.runner(&["run", "two.yaml", "--only", "one"]).expect(0);
            vec!["run", "two.yaml", "--only", "one", "--rerun", "one"]
        } else {
            vec!["run", "two.yaml", "--only", "one"]
        };
        let mut run = project.start(&only);
        let polls = |nth: usize| service.gets(&format!("/v1/videos/{}", task_id(nth)));
        wait_until("its first task is polled", || polls(first + 1) > 0);
        let backup = back_up(&project);
        is_failed.store(true, Ordering::Relaxed);
        wait_until("its retry is polled", || polls(first + 2) > 0);
        run.kill().expect("it can be killed");
        run.wait().expect("it ends");
        restore(&project, &backup);
        project.runner(&["run", "two.yaml", "--only", "one"]).expect(3);
        assert_eq!(service.posts(), first + 2);
        let assignment = format!("one={}", task_id(first + 2));
        project.runner(&["ledger", "adopt", "two.yaml", "--task", &assignment]).expect(0);
        is_done.store(true, Ordering::Relaxed);
        let output = project.runner(&["run", "two.yaml", "--only", "one"]).expect(0);
        assert_eq!(service.posts(), first + 2, "{}", output.transcript());
        assert!(output.out.contains(&task_id(first + 2)), "{}", output.transcript());
    }
}

/// A video that is fetched again has the sidecar that its run has written, so that it is found as what it is after the ledger is lost.
#[test]
fn fetched_rerun_is_adopted_as_the_video_that_counts() {
    for has_sidecars in [true, false] {
        let service = ScriptedService::start(|_| None);
        let project = Project::new("two.yaml", &workflow("", "")).against(&service.url, KEY);
        project.runner(&["run", "two.yaml", "--jobs", "1"]).expect(0);
        project.runner(&["run", "two.yaml", "--rerun", "one"]).expect(0);
        fs_err::remove_dir_all(project.file("out")).expect("removable");
        for entry in
            fs_err::read_dir(project.file(".runner/artifacts")).expect("a folder").filter_map(Result::ok)
        {
            let is_video = entry.path().extension().is_some_and(|end| end == "mp4");
            if is_video || !has_sidecars {
                fs_err::remove_file(entry.path()).expect("removable");
            }
        }
        for nth in [3, 1, 2] {
            project.runner(&["fetch", &task_id(nth)]).expect(0);
        }
        remove_ledger(&project);
        fs_err::remove_dir_all(project.file("out")).expect("removable");
        project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
        assert_eq!(tasks(&project), [task_id(3), task_id(2)], "{has_sidecars}");
        assert_eq!(service.posts(), 3);
    }
}

/// The next run continues once everything is recorded that lock files name, and not before.
#[test]
fn run_continues_once_all_noted_attempts_are_adopted() {
    let is_done = Arc::new(AtomicBool::new(false));
    let service = rendering(&[1, 2], &is_done);
    let project = Project::new("two.yaml", &workflow("", "")).against(&service.url, KEY);
    let mut run = project.start(&["run", "two.yaml"]);
    wait_until("both are polled", || service.gets(&format!("/v1/videos/{}", task_id(2))) > 0);
    run.kill().expect("it can be killed");
    run.wait().expect("it ends");
    remove_ledger(&project);
    for (nth, (shot, exit)) in [("one", 3), ("two", 0)].into_iter().enumerate() {
        project.runner(&["run", "two.yaml"]).expect(3);
        let assignment = format!("{shot}={}", task_id(nth + 1));
        project.runner(&["ledger", "adopt", "two.yaml", "--task", &assignment]).expect(exit);
    }
    is_done.store(true, Ordering::Relaxed);
    assert_eq!(tasks(&project).len(), 2);
    assert_eq!(service.posts(), 2);
}

/// A run that was killed before its first intent has nothing to adopt: its file shows that the ledger is another one, until someone has looked.
#[test]
fn run_that_submitted_nothing_is_not_unknown_after_adoption() {
    let service = ScriptedService::start(|_| None);
    let project = Project::new("two.yaml", &workflow("", "")).against(&service.url, KEY);
    project.runner(&["run", "two.yaml", "--only", "one"]).expect(0);
    for boundary in ["after begin", "before prepared"] {
        let killed = project.runner_killed_at(boundary, &["run", "two.yaml", "--rerun", "one"]);
        assert_eq!((killed.code, service.posts()), (None, 1), "{}", killed.transcript());
    }
    remove_ledger(&project);
    cli_snapshot!("run_killed_runs_without_attempts", project.runner(&["run", "two.yaml"]).expect(3));
    project.runner(&["ledger", "adopt", "two.yaml", "--dry-run"]).expect(3);
    cli_snapshot!("plan_killed_runs_without_attempts", project.runner(&["plan", "two.yaml"]).expect(0));
    cli_snapshot!(
        "adopt_killed_runs_without_attempts",
        project.runner(&["ledger", "adopt", "two.yaml"]).expect(0)
    );
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((service.posts(), tasks(&project).len()), (2, 2));
    // With nothing to record as well.
    let killed = project.runner_killed_at("after begin", &["run", "two.yaml", "--force"]);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    remove_ledger(&project);
    fs_err::remove_dir_all(project.file("out")).expect("removable");
    fs_err::remove_dir_all(project.file(".runner/artifacts")).expect("removable");
    cli_snapshot!("run_killed_run_without_videos", project.runner(&["run", "two.yaml"]).expect(3));
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    assert_eq!(service.posts(), 2);
}

/// Its tasks cost nothing, and are of no service that is paid.
#[test]
fn killed_run_of_the_embedded_service_does_not_stop_a_paid_run() {
    let service = ScriptedService::start(|_| None);
    let project = Project::new("two.yaml", &workflow("", ""));
    let killed = project.runner_killed_at("after submitted", &["run", "two.yaml"]);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    remove_ledger(&project);
    let paid = project.against(&service.url, KEY);
    let planned = paid.runner(&["plan", "two.yaml"]).expect(0);
    cli_snapshot!("plan_after_killed_embedded_run", planned);
    paid.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(service.posts(), 2);
}

/// A run at another service that is paid stops it, and is named with that service.
#[test]
fn killed_run_of_another_service_is_named_with_it() {
    let (first, second) = (ScriptedService::start(|_| None), ScriptedService::start(|_| None));
    let project = Project::new("two.yaml", &workflow("", "")).against(&first.url, KEY);
    let killed = project.runner_killed_at("after submitted", &["run", "two.yaml", "--jobs", "1"]);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    remove_ledger(&project);
    let at_second = project.against(&second.url, KEY);
    let stopped = at_second.runner(&["run", "two.yaml"]).expect(3);
    assert!(stopped.err.contains(&first.url), "{}", stopped.transcript());
    cli_snapshot!("run_after_killed_run_of_another_service", stopped);
    assert_eq!(second.posts(), 0);
    let at_first = at_second.against(&first.url, KEY);
    let assignment = format!("one={}", task_id(1));
    at_first.runner(&["ledger", "adopt", "two.yaml", "--task", &assignment]).expect(0);
    at_first.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((first.posts(), second.posts()), (2, 0));
}
