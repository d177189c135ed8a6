//! A lost ledger is rebuilt from sidecars and manifests: every video is recorded again, and nothing is submitted.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::program::Output;
use crate::support::project_state::{remove_ledger, shots};
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::{Project, cli_snapshot, inline_snapshot};

const TWO: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea, continues: one }\n";

/// The workflow at a service, and the service.
fn rendered_project() -> (RecordingProxy, Project) {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    (proxy, project)
}

/// The sidecars in a folder, in the order of their shots.
fn sidecars(folder: &Path) -> Vec<(PathBuf, Value)> {
    let paths = fs_err::read_dir(folder).expect("a folder").filter_map(Result::ok).map(|entry| entry.path());
    let mut sidecars: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| {
            let text = fs_err::read(&path).expect("a sidecar");
            (path, serde_json::from_slice(&text).expect("JSON"))
        })
        .collect();
    sidecars.sort_by_key(|(_, sidecar): &(_, Value)| sidecar["shot"].to_string());
    sidecars
}

/// A run submits nothing, and the videos are those of before.
#[track_caller]
fn assert_runs_without_submissions(project: &Project, proxy: &RecordingProxy) {
    let run = project.runner(&["run", "two.yaml"]).expect(0);
    inline_snapshot!(run.notes(), @"all 2 shots are up to date, nothing was submitted");
    assert_eq!((proxy.posts().len(), shots(project, "two").len()), (2, 2), "{}", run.transcript());
}

/// The tasks of the shots in a document.
fn tasks(output: &Output) -> Vec<String> {
    let document: Value = serde_json::from_str(&output.out).expect("a document");
    let shots = document["shots"].as_array().expect("shots").iter();
    let mut shots: Vec<_> = shots.map(|shot| (shot["shot"].to_string(), &shot["task"])).collect();
    shots.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    shots.iter().map(|(_, task)| task.as_str().expect("a task").to_owned()).collect()
}

#[test]
fn sidecar_says_what_its_video_is_and_no_secret() {
    let (proxy, project) = rendered_project();
    let sidecars = sidecars(&project.file(".runner/artifacts"));
    let schema: Value =
        serde_json::from_str(&project.runner(&["schema", "sidecar"]).expect(0).out).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for (path, sidecar) in &sidecars {
        validator.validate(sidecar).expect("the sidecar matches its schema");
        let text = fs_err::read_to_string(path).expect("a sidecar");
        // A snapshot has the whole text of one; this is about all of them.
        assert!(!text.contains(KEY) && !text.contains("data:image"), "{text}");
    }
    let tasks: Vec<&str> = sidecars.iter().filter_map(|(_, sidecar)| sidecar["task"].as_str()).collect();
    assert_eq!(tasks, proxy.accepted());
    assert_eq!(sidecars[1].1["parents"][0]["key"], sidecars[0].1["key"]);
    insta::with_settings!({ filters => crate::support::transcript::REDACTIONS.to_vec() }, {
        insta::assert_snapshot!("sidecar", format!("{:#}", sidecars[1].1));
    });
}

#[test]
fn ledger_is_rebuilt_from_sidecars_without_a_submission() {
    let (proxy, project) = rendered_project();
    let videos = shots(&project, "two");
    remove_ledger(&project);
    // The readable names are gone too: the sidecars alone stop the run.
    fs_err::remove_dir_all(project.file("out")).expect("removable");
    cli_snapshot!("sidecars_run_stops", project.runner(&["run", "two.yaml"]).expect(3));
    cli_snapshot!("sidecars_plan_stops", project.runner(&["plan", "two.yaml"]).expect(0));
    assert_eq!(proxy.posts().len(), 2);
    remove_ledger(&project);
    let dry_run = project.runner(&["ledger", "adopt", "two.yaml", "--dry-run"]).expect(0);
    cli_snapshot!("sidecars_adopt_dry_run", dry_run);
    assert!(!project.file(".runner/ledger.db").exists());
    cli_snapshot!("sidecars_adopt", project.runner(&["ledger", "adopt", "two.yaml"]).expect(0));
    cli_snapshot!("sidecars_adopt_again", project.runner(&["ledger", "adopt", "two.yaml"]).expect(0));
    assert_runs_without_submissions(&project, &proxy);
    assert_eq!(shots(&project, "two"), videos);
    let status = project.runner(&["status", "two.yaml", "--format", "json"]).expect(0);
    assert_eq!(tasks(&status), proxy.accepted(), "{}", status.transcript());
}

#[test]
fn output_folder_with_manifest_is_adopted_on_another_machine() {
    let (proxy, project) = rendered_project();
    project.runner(&["view", "two.yaml", "--no-open"]).expect(0);
    let other = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    fs_err::rename(project.file("out/two"), other.file("received")).expect("a folder");
    let adopt = ["ledger", "adopt", "two.yaml", "--from-folder", "received"];
    let dry_run = [&adopt[..], &["--dry-run"]].concat();
    cli_snapshot!("manifest_adopt_dry_run", other.runner(&dry_run).expect(0));
    assert!(!other.file(".runner").exists(), "a dry run writes nothing");
    cli_snapshot!("manifest_adopt", other.runner(&adopt).expect(0));
    cli_snapshot!("manifest_adopt_again", other.runner(&adopt).expect(0));
    assert_runs_without_submissions(&other, &proxy);
    // What was received may go: the store has copies, with sidecars of their own.
    fs_err::remove_dir_all(other.file("received")).expect("removable");
    assert_eq!(sidecars(&other.file(".runner/artifacts")).len(), 2);
    remove_ledger(&other);
    other.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    assert_runs_without_submissions(&other, &proxy);
}

/// The process dies before and after a sidecar is written: its video is not paid for again, and is adopted without a ledger.
#[test]
fn crash_around_a_sidecar_loses_nothing() {
    for (boundary, sidecars_left) in [("before sidecar", 0), ("after sidecar", 1)] {
        let proxy = RecordingProxy::faithful();
        let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
        let killed = project.runner_killed_at(boundary, &["run", "two.yaml"]);
        assert_eq!(killed.code, None, "{boundary}: {}", killed.transcript());
        assert_eq!(sidecars(&project.file(".runner/artifacts")).len(), sidecars_left, "{boundary}");
        project.runner(&["run", "two.yaml"]).expect(0);
        assert_eq!(sidecars(&project.file(".runner/artifacts")).len(), 2, "{boundary}");
        remove_ledger(&project);
        project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
        assert_runs_without_submissions(&project, &proxy);
    }
}

#[test]
fn removed_sidecars_and_stored_videos_are_written_again() {
    let (proxy, project) = rendered_project();
    for end in ["json", "mp4"] {
        let stored = || {
            let entries = fs_err::read_dir(project.file(".runner/artifacts")).expect("a folder");
            let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
            paths
                .filter(|path| path.extension().is_some_and(|extension| extension == end))
                .collect::<Vec<_>>()
        };
        for path in stored() {
            fs_err::remove_file(path).expect("removable");
        }
        project.runner(&["run", "two.yaml"]).expect(0);
        assert_eq!(stored().len(), 2, "{end}");
        remove_ledger(&project);
        fs_err::remove_dir_all(project.file("out")).expect("removable");
        project.runner(&["run", "two.yaml"]).expect(3);
        project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
        assert_runs_without_submissions(&project, &proxy);
    }
}
