//! Budget caps, reruns, restored videos, tasks at another service, a read-only folder.

use crate::support::program::Output;
use crate::support::project_state::{indeterminate, shots};
use crate::support::proxy::{KEY, RecordingProxy, ResponseFault};
use crate::support::scripted::{ScriptedService, response, task_id};
use crate::support::{Project, cli_snapshot, inline_snapshot};

const THREE: &str = "version: 1\nname: three\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: a, prompt: a quiet sea }\n  - { id: b, prompt: a loud sea }\n  - { id: c, prompt: no sea, seconds: 2 }\n";

pub(crate) const PRICES: &str = "version: 1\ncurrency: USD\nas_of: 2026-11-01\nsource: a test\nprices:\n  \
    - { model: modelb-video-480p, per_second: 0.10 }\n";

fn against(proxy: &RecordingProxy, priced: bool) -> Project {
    let project = Project::new("three.yaml", THREE).against(&proxy.url, KEY);
    if priced {
        fs_err::write(project.file("prices.yaml"), PRICES).expect("the folder can be written");
    }
    project
}

#[test]
fn cap_below_minimum_exits_4_before_any_post() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy, true);
    for cap in [["--max-cost", "0.39"], ["--max-tasks", "2"], ["--max-video-seconds", "3.5"]] {
        let output = project.runner(&["run", "three.yaml", cap[0], cap[1]]).expect(4);
        cli_snapshot!(format!("run_below_minimum{}", cap[0]), output);
        let output = project.runner(&["run", "three.yaml", cap[0], cap[1], "--dry-run"]).expect(4);
        cli_snapshot!(format!("dry_run_below_minimum{}", cap[0]), output);
    }
    assert_eq!(proxy.posts().len(), 0);
    project
        .runner(&["run", "three.yaml", "--max-cost", "0.40", "--max-tasks", "3", "--max-video-seconds", "4"])
        .expect(0);
    assert_eq!(proxy.posts().len(), 3);
}

#[test]
fn max_cost_refuses_unpriced_tasks_unless_allowed() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy, false);
    let output = project.runner(&["run", "three.yaml", "--max-cost", "100"]).expect(2);
    cli_snapshot!("run_unpriced_under_cap", output);
    assert_eq!(proxy.posts().len(), 0);
    project.runner(&["run", "three.yaml", "--max-cost", "100", "--allow-unpriced"]).expect(0);
}

/// Three shots, each of which continues the one before.
fn chain() -> String {
    THREE
        .replace("sea }\n  - { id: b,", "sea }\n  - { id: b, continues: a,")
        .replace("id: c,", "id: c, continues: b,")
}

/// A chain is submitted shot by shot: under a cap that holds only its beginning there would be no film.
#[test]
fn cap_below_a_whole_chain_exits_4_before_any_post() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("three.yaml", &chain()).against(&proxy.url, KEY);
    fs_err::write(project.file("prices.yaml"), PRICES).expect("the folder can be written");
    for cap in [["--max-cost", "0.39"], ["--max-tasks", "2"], ["--max-video-seconds", "3.5"]] {
        project.runner(&["run", "three.yaml", cap[0], cap[1]]).expect(4);
    }
    assert_eq!(proxy.posts().len(), 0);
    // Its first shot exists; the others follow from its frame and are as certain as before.
    project.runner(&["run", "three.yaml", "--max-tasks", "1", "--partial"]).expect(4);
    fs_err::write(project.file("three.yaml"), chain().replace("a loud sea", "a louder sea"))
        .expect("the folder can be written");
    project.runner(&["run", "three.yaml", "--max-tasks", "1"]).expect(4);
    assert_eq!(proxy.posts().len(), 1);
    project.runner(&["run", "three.yaml", "--max-tasks", "2", "--max-cost", "0.30"]).expect(0);
    assert_eq!(proxy.posts().len(), 3);
}

/// Tasks that failed are paid for as well.
#[test]
fn report_counts_the_cost_of_every_attempt() {
    let service = ScriptedService::start(|call| {
        let task = call
            .path
            .strip_prefix("/v1/videos/")
            .filter(|task| [task_id(1), task_id(2)].contains(&(*task).to_owned()))?;
        let failed = r#"{"id":"ID","object":"video","status":"failed","error":{"code":"render_failed","message":"no"}}"#;
        Some(response(200, &[], failed.replace("ID", task)))
    });
    let text = THREE.replace("size: 480x480 }", "size: 480x480, retry: 3 }");
    let project = Project::new("three.yaml", &text).against(&service.url, KEY);
    fs_err::write(project.file("prices.yaml"), PRICES).expect("the folder can be written");
    project.runner(&["run", "three.yaml", "--only", "a"]).expect(0);
    assert_eq!(service.posts(), 3);
    let report = |format: &str| project.runner(&["report", "three.yaml", "--format", format]).expect(0).out;
    let markdown = report("md");
    let lines: Vec<&str> = markdown.lines().filter(|line| line.contains("USD")).collect();
    inline_snapshot!(lines[0], @"0.1 s of video, at most 0.30 USD for all tasks. File: `three.yaml`.");
    assert_eq!(lines[1].split('|').nth(8).map(str::trim), Some("0.30 USD"), "{markdown}");
    let table = report("csv");
    let row = table.lines().nth(1).expect("a row").split(',').collect::<Vec<_>>();
    assert_eq!((row[5], row[10]), ("3", "0.30"), "{table}");
    let status = project.runner(&["status", "three.yaml"]).expect(0).out;
    let total = status.lines().find(|line| line.starts_with("total"));
    inline_snapshot!(total.unwrap_or_default(), @"total: 0 tasks, 0 s of video reserved; 3 tasks, 3 s of video, 0.30 spent");
}

/// A task that was submitted without a price table may cost anything: a later cap cannot count it.
#[test]
fn max_cost_refuses_unpriced_tasks_in_flight_unless_allowed() {
    let proxy = RecordingProxy::losing_first("quiet");
    let project = against(&proxy, false);
    project.runner(&["run", "three.yaml", "--only", "a"]).expect(3);
    fs_err::write(project.file("prices.yaml"), PRICES).expect("the folder can be written");
    let refused = project.runner(&["run", "three.yaml", "--max-cost", "100"]).expect(2);
    cli_snapshot!("run_unpriced_in_flight_under_cap", refused);
    assert_eq!(proxy.posts().len(), 1);
    project.runner(&["run", "three.yaml", "--max-cost", "100", "--allow-unpriced"]).expect(3);
    assert_eq!(proxy.posts().len(), 3);
}

/// A submission without an outcome is reserved, without a price even.
#[test]
fn own_caps_count_what_the_run_submits() {
    let proxy = RecordingProxy::losing_first("quiet");
    let project = against(&proxy, false);
    project.runner(&["run", "three.yaml", "--only", "a"]).expect(3);
    fs_err::write(project.file("prices.yaml"), PRICES).expect("the folder can be written");
    let run = |tasks: &str, cost: &str, more: &[&str], code: i32| {
        let caps = ["run", "three.yaml", "--max-tasks", tasks, "--max-cost", cost];
        for dry in [&["--dry-run"][..], &[]] {
            // What would be submitted is shown, whatever becomes of it.
            let code = if code == 3 && !dry.is_empty() { 0 } else { code };
            project.runner(&[&caps, more, dry].concat()).expect(code);
        }
    };
    run("2", "0.30", &["--allow-unpriced"], 4);
    run("1", "0.30", &["--own-caps"], 4);
    run("2", "0.29", &["--own-caps"], 4);
    assert_eq!(proxy.posts().len(), 1);
    run("2", "0.30", &["--own-caps"], 3);
    assert_eq!(proxy.posts().len(), 3);
    let partial = ["run", "three.yaml", "--rerun", "b", "c", "--max-tasks", "1", "--own-caps", "--partial"];
    project.runner(&partial).expect(4);
    assert_eq!(proxy.posts().len(), 4);
}

#[test]
fn cap_reached_mid_run_finishes_tasks_in_flight() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("three.yaml", &chain()).against(&proxy.url, KEY);
    let output = project.runner(&["run", "three.yaml", "--max-tasks", "2", "--partial"]).expect(4);
    assert_eq!((proxy.posts().len(), shots(&project, "three").len()), (2, 2), "{}", output.transcript());
    cli_snapshot!("run_cap_reached", output);
    project.runner(&["run", "three.yaml", "--max-tasks", "1"]).expect(0);
    assert_eq!(proxy.posts().len(), 3);
}

#[test]
fn rerun_shot_supersedes_and_is_shared_across_workflows() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy, true);
    project.runner(&["run", "three.yaml"]).expect(0);
    let forced = project.runner(&["run", "three.yaml", "--rerun", "a"]).expect(0);
    cli_snapshot!("run_rerun", forced.sorted());
    assert_eq!(proxy.posts().len(), 4);
    assert_eq!(shots(&project, "three").len(), 4, "what was paid for stays");

    // Under another name in another file, and in another folder: the same work.
    fs_err::write(
        project.file("other.yaml"),
        THREE.replace("name: three", "name: other").replace("id: a,", "id: first,"),
    )
    .expect("the folder can be written");
    let other = project.runner(&["run", "other.yaml"]).expect(0);
    cli_snapshot!("run_up_to_date", other.sorted());
    assert_eq!((proxy.posts().len(), shots(&project, "other").len()), (4, 3));

    let salted = project.runner(&["run", "three.yaml", "--salt", "second thoughts"]).expect(0);
    inline_snapshot!(salted.notes(), @"
    3 of 3 shots are done, 3 submitted
    spent: 0.40 USD for 3 videos
    prices: prices.yaml, as of 2026-11-01 (a test)
    ");
    project.runner(&["run", "three.yaml", "--salt", "second thoughts"]).expect(0);
    assert_eq!(proxy.posts().len(), 7, "the same salt finds the same videos");
    let unknown = project.runner(&["run", "three.yaml", "--rerun", "nothing-of-the-kind"]).expect(2);
    cli_snapshot!("run_rerun_unknown_shot", unknown);
}

#[test]
fn missing_or_modified_video_is_restored() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy, false);
    project.runner(&["run", "three.yaml"]).expect(0);
    let videos = shots(&project, "three");
    // Removed: the store still has it.
    fs_err::remove_file(&videos[0].1).expect("the file can be removed");
    // Changed in place through the readable name: size and time differ.
    let original = fs_err::read(&videos[1].1).expect("the file can be read");
    fs_err::write(&videos[1].1, b"not a video").expect("the file can be written");
    // Changed with size and time preserved: only the hash differs.
    let modified =
        fs_err::metadata(&videos[2].1).and_then(|metadata| metadata.modified()).expect("a time of change");
    let mut bytes = fs_err::read(&videos[2].1).expect("the file can be read");
    bytes[100] ^= 1;
    fs_err::write(&videos[2].1, &bytes).expect("the file can be written");
    fs_err::OpenOptions::new()
        .write(true)
        .open(&videos[2].1)
        .and_then(|file| file.file().set_modified(modified))
        .expect("the time can be set");

    let quick = project.runner(&["run", "three.yaml"]).expect(0);
    assert!(videos[0].1.exists());
    assert_eq!(fs_err::read(&videos[1].1).expect("the file can be read"), original, "{}", quick.transcript());
    assert_eq!(
        fs_err::read(&videos[2].1).expect("the file can be read"),
        bytes,
        "nothing tells but the hash"
    );
    project.runner(&["run", "three.yaml", "--verify"]).expect(0);
    assert_ne!(fs_err::read(&videos[2].1).expect("the file can be read"), bytes);
    assert_eq!(proxy.posts().len(), 3, "nothing is paid for again");
}

#[test]
fn task_at_other_service_is_not_submitted_again() {
    let first = RecordingProxy::start(|_| ResponseFault::ConnectionDropped);
    let second = RecordingProxy::faithful();
    let project = against(&first, false);
    project.runner(&["run", "three.yaml"]).expect(3);
    assert_eq!(first.posts().len(), 3);
    let project = project.against(&second.url, KEY);
    let planned = project.runner(&["plan", "three.yaml"]).expect(0);
    cli_snapshot!("plan_task_at_other_service", planned);
    let output = project.runner(&["run", "three.yaml"]).expect(3);
    let urls = output.out.match_indices("http://").map(|(index, _)| &output.out[index..][..first.url.len()]);
    assert_eq!(urls.collect::<Vec<_>>(), [&*first.url; 3], "the other service: {}", output.out);
    cli_snapshot!("run_task_at_other_service", output.sorted());
    assert_eq!(second.posts().len(), 0);
    // Resolving an attempt queries the service that it was submitted to, and no other.
    // The longest first, which any of the tasks fits.
    let mut attempts = indeterminate(&project, "three.yaml");
    attempts.reverse();
    let attempt = &*attempts[0];
    let task = &first.accepted()[0];
    let refused = project.runner(&["resolve", "three.yaml", attempt, "--adopt", task]).expect(2);
    cli_snapshot!("resolve_at_other_service", refused);
    let project = project.against(&first.url, KEY);
    project.runner(&["resolve", "three.yaml", attempt, "--adopt", "task_of_nobody"]).expect(5);
    cli_snapshot!(
        "resolve_adopt",
        project.runner(&["resolve", "three.yaml", attempt, "--adopt", task]).expect(0)
    );
    project.runner(&["resolve", "three.yaml", attempt, "--adopt", task]).expect(2);

    let others: Vec<&str> = attempts[1..].iter().map(|attempt| &**attempt).collect();
    let other_task = first.accepted()[1].clone();
    let resolve = |attempt: &str, resolution: &[&str]| {
        let arguments = [&["resolve", "three.yaml", attempt, "--format", "json"], resolution].concat();
        project.runner(&arguments).expect(0)
    };
    cli_snapshot!("resolve_abandon_json", resolve(others[0], &["--abandon"]));
    cli_snapshot!("resolve_adopt_json", resolve(others[0], &["--no-verify", "--adopt", &other_task]));
    cli_snapshot!("resolve_resubmit_json", resolve(others[1], &["--resubmit"]));
}

/// Another service may be another address of the same one.
#[test]
fn videos_of_another_service_are_not_paid_for_again_unasked() {
    let first = RecordingProxy::faithful();
    let second = RecordingProxy::faithful();
    let project = against(&first, false);
    project.runner(&["run", "three.yaml", "--only", "a"]).expect(0);
    let project = project.against(&second.url, KEY);
    cli_snapshot!("plan_videos_of_other_service", project.runner(&["plan", "three.yaml"]).expect(0));
    cli_snapshot!("run_videos_of_other_service", project.runner(&["run", "three.yaml"]).expect(3));
    assert_eq!(second.posts().len(), 0);
    project.runner(&["run", "three.yaml", "--force"]).expect(0);
    assert_eq!(second.posts().len(), 3);
}

#[test]
fn abandoned_attempt_is_not_submitted_again() {
    let proxy = RecordingProxy::losing_first("no sea");
    let project = against(&proxy, false);
    project.runner(&["run", "three.yaml"]).expect(3);
    cli_snapshot!("resolve_abandon", project.runner(&["resolve", "three.yaml", "c", "--abandon"]).expect(0));
    project.runner(&["resolve", "three.yaml"]).expect(0);
    let output = project.runner(&["run", "three.yaml"]).expect(1);
    let planned = project.runner(&["plan", "three.yaml"]).expect(0);
    cli_snapshot!("plan_abandoned", planned);
    cli_snapshot!("run_abandoned", output.sorted());
    assert_eq!(proxy.posts().len(), 3);
    project.runner(&["run", "three.yaml", "--rerun", "c"]).expect(0);
    project.runner(&["run", "three.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 4);
}

/// A task without a price is in flight at a service that is paid. What the embedded service renders costs nothing.
#[test]
fn cap_on_cost_stops_nothing_that_is_free() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy, false);
    let killed = project.runner_killed_at("after submitted", &["run", "three.yaml", "--jobs", "1"]);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    let project = project.embedded();
    fs_err::write(project.file("other.yaml"), THREE.replace("sea", "lake")).expect("the file can be written");
    project.runner(&["run", "other.yaml", "--max-cost", "1"]).expect(0);
    project.runner(&["run", "other.yaml", "--rerun", "a", "--max-tasks", "0"]).expect(4);
}

/// For users who may write anywhere, the program runs as a user who may not.
#[cfg(unix)]
#[test]
fn read_only_folder_exits_5_before_any_post() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;

    use crate::support::program::copy_executable;

    let proxy = RecordingProxy::faithful();
    let project = against(&proxy, false);
    let set_mode = |mode| {
        fs_err::set_permissions(project.path(), std::fs::Permissions::from_mode(mode))
            .expect("a mode can be set");
    };
    set_mode(0o555);
    let is_root = fs_err::write(project.file("probe"), "").is_ok();
    let mut command = project.command(&["run", "three.yaml"]);
    if is_root {
        // The program has to be in a folder that the other user can read.
        let program = project.file("runner");
        copy_executable(command.get_program().as_ref(), &program);
        let mut unprivileged = std::process::Command::new(program);
        unprivileged.args(command.get_args()).current_dir(project.path()).env_clear().uid(65_534).gid(65_534);
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                unprivileged.env(name, value);
            }
        }
        command = unprivileged;
    }
    let output = command.output().expect("the program can be started");
    set_mode(0o755);
    cli_snapshot!("run_read_only_folder", Output::from_process(&output).expect(5));
    assert_eq!(proxy.posts().len(), 0);
}
