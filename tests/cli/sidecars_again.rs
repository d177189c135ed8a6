//! Sidecars and stored videos that are gone are written again by the next run, so that the ledger can be lost afterwards.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::project_state::{remove_ledger, shots};
use crate::support::proxy::{KEY, RecordingProxy, ResponseFault};
use crate::support::{Project, inline_snapshot};

const TWO: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea, continues: one }\n";

fn rendered_project(folder: &Path) -> (RecordingProxy, Project) {
    let proxy = RecordingProxy::start(folder.join("service"), |_| ResponseFault::None);
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    (proxy, project)
}

/// The files in the artifact store that end so, by name.
fn stored_files(project: &Project, end: &str) -> Vec<PathBuf> {
    let entries =
        fs_err::read_dir(project.file(".runner/artifacts")).expect("a folder").filter_map(Result::ok);
    let mut files: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with(end)).collect();
    files.sort();
    files
}

fn sidecars(project: &Project) -> Vec<Value> {
    let read = |path: PathBuf| {
        serde_json::from_slice(&fs_err::read(path).expect("a sidecar")).expect("a sidecar is JSON")
    };
    stored_files(project, ".json").into_iter().map(read).collect()
}

/// The ledger is lost, and so are the readable names: what is left stops a run, is adopted, and is not paid for again.
#[track_caller]
fn assert_rebuilt_from_sidecars(project: &Project, proxy: &RecordingProxy, context: &str) {
    let (posts, count) = (proxy.posts().len(), project.plan("two.yaml").nodes().count());
    remove_ledger(project);
    for folder in ["out", "other"] {
        drop(fs_err::remove_dir_all(project.file(folder)));
    }
    let planned = project.runner(&["plan", "two.yaml"]).expect(0);
    assert!(planned.out.contains("runner ledger adopt two.yaml"), "{context}: {}", planned.transcript());
    project.runner(&["run", "two.yaml"]).expect(3);
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    let run = project.runner(&["run", "two.yaml"]).expect(0);
    let up_to_date = format!("all {count} shots are up to date, nothing was submitted");
    assert_eq!(run.notes().trim_end(), up_to_date, "{context}");
    assert_eq!((proxy.posts().len(), shots(project, "two").len()), (posts, count), "{context}");
}

#[test]
fn removed_store_is_written_again_by_the_next_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (proxy, project) = rendered_project(folder.path());
    let before = sidecars(&project);
    // The videos are linked again from the output folder, and downloaded again where they are nowhere.
    for removed in [&[".runner/artifacts"][..], &[".runner/artifacts", "out"]] {
        for folder in removed {
            fs_err::remove_dir_all(project.file(folder)).expect("removable");
        }
        project.runner(&["run", "two.yaml"]).expect(0);
        let after = sidecars(&project);
        assert_eq!(after.len(), 2, "{removed:?}");
        if removed.len() == 1 {
            // Milliseconds apart: that of the record, and that of the first sidecar.
            let without_time = |mut sidecar: Value| {
                sidecar["completed_at"].take();
                sidecar
            };
            let [before, after] = [before.clone(), after].map(|all| all.into_iter().map(without_time));
            assert_eq!(after.collect::<Vec<_>>(), before.collect::<Vec<_>>());
        }
        assert_rebuilt_from_sidecars(&project, &proxy, &format!("{removed:?}"));
    }
}

#[test]
fn removed_sidecars_and_stored_videos_are_written_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (proxy, project) = rendered_project(folder.path());
    for end in [".json", ".mp4"] {
        for arguments in [&["run", "two.yaml"][..], &["run", "two.yaml", "--only", "two"]] {
            for path in stored_files(&project, end) {
                fs_err::remove_file(path).expect("removable");
            }
            project.runner(arguments).expect(0);
            let counts = (stored_files(&project, ".json").len(), stored_files(&project, ".mp4").len());
            assert_eq!(counts, (2, 2), "{end} {arguments:?}");
        }
        assert_rebuilt_from_sidecars(&project, &proxy, end);
    }
}

/// What counts as the video's other copy is the output folder of this run as well, not only the one that is on record.
#[test]
fn video_in_another_output_folder_is_stored_again_without_the_service() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (proxy, project) = rendered_project(folder.path());
    let into_other = ["run", "two.yaml", "--output-dir", "other"];
    project.runner(&into_other).expect(0);
    for folder in [".runner/artifacts", "out"] {
        fs_err::remove_dir_all(project.file(folder)).expect("removable");
    }
    let polls = |proxy: &RecordingProxy| {
        let accepted = proxy.accepted();
        accepted.iter().map(|task| proxy.gets(&format!("/v1/videos/{task}"))).sum::<usize>()
    };
    let before = polls(&proxy);
    let run = project.runner(&into_other).expect(0);
    inline_snapshot!(run.notes(), @"all 2 shots are up to date, nothing was submitted");
    assert_eq!(polls(&proxy), before);
    assert_rebuilt_from_sidecars(&project, &proxy, "-o");
}

#[test]
fn sidecars_of_reruns_are_written_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (proxy, project) = rendered_project(folder.path());
    project.runner(&["run", "two.yaml", "--rerun", "two", "--only", "two"]).expect(0);
    fs_err::remove_dir_all(project.file(".runner/artifacts")).expect("removable");
    project.runner(&["run", "two.yaml"]).expect(0);
    let reruns = sidecars(&project).into_iter().filter(|sidecar| !sidecar["rerun"].is_null());
    assert_eq!(reruns.count(), 1);
    assert_rebuilt_from_sidecars(&project, &proxy, "rerun");
}
