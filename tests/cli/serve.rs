//! `runner serve`: API keys, an external renderer, and SIGKILL in a loop under load.

#![cfg(unix)]

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use crate::support::http::client_builder;
use crate::support::{Project, cli_snapshot};

/// Timeout of every wait.
const TIMEOUT: Duration = Duration::from_mins(2);
/// How often the service is killed while tasks are submitted.
const KILLS: u64 = 8;

/// A renderer that goes on until nobody reads what it prints, because the service has gone.
const ENDLESS: &str = "sh -c \"echo progress 40; while sleep 1 && echo; do :; done\"";

/// A folder with a data directory, a prepared clip and a renderer that copies it.
struct Fixture {
    project: Project,
    clip: Vec<u8>,
    key: String,
}

/// A service that runs. Dropping it kills it.
pub(crate) struct ServeProcess {
    child: Child,
    pub(crate) url: String,
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Fixture {
    fn new() -> Self {
        let project = Project::new("empty.yaml", "");
        let clip = clip();
        fs_err::write(project.file("clip.mp4"), &clip).expect("the folder can be written");
        let created = project.runner(&["serve", "keys", "add", "tests"]).expect(0);
        Self { project, clip, key: created.out.trim().to_owned() }
    }

    fn serve(&self, renderer: &str) -> ServeProcess {
        serve(&self.project, renderer)
    }

    /// Leaves a line in `begun` for each start of a task, and copies the clip in two steps, so that a kill finds half of it.
    fn copying(&self) -> String {
        let (clip, begun) =
            (path_text(&self.project.file("clip.mp4")), path_text(&self.project.file("begun")));
        let script = format!(
            "cat task.json >> {begun}; head -c 400 {clip} > output.mp4; tail -c +401 {clip} >> output.mp4"
        );
        format!("sh -c \"{script}\"")
    }
}

/// A service in the project's folder whose videos a program renders, and which an API key of the folder opens.
pub(crate) fn serve(project: &Project, renderer: &str) -> ServeProcess {
    serve_with(project, &["--workers", "2", "--renderer", renderer])
}

fn serve_with(project: &Project, arguments: &[&str]) -> ServeProcess {
    let mut command = project.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.args(arguments);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program can be started");
    let mut url = String::new();
    let out = child.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut url).expect("the service says where it is");
    assert!(url.starts_with("http://127.0.0.1:"), "{url:?}");
    ServeProcess { child, url: url.trim().to_owned() }
}

fn path_text(path: &Path) -> String {
    path.to_str().expect("a plain path").to_owned()
}

/// A clip of a few frames.
fn clip() -> Vec<u8> {
    let rate = FrameRate::new(24, 1).expect("a rate");
    let mut writer = ClipWriter::new(ClipSpec::new(64, 36, rate)).expect("a size");
    for shade in 0..8_u8 {
        let pixels = (0..64 * 36 * 3).map(|index| (index as u8).wrapping_mul(shade)).collect();
        writer.push_frame(&RgbImage::from_pixels(64, 36, pixels).expect("a frame")).expect("a frame");
    }
    writer.finish().expect("a clip")
}

fn http() -> Client {
    client_builder().timeout(TIMEOUT).build().expect("a client")
}

fn request(shot: &str) -> Value {
    json!({"model": "modelb-video-480p", "prompt": format!("shot {shot};"), "seconds": "1"})
}

#[test]
fn serve_keys_add_list_revoke() {
    let project = Project::new("empty.yaml", "");
    let refused = project.runner(&["serve", "keys", "list"]).expect(2);
    cli_snapshot!("serve_keys_no_data_folder", refused);
    let open = project.runner(&["serve", "--listen", "0.0.0.0:0"]).expect(2);
    cli_snapshot!("serve_without_keys", open);
    let created = project.runner(&["serve", "keys", "add", "ada", "--quota-seconds", "60"]).expect(0);
    let secret = created.out.trim();
    // Snapshots have it redacted, wherever it is.
    assert!(secret.starts_with("sk-") && !created.err.contains(secret), "{}", created.transcript());
    cli_snapshot!("serve_keys_add", created);
    cli_snapshot!("serve_keys_add_duplicate", project.runner(&["serve", "keys", "add", "ada"]).expect(2));
    let list = project.runner(&["serve", "keys", "list"]).expect(0);
    assert!(!list.out.contains(secret), "{}", list.out);
    cli_snapshot!("serve_keys_list", list);
    cli_snapshot!("serve_keys_revoke", project.runner(&["serve", "keys", "revoke", "ada"]).expect(0));
    cli_snapshot!("serve_keys_revoke_unknown", project.runner(&["serve", "keys", "revoke", "ada"]).expect(2));
    cli_snapshot!("serve_keys_list_revoked", project.runner(&["serve", "keys", "list"]).expect(0));
    for file in files_below(&project.file("video-service")) {
        let bytes = fs_err::read(&file).expect("a file");
        assert!(
            !bytes.windows(secret.len()).any(|part| part == secret.as_bytes()),
            "{} holds the key",
            file.display()
        );
    }
}

#[tokio::test]
async fn serve_limits_come_from_a_file_and_keys_are_changed_live() {
    let fixture = Fixture::new();
    let text = json!({"queued_tasks": 100, "per_key": {"running_tasks": 1}}).to_string();
    fs_err::write(fixture.project.file("limits.json"), text).expect("the folder can be written");
    let arguments = ["--limits", "limits.json", "--renderer", ENDLESS];
    let served = serve_with(&fixture.project, &arguments);
    let http = http();
    let status = async |key: &str| {
        let post = http.post(format!("{}v1/videos", served.url)).bearer_auth(key);
        post.json(&request("1")).send().await.expect("an answer").status().as_u16()
    };
    assert_eq!([status(&fixture.key).await, status(&fixture.key).await], [200, 429]);
    let changed =
        fixture.project.runner(&["serve", "keys", "set", "tests", "--running-tasks", "2"]).expect(0);
    cli_snapshot!("serve_keys_set", changed);
    assert_eq!([status(&fixture.key).await, status(&fixture.key).await], [200, 429]);
    // A key is accepted as soon as it is printed, and refused as soon as it is revoked.
    let other = fixture.project.runner(&["serve", "keys", "add", "other"]).expect(0).out;
    assert_eq!(status(other.trim()).await, 200);
    fixture.project.runner(&["serve", "keys", "revoke", "other"]).expect(0);
    assert_eq!(status(other.trim()).await, 401);
}

#[test]
fn serve_keys_set_changes_its_arguments_only() {
    let project = Project::new("empty.yaml", "");
    project.runner(&["serve", "keys", "add", "ada", "--1080p", "--quota-seconds", "60"]).expect(0);
    project.runner(&["serve", "keys", "set", "ada", "--running-tasks", "7", "--no-1080p"]).expect(0);
    project.runner(&["serve", "keys", "set", "ada", "--submissions-per-second", "2.5"]).expect(0);
    cli_snapshot!("serve_keys_set_list", project.runner(&["serve", "keys", "list"]).expect(0));
    project.runner(&["serve", "keys", "set", "ada", "--no-quota", "--1080p"]).expect(0);
    cli_snapshot!("serve_keys_set_no_quota", project.runner(&["serve", "keys", "list"]).expect(0));
    cli_snapshot!(
        "serve_keys_set_unknown",
        project.runner(&["serve", "keys", "set", "bob", "--1080p"]).expect(2)
    );
    fs_err::write(project.file("limits.json"), r#"{"per_key": {"bursts": 3}}"#).expect("a file");
    let refused = project.runner(&["serve", "--limits", "limits.json", "--listen", "127.0.0.1:0"]).expect(2);
    cli_snapshot!("serve_limits_invalid", refused);
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn serve_sigterm_exits_0_and_task_resumes() {
    let fixture = Fixture::new();
    let mut served = fixture.serve(ENDLESS);
    let http = http();
    let task: Value = submit(&http, &served.url, &fixture.key, "1").await.expect("an answer");
    let id = task["id"].as_str().expect("an id").to_owned();
    wait_for_condition(async || {
        poll(&http, &served.url, &fixture.key, &id).await.is_some_and(|task| task["progress"] == 37)
    })
    .await;
    let kill_status =
        std::process::Command::new("kill").args(["-TERM", &served.child.id().to_string()]).status();
    assert!(kill_status.is_ok_and(|status| status.success()), "kill is part of every unix");
    assert_eq!(served.child.wait().expect("it ends").code(), Some(0));
    let served = fixture.serve(&fixture.copying());
    wait_for_condition(async || {
        poll(&http, &served.url, &fixture.key, &id).await.is_some_and(|task| task["status"] == "completed")
    })
    .await;
}

async fn submit(http: &Client, url: &str, key: &str, shot: &str) -> Option<Value> {
    let answer =
        http.post(format!("{url}v1/videos")).bearer_auth(key).json(&request(shot)).send().await.ok()?;
    assert_eq!(answer.status(), StatusCode::OK);
    answer.json().await.ok()
}

async fn poll(http: &Client, url: &str, key: &str, id: &str) -> Option<Value> {
    let answer = http.get(format!("{url}v1/videos/{id}")).bearer_auth(key).send().await.ok()?;
    assert_eq!(answer.status(), StatusCode::OK, "an accepted task is always known");
    answer.json().await.ok()
}

async fn wait_for_condition(mut met: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    while !met().await {
        assert!(begin.elapsed() < TIMEOUT, "never happened");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// State of the tasks while the service is killed repeatedly.
#[derive(Default)]
struct Observations {
    /// Accepted: by id, the name of the shot.
    accepted: HashMap<String, String>,
    /// Completed: by id, when, and how often its shot had been begun by then.
    completed: HashMap<String, (Value, usize)>,
    /// The service has been killed for the last time.
    is_last_life: bool,
    /// Nothing more is submitted.
    is_load_over: bool,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serve_killed_repeatedly_finishes_each_task_once() {
    let fixture = Arc::new(Fixture::new());
    let observations = Arc::new(Mutex::new(Observations::default()));
    let renderer = fixture.copying();
    let address = Arc::new(Mutex::new(String::new()));
    let load = [0, 1].map(|half| {
        tokio::spawn(submit_all(Arc::clone(&fixture), Arc::clone(&address), Arc::clone(&observations), half))
    });
    let watch = tokio::spawn(watch(Arc::clone(&fixture), Arc::clone(&address), Arc::clone(&observations)));
    for kill in 0..KILLS {
        let mut served = fixture.serve(&renderer);
        lock(&address).clone_from(&served.url);
        // At another moment of its life each time.
        tokio::time::sleep(Duration::from_millis(40 + kill * 37 % 300)).await;
        // On a busy machine it may not have accepted anything yet.
        let begin = Instant::now();
        while lock(&observations).accepted.len() < expected_by(kill) {
            assert!(begin.elapsed() < TIMEOUT, "nothing is accepted");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Once this service is gone, that of another test may get its port.
        lock(&address).clear();
        served.child.kill().expect("it can be killed");
        served.child.wait().expect("it ends");
    }
    let served = fixture.serve(&renderer);
    lock(&address).clone_from(&served.url);
    lock(&observations).is_last_life = true;
    for half in load {
        half.await.expect("submissions go through");
    }
    lock(&observations).is_load_over = true;
    let all = tokio::time::timeout(TIMEOUT, watch).await;
    all.expect("every accepted task completes in time").expect("no answer was wrong");
    let observations = lock(&observations);
    assert_eq!(observations.accepted.len(), observations.completed.len());
    // What was once completed was never begun again.
    for (id, (_, begun_then)) in &observations.completed {
        assert_eq!(count_begun(&fixture, &observations.accepted[id]), *begun_then, "{id}");
    }
}

/// Tasks that are accepted before a kill, so that each life has some.
fn expected_by(kill: u64) -> usize {
    2 * (kill as usize + 1)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Submits every other shot, each until it has an accepted task that we know of, for as long as the service is killed.
async fn submit_all(
    fixture: Arc<Fixture>,
    address: Arc<Mutex<String>>,
    observations: Arc<Mutex<Observations>>,
    half: usize,
) {
    let http = http();
    for number in (half..).step_by(2) {
        if lock(&observations).is_last_life {
            break;
        }
        let begin = Instant::now();
        // A lost response may leave an unknown task: each try has its own name.
        for attempt in 1.. {
            assert!(begin.elapsed() < TIMEOUT, "shot {number} is never accepted");
            let (url, shot) = (lock(&address).clone(), format!("{number}.{attempt}"));
            if let Some(task) = submit(&http, &url, &fixture.key, &shot).await {
                lock(&observations).accepted.insert(task["id"].as_str().expect("an id").to_owned(), shot);
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
}

/// Polls all accepted tasks until all are completed, and downloads them from each life of the service.
async fn watch(fixture: Arc<Fixture>, address: Arc<Mutex<String>>, observations: Arc<Mutex<Observations>>) {
    let http = http();
    // By id, the address of the service that has served its video.
    let mut downloaded: HashMap<String, String> = HashMap::new();
    loop {
        let accepted = {
            let observed = lock(&observations);
            if observed.is_load_over && observed.completed.len() == observed.accepted.len() {
                break;
            }
            observed.accepted.clone()
        };
        for (id, shot) in accepted {
            let url = lock(&address).clone();
            let Some(task) = poll(&http, &url, &fixture.key, &id).await else { continue };
            let before = lock(&observations).completed.get(&id).cloned();
            if task["status"] == "completed" {
                let now = task["completed_at"].clone();
                assert!(
                    before.is_none_or(|(completed_at, _)| completed_at == now),
                    "{id} was completed twice"
                );
                // Read after the status, so that the file has everything that began before it.
                let begun = count_begun(&fixture, &shot);
                lock(&observations).completed.entry(id.clone()).or_insert((now, begun));
            } else {
                assert!(before.is_none(), "{id} was completed and is no longer: {task}");
                assert_ne!(task["status"], "failed", "{task}");
            }
            if downloaded.get(&id) == Some(&url) {
                continue;
            }
            let from_the_task = format!("{url}v1/videos/{id}/content");
            let addresses = [Some(from_the_task.as_str()), task["metadata"]["url"].as_str()];
            for address in addresses.into_iter().flatten() {
                let Ok(content) = http.get(address).bearer_auth(&fixture.key).send().await else { continue };
                if content.status() == StatusCode::CONFLICT {
                    assert_ne!(task["status"], "completed", "{id}");
                    continue;
                }
                assert_eq!(content.status(), StatusCode::OK, "{address}");
                // A download that the kill broke off is an error; one that ends is the whole video.
                if let Ok(bytes) = content.bytes().await {
                    assert!(
                        bytes == fixture.clip,
                        "{id}: {} bytes of {} were served",
                        bytes.len(),
                        fixture.clip.len()
                    );
                    downloaded.insert(id.clone(), url.clone());
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// How often the renderer has begun a shot, under whichever task.
fn count_begun(fixture: &Fixture, shot: &str) -> usize {
    let text = fs_err::read_to_string(fixture.project.file("begun")).unwrap_or_default();
    text.matches(&format!("\"shot {shot};\"")).count()
}
