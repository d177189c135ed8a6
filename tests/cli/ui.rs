//! `runner ui`: the live page's server, as a browser talks to it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

use crate::budget::PRICES;
use crate::support::http::client_builder;
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::scripted::{ScriptedService, response, task_id};
use crate::support::{Output, Project, cli_snapshot, inline_snapshot, wait_until};

/// Timeout of every wait.
const TIMEOUT: Duration = Duration::from_mins(2);

const WORKFLOW: &str = "\
version: 1
name: harbor
defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }
shots:
  # the lamp in the tower
  - { id: lamp, takes: 2, prompt: the lamp turns on }
  - { id: sea, continues: lamp, prompt: the sea }
  - { id: last, prompt: the last ferry }
";

/// A server and a browser with its cookie.
struct Ui {
    child: Child,
    client: Client,
    origin: String,
    cookie: String,
}

impl Drop for Ui {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A client that follows no redirects.
fn browser() -> Client {
    client_builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client")
}

impl Ui {
    async fn start(project: &Project) -> Self {
        Self::start_with(&mut project.command(&["ui", "harbor.yaml"])).await
    }

    /// A server whose runs wait when the service has accepted a task, until [`go_on`].
    async fn start_held(project: &Project) -> Self {
        let mut command = project.command(&["ui", "harbor.yaml"]);
        Self::start_with(command.env("RUNNER_TEST_WAIT_AT", "before submitted")).await
    }

    async fn start_with(command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut url).expect("the server says where it is");
        let (origin, _) = url.trim().split_once("/?token=").expect("an address with a token");
        let client = browser();
        let answer = client.get(url.trim()).send().await.expect("an answer");
        assert_eq!(
            (answer.status(), &answer.headers()["location"]),
            (StatusCode::SEE_OTHER, &"/".parse().expect("a header"))
        );
        let set_cookie = answer.headers()["set-cookie"].to_str().expect("text").to_owned();
        let (cookie, attributes) = set_cookie.split_once("; ").expect("attributes");
        assert_eq!(attributes, "HttpOnly; SameSite=Strict; Path=/");
        Self { child, client, origin: origin.to_owned(), cookie: cookie.to_owned() }
    }

    /// Interrupts the server. Returns its exit code, and what it has printed to standard error. `after_notice` runs when it has said what it
    /// waits for.
    fn interrupted(&mut self, after_notice: Option<&dyn Fn()>) -> Output {
        let kill_status = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        assert!(kill_status.is_ok_and(|status| status.success()), "kill is part of every unix");
        let mut err = Vec::new();
        let mut pipe = BufReader::new(self.child.stderr.take().expect("a pipe"));
        if let Some(after_notice) = after_notice {
            pipe.read_until(b'\n', &mut err).expect("what it printed");
            after_notice();
        }
        pipe.read_to_end(&mut err).expect("what it printed");
        let status = self.child.wait().expect("it ends");
        Output::from_process(&std::process::Output { status, stdout: Vec::new(), stderr: err })
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.origin)).header("cookie", &self.cookie)
    }

    async fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        let request = self.client.post(format!("{}{path}", self.origin)).header("cookie", &self.cookie);
        let answer = request.header("origin", &self.origin).json(body).send().await.expect("an answer");
        (answer.status(), answer.json().await.expect("JSON"))
    }

    async fn perform(&self, body: &Value) -> String {
        let (status, answer) = self.post("/api/perform", body).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{answer}");
        answer["job"].as_str().expect("a job").to_owned()
    }

    /// A run with what its preview says of it.
    async fn previewed(&self, run: &Value) -> Value {
        let (status, mut preview) = self.post("/api/preview", run).await;
        assert_eq!(status, StatusCode::OK, "{preview}");
        let mut run = run.clone();
        run["previewed"] = preview["previewed"].take();
        run
    }

    async fn run(&self) -> String {
        self.perform(&self.previewed(&json!({ "action": "run" })).await).await
    }

    async fn events(&self) -> Events {
        let answer = self.get("/events").send().await.expect("an answer");
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Events { answer, text: String::new(), manifest: Value::Null, jobs: Value::Null }
    }
}

/// A page's stream of events.
struct Events {
    answer: Response,
    text: String,
    manifest: Value,
    jobs: Value,
}

impl Events {
    /// Reads until the last manifest and the last jobs satisfy the condition.
    async fn wait(&mut self, description: &str, is_met: impl Fn(&Value, &Value) -> bool) {
        let begin = Instant::now();
        while !is_met(&self.manifest, &self.jobs) {
            let waited =
                tokio::time::timeout(TIMEOUT.saturating_sub(begin.elapsed()), self.answer.chunk()).await;
            let chunk = waited.unwrap_or_else(|_| panic!("{description}: {} {}", self.manifest, self.jobs));
            self.text.push_str(&String::from_utf8_lossy(&chunk.expect("a stream").expect("no end")));
            while let Some(end) = self.text.find("\n\n") {
                let event: String = self.text.drain(..end + 2).collect();
                let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
                let data = line("data:").and_then(|data| serde_json::from_str(data).ok());
                match (line("event:"), data) {
                    (Some("manifest"), Some(data)) => self.manifest = data,
                    (Some("jobs"), Some(data)) => self.jobs = data,
                    _ => {}
                }
            }
        }
    }
}

fn clip<'m>(manifest: &'m Value, id: &str) -> &'m Value {
    let clips = manifest["manifest"]["clips"].as_array().map(Vec::as_slice).unwrap_or_default();
    clips.iter().find(|clip| clip["id"] == id).unwrap_or(&Value::Null)
}

/// Waits until a held run has come to where it is held.
fn wait_until_held(project: &Project) {
    wait_until("the run waits", || project.file("waiting").exists());
}

/// Lets a held run go on.
fn release(project: &Project) {
    wait_until_held(project);
    fs_err::remove_file(project.file("waiting")).expect("the run can be let go");
}

fn last_job(jobs: &Value) -> &Value {
    jobs.as_array().and_then(|jobs| jobs.last()).unwrap_or(&Value::Null)
}

/// Whether the last job is a run whose plan is made.
fn is_rendering(jobs: &Value) -> bool {
    last_job(jobs)["counts"]["left"].as_u64().is_some_and(|left| left > 0)
}

#[tokio::test]
async fn page_runs_picks_and_edits() {
    let project = Project::new("harbor.yaml", WORKFLOW);
    let ui = Ui::start(&project).await;
    let page = ui.get("/").send().await.expect("an answer");
    assert_eq!(page.headers()["content-security-policy"], "frame-ancestors 'none'");
    let page = page.text().await.expect("text");
    // The page has the viewer's scripts: a snapshot of it would be one of them.
    assert!(page.contains(r#"id="live""#) && page.contains("connect-src 'self'"));
    let (mut first, mut second) = (ui.events().await, ui.events().await);
    first
        .wait("the first manifest", |manifest, jobs| {
            clip(manifest, "lamp#1")["state"] == "not-started" && jobs == &json!([])
        })
        .await;

    // What a run would do, then the run.
    let (status, preview) =
        ui.post("/api/preview", &json!({ "action": "run", "only": ["lamp"], "max_tasks": 2 })).await;
    assert_eq!(
        (status, preview["command"].as_str()),
        (StatusCode::OK, Some("runner run --only=lamp --max-tasks=2 --own-caps harbor.yaml"))
    );
    assert_eq!(
        preview["text"],
        "to submit: 2 tasks, 2 seconds of video\ncost: none, the embedded service is free"
    );
    let decisions: Vec<&str> = preview["plan"]["shots"]
        .as_array()
        .expect("shots")
        .iter()
        .filter_map(|shot| shot["decision"].as_str())
        .collect();
    assert_eq!(decisions, ["execute", "execute", "not-selected", "not-selected"]);
    ui.run().await;
    for events in [&mut first, &mut second] {
        events
            .wait("the end of the run", |manifest, jobs| {
                // Jobs and manifest are separate events: the manifest may follow.
                let is_done = |id: &str| clip(manifest, id)["state"] == "done";
                last_job(jobs)["state"] == "ended" && ["lamp#1", "lamp#2", "last"].into_iter().all(is_done)
            })
            .await;
        assert_eq!(
            (&last_job(&events.jobs)["exit"], &last_job(&events.jobs)["counts"]["done"]),
            (&json!(3), &json!(3)),
            "{}",
            events.jobs
        );
        events.wait("the open pick", |manifest, _| clip(manifest, "sea")["state"] == "unpicked").await;
    }

    // A clip, whole and in part, and nothing else.
    let file = clip(&first.manifest, "last")["file"].as_str().expect("a file").to_owned();
    let response = ui.get(&format!("/{file}")).send().await.expect("an answer");
    assert_eq!(
        (response.status(), &response.headers()["content-type"]),
        (StatusCode::OK, &"video/mp4".parse().expect("a header"))
    );
    let part = ui.get(&format!("/{file}")).header("range", "bytes=0-3").send().await.expect("an answer");
    assert_eq!((part.status(), part.bytes().await.expect("bytes").len()), (StatusCode::PARTIAL_CONTENT, 4));
    for path in [
        "/manifest.json",
        "/../../harbor.yaml",
        "/%2e%2e/%2e%2e/harbor.yaml",
        "/..%2f..%2fharbor.yaml",
        "//etc/passwd",
    ] {
        assert_eq!(ui.get(path).send().await.expect("an answer").status(), StatusCode::NOT_FOUND, "{path}");
    }

    // A pick in the page, and one on the command line, which both pages see within a second.
    ui.perform(&json!({ "action": "pick", "shot": "lamp", "choice": "2" })).await;
    first.wait("the pick of the page", |manifest, _| clip(manifest, "lamp#2")["is_picked"] == true).await;
    second.wait("the same", |manifest, _| clip(manifest, "lamp#2")["is_picked"] == true).await;
    project.runner(&["pick", "harbor.yaml", "lamp", "1"]).expect(0);
    second
        .wait("the pick of the command line", |manifest, _| clip(manifest, "lamp#1")["is_picked"] == true)
        .await;
    ui.run().await;
    first
        .wait("the sea", |manifest, jobs| {
            last_job(jobs)["exit"] == 0 && clip(manifest, "sea")["state"] == "done"
        })
        .await;

    // An edit: what it would cost, then the file.
    let shot: Value = ui.get("/api/shot?id=sea").send().await.expect("an answer").json().await.expect("JSON");
    assert_eq!(shot, json!({ "shot": "sea", "prompt": "the sea", "seed": null }));
    first.wait("the digest", |manifest, _| manifest["digest"].is_string()).await;
    let edit = json!({ "action": "edit", "shot": "sea", "prompt": "the <b>sea", "digest": first.manifest["digest"] });
    let (status, preview) = ui.post("/api/preview", &edit).await;
    assert_eq!(
        (status, preview["text"].as_str()),
        (
            StatusCode::OK,
            Some("to submit: 1 task, 1 second of video\ncost: none, the embedded service is free")
        ),
        "{preview}"
    );
    inline_snapshot!(preview["diff"].as_str().expect("a diff"), @"
    --- harbor.yaml
    +++ harbor.yaml
    @@ -5,4 +5,4 @@
       # the lamp in the tower
       - { id: lamp, takes: 2, prompt: the lamp turns on }
    -  - { id: sea, continues: lamp, prompt: the sea }
    +  - { id: sea, continues: lamp, prompt: the <b>sea }
       - { id: last, prompt: the last ferry }
    ");
    assert_eq!(
        fs_err::read_to_string(project.file("harbor.yaml")).expect("a file"),
        WORKFLOW,
        "nothing was written"
    );
    ui.perform(&edit).await;
    first.wait("the edit", |manifest, _| clip(manifest, "sea")["prompt"] == "the <b>sea").await;
    let (status, answer) = ui.post("/api/perform", &edit).await;
    assert_eq!((status, answer["error"]["code"].as_str()), (StatusCode::CONFLICT, Some("changed")));

    // A file that somebody breaks: the page keeps what it has and says what is wrong.
    fs_err::write(project.file("harbor.yaml"), "version: 1\nshots: [").expect("a file can be written");
    first.wait("the problem", |manifest, _| manifest["problem"].is_string()).await;
    inline_snapshot!(first.manifest["problem"].as_str().unwrap_or_default(), @r#"
    error[yaml-syntax]: this `[` is never closed
     --> harbor.yaml:2:8
      |
    2 | shots: [
      |        ^
      |
      = help: add `]` where it ends; if it is text, put it in quotes: `shots: "["`

    harbor.yaml: 1 error
    "#);
    assert_eq!(clip(&first.manifest, "last")["state"], "done");
}

#[tokio::test]
async fn run_goes_on_after_its_server_was_killed() {
    let project = Project::new("harbor.yaml", WORKFLOW);
    let ui = Ui::start_held(&project).await;
    let mut events = ui.events().await;
    ui.run().await;
    events.wait("a run", |_, jobs| is_rendering(jobs)).await;
    drop(ui);
    release(&project);
    let ui = Ui::start(&project).await;
    let mut events = ui.events().await;
    let is_done = |manifest: &Value, id: &str| clip(manifest, id)["state"] == "done";
    events
        // Jobs and manifest are separate events.
        .wait("the end of the run", |manifest, jobs| {
            jobs.is_array() && ["lamp#1", "lamp#2", "last"].iter().all(|id| is_done(manifest, id))
        })
        .await;
    assert_eq!(events.jobs, json!([]), "the new server has not started it");
    let summary = project.runner(&["run", "harbor.yaml", "--format", "json"]).expect(3);
    let summary: Value = serde_json::from_str(&summary.out).expect("JSON");
    assert_eq!(summary["submitted"], 0, "{summary}");
}

#[tokio::test]
async fn run_is_stopped_from_the_page_and_its_tasks_are_adopted() {
    let project = Project::new("harbor.yaml", WORKFLOW);
    let ui = Ui::start_held(&project).await;
    let mut events = ui.events().await;
    let job = ui.run().await;
    events.wait("a run", |_, jobs| is_rendering(jobs)).await;
    let again = ui.previewed(&json!({ "action": "run" })).await;
    let (status, answer) = ui.post("/api/perform", &again).await;
    assert_eq!((status, answer["error"]["code"].as_str()), (StatusCode::CONFLICT, Some("busy")));
    // A run that is stopped earlier submits nothing, and is never held.
    wait_until_held(&project);
    ui.perform(&json!({ "action": "stop", "job": job })).await;
    release(&project);
    events.wait("its end", |_, jobs| last_job(jobs)["state"] == "ended").await;
    assert_eq!(last_job(&events.jobs)["exit"], 130, "{}", events.jobs);
    let (status, answer) = ui.post("/api/perform", &json!({ "action": "stop", "job": job })).await;
    assert_eq!((status, answer["error"]["code"].as_str()), (StatusCode::NOT_FOUND, Some("unknown-job")));
    project.runner(&["run", "harbor.yaml", "--format", "json"]).expect(3);
    events
        .wait("the videos", |manifest, _| {
            ["lamp#1", "lamp#2", "last"].iter().all(|id| clip(manifest, id)["state"] == "done")
        })
        .await;
    // A submission that was prepared but not sent when the run was stopped is on record too, as refused.
    let is_sent = |attempt: &&Value| attempt["result"] != "refused";
    let attempts =
        |clip: &Value| clip["attempts"].as_array().map_or(0, |all| all.iter().filter(is_sent).count());
    let clips = &events.manifest["manifest"]["clips"];
    assert_eq!(clips.as_array().expect("clips").iter().map(attempts).sum::<usize>(), 3, "{clips}");
}

/// The service of these tests has threads of its own, and cannot be started from another runtime's.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// Shots at a service that is paid.
fn paid(shots: &str) -> String {
    let head =
        "version: 1\nname: harbor\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\n";
    format!("{head}{shots}")
}

/// What a preview says of a run, besides the digest: its command, tasks and cost.
async fn bounds(ui: &Ui) -> (String, Value, Value) {
    let (_, preview) = ui.post("/api/preview", &json!({ "action": "run" })).await;
    let command = preview["command"].as_str().unwrap_or_default().to_owned();
    (command, preview["previewed"]["tasks"].clone(), preview["previewed"]["cost"].clone())
}

/// Waits for the end of the newest command; its exit code.
async fn exit_of(events: &mut Events, job: &str) -> Value {
    let is_ended = |jobs: &Value| last_job(jobs)["job"] == job && last_job(jobs)["state"] == "ended";
    events.wait("its end", |_, jobs| is_ended(jobs)).await;
    last_job(&events.jobs)["exit"].clone()
}

#[test]
fn run_is_refused_if_what_it_was_previewed_from_has_changed() {
    let proxy = RecordingProxy::faithful();
    let text = paid("include: [more.yaml]\nshots:\n  - { id: a, prompt: '{{ look }}' }\n");
    let project = Project::new("harbor.yaml", &text).against(&proxy.url, KEY);
    let write = |file: &str, text: &str| fs_err::write(project.file(file), text).expect("it can be written");
    write("more.yaml", "params: { look: dusk }\n");
    write("prices.yaml", PRICES);
    block_on(async {
        let ui = Ui::start(&project).await;
        let run = json!({ "action": "run" });
        let (status, answer) = ui.post("/api/perform", &run).await;
        assert_eq!(
            (status, answer["error"]["code"].as_str()),
            (StatusCode::UNPROCESSABLE_ENTITY, Some("invalid"))
        );
        for (file, changed) in [
            ("harbor.yaml", format!("{text}  - {{ id: c, takes: 8, prompt: the ferry }}\n")),
            ("more.yaml", "params: { look: dawn }\n".to_owned()),
            ("prices.yaml", PRICES.replace("0.10", "9.10")),
        ] {
            let previewed = ui.previewed(&run).await;
            write(file, &changed);
            let (status, answer) = ui.post("/api/perform", &previewed).await;
            assert_eq!(
                (status, answer["error"]["code"].as_str()),
                (StatusCode::CONFLICT, Some("changed")),
                "{file}"
            );
            inline_snapshot!(answer["error"]["message"].as_str().unwrap_or_default(), @"the workflow or a file that it depends on was changed in the meantime; nothing was submitted");
        }
        assert_eq!(proxy.posts().len(), 0);
        let (mut events, job) = (ui.events().await, ui.run().await);
        assert_eq!((exit_of(&mut events, &job).await, proxy.posts().len()), (json!(0), 9));
    });
}

#[test]
fn run_submits_no_more_than_its_preview_and_no_less() {
    let proxy = RecordingProxy::losing_first("quiet");
    let shots = "shots:\n  - { id: a, prompt: a quiet sea }\n  - { id: b, prompt: a loud sea }\n  - { id: c, prompt: no sea }\n";
    let project = Project::new("harbor.yaml", &paid(shots)).against(&proxy.url, KEY);
    fs_err::write(project.file("prices.yaml"), PRICES).expect("it can be written");
    project.runner(&["run", "harbor.yaml", "--only", "a"]).expect(3);
    block_on(async {
        let ui = Ui::start(&project).await;
        let mut events = ui.events().await;
        // What another run has reserved does not count.
        let (command, tasks, cost) = bounds(&ui).await;
        inline_snapshot!(command, @"runner run --max-cost=0.20 --max-tasks=2 --own-caps harbor.yaml");
        assert_eq!((tasks, cost), (json!(2), json!("0.20")));
        let job = ui.run().await;
        assert_eq!((exit_of(&mut events, &job).await, proxy.posts().len()), (json!(3), 3));

        // One task; then the other one may be submitted again, which nobody has seen the price of.
        fs_err::write(project.file("harbor.yaml"), paid(shots).replace("loud", "louder"))
            .expect("it can be written");
        let previewed = ui.previewed(&json!({ "action": "run" })).await;
        project.runner(&["resolve", "harbor.yaml", "a", "--resubmit"]).expect(0);
        let job = ui.perform(&previewed).await;
        assert_eq!((exit_of(&mut events, &job).await, proxy.posts().len()), (json!(4), 3));
        let job = ui.run().await;
        assert_eq!((exit_of(&mut events, &job).await, proxy.posts().len()), (json!(0), 5));
    });
}

#[test]
fn previewed_run_may_retry() {
    let service = ScriptedService::start(|call| {
        let task = call.path.strip_prefix("/v1/videos/").filter(|task| *task == task_id(1))?;
        let failed = r#"{"id":"ID","object":"video","status":"failed","error":{"code":"render_failed","message":"no"}}"#;
        Some(response(200, &[], failed.replace("ID", task)))
    });
    let text = paid(
        "shots:\n  - { id: a, prompt: the sea, retry: 2 }\n  - { id: b, prompt: the pier, model: modelb-video-720p, size: 1280x720, retry: 2 }\n",
    );
    let project = Project::new("harbor.yaml", &text).against(&service.url, KEY);
    fs_err::write(project.file("prices.yaml"), PRICES).expect("it can be written");
    block_on(async {
        let ui = Ui::start(&project).await;
        let mut events = ui.events().await;
        let (_, tasks, cost) = bounds(&ui).await;
        // The cost of what has no price is not limited.
        assert_eq!((tasks, cost), (json!(4), Value::Null));
        let job = ui.run().await;
        assert_eq!((exit_of(&mut events, &job).await, service.posts()), (json!(0), 3));
    });
}

#[tokio::test]
async fn interrupted_server_ends_with_0() {
    let project = Project::new("harbor.yaml", WORKFLOW);
    let mut ui = Ui::start(&project).await;
    cli_snapshot!("ui_interrupted", ui.interrupted(None));
}

/// The run ends as after an interrupt of its own, and the next one adopts its tasks.
#[tokio::test]
async fn interrupted_server_waits_for_the_run_that_it_started() {
    let project = Project::new("harbor.yaml", WORKFLOW);
    let mut ui = Ui::start_held(&project).await;
    ui.run().await;
    wait_until_held(&project);
    let output = ui.interrupted(Some(&|| release(&project)));
    cli_snapshot!("ui_interrupted_during_a_run", output);
    // How many of its tasks were accepted by then depends on timing.
    let status = project.runner(&["status", "harbor.yaml"]);
    assert!(status.out.starts_with("harbor: ended "), "{}", status.transcript());
}

#[tokio::test]
async fn requests_of_other_pages_are_refused() {
    let project = Project::new("harbor.yaml", WORKFLOW);
    let ui = Ui::start(&project).await;
    let url = |path: &str| format!("{}{path}", ui.origin);
    let status = async |request: RequestBuilder| request.send().await.expect("an answer").status();
    for path in ["/", "/?token=0", "/events", "/api/shot?id=sea", "/storm.mp4"] {
        assert_eq!(status(ui.client.get(url(path))).await, StatusCode::UNAUTHORIZED, "{path}");
    }
    // Cookies ignore ports: a page of another port may send them along.
    assert_eq!(status(ui.get("/events").header("sec-fetch-site", "same-site")).await, StatusCode::FORBIDDEN);
    // A name that resolves to this address.
    assert_eq!(status(ui.get("/").header("host", "evil.test:80")).await, StatusCode::MISDIRECTED_REQUEST);
    let post = |origin: &str| {
        let request =
            ui.client.post(url("/api/perform")).header("cookie", &ui.cookie).header("origin", origin);
        request.json(&json!({ "action": "run" }))
    };
    assert_eq!(status(post("http://127.0.0.1:1")).await, StatusCode::FORBIDDEN);
    assert_eq!(status(post("null")).await, StatusCode::FORBIDDEN);
    let form = ui.client.post(url("/api/perform")).header("cookie", &ui.cookie).header("origin", &ui.origin);
    assert_eq!(status(form.body(r#"{"action":"run"}"#)).await, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let (bad, body) = ui.post("/api/perform", &json!({ "action": "delete" })).await;
    assert_eq!((bad, body["error"]["code"].as_str()), (StatusCode::BAD_REQUEST, Some("invalid")));
    assert!(!project.file(".runner").exists(), "nothing was run");
}

/// The page on a port that was free, with the URL that it prints; `None` where the program ends without one.
fn listen_behind_a_proxy(project: &Project) -> Option<(Ui, String)> {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let listen = free.local_addr().expect("its address").to_string();
    drop(free);
    let arguments = ["ui", "harbor.yaml", "--listen", &listen, "--public-url", "https://films.example.org"];
    let mut command = project.command(&arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut ui = Ui {
        child: child.expect("the program can be started"),
        client: browser(),
        origin: format!("http://{listen}"),
        cookie: String::new(),
    };
    let mut url = String::new();
    let stdout = ui.child.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut url).expect("text");
    (!url.is_empty()).then_some((ui, url))
}

/// Behind a proxy with TLS browsers send the proxy's name, which the proxy passes on.
#[tokio::test]
async fn page_behind_a_proxy_answers_to_its_public_name_only() {
    let project = Project::new("harbor.yaml", WORKFLOW);
    // Another process may take the port before the program has it; then another one is tried.
    let (mut ui, url) =
        (0..5).find_map(|_| listen_behind_a_proxy(&project)).expect("the server says where it is");
    let path = url.trim().strip_prefix("https://films.example.org").expect("the public address");
    let direct = ui.get(path).send().await.expect("an answer");
    assert_eq!(direct.status(), StatusCode::MISDIRECTED_REQUEST, "at its own address");
    let answer = ui.get(path).header("host", "films.example.org").send().await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let set_cookie = answer.headers()["set-cookie"].to_str().expect("text").to_owned();
    let (cookie, attributes) = set_cookie.split_once("; ").expect("attributes");
    assert_eq!(attributes, "HttpOnly; SameSite=Strict; Path=/; Secure");
    cookie.clone_into(&mut ui.cookie);
    let page = ui.get("/").header("host", "films.example.org").send().await.expect("an answer");
    assert_eq!(page.status(), StatusCode::OK);
    let shot = async |origin: &str| {
        let request =
            ui.client.post(format!("{}/api/preview", ui.origin)).header("host", "films.example.org");
        let request = request.header("cookie", &ui.cookie).header("origin", origin);
        request.json(&json!({ "action": "run" })).send().await.expect("an answer").status()
    };
    assert_eq!(shot("https://films.example.org").await, StatusCode::OK);
    assert_eq!(shot("http://films.example.org").await, StatusCode::FORBIDDEN);
}

#[test]
fn page_is_not_served_to_other_machines_by_accident() {
    let project = Project::new("harbor.yaml", WORKFLOW);
    let open = project.runner(&["ui", "harbor.yaml", "--listen", "0.0.0.0:4000"]);
    cli_snapshot!("ui_without_origin", open.expect(2));
    let plain = ["ui", "harbor.yaml", "--listen", "0.0.0.0:0", "--public-url", "http://10.0.0.5:4000"];
    cli_snapshot!("ui_without_tls", project.runner(&plain).expect(2));
}
