//! SIGINT and SIGTERM in commands besides `run` that wait or write: exit code 130, no temporary files, and the command that continues.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::body::Body;

use crate::support::program::copy_executable;
use crate::support::proxy::KEY;
use crate::support::scripted::{Call, ScriptedService, clip_of, response, task_id};
use crate::support::{Output, Project, cli_snapshot};

const THREE: &str = "version: 1
name: three
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: one, prompt: the sea}
  - {id: two, prompt: a dune}
  - {id: three, prompt: a plain}
";

/// What a service does with the tasks of a run that was interrupted.
#[derive(Default)]
struct Tasks {
    /// Whether the run has ended: before, all of them are in progress.
    is_fetched: AtomicBool,
    /// How many of them are done, in the order of their submission.
    done: AtomicUsize,
    /// Whether the last byte of a video arrives.
    is_whole: AtomicBool,
}

impl Tasks {
    fn respond(self: &Arc<Self>, call: &Call<'_>) -> Option<axum::response::Response> {
        if let Some(name) = call.path.strip_prefix("/files/") {
            return (!self.is_whole.load(Ordering::Relaxed)).then(|| self.slow_video(name));
        }
        let task = call.path.strip_prefix("/v1/videos/")?;
        let is_done = self.is_fetched.load(Ordering::Relaxed)
            && (1..=self.done.load(Ordering::Relaxed)).any(|nth| task == task_id(nth));
        let body = format!(r#"{{"id":"{task}","object":"video","status":"in_progress"}}"#);
        (!is_done).then(|| response(200, &[], body))
    }

    /// A video whose last byte waits until [`Self::is_whole`].
    fn slow_video(self: &Arc<Self>, name: &str) -> axum::response::Response {
        let mut bytes = clip_of(name.trim_end_matches(".mp4"));
        let length = bytes.len().to_string();
        let last = bytes.split_off(bytes.len() - 1);
        let tasks = Arc::clone(self);
        let rest = async move {
            while !tasks.is_whole.load(Ordering::Relaxed) {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            Ok::<_, std::io::Error>(last)
        };
        let parts = futures_util::StreamExt::chain(
            futures_util::stream::iter([Ok(bytes)]),
            futures_util::stream::once(rest),
        );
        let headers = [("content-type", "video/mp4"), ("content-length", &length), ("etag", "\"one\"")];
        response(200, &headers, Body::from_stream(parts))
    }
}

/// A project with three tasks in flight, of which `done` are finished by the time that they are fetched.
fn with_three_tasks(done: usize) -> (Project, ScriptedService, Arc<Tasks>) {
    let tasks = Arc::new(Tasks::default());
    tasks.done.store(done, Ordering::Relaxed);
    tasks.is_whole.store(true, Ordering::Relaxed);
    let shared = Arc::clone(&tasks);
    let service = ScriptedService::start(move |call| shared.respond(call));
    let project = Project::new("three.yaml", THREE).against(&service.url, KEY);
    // One after the other, so that they are fetched in this order.
    for shot in ["one", "two", "three"] {
        let mut run = project.command(&["run", "three.yaml", "--only", shot]);
        project
            .runner_signalled(&mut run, &mut [("INT", &mut || project.logged("submitted as task") == 1)])
            .expect(130);
    }
    tasks.is_fetched.store(true, Ordering::Relaxed);
    (project, service, tasks)
}

#[test]
fn interrupted_fetch_reports_what_it_fetched_and_what_is_left() {
    for (name, signal, arguments) in [
        (
            "fetch_interrupted",
            "INT",
            &["ledger", "fetch", "--all", "--in", "three.yaml", "--timeout", "600"][..],
        ),
        (
            "fetch_terminated_json",
            "TERM",
            &["ledger", "fetch", "--all", "--in", "three.yaml", "--format", "json"],
        ),
    ] {
        let (project, service, tasks) = with_three_tasks(1);
        let mut fetch = project.command(arguments);
        let mut is_waiting = || project.logged("waiting for it") == 2 && videos(&project) == 1;
        let output = project.runner_signalled(&mut fetch, &mut [(signal, &mut is_waiting)]);
        let mut output = output.expect(130);
        // Both are polled at once.
        let mut lines: Vec<&str> = output.err.lines().collect();
        lines.sort_unstable();
        output.err = lines.join("\n") + "\n";
        let commands = output.printed_commands();
        cli_snapshot!(name, output);
        // What it prints continues.
        tasks.done.store(3, Ordering::Relaxed);
        let command = commands.first().expect("a command").split_whitespace().skip(1).collect::<Vec<_>>();
        let rest = project.runner(&command).expect(0);
        assert_eq!(rest.out.lines().count(), 2, "{}", rest.transcript());
        project.runner(&["run", "three.yaml"]).expect(0);
        assert_eq!(service.posts(), 3);
    }
}

#[test]
fn second_interrupt_ends_a_fetch_at_once() {
    let (project, service, tasks) = with_three_tasks(3);
    tasks.is_whole.store(false, Ordering::Relaxed);
    let mut fetch = project.command(&["ledger", "fetch", "--all"]);
    let mut is_downloading = || downloads(&service) == 1;
    let mut is_noticed = || project.logged("interrupted: ") == 1;
    let signals: &mut [(&str, &mut dyn FnMut() -> bool)] =
        &mut [("INT", &mut is_downloading), ("INT", &mut is_noticed)];
    let output = project.runner_signalled(&mut fetch, signals).expect(130);
    cli_snapshot!("fetch_second_interrupt", output);
    tasks.is_whole.store(true, Ordering::Relaxed);
    project.runner(&["ledger", "fetch", "--all"]).expect(0);
    assert_eq!(service.posts(), 3);
}

/// How many videos are on record.
fn videos(project: &Project) -> i64 {
    let ledger = rusqlite::Connection::open(project.file(".runner/ledger.db")).expect("a ledger");
    ledger.query_row("SELECT count(*) FROM artifacts", [], |row| row.get(0)).expect("a count")
}

/// How many downloads were begun.
fn downloads(service: &ScriptedService) -> usize {
    (1..=3).map(|task| service.gets(&format!("/files/{}.mp4", task_id(task)))).sum()
}

/// The temporary files of films in a folder.
fn temporary(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.extension().is_some_and(|end| end == "part")).collect()
}

const FILM: &str = "version: 1
name: pier
defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }
shots:
  - { id: door, prompt: the door opens }
film: { output: pier.mp4, shots: [door] }
";

/// An ffmpeg that has every encoder and never ends; it writes its process id beside itself.
const ENDLESS: &str = r#"#!/bin/sh
case "$*" in
  *-encoders*) echo " V..... prores_ks" ;;
  *)
    for output; do :; done
    : > "${output#file:}"
    echo $$ > "${0%/*}/pid"
    exec /bin/sleep 600
    ;;
esac
"#;

#[test]
fn interrupted_encoding_ends_ffmpeg_and_leaves_nothing() {
    let project = Project::new("pier.yaml", FILM);
    project.runner(&["run", "pier.yaml"]).expect(0);
    let tools = project.file("tools");
    fs_err::create_dir(&tools).expect("a writable folder");
    fs_err::write(tools.join("endless"), ENDLESS).expect("a writable folder");
    copy_executable(&tools.join("endless"), &tools.join("ffmpeg"));
    let mut export = project.command(&["export", "pier.yaml", "--video", "prores"]);
    export.env("PATH", &tools);
    let pid = tools.join("pid");
    let mut is_encoding = || fs_err::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'));
    let output = project.runner_signalled(&mut export, &mut [("TERM", &mut is_encoding)]);
    cli_snapshot!("export_video_interrupted", output.expect(130));
    assert_eq!(temporary(&project.file("out/pier")), Vec::<PathBuf>::new());
    assert!(!project.file("out/pier/pier.mov").exists());
    let id = fs_err::read_to_string(&pid).expect("its id");
    let alive = std::process::Command::new("kill").args(["-0", id.trim()]).output().expect("a unix");
    assert!(!alive.status.success(), "ffmpeg has ended");
}

/// A sweep of this many clips of ten seconds.
fn sweep(count: usize) -> Project {
    let text = format!(
        "version: 1\nname: harbor\ndefaults: {{ model: modelb-video-480p, seconds: 10, size: 480x480 }}\n\
         shots:\n  - {{ id: storm, prompt: \"storm {{{{ n }}}}\", matrix: {{ n: {{ from: 1, to: {count} }} }} }}\n"
    );
    let project = Project::new("harbor.yaml", &text);
    project.runner(&["run", "harbor.yaml"]).expect(0);
    project
}

#[test]
fn interrupted_view_continues_with_the_proxies_that_are_missing() {
    let project = sweep(10);
    let mut view = project.command(&["view", "harbor.yaml", "--no-open"]);
    let mut has_begun = || project.logged("making small versions") == 1;
    let output = project.runner_signalled(&mut view, &mut [("TERM", &mut has_begun)]);
    cli_snapshot!("view_interrupted", output.expect(130));
    assert_eq!(temporary(&project.file("out/harbor/proxies")), Vec::<PathBuf>::new());
    assert!(!project.file("out/harbor/index.html").exists());
    let viewed: Output = project.runner(&["view", "harbor.yaml", "--no-open"]).expect(0);
    assert_eq!(fs_err::read_dir(project.file("out/harbor/proxies")).expect("a folder").count(), 10);
    assert!(project.file("out/harbor/index.html").exists(), "{}", viewed.transcript());
}
