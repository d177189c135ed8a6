//! Sidecars and stored videos that are gone are written again by the next run, so that the ledger can be lost afterwards.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use scheduler::{Artifact, KeyResolver};
use serde_json::{Value, json};
use workflow::plan::{NodeIx, NodeKey, Plan, earlier_key};

use crate::support::project_state::{remove_ledger, shots};
use crate::support::proxy::{KEY, RecordingProxy, ResponseFault};
use crate::support::{Project, inline_snapshot};

const TWO: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea, continues: one }\n";

/// Two shots that continue equal shots with equal requests. Earlier versions numbered them in one series.
const EQUAL: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a quiet sea }\n  \
    - { id: after-one, prompt: night falls, continues: one }\n  - { id: after-two, prompt: night falls, continues: two }\n";

fn rendered_project(folder: &Path) -> (RecordingProxy, Project) {
    rendered_from(folder, TWO)
}

fn rendered_from(folder: &Path, workflow: &str) -> (RecordingProxy, Project) {
    let proxy = RecordingProxy::start(folder.join("service"), |_| ResponseFault::None);
    let project = Project::new("two.yaml", workflow).against(&proxy.url, KEY);
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

/// Gives the sidecars the service's name of an earlier version, which is part of their keys.
fn rename_service(project: &Project, name: &str) {
    write_sidecars_of_earlier_version(project, name, |plan, node, videos| {
        KeyResolver::new(name)
            .key(plan, node, |parent| videos.get(parent.index()))
            .expect("the videos are there")
    });
}

/// Gives the sidecars the keys of an earlier version, and its name of the service.
fn write_sidecars_of_earlier_version(
    project: &Project,
    service: &str,
    key: impl Fn(&Plan, NodeIx, &[Artifact]) -> NodeKey,
) {
    let plan = project.plan("two.yaml");
    let mut all: Vec<_> = stored_files(project, ".json").into_iter().zip(sidecars(project)).collect();
    let of_node = |sidecar: &Value| plan.nodes().position(|(_, node)| sidecar["shot"] == node.name.as_str());
    all.sort_by_key(|(_, sidecar)| of_node(sidecar));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let video = |(_, sidecar): &(PathBuf, Value)| Artifact {
        sha256: text(&sidecar["sha256"]),
        first_sha256: None,
        path: "a.mp4".into(),
        bytes: 1,
        duration: std::time::Duration::from_secs(1),
        width: 1,
        height: 1,
        last_frame_url: None,
        expires_at: None,
        modified_at: None,
    };
    let videos: Vec<Artifact> = all.iter().map(video).collect();
    for ((ix, _), (path, mut sidecar)) in plan.nodes().zip(all) {
        let key = key(&plan, ix, &videos).to_string();
        sidecar["service"] = json!(service);
        sidecar["key"] = json!(key);
        fs_err::remove_file(&path).expect("removable");
        let renamed =
            project.file(".runner/artifacts").join(format!("{}.{key}.json", text(&sidecar["sha256"])));
        fs_err::write(renamed, sidecar.to_string()).expect("a writable folder");
    }
}

/// The number that is part of such a key is recorded with the adopted work: later runs find the key by it.
#[test]
fn sidecars_with_the_numbers_of_an_earlier_version_are_recognised() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (proxy, project) = rendered_from(folder.path(), EQUAL);
    let service = sidecars(&project)[0]["service"].as_str().expect("a text").to_owned();
    let renumbered = std::cell::Cell::new(0);
    write_sidecars_of_earlier_version(&project, &service, |plan, node, videos| {
        let inputs =
            KeyResolver::new(&*service).input_identities(plan, node, |parent| videos.get(parent.index()));
        let inputs: Vec<_> =
            inputs.into_iter().map(|identity| identity.expect("the videos are there")).collect();
        let present = workflow::plan::key(plan.node(node), &service, &inputs);
        let earlier = earlier_key(plan.node(node), &service, &inputs).unwrap_or(present);
        renumbered.set(renumbered.get() + u32::from(earlier != present));
        earlier
    });
    assert_eq!(renumbered.get(), 2, "the second shot and what continues it");
    assert_rebuilt_from_sidecars(&project, &proxy, "numbers");
    fs_err::remove_dir_all(project.file(".runner/artifacts")).expect("removable");
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_rebuilt_from_sidecars(&project, &proxy, "numbers, written again");
}

#[test]
fn sidecars_with_an_older_name_of_the_service_are_recognised() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (proxy, project) = rendered_project(folder.path());
    let older = format!("{}/", proxy.url.replace("127.0.0.1", "[::ffff:127.0.0.1]"));
    rename_service(&project, &older);
    assert_rebuilt_from_sidecars(&project, &proxy, "older name");
    // The sidecars that a run writes again have the name that is part of their keys.
    fs_err::remove_dir_all(project.file(".runner/artifacts")).expect("removable");
    project.runner(&["run", "two.yaml"]).expect(0);
    assert!(sidecars(&project).iter().all(|sidecar| sidecar["service"] == older.as_str()));
    assert_rebuilt_from_sidecars(&project, &proxy, "older name, written again");
}

/// A request that was refused is no work: a video under another name of the service counts before it.
#[test]
fn sidecar_with_an_older_name_counts_before_an_attempt_that_was_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let refuses = Arc::new(AtomicBool::new(false));
    let is_refused = Arc::clone(&refuses);
    let proxy = RecordingProxy::start(folder.path().join("service"), move |_| {
        if is_refused.load(Ordering::Relaxed) { ResponseFault::Refused } else { ResponseFault::None }
    });
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    rename_service(&project, &format!("{}/", proxy.url.replace("127.0.0.1", "[::ffff:127.0.0.1]")));
    remove_ledger(&project);
    // Where nothing of it is there, it is submitted again, and the service refuses that.
    fs_err::remove_dir_all(project.file("out")).expect("removable");
    let away = project.file("elsewhere");
    fs_err::rename(project.file(".runner/artifacts"), &away).expect("movable");
    refuses.store(true, Ordering::Relaxed);
    project.runner(&["run", "two.yaml"]).expect(1);
    refuses.store(false, Ordering::Relaxed);
    drop(fs_err::remove_dir_all(project.file(".runner/artifacts")));
    fs_err::rename(&away, project.file(".runner/artifacts")).expect("movable");
    let posts = proxy.posts().len();
    project.runner(&["run", "two.yaml"]).expect(3);
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    // Once it is on record as well.
    for _ in 0..2 {
        let run = project.runner(&["run", "two.yaml"]).expect(0);
        inline_snapshot!(run.notes(), @"all 2 shots are up to date, nothing was submitted");
    }
    assert_eq!(proxy.posts().len(), posts);
}
