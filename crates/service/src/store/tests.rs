//! Tests of the task store.

use super::*;
use crate::{
    render_spec::{MediaInput, MediaRole},
    size::Size,
    task::{Status, StoredFile},
};

const DAY: Duration = Duration::from_hours(24);

fn spec(input: Option<Digest>) -> RenderSpec {
    let input = input.map(|digest| MediaInput { role: MediaRole::FirstFrame, digest, size: None });
    RenderSpec {
        model: "m".to_owned(),
        prompt: "p".to_owned(),
        seconds: 5.0,
        size: Size { width: 854, height: 480 },
        fast: false,
        generate_audio: false,
        watermark: false,
        camera_fixed: false,
        return_last_frame: false,
        seed: 1,
        user: None,
        inputs: input.into_iter().collect(),
    }
}

fn accept(
    store: &Store,
    name: &str,
    input: Option<Digest>,
    quota_ms: Option<u64>,
) -> Result<Task, StoreError> {
    let new = NewTask {
        id: TaskId::from_text(name),
        key: KeyId::from_text("key"),
        request: Digest::sha256(name.as_bytes()),
        spec: spec(input),
        created_at: 10,
        quota_ms,
    };
    let receipt = store.writer.write(move |connection| task_rows::accept(connection, &new));
    receipt.committed_blocking()
}

fn rendered(store: &Store, task: &Task) -> RenderedFiles {
    store.files.write(&store.files.video(&task.id), b"video").unwrap();
    let video = StoredFile { token: task.id.to_string(), bytes: 5, digest: Digest::sha256(b"video") };
    RenderedFiles { video, last_frame: None }
}

#[test]
fn task_round_trips_and_ends_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Durability::PowerCut).unwrap();
    let task = accept(&store, "one", None, None).unwrap();
    assert_eq!(store.task("one").unwrap().as_ref(), Some(&task));
    store.started(task.number).unwrap();
    let files = rendered(&store, &task);
    store.completed(task.number, files.clone(), 20, 30).unwrap();
    let ended = store.task_of_file("one").unwrap().unwrap();
    assert_eq!((ended.status, ended.progress, ended.starts), (Status::Completed, 100, 1));
    assert_eq!(ended.video, Some(files.video.clone()));
    assert!(store.completed(task.number, files, 21, 31).is_err());
    assert!(store.failed(ended, 5, Failure::new("x", "y"), 31).is_err());
    assert!(store.unfinished().unwrap().is_empty());
}

#[test]
fn quota_is_enforced_and_refunded_on_failure() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Durability::PowerCut).unwrap();
    let first = accept(&store, "one", None, Some(10_000)).unwrap();
    accept(&store, "two", None, Some(10_000)).unwrap();
    let error = accept(&store, "three", None, Some(10_000)).unwrap_err();
    assert!(matches!(error, StoreError::Quota { used_ms: 10_000, quota_ms: 10_000 }));
    assert_eq!(store.task("three").unwrap(), None);
    store.failed(first, 40, Failure::new("code", "message"), 99).unwrap();
    assert_eq!(store.task("one").unwrap().unwrap().progress, 40);
    accept(&store, "three", None, Some(10_000)).unwrap();
}

#[test]
fn sweep_deletes_files_first_and_records_later() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Durability::PowerCut).unwrap();
    let input = store.files.store_input(b"image").unwrap();
    let old = std::time::SystemTime::now() - 2 * DAY;
    let file = File::options().append(true).open(store.files.input(&input)).unwrap();
    file.set_modified(old).unwrap();
    let task = accept(&store, "one", Some(input), None).unwrap();
    let running = accept(&store, "two", None, None).unwrap();
    store.sweep(0, DAY).unwrap();
    assert!(store.files.input(&input).exists());
    store.started(task.number).unwrap();
    let files = rendered(&store, &task);
    store.completed(task.number, files, 20, 1_000).unwrap();
    store.sweep(999, DAY).unwrap();
    assert!(store.files.video(&task.id).exists());
    assert!(!store.files.input(&input).exists());
    store.sweep(1_000, DAY).unwrap();
    assert!(!store.files.video(&task.id).exists());
    assert!(store.task("one").unwrap().is_some());
    store.sweep(1_000 + 24 * 3_600_000, DAY).unwrap();
    assert_eq!(store.task("one").unwrap(), None);
    assert_eq!(store.unfinished().unwrap(), [running]);
}

#[test]
fn open_other_format_fails_without_changes() {
    let folder = tempfile::tempdir().unwrap();
    open_database(folder.path(), Durability::PowerCut)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let error = Store::open(folder.path(), Durability::PowerCut).unwrap_err();
    assert!(matches!(error, ServiceError::OtherFormat { format: 99, .. }), "{error}");
}

#[test]
fn open_fails_if_path_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("taken");
    fs_err::write(&path, b"").unwrap();
    assert!(matches!(Store::open(&path, Durability::PowerCut), Err(ServiceError::DataDirectory { .. })));
}
