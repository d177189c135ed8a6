//! A lost ledger is rebuilt from sidecars and manifests: every video is recorded again, and nothing is submitted.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::program::Output;
use crate::support::project_state::{remove_ledger, shots};
use crate::support::proxy::{KEY, RecordingProxy, ResponseFault};
use crate::support::{Project, cli_snapshot, inline_snapshot};

const TWO: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea, continues: one }\n";

/// The workflow at a service, and the service.
fn rendered_project(folder: &Path) -> (RecordingProxy, Project) {
    let proxy = RecordingProxy::start(folder.join("service"), |_| ResponseFault::None);
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
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (proxy, project) = rendered_project(folder.path());
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
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (proxy, project) = rendered_project(folder.path());
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
fn rerun_is_adopted_as_the_video_that_counts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (proxy, project) = rendered_project(folder.path());
    project.runner(&["run", "two.yaml", "--rerun", "two", "--only", "two"]).expect(0);
    remove_ledger(&project);
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    let run = project.runner(&["run", "two.yaml", "--format", "json"]).expect(0);
    assert_eq!(proxy.posts().len(), 3, "{}", run.transcript());
    let accepted = proxy.accepted();
    assert_eq!(tasks(&run), [&*accepted[0], &accepted[2]], "the rerun counts: {}", run.transcript());
}

#[test]
fn output_folder_with_manifest_is_adopted_on_another_machine() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (proxy, project) = rendered_project(folder.path());
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

#[test]
fn hostile_descriptions_are_reported_and_skipped() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (proxy, project) = rendered_project(folder.path());
    project.runner(&["view", "two.yaml", "--no-open"]).expect(0);
    let other = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    fs_err::create_dir_all(other.file("received")).expect("a folder");
    cli_snapshot!(
        "adopt_from_empty_folder",
        other.runner(&["ledger", "adopt", "two.yaml", "--from-folder", "received"]).expect(2)
    );
    // A manifest with a changed video, a path out of the folder and a key of another form.
    let text = fs_err::read_to_string(project.file("out/two/manifest.json")).expect("a manifest");
    let mut manifest: Value = serde_json::from_str(&text).expect("JSON");
    let name = manifest["clips"][0]["file"].as_str().expect("a file").to_owned();
    let mut clip = manifest["clips"][0].clone();
    fs_err::write(other.file("received").join(&name), "another video").expect("writable");
    for (id, pointer, value) in [
        ("outside", "/file", "../../secret.mp4"),
        ("short", "/description/key", "0123"),
        ("digits", "/description/sha256", "../x"),
    ] {
        clip["id"] = id.into();
        *clip.pointer_mut(pointer).expect("a member") = value.into();
        manifest["clips"].as_array_mut().expect("clips").push(clip.clone());
        clip = manifest["clips"][0].clone();
    }
    fs_err::write(other.file("received/manifest.json"), manifest.to_string()).expect("writable");
    // Sidecars: oversized, of another version, with a path, under a name of another one, and of other work.
    let (path, sidecar) = sidecars(&project.file(".runner/artifacts")).remove(0);
    let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    let write = |first: char, change: &dyn Fn(&mut Value)| {
        let mut changed = sidecar.clone();
        change(&mut changed);
        let name = format!("{first}{}", &name[1..]);
        fs_err::write(other.file("received").join(name), changed.to_string()).expect("writable");
    };
    let first = name.chars().next().expect("a digit");
    let mut digits = "0123456789abcdef".chars().filter(|digit| *digit != first);
    let mut next = || digits.next().expect("a digit");
    write(next(), &|changed| changed["prompt"] = "x".repeat(2 << 20).into());
    write(next(), &|changed| changed["version"] = 9.into());
    write(next(), &|changed| changed["sha256"] = "../../../etc/passwd".into());
    write(next(), &|_| {});
    let mut unrelated = sidecar.clone();
    unrelated["key"] = "0".repeat(64).into();
    let file_name = format!("{}.{}.json", &name[..64], "0".repeat(64));
    fs_err::write(other.file("received").join(file_name), unrelated.to_string()).expect("writable");
    // The names begin with digits of the content, which differ.
    let by_reason = |output: Output| {
        let mut lines: Vec<&str> = output.out.lines().collect();
        lines.sort_by_key(|line| line.rsplit_once(": ").map(|(_, reason)| reason));
        Output { out: lines.iter().flat_map(|line| [*line, "\n"]).collect(), ..output }
    };
    let adopt = ["ledger", "adopt", "two.yaml", "--from-folder", "received"];
    cli_snapshot!("adopt_hostile", by_reason(other.runner(&adopt).expect(3)));
    cli_snapshot!("plan_after_hostile", other.runner(&["plan", "two.yaml"]).expect(0));
    fs_err::write(other.file("received/manifest.json"), "{}").expect("writable");
    let dry_run = [&adopt[..], &["--dry-run"]].concat();
    cli_snapshot!("adopt_malformed_manifest", by_reason(other.runner(&dry_run).expect(3)));
    assert_eq!(proxy.posts().len(), 2);
}

/// The process dies before and after a sidecar is written: its video is not paid for again, and is adopted without a ledger.
#[test]
fn crash_around_a_sidecar_loses_nothing() {
    for (boundary, sidecars_left) in [("before sidecar", 0), ("after sidecar", 1)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let proxy = RecordingProxy::start(folder.path().join("service"), |_| ResponseFault::None);
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
