//! A service that delivers a task's video again with other bytes: the shots that continue it are the same work, and are not paid for again.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::Project;
use crate::support::project_state::{remove_ledger, shots};
use crate::support::scripted::{Call, ScriptedService, clip_of, response, task_id};

const KEY: &str = "sk-test-0123456789abcdef";

const CHAIN: &str = "version: 1
name: one
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: door, prompt: a door}
  - {id: hall, continues: door, prompt: the hall behind it}
  - {id: yard, continues: hall, prompt: the yard behind that}
";

/// Delivers the videos of its tasks with other bytes once the version is another one.
fn service() -> (ScriptedService, Arc<AtomicUsize>) {
    let version = Arc::new(AtomicUsize::new(0));
    let shared = Arc::clone(&version);
    let service = ScriptedService::start(move |call: &Call<'_>| {
        let name = call.path.strip_prefix("/files/")?.strip_suffix(".mp4")?;
        let version = shared.load(Ordering::Relaxed);
        (version > 0).then(|| response(200, &[], clip_of(&format!("{name} {version}"))))
    });
    (service, version)
}

fn remove_videos(project: &Project) {
    for folder in ["out", ".runner/artifacts"] {
        fs_err::remove_dir_all(project.file(folder)).expect("removable");
    }
}

fn video(project: &Project, shot: &str) -> PathBuf {
    shots(project, "one").into_iter().find(|(name, _)| name == shot).expect("the shot has a video").1
}

/// Nothing is to be submitted for a workflow, and nothing is.
#[track_caller]
fn assert_up_to_date(project: &Project, service: &ScriptedService, workflow: &str, posts: usize) {
    let planned = project.runner(&["plan", workflow]).expect(0);
    assert!(planned.notes().contains("nothing to submit"), "{}", planned.transcript());
    let run = project.runner(&["run", workflow]).expect(0);
    assert_eq!(service.posts(), posts, "{}", run.transcript());
}

#[test]
fn chain_of_a_video_with_other_bytes_is_not_paid_for_again() {
    let (service, version) = service();
    let project = Project::new("one.yaml", CHAIN).against(&service.url, KEY);
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!(service.posts(), 3);
    // Downloaded again by a run, one time after another, and by `fetch`.
    for number in 1..=3 {
        remove_videos(&project);
        version.store(number, Ordering::Relaxed);
        if number == 2 {
            project.runner(&["ledger", "fetch", "--all"]).expect(0);
        } else {
            project.runner(&["run", "one.yaml"]).expect(0);
        }
        assert_up_to_date(&project, &service, "one.yaml", 3);
    }
    assert!(fs_err::read(video(&project, "door")).expect("a video").ends_with(b" 3"));
    // A shot that is new continues the video that is there now.
    let longer = format!("{CHAIN}  - {{id: gate, continues: yard, prompt: the gate at its end}}\n");
    fs_err::write(project.file("one.yaml"), longer).expect("a file");
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_up_to_date(&project, &service, "one.yaml", 4);
}

/// The files of the first delivery are back from a backup, and those of the second are gone: they are the videos of the shots.
#[test]
fn first_delivery_is_used_where_the_second_is_gone() {
    let (service, version) = service();
    let project = Project::new("one.yaml", CHAIN).against(&service.url, KEY);
    project.runner(&["run", "one.yaml"]).expect(0);
    let folders = ["out", ".runner/artifacts"].map(|folder| project.file(folder));
    for folder in &folders {
        fs_err::rename(folder, folder.with_extension("backup")).expect("movable");
    }
    version.store(1, Ordering::Relaxed);
    project.runner(&["run", "one.yaml"]).expect(0);
    remove_videos(&project);
    for folder in &folders {
        fs_err::rename(folder.with_extension("backup"), folder).expect("movable");
    }
    let gets = |project: &Project| {
        project.runner(&["ledger", "fetch", "--all"]);
        (1..=3).map(|nth| service.gets(&format!("/files/{}.mp4", task_id(nth)))).collect::<Vec<_>>()
    };
    assert_eq!(gets(&project), [2, 2, 2], "they are there");
    assert_up_to_date(&project, &service, "one.yaml", 3);
    assert_eq!(fs_err::read(video(&project, "door")).expect("a video"), clip_of(&task_id(1)));
    project.runner(&["status", "one.yaml"]).expect(0);
    assert_eq!(gets(&project), [2, 2, 2]);
}

#[test]
fn chain_of_a_damaged_video_that_is_delivered_with_other_bytes_is_not_paid_for_again() {
    let (service, version) = service();
    let project = Project::new("one.yaml", CHAIN).against(&service.url, KEY);
    project.runner(&["run", "one.yaml"]).expect(0);
    version.store(1, Ordering::Relaxed);
    // One file under two names.
    let mut damaged = fs_err::OpenOptions::new().write(true).open(video(&project, "door")).expect("a video");
    std::io::Write::write_all(&mut damaged, &[0; 64]).expect("writable");
    drop(damaged);
    project.runner(&["run", "one.yaml", "--verify"]).expect(0);
    assert!(fs_err::read(video(&project, "door")).expect("a video").ends_with(b" 1"));
    assert_up_to_date(&project, &service, "one.yaml", 3);
}

#[test]
fn chain_of_a_video_with_other_bytes_is_adopted_from_sidecars_and_from_a_manifest() {
    let (service, version) = service();
    let project = Project::new("one.yaml", CHAIN).against(&service.url, KEY);
    project.runner(&["run", "one.yaml"]).expect(0);
    remove_videos(&project);
    version.store(1, Ordering::Relaxed);
    project.runner(&["run", "one.yaml"]).expect(0);
    project.runner(&["view", "one.yaml", "--no-open"]).expect(0);

    // The sidecars of the second delivery alone.
    remove_ledger(&project);
    project.runner(&["ledger", "adopt", "one.yaml"]).expect(0);
    assert_up_to_date(&project, &service, "one.yaml", 3);

    // The manifest beside the videos.
    let folder = project.file("out/one");
    let moved = project.file("moved");
    fs_err::rename(&folder, &moved).expect("movable");
    fs_err::remove_dir_all(project.file(".runner")).expect("removable");
    project.runner(&["ledger", "adopt", "one.yaml", "--from-folder", "moved"]).expect(0);
    assert_up_to_date(&project, &service, "one.yaml", 3);
}
