//! A backup of the ledger from before some runs is put back: what these runs paid for is recorded again by `ledger adopt`, and by nothing else.

use crate::support::project_state::{back_up, remove_ledger, restore, shots};
use crate::support::proxy::KEY;
use crate::support::scripted::{ScriptedService, task_id};
use crate::support::{Project, cli_snapshot};

fn workflow(of_one: &str, of_two: &str) -> String {
    format!(
        "version: 1\nname: two\ndefaults: {{ model: modelb-video-480p, seconds: 1, size: 480x480 }}\nshots:\n  \
         - {{ id: one, prompt: a quiet sea{of_one} }}\n  - {{ id: two, prompt: a loud sea{of_two} }}\n"
    )
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
            project.runner(&["ledger", "fetch", &task_id(nth)]).expect(0);
        }
        remove_ledger(&project);
        fs_err::remove_dir_all(project.file("out")).expect("removable");
        project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
        assert_eq!(tasks(&project), [task_id(3), task_id(2)], "{has_sidecars}");
        assert_eq!(service.posts(), 3);
    }
}
