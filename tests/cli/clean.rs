//! `runner clean`: lists partial downloads by name, and removes those that nobody needs.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::project_state::shots;
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::{Project, cli_snapshot, inline_snapshot};

const TWO: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea }\n";

/// The partial download of an attempt.
fn part(project: &Project, attempt: &str) -> PathBuf {
    let name = engine::artifact::sha256(attempt.as_bytes());
    project.file(".runner/artifacts").join(format!("{}.part", &name[..24]))
}

/// A partial download of so many bytes of a hundred, as an interrupted download leaves it.
fn write_partial_download(path: &PathBuf, bytes: usize) {
    fs_err::write(path, vec![7; bytes]).expect("a writable folder");
    let origin = r#"{"source":"content","validator":"\"v\"","total":100}"#;
    fs_err::write(path.with_extension("part.json"), origin).expect("a writable folder");
}

fn attempt_of(project: &Project, shot: &str) -> String {
    let ledger = rusqlite::Connection::open(project.file(".runner/ledger.db")).expect("a ledger");
    ledger
        .query_row("SELECT id FROM attempts WHERE node = ?1", [shot], |row| row.get(0))
        .expect("one attempt")
}

/// Both shots are submitted; the task of `one` is in flight, the video of `two` is downloaded.
fn project_with_one_in_flight(proxy: &RecordingProxy) -> Project {
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    project.runner(&["run", "two.yaml", "--only", "two"]).expect(0);
    let killed = project.runner_killed_at("before polled", &["run", "two.yaml"]);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    project
}

#[test]
fn clean_lists_partial_downloads_and_removes_what_nobody_needs() {
    let proxy = RecordingProxy::faithful();
    let project = project_with_one_in_flight(&proxy);
    let (needed, done) =
        (part(&project, &attempt_of(&project, "one")), part(&project, &attempt_of(&project, "two")));
    let [unknown, whole, open] = ["aaaaaaaa", "bbbbbbbb", "cccccccc"]
        .map(|name| project.file(".runner/artifacts").join(format!("{name}.part")));
    for (path, bytes) in [(&needed, 60), (&done, 50), (&unknown, 40), (&whole, 100), (&open, 30)] {
        write_partial_download(path, bytes);
    }
    let locked = fs_err::File::open(&open).expect("it is there");
    locked.file().try_lock().expect("nobody else has it open");
    let all = [&needed, &done, &unknown, &whole, &open];
    let presence = || all.map(|path| (path.exists(), path.with_extension("part.json").exists()));

    let mut list = project.runner(&["clean", "two.yaml"]).expect(0);
    list.out = sorted(&list.out);
    cli_snapshot!("clean_listed", list);
    assert_eq!(presence(), [(true, true); 5], "nothing is removed unasked");
    let removed = project.runner(&["clean", "two.yaml", "--delete", "--format", "json"]).expect(0);
    let removed: Value = serde_json::from_str(&removed.out).expect("JSON");
    let mut verdicts: Vec<_> = removed
        .as_array()
        .expect("a list")
        .iter()
        .map(|entry| (entry["bytes"].as_u64(), entry["verdict"].as_str().expect("a verdict")))
        .collect();
    verdicts.sort_unstable();
    let expected = [(30, "retained"), (40, "removed"), (50, "removed"), (60, "retained"), (100, "retained")];
    assert_eq!(verdicts, expected.map(|(bytes, verdict)| (Some(bytes), verdict)));
    let (present, gone) = ((true, true), (false, false));
    assert_eq!(presence(), [present, gone, gone, present, present]);
    // Closing it is not enough: a child that another test starts at this moment has it open as well until it executes its program.
    locked.file().unlock().expect("it is locked");
    drop(locked);
    let mut paid = project.runner(&["clean", "two.yaml", "--delete", "--paid"]).expect(0);
    paid.out = sorted(&paid.out);
    cli_snapshot!("clean_delete_paid", paid);
    assert_eq!(presence(), [present, gone, gone, gone, gone], "what a task needs stays");
    // The task is adopted, and its partial download has an end with it.
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((presence(), proxy.posts().len()), ([gone; 5], 2));
    cli_snapshot!("clean_nothing", project.runner(&["clean", "."]).expect(0));
}

#[test]
fn run_removes_partial_downloads_of_finished_videos_at_its_end() {
    let proxy = RecordingProxy::faithful();
    let project = project_with_one_in_flight(&proxy);
    let done = part(&project, &attempt_of(&project, "two"));
    let unknown = project.file(".runner/artifacts/aaaaaaaa.part");
    write_partial_download(&done, 50);
    write_partial_download(&unknown, 50);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((done.exists(), unknown.exists()), (false, true), "unknown ones are for `runner clean`");
}

fn names(project: &Project, folder: &str) -> Vec<String> {
    let entries = fs_err::read_dir(project.file(folder)).expect("a folder").filter_map(Result::ok);
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.strip_suffix(".mp4").is_some()).collect();
    names.sort();
    names
}

/// A film whose shot was changed: the earlier cut and the clip of the earlier prompt are listed, and removed by name.
#[test]
fn clean_removes_earlier_cuts_and_superseded_clips() {
    // The stub's color follows from the seed, and the sizes that are listed from the color.
    let seeded = TWO.replace(
        "model: modelb-video-480p, seconds: 1, size: 480x480",
        "model: modela-video-2-0-260128, seconds: 4, resolution: 480p, ratio: \"1:1\", seed: 7",
    );
    assert_ne!(seeded, TWO);
    let film = format!("{seeded}film: {{ output: two.mp4 }}\n");
    let project = Project::new("two.yaml", &film);
    project.runner(&["run", "two.yaml"]).expect(0);
    let first = fs_err::read(project.file("out/two/two.mp4")).expect("a film");
    let changed = |text: &str| fs_err::write(project.file("two.yaml"), text).expect("it can be written");
    let loud = film.replace("a loud sea", "a very loud sea");
    changed(&loud);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(fs_err::read(project.file("out/two/two.1.mp4")).expect("the earlier cut"), first);
    changed(&film);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(fs_err::read(project.file("out/two/two.mp4")).expect("a film"), first);
    changed(&loud);
    let next_run = project.runner(&["run", "two.yaml"]).expect(0);
    inline_snapshot!(next_run.notes(), @"
    film: out/two/two.mp4 (8.0 s, 640x640, silent, all frames copied)
    all 2 shots are up to date, nothing was submitted
    ");
    let cuts =
        names(&project, "out/two").into_iter().filter(|name| name.starts_with("two.")).collect::<Vec<_>>();
    assert_eq!(cuts, ["two.1.mp4", "two.2.mp4", "two.mp4"], "equal cuts are kept once");

    let mut list = project.runner(&["clean", "two.yaml"]).expect(0);
    list.out = sorted(&list.out);
    cli_snapshot!("clean_superseded_listed", list);
    assert_eq!((names(&project, "out/two").len(), names(&project, ".runner/artifacts").len()), (6, 3));
    let mut removed = project.runner(&["clean", "two.yaml", "--delete"]).expect(0);
    removed.out = sorted(&removed.out);
    cli_snapshot!("clean_delete", removed);
    assert_eq!((names(&project, "out/two").len(), names(&project, ".runner/artifacts").len()), (3, 3));
    // The original is there: nothing is paid for again.
    changed(&film);
    let restored = project.runner(&["run", "two.yaml"]).expect(0);
    inline_snapshot!(restored.notes(), @"
    film: out/two/two.mp4 (8.0 s, 640x640, silent, all frames copied)
    all 2 shots are up to date, nothing was submitted
    ");

    changed(&loud);
    project.runner(&["run", "two.yaml"]).expect(0);
    let mut removed = project.runner(&["clean", "two.yaml", "--delete", "--paid"]).expect(0);
    removed.out = sorted(&removed.out);
    cli_snapshot!("clean_delete_original", removed);
    assert_eq!((names(&project, "out/two").len(), names(&project, ".runner/artifacts").len()), (3, 2));
    let current = project.runner(&["run", "two.yaml"]).expect(0);
    // What is used stays.
    inline_snapshot!(current.notes(), @"
    film: out/two/two.mp4 (8.0 s, 640x640, silent, up to date)
    all 2 shots are up to date, nothing was submitted
    ");
}

/// What was made at a service stays in use while the environment names another one, and what another workflow shows stays.
#[test]
fn clean_retains_what_another_service_or_workflow_uses() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    fs_err::write(project.file("other.yaml"), TWO.replace("name: two", "name: other")).expect("a file");
    project.runner(&["run", "other.yaml"]).expect(0);
    let clean = |file: &str| {
        let command = ["clean", file, "--delete", "--paid"];
        let output =
            project.command(&command).env_remove("RUNNER_BASE_URL").env_remove("RUNNER_API_KEY").output();
        assert!(output.expect("the program can be started").status.success());
    };
    clean("two.yaml");
    assert_eq!((names(&project, "out/two").len(), names(&project, ".runner/artifacts").len()), (2, 2));
    fs_err::write(project.file("two.yaml"), TWO.replace("sea", "lake")).expect("it can be written");
    clean("two.yaml");
    assert_eq!(names(&project, ".runner/artifacts").len(), 2, "the other workflow shows them");
    let other = project.runner(&["run", "other.yaml"]).expect(0);
    inline_snapshot!(other.notes(), @"all 2 shots are up to date, nothing was submitted");
    assert_eq!(proxy.posts().len(), 2);
}

#[test]
fn clean_retains_clips_of_a_workflow_file_with_the_same_name() {
    let project = Project::new("two.yaml", TWO);
    fs_err::write(project.file("copy.yaml"), TWO.replace("a loud sea", "a red sea"))
        .expect("a writable folder");
    project.runner(&["run", "two.yaml"]).expect(0);
    project.runner(&["run", "copy.yaml"]).expect(0);
    let clips = names(&project, "out/two");
    let cleaned = project.runner(&["clean", "two.yaml", "--delete", "--paid"]).expect(0);
    cli_snapshot!("clean_same_name", cleaned);
    assert_eq!(names(&project, "out/two"), clips);
    // Without the other file its clips are superseded.
    fs_err::remove_file(project.file("copy.yaml")).expect("a writable folder");
    let mut removed = project.runner(&["clean", "two.yaml", "--delete", "--paid"]).expect(0);
    removed.out = sorted(&removed.out);
    cli_snapshot!("clean_delete_superseded", removed);
    assert_eq!(names(&project, "out/two").len() + 1, clips.len());
}

/// What continues a shot has no key while that has no video: it may be downloaded again, and then the clip is reused.
#[test]
fn clean_retains_clips_of_shots_that_have_no_video_now() {
    let text = TWO.replace("a loud sea }", "a loud sea, continues: one }");
    let proxy = RecordingProxy::faithful();
    let project = Project::new("two.yaml", &text).against(&proxy.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    let videos = shots(&project, "two");
    let lost = fs_err::read(&videos[0].1).expect("a video");
    for folder in ["out/two", ".runner/artifacts"] {
        for entry in fs_err::read_dir(project.file(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if fs_err::read(&path).is_ok_and(|bytes| bytes == lost) {
                fs_err::remove_file(path).expect("it can be removed");
            }
        }
    }
    let cleaned = project.runner(&["clean", "two.yaml", "--paid", "--delete"]).expect(0);
    inline_snapshot!(cleaned.out, @"nothing to clean");
    assert!(videos[1].1.exists());
    // The same after a prompt was changed, until there is another video, and while a rerun has none.
    fs_err::write(project.file("two.yaml"), text.replace("quiet", "calm")).expect("the file can be written");
    let cleaned = project.runner(&["clean", "two.yaml", "--paid", "--delete"]).expect(0);
    inline_snapshot!(cleaned.out, @"nothing to clean");
    fs_err::write(project.file("two.yaml"), &text).expect("the file can be written");
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 2, "nothing was paid for again");
}

#[test]
fn clean_without_a_ledger_is_refused() {
    let project = Project::new("two.yaml", TWO);
    cli_snapshot!("clean_no_ledger", project.runner(&["clean", "two.yaml", "--delete"]).expect(2));
}

/// File names are hashes, so the order of the list differs.
fn sorted(lines: &str) -> String {
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_unstable();
    lines.iter().flat_map(|line| [*line, "\n"]).collect()
}
