//! `run --rerun` asks for one more render of each shot. However it ends, the same command again pays for what is left, and for no more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::support::project_state::remove_ledger;
use crate::support::proxy::KEY;
use crate::support::scripted::{ScriptedService, response};
use crate::support::{Output, Project, cli_snapshot, inline_snapshot};

const SHOTS: usize = 8;

fn eight() -> String {
    let shots = (1..=SHOTS).map(|shot| format!("  - {{id: s{shot}, prompt: number {shot}}}\n"));
    format!(
        "version: 1\nname: eight\ndefaults: {{model: modelb-video-480p, seconds: 1, size: 480x480, timeout: 2s}}\nshots:\n{}",
        shots.collect::<String>()
    )
}

/// A service that refuses, loses or does not finish the tasks of submissions with these numbers.
struct Service {
    scripted: ScriptedService,
    /// The number of the submission that is answered with this status; 0 for none.
    faulty: Arc<AtomicUsize>,
    status: Arc<AtomicUsize>,
    /// Whether the last task is in progress.
    is_last_held: Arc<AtomicBool>,
    are_all_held: Arc<AtomicBool>,
}

impl Service {
    fn start() -> Self {
        let (faulty, status) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (is_last_held, are_all_held) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let of_script = (faulty.clone(), status.clone(), is_last_held.clone(), are_all_held.clone());
        let scripted = ScriptedService::start(move |call| {
            let (faulty, status, is_last_held, are_all_held) = &of_script;
            if call.path == "/v1/videos" {
                let is_faulty = call.nth == faulty.load(Ordering::Relaxed);
                let status = u16::try_from(status.load(Ordering::Relaxed)).expect("a status");
                let error = r#"{"error":{"code":"insufficient_quota","message":"no credit is left","type":"quota_error","param":null}}"#;
                return is_faulty.then(|| response(status, &[("content-type", "application/json")], error));
            }
            let task = call.path.strip_prefix("/v1/videos/")?;
            let is_last = task.ends_with(&format!("{:02}", 2 * SHOTS));
            let is_held =
                are_all_held.load(Ordering::Relaxed) || (is_last && is_last_held.load(Ordering::Relaxed));
            let body = format!(r#"{{"id":"{task}","object":"video","status":"in_progress"}}"#);
            is_held.then(|| response(200, &[("content-type", "application/json")], body))
        });
        Self { scripted, faulty, status, is_last_held, are_all_held }
    }

    /// A project whose shots are rendered.
    fn project(&self) -> Project {
        let project = Project::new("eight.yaml", &eight()).against(&self.scripted.url, KEY);
        project.runner(&["run", "eight.yaml"]).expect(0);
        assert_eq!(self.scripted.posts(), SHOTS);
        project
    }

    fn fail(&self, nth: usize, status: usize) {
        self.status.store(status, Ordering::Relaxed);
        self.faulty.store(nth, Ordering::Relaxed);
    }
}

const RERUN: &[&str] = &["run", "eight.yaml", "--rerun", "--jobs", "1"];

/// The same command until everything is done; `refused` submissions cost nothing.
#[track_caller]
fn finishes(service: &Service, project: &Project, refused: usize) -> Output {
    let last = project.runner(RERUN).expect(0);
    let transcript = last.transcript();
    assert_eq!(service.scripted.posts() - refused, 2 * SHOTS, "eight for eight: {transcript}");
    let plain = project.runner(&["run", "eight.yaml"]).expect(0);
    assert_eq!(service.scripted.posts() - refused, 2 * SHOTS, "nothing is left: {}", plain.transcript());
    last
}

/// Killed, then continued by a run without the flag.
#[test]
fn rerun_that_was_killed_is_continued_by_a_plain_run() {
    let service = Service::start();
    let project = service.project();
    let killed = project.runner_killed_at("after submitted", RERUN);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    let plain = project.runner(&["run", "eight.yaml"]).expect(0);
    inline_snapshot!(plain.err.lines().next().unwrap_or_default(), @"continues a rerun that is not done (--rerun): s1, s2, s3, s4, s5, s6, s7, s8");
    assert_eq!(service.scripted.posts(), 2 * SHOTS, "{}", plain.transcript());
}

/// A run of another shot ends meanwhile.
#[test]
fn rerun_is_not_ended_by_another_run() {
    let service = Service::start();
    let project = service.project();
    let killed = project.runner_held_at("after submitted", "before polled", RERUN, || {
        project.runner(&["run", "eight.yaml", "--only", "s8"]).expect(0);
    });
    assert_eq!(killed.code, None, "{}", killed.transcript());
    finishes(&service, &project, 0);
}

#[cfg(unix)]
#[test]
fn rerun_that_was_interrupted_is_continued() {
    let service = Service::start();
    let project = service.project();
    let mut command = project.command(RERUN);
    let mut has_some = || service.scripted.posts() >= SHOTS + 3;
    let output = project.runner_signalled(&mut command, &mut [("INT", &mut has_some)]);
    assert_eq!(output.code, Some(130), "{}", output.transcript());
    finishes(&service, &project, 0);
}

#[cfg(unix)]
#[test]
fn rerun_whose_tasks_are_all_in_flight_is_continued() {
    let service = Service::start();
    let project = service.project();
    service.are_all_held.store(true, Ordering::Relaxed);
    let mut command = project.command(&["run", "eight.yaml", "--rerun"]);
    let mut are_out = || service.scripted.posts() == 2 * SHOTS;
    let output = project.runner_signalled(&mut command, &mut [("INT", &mut are_out)]);
    assert_eq!(output.code, Some(130), "{}", output.transcript());
    service.are_all_held.store(false, Ordering::Relaxed);
    finishes(&service, &project, 0);
}

#[test]
fn rerun_that_used_up_the_quota_is_continued() {
    let service = Service::start();
    let project = service.project();
    service.fail(SHOTS + 5, 402);
    let output = project.runner(RERUN);
    assert_eq!(output.code, Some(5), "{}", output.transcript());
    finishes(&service, &project, 1);
}

#[test]
fn rerun_within_a_cap_is_continued() {
    let service = Service::start();
    let project = service.project();
    let capped = [RERUN, &["--max-tasks", "3", "--partial"]].concat();
    let first = project.runner(&capped).expect(4);
    cli_snapshot!("rerun_within_a_cap", first.sorted());
    let second = project.runner(&capped).expect(4);
    assert_eq!(service.scripted.posts(), SHOTS + 6, "{}", second.transcript());
    finishes(&service, &project, 0);
}

#[test]
fn rerun_of_which_a_task_outlasts_its_timeout_is_continued() {
    let service = Service::start();
    let project = service.project();
    service.is_last_held.store(true, Ordering::Relaxed);
    let output = project.runner(RERUN);
    assert_eq!(output.code, Some(3), "{}", output.transcript());
    service.is_last_held.store(false, Ordering::Relaxed);
    finishes(&service, &project, 0);
}

#[test]
fn rerun_with_an_indeterminate_submission_is_continued() {
    let service = Service::start();
    let project = service.project();
    service.fail(SHOTS + 4, 502);
    let output = project.runner(RERUN);
    assert_eq!(output.code, Some(3), "{}", output.transcript());
    assert_eq!(service.scripted.posts(), 2 * SHOTS);
    let again = project.runner(RERUN);
    assert_eq!(again.code, Some(3), "it is held: {}", again.transcript());
    // The task was accepted.
    let task = crate::support::scripted::task_id(SHOTS + 4);
    project.runner(&["resolve", "eight.yaml", "s4", "--adopt", &task]).expect(0);
    finishes(&service, &project, 0);
}

/// One more is asked for all the same, what is not wanted is withdrawn, and what was rendered before is picked again.
#[test]
fn renders_are_asked_for_withdrawn_and_picked() {
    let service = Service::start();
    let project = service.project();
    let posts = || service.scripted.posts() - SHOTS;
    let plan = |flags: &[&str]| project.runner(&[&["plan", "eight.yaml"], flags].concat()).expect(0).out;
    // Asked for and not begun: by a cap that admits nothing.
    let killed = project.runner_killed_at("before prepared", &["run", "eight.yaml", "--rerun", "s1"]);
    assert_eq!((killed.code, posts()), (None, 0), "{}", killed.transcript());
    assert!(plan(&[]).contains("to submit: 1 task"), "{}", plan(&[]));
    let withdrawn = project.runner(&["run", "eight.yaml", "--rerun", "s1", "--withdraw"]).expect(0);
    inline_snapshot!(withdrawn.out, @"s1: not asked for any more; what is paid for is kept");
    project.runner(&["run", "eight.yaml"]).expect(0);
    assert_eq!(posts(), 0);

    project.runner(&["run", "eight.yaml", "--rerun", "s1"]).expect(0);
    assert_eq!(posts(), 1);
    cli_snapshot!("pick_renders", project.runner(&["pick", "eight.yaml", "s1"]).expect(0));
    cli_snapshot!("pick_earlier_render", project.runner(&["pick", "eight.yaml", "s1", "1"]).expect(0));
    let reused = project.runner(&["run", "eight.yaml"]).expect(0);
    assert_eq!(posts(), 1, "{}", reused.transcript());
    cli_snapshot!(
        "pick_render_that_does_not_exist",
        project.runner(&["pick", "eight.yaml", "s1", "7"]).expect(2)
    );
    // A pick orders nothing, and stays.
    let beside = project.runner(&["run", "eight.yaml", "--rerun", "s1"]).expect(0);
    assert_eq!(posts(), 2, "{}", beside.transcript());
    cli_snapshot!("rerun_of_a_picked_shot", beside.sorted());
    project.runner(&["pick", "eight.yaml", "s1", "3"]).expect(0);
    project.runner(&["run", "eight.yaml"]).expect(0);
    assert_eq!(posts(), 2);
}

/// A render that came after it was withdrawn does not count, also where the ledger is rebuilt from the videos.
#[test]
fn withdrawn_render_does_not_count_in_a_rebuilt_ledger() {
    let service = Service::start();
    let project = service.project();
    let used = |command: &[&str]| {
        let output = project.runner(command).expect(0);
        let row = output.out.lines().find(|line| line.starts_with("s1 ")).map(str::to_owned);
        row.unwrap_or_else(|| panic!("{}", output.transcript()))
    };
    let before = used(&["run", "eight.yaml"]);
    service.are_all_held.store(true, Ordering::Relaxed);
    project.runner(&["run", "eight.yaml", "--rerun", "s1"]).expect(3);
    project.runner(&["run", "eight.yaml", "--rerun", "s1", "--withdraw"]).expect(0);
    service.are_all_held.store(false, Ordering::Relaxed);
    project.runner(&["ledger", "fetch", "--all", "--in", "eight.yaml"]).expect(0);
    assert_eq!(used(&["run", "eight.yaml"]), before);
    remove_ledger(&project);
    project.runner(&["ledger", "adopt", "eight.yaml"]).expect(0);
    assert_eq!(used(&["run", "eight.yaml"]), before);
    assert_eq!(service.scripted.posts(), SHOTS + 1);
}

/// More takes of a shot that is rendered: the video that there is becomes the first.
#[test]
fn takes_of_a_rendered_shot_include_what_there_is() {
    let service = Service::start();
    let project = service.project();
    let with = |takes: &str| {
        let text = eight().replace("{id: s1, ", &format!("{{id: s1, {takes}"));
        fs_err::write(project.file("eight.yaml"), text).expect("a writable folder");
        project.runner(&["run", "eight.yaml"]).expect(0);
        service.scripted.posts() - SHOTS
    };
    assert_eq!(with("takes: 3, "), 2);
    assert_eq!(with("takes: 1, "), 2);
    assert_eq!(with(""), 2);
    assert_eq!(with("takes: 4, "), 3);
    // One more than the file wants.
    project.runner(&["run", "eight.yaml", "--rerun", "s1"]).expect(0);
    assert_eq!(service.scripted.posts() - SHOTS, 4);
    project.runner(&["pick", "eight.yaml", "s1", "5"]).expect(0);
    project.runner(&["run", "eight.yaml"]).expect(0);
    assert_eq!(service.scripted.posts() - SHOTS, 4);
}

/// A take whose task is gone is the one that is rendered again.
#[test]
fn lost_take_is_rendered_again() {
    let service = Service::start();
    let text = eight().replace("{id: s1, ", "{id: s1, takes: 2, ");
    let project = Project::new("eight.yaml", &text).against(&service.scripted.url, KEY);
    service.are_all_held.store(true, Ordering::Relaxed);
    project.runner(&["run", "eight.yaml", "--only", "s1#2"]).expect(3);
    project.runner(&["resolve", "eight.yaml", "s1#2", "--abandon"]).expect(0);
    service.are_all_held.store(false, Ordering::Relaxed);
    project.runner(&["run", "eight.yaml", "--only", "s1"]).expect(1);
    assert_eq!(service.scripted.posts(), 2, "the abandoned one is not submitted unasked");
    let again = project.runner(&["run", "eight.yaml", "--only", "s1", "--rerun"]).expect(0);
    assert_eq!(service.scripted.posts(), 3, "{}", again.transcript());
    project.runner(&["run", "eight.yaml", "--only", "s1"]).expect(0);
    assert_eq!(service.scripted.posts(), 3);
}

/// What one shot does moves the video of no other, although their requests are equal.
#[test]
fn videos_of_equal_shots_stay_where_they_are() {
    let service = ScriptedService::start(|_| None);
    let file = |shots: &[&str]| {
        let shots: Vec<String> =
            shots.iter().map(|shot| format!("  - {{id: {shot}, prompt: the sea}}\n")).collect();
        let shots = shots.concat();
        format!(
            "version: 1\nname: equal\ndefaults: {{model: modelb-video-480p, seconds: 1, size: 480x480}}\nshots:\n{shots}"
        )
    };
    let project = Project::new("equal.yaml", &file(&["a", "b"])).against(&service.url, KEY);
    let tasks = || {
        let run = project.runner(&["run", "equal.yaml", "--format", "json"]).expect(0);
        let document: serde_json::Value = serde_json::from_str(&run.out).expect("a document");
        let shots = document["shots"].as_array().expect("shots").iter();
        let line = |shot: &serde_json::Value| format!("{} {}", shot["shot"], shot["task"]);
        let mut lines: Vec<String> = shots.map(line).collect();
        lines.sort();
        lines.join("\n")
    };
    let write =
        |shots: &[&str]| fs_err::write(project.file("equal.yaml"), file(shots)).expect("a writable folder");
    let first = tasks();
    write(&["b", "a"]);
    assert_eq!(tasks(), first, "the order of the file decides nothing any more");
    write(&["c", "b", "a"]);
    assert!(tasks().starts_with(&first), "a new shot takes the video of nobody");
    assert_eq!(service.posts(), 3);
    // Renamed: it takes what nobody has.
    write(&["c", "d", "a"]);
    tasks();
    assert_eq!(service.posts(), 3);
}

/// A chain of five: each is rendered again once, because the frame that it begins with is another one; and back again for nothing.
#[test]
fn chain_is_rendered_again_once_and_goes_back() {
    let service = ScriptedService::start(|_| None);
    let shots: Vec<String> = (1..=5)
        .map(|shot| {
            let before = if shot > 1 { format!(", continues: s{}", shot - 1) } else { String::new() };
            format!("  - {{id: s{shot}, prompt: number {shot}{before}}}\n")
        })
        .collect();
    let shots = shots.concat();
    let text = format!(
        "version: 1\nname: chain\ndefaults: {{model: modelb-video-480p, seconds: 1, size: 480x480}}\nshots:\n{shots}"
    );
    let project = Project::new("chain.yaml", &text).against(&service.url, KEY);
    project.runner(&["run", "chain.yaml"]).expect(0);
    let rerun = ["run", "chain.yaml", "--rerun"];
    let killed = project.runner_killed_at("after submitted", &rerun);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    project.runner(&rerun).expect(0);
    assert_eq!(service.posts(), 10);
    project.runner(&["pick", "chain.yaml", "s1", "1"]).expect(0);
    let back = project.runner(&["run", "chain.yaml"]).expect(0);
    assert_eq!(service.posts(), 10, "{}", back.transcript());
    project.runner(&["pick", "chain.yaml", "s1", "--clear"]).expect(0);
    project.runner(&["run", "chain.yaml"]).expect(0);
    assert_eq!(service.posts(), 10);
}
