//! The ledger is removed, replaced or restored: nothing is paid for again without a word, and no paid video is overwritten.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::budget::PRICES;
use crate::support::project_state::{back_up, remove_ledger, restore, shots};
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::scripted::{ScriptedService, task_id};
use crate::support::{Project, cli_snapshot, inline_snapshot, wait_until};

const TWO: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea, continues: one }\n";

fn against(proxy: &RecordingProxy) -> Project {
    Project::new("two.yaml", TWO).against(&proxy.url, KEY)
}

#[test]
fn videos_without_ledger_stop_the_run_and_are_adopted() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy);
    project.runner(&["run", "two.yaml"]).expect(0);
    let videos = shots(&project, "two");
    fs_err::remove_dir_all(project.file(".runner")).expect("the ledger can be removed");

    cli_snapshot!("plan_videos_unknown", project.runner(&["plan", "two.yaml"]).expect(0));
    cli_snapshot!("run_videos_unknown", project.runner(&["run", "two.yaml"]).expect(3));
    assert_eq!(proxy.posts().len(), 2);
    cli_snapshot!("ledger_adopt", project.runner(&["ledger", "adopt", "two.yaml"]).expect(0));
    cli_snapshot!("ledger_adopt_nothing", project.runner(&["ledger", "adopt", "two.yaml"]).expect(0));
    let next_run = project.runner(&["run", "two.yaml"]).expect(0);
    inline_snapshot!(next_run.notes(), @"all 2 shots are up to date, nothing was submitted");
    assert_eq!((proxy.posts().len(), shots(&project, "two")), (2, videos));
}

#[test]
fn force_renders_again_and_keeps_the_paid_videos() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy);
    project.runner(&["run", "two.yaml"]).expect(0);
    let first = &shots(&project, "two")[0].1;
    let paid = fs_err::read(first).expect("a video");
    fs_err::remove_dir_all(project.file(".runner")).expect("the ledger can be removed");
    project.runner(&["run", "two.yaml", "--force"]).expect(0);
    assert_eq!(proxy.posts().len(), 4);
    let is_kept = |path: &Path| fs_err::read(path).is_ok_and(|bytes| bytes == paid);
    let files = fs_err::read_dir(project.file("out/two")).expect("a folder").filter_map(Result::ok);
    assert!(files.map(|entry| entry.path()).any(|path| is_kept(&path)), "the paid video is somewhere");
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 4);
}

/// An adopted task is reserved at its price, so that a cap counts it.
#[test]
fn adopted_work_costs_what_it_did() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("two.yaml", APART).against(&proxy.url, KEY);
    let set_prices =
        |prices: &str| fs_err::write(project.file("prices.yaml"), prices).expect("it is written");
    set_prices(PRICES);
    let in_flight = |shot: &str| {
        let killed = project.runner_killed_at("after submitted", &["run", "two.yaml", "--only", shot]);
        assert_eq!(killed.code, None, "{}", killed.transcript());
    };
    in_flight("one");
    let capped = || project.runner(&["run", "two.yaml", "--max-cost", "0.12"]);
    let refused = capped().expect(4);
    remove_ledger(&project);
    let task = proxy.accepted()[0].clone();
    project.runner(&["ledger", "adopt", "two.yaml", "--task", &format!("one={task}")]).expect(0);
    assert_eq!(capped().expect(4).err, refused.err, "the same as before");
    assert_eq!(proxy.posts().len(), 1);

    // Videos cost what their sidecars say, whatever the prices are now.
    project.runner(&["run", "two.yaml"]).expect(0);
    remove_ledger(&project);
    set_prices(&PRICES.replace("0.1", "0.7"));
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    let spent = project.runner(&["status", "two.yaml", "--format", "json"]).expect(0).out;
    let spent: Vec<&str> = spent.lines().filter(|line| line.contains("cost")).map(str::trim).collect();
    inline_snapshot!(spent.join(" "), @r#""cost": 0, "cost": 200000,"#);
}

const APART: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea }\n";

#[test]
fn adopt_names_the_owner_of_a_task_and_what_it_did_not_record() {
    let proxy = RecordingProxy::faithful();
    let text = "version: 1\nname: four\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
        - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea }\n  - { id: three, prompt: a red sea }\n  \
        - { id: four, prompt: later, continues: three }\n";
    let project = Project::new("four.yaml", text).against(&proxy.url, KEY);
    project.runner(&["run", "four.yaml", "--only", "one"]).expect(0);
    let owned = format!("two={}", proxy.accepted()[0]);
    // The task of `one`; one task for two shots; a shot that has its video; a shot whose request is not known yet.
    let arguments = [
        "ledger",
        "adopt",
        "four.yaml",
        "--task",
        "one=t9",
        "--task",
        &owned,
        "--task",
        "three=t1",
        "--task",
        "four=t2",
    ];
    let twice = ["ledger", "adopt", "four.yaml", "--task", "two=t1", "--task", "three=t1"];
    cli_snapshot!("ledger_adopt_task_named_twice", project.runner(&twice).expect(2));
    cli_snapshot!("ledger_adopt_conflicts", project.runner(&arguments).expect(3));
    cli_snapshot!(
        "ledger_adopt_one_task_for_two_shots",
        project.runner(&["ledger", "adopt", "four.yaml", "--task", "two=t1", "--format", "json"]).expect(3)
    );
}

/// What happens to the ledger.
#[cfg(unix)]
type Damage = fn(&Project);

/// The task of the first shot has no video yet when the second one is to be submitted.
#[cfg(unix)]
#[test]
fn ledger_removed_or_replaced_during_a_run_stops_submissions() {
    let damages: [(&str, Damage); 2] = [
        ("removed", |project| fs_err::remove_dir_all(project.file(".runner")).expect("removable")),
        ("replaced", |project| restore(project, &back_up(project))),
    ];
    for (name, damage) in damages {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let service = ScriptedService::start(move |call| {
            if call.path.starts_with("/files/") {
                wait_until("the run is over", || over.load(Ordering::Relaxed));
            }
            None
        });
        let project = Project::new("two.yaml", APART).against(&service.url, KEY);
        let output = project.runner_held_at(
            "before submitted",
            "after nothing",
            &["run", "two.yaml", "--jobs", "1"],
            || damage(&project),
        );
        is_over.store(true, Ordering::Relaxed);
        assert_eq!((output.code, service.posts()), (Some(5), 1), "{name}: {}", output.transcript());
        let assignment = format!("one={}", task_id(1));
        let printed_assignment = output.err.split_whitespace().find(|argument| argument.starts_with("one="));
        assert_eq!(printed_assignment, Some(assignment.as_str()), "{name}: {}", output.transcript());
        cli_snapshot!(format!("run_ledger_{name}"), output);
        // The printed command works.
        remove_ledger(&project);
        project.runner(&["ledger", "adopt", "two.yaml", "--task", &assignment]).expect(0);
        project.runner(&["run", "two.yaml"]).expect(0);
        assert_eq!((service.posts(), shots(&project, "two").len()), (2, 2), "{name}");
    }
}

#[test]
fn ledger_of_an_older_backup_is_noticed_by_the_videos() {
    let proxy = RecordingProxy::faithful();
    let project = against(&proxy);
    project.runner(&["run", "two.yaml", "--only", "one"]).expect(0);
    let backup = back_up(&project);
    project.runner(&["run", "two.yaml"]).expect(0);
    restore(&project, &backup);
    let output = project.runner(&["run", "two.yaml"]).expect(3);
    cli_snapshot!("run_ledger_of_backup", output);
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 2);
}
