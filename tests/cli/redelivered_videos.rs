//! A service that delivers a task's video again with other bytes: the shots that continue it are the same work, and are not paid for again.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::Project;
use crate::support::project_state::shots;
use crate::support::scripted::{Call, ScriptedService, clip_of, response};

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

/// Editors and players go by the extension.
#[test]
fn quicktime_result_has_its_own_extension() {
    let service = ScriptedService::start(move |call: &Call<'_>| {
        let name = call.path.strip_prefix("/files/")?.strip_suffix(".mp4")?;
        let mut clip = clip_of(name);
        clip[8..12].copy_from_slice(b"qt  ");
        Some(response(200, &[], clip))
    });
    let project =
        Project::new("one.yaml", &format!("{CHAIN}film: {{output: one.mp4}}\n")).against(&service.url, KEY);
    project.runner(&["run", "one.yaml"]).expect(0);
    assert_eq!(video(&project, "yard").extension().and_then(|name| name.to_str()), Some("mov"));
    for folder in ["out", ".runner/artifacts"] {
        assert_up_to_date(&project, &service, "one.yaml", 3);
        fs_err::remove_dir_all(project.file(folder)).expect("removable");
    }
    project.runner(&["run", "one.yaml"]).expect(0);
    fs_err::remove_dir_all(project.file(".runner")).expect("removable");
    let unknown = project.runner(&["run", "one.yaml"]).expect(3);
    assert!(unknown.transcript().contains(".mov"), "{}", unknown.transcript());
    assert_eq!(service.posts(), 3);
}
