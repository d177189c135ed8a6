//! Commands on a cluster: what they show is what the same run on one machine shows, and each finds what another client has done.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::processes::{Cluster, KEY, signal, stderr};
use super::server::ServerProgram;
use super::service::{Behavior, CountingService, FAILING};
use crate::exit_code::{ACTION_NEEDED, BUDGET_EXCEEDED, DONE, FAILED, INVALID_INPUT};

/// A name that has to be encoded in URLs.
const WORKFLOW: &str = "
version: 1
name: küste_1-2
defaults: {model: modelb-video-480p, seconds: 4}
shots:
  - id: a
    prompt: a lamp
  - id: b
    prompt: the lamp goes out
    continues: a
film:
  output: film.mp4
  shots: [a, b]
";
const TAKES: &str = "
version: 1
name: takes
defaults: {model: modelb-video-480p, seconds: 4}
shots:
  - id: t
    prompt: a harbour
    takes: 2
  - id: u
    prompt: the harbour at night
    continues: t
";
/// Members of events and summaries that differ between two runs.
const REDACTED: &str = "time seq run attempt task key request path clips_digest sha256 bytes elapsed_ms task_duration_ms jobs since started_at \
                        ended_at";

/// A client of the cluster: a folder with a workflow.
struct Client<'c> {
    cluster: &'c Cluster,
    service: &'c CountingService,
    folder: PathBuf,
    /// Whether it runs on one machine, without the cluster.
    is_local: bool,
}

pub(super) fn run(server: &ServerProgram, program: &Path) -> Result<String, String> {
    let behavior = Behavior::without_faults(Duration::from_millis(20), Duration::from_secs(1));
    let service = CountingService::start(3, behavior)?;
    let cluster = Cluster::start(server, program, 2, (service.base_url(), KEY), &[])?;
    same_as_on_one_machine(&cluster, &service)?;
    same_summary(&cluster, &service)?;
    reruns(&cluster, &service)?;
    failures(&cluster, &service)?;
    other_client(&cluster, &service)?;
    picks(&cluster, &service)?;
    page(&cluster, &service)?;
    videos_of_this_machine(&cluster, &service)?;
    Ok("commands: events, summary and exit codes as on one machine; status, plan, pick, view, ui, --rerun and --failed read the cluster".to_owned())
}

/// The events of a run are those of the same run on one machine.
fn same_as_on_one_machine(cluster: &Cluster, service: &CountingService) -> Result<(), String> {
    let client = Client::new(cluster, service, "first", WORKFLOW)?;
    let planned = client.json(&["plan", "w.yaml", "--format", "json"])?;
    expect(&decisions(&planned), &["execute", "deferred"], "the plan before the first run")?;
    let cluster_run = client.ends(&["run", "w.yaml", "--format", "ndjson"], DONE)?;
    let local_client = client.local("alone")?;
    let local = local_client.ends(&["run", "w.yaml", "--format", "ndjson"], DONE)?;
    same_lines(&cluster_run, &local)?;
    expect(&service.accepted(), &4, "tasks of both runs")?;
    let planned = client.json(&["plan", "w.yaml", "--format", "json"])?;
    expect(&decisions(&planned), &["reuse", "reuse"], "the plan after the run")?;
    client.ends(&["run", "w.yaml"], DONE)?;
    local_client.ends(&["run", "w.yaml"], DONE)?;
    expect(&service.accepted(), &4, "tasks after another run")?;
    let status = client.json(&["status", "w.yaml", "--format", "json"])?;
    let local_status = local_client.json(&["status", "w.yaml", "--format", "json"])?;
    expect(
        &redacted(status["shots"].clone()),
        &redacted(local_status["shots"].clone()),
        "the status of shots",
    )?;
    let states: Vec<&str> =
        status["runs"].as_array().into_iter().flatten().filter_map(|run| run["state"].as_str()).collect();
    expect(&states, &vec!["ended", "ended"], "the status of runs")?;
    expect(&status["totals"]["spent"]["tasks"], &Value::from(2), "tasks that the account has paid for")?;
    // An index of one workflow does not show the runs of another one.
    let other = Client::new(cluster, service, "other", TAKES)?;
    let status = other.json(&["status", "w.yaml", "--format", "json"])?;
    expect(&status["runs"], &Value::Array(Vec::new()), "runs of a workflow that has none")?;
    let all = other.json(&["status", "--format", "json"])?;
    expect(&all["runs"].as_array().map(Vec::len), &Some(2), "runs of all workflows")?;
    let resolve = client.ends(&["resolve", "w.yaml"], DONE)?;
    expect(&stdout(&resolve).as_str(), &"nothing to resolve\n", "resolve")
}

/// The summary of a run is that of the same run on one machine.
fn same_summary(cluster: &Cluster, service: &CountingService) -> Result<(), String> {
    let text = WORKFLOW.replace("küste_1-2", "summary").replace("a lamp", "another lamp");
    let client = Client::new(cluster, service, "summary", &text)?;
    let cluster_summary = client.json(&["run", "w.yaml", "--format", "json"])?;
    let local_summary = client.local("summary-alone")?.json(&["run", "w.yaml", "--format", "json"])?;
    expect(&redacted(cluster_summary), &redacted(local_summary), "the summary")
}

/// A shot that was rendered again has the new video from then on, for every client.
fn reruns(cluster: &Cluster, service: &CountingService) -> Result<(), String> {
    let client = Client::new(cluster, service, "reruns", WORKFLOW)?;
    let before = service.accepted();
    let planned = client.json(&["run", "w.yaml", "--dry-run", "--rerun", "a", "--format", "json"])?;
    expect(&decisions(&planned), &["execute", "deferred"], "the plan of a rerun")?;
    client.ends(&["run", "w.yaml", "--rerun", "a"], DONE)?;
    // What continues it is rendered again, too.
    expect(&(service.accepted() - before), &2, "tasks of a rerun")?;
    let other = Client::new(cluster, service, "after-rerun", WORKFLOW)?;
    let planned = other.json(&["plan", "w.yaml", "--format", "json"])?;
    expect(&decisions(&planned), &["reuse", "reuse"], "the plan after a rerun")?;
    other.ends(&["run", "w.yaml"], DONE)?;
    expect(&(service.accepted() - before), &2, "tasks after a rerun")?;
    // One that a cap ends is still wanted, until it is withdrawn or done, whichever client does that.
    let capped = ["run", "w.yaml", "--rerun", "a", "--max-tasks", "0", "--partial"];
    client.ends(&capped, BUDGET_EXCEEDED)?;
    let planned = other.json(&["plan", "w.yaml", "--format", "json"])?;
    expect(&decisions(&planned), &["execute", "deferred"], "the plan after a rerun that a cap ended")?;
    other.ends(&["run", "w.yaml", "--rerun", "a", "--withdraw"], DONE)?;
    let planned = other.json(&["plan", "w.yaml", "--format", "json"])?;
    expect(&decisions(&planned), &["reuse", "reuse"], "the plan after a withdrawal")?;
    client.ends(&capped, BUDGET_EXCEEDED)?;
    other.ends(&["run", "w.yaml", "--rerun", "a"], DONE)?;
    expect(&(service.accepted() - before), &4, "tasks of a rerun that another client continues")
}

/// `--failed` renders what failed in the last run, whichever client ran it; exit codes and what a failure leads to are those of one machine.
fn failures(cluster: &Cluster, service: &CountingService) -> Result<(), String> {
    let text = WORKFLOW
        .replace("küste_1-2", "failures")
        .replace("the lamp goes out", FAILING)
        .replace("a lamp", "the last lamp");
    let client = Client::new(cluster, service, "failures", &text)?;
    client.ends(&["run", "w.yaml", "--failed"], DONE)?;
    let output = client.ends(&["run", "w.yaml", "--format", "ndjson"], FAILED)?;
    let local = client.local("failures-alone")?.ends(&["run", "w.yaml", "--format", "ndjson"], FAILED)?;
    same_lines(&output, &local)?;
    let before = service.accepted();
    let other = Client::new(cluster, service, "failures-again", &text)?;
    other.ends(&["run", "w.yaml", "--failed"], FAILED)?;
    expect(&(service.accepted() - before), &1, "tasks of --failed")
}

/// Another client has nothing but the file: the page shows the videos and the film of the cluster.
fn other_client(cluster: &Cluster, service: &CountingService) -> Result<(), String> {
    let client = Client::new(cluster, service, "viewer", WORKFLOW)?;
    client.ends(&["view", "w.yaml", "--no-open", "--output-dir", "out"], DONE)?;
    let manifest = fs_err::read(client.folder.join("out/manifest.json")).map_err(text)?;
    let manifest: Value = serde_json::from_slice(&manifest).map_err(text)?;
    let clips = manifest["clips"].as_array().into_iter().flatten();
    let files: Vec<&str> = clips
        .chain(manifest["films"].as_array().into_iter().flatten())
        .filter_map(|entry| entry["file"].as_str())
        .collect();
    expect(&files.len(), &3, "videos and films of a page")?;
    for file in files {
        if !client.folder.join("out").join(file).is_file() {
            return Err(format!("{file} is on the page and not on this machine"));
        }
    }
    Ok(())
}

/// Picks are kept beside the file; their candidates come from the cluster.
fn picks(cluster: &Cluster, service: &CountingService) -> Result<(), String> {
    let client = Client::new(cluster, service, "picks", TAKES)?;
    let before = service.accepted();
    client.ends(&["run", "w.yaml"], ACTION_NEEDED)?;
    let status = client.json_with(&["status", "w.yaml", "--format", "json"], ACTION_NEEDED)?;
    expect(&status["action_needed"][0]["reason"], &Value::from("unpicked"), "what needs action")?;
    let list = client.ends(&["pick", "w.yaml"], ACTION_NEEDED)?;
    if stdout(&list).contains("not rendered") || stdout(&list).matches(".mp4").count() != 2 {
        return Err(format!("the candidates of a pick have no files:\n{}", stdout(&list)));
    }
    client.ends(&["pick", "w.yaml", "t", "2"], DONE)?;
    client.ends(&["run", "w.yaml"], DONE)?;
    expect(&(service.accepted() - before), &3, "tasks of takes")
}

/// The live page begins with what the cluster has.
fn page(cluster: &Cluster, service: &CountingService) -> Result<(), String> {
    let client = Client::new(cluster, service, "page", WORKFLOW)?;
    let mut child = client
        .command(&["ui", "w.yaml", "--no-open", "--output-dir", "out"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(text)?;
    let mut line = String::new();
    if let Some(pipe) = child.stdout.take() {
        std::io::BufRead::read_line(&mut std::io::BufReader::new(pipe), &mut line).map_err(text)?;
    }
    signal(&child, "INT")?;
    let output = child.wait_with_output().map_err(text)?;
    let videos = fs_err::read_dir(client.folder.join("out")).map_err(text)?.filter_map(Result::ok);
    let videos =
        videos.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "mp4")).count();
    if !line.starts_with("http://127.0.0.1:") || !output.status.success() || videos != 3 {
        return Err(format!("ui: {line:?}, {videos} videos, {}: {}", output.status, stderr(&output)));
    }
    Ok(())
}

/// What a run on this machine has paid for is not paid for again on the cluster without a word.
fn videos_of_this_machine(cluster: &Cluster, service: &CountingService) -> Result<(), String> {
    let text = WORKFLOW.replace("küste_1-2", "moved").replace("a lamp", "a moved lamp");
    let client = Client::new(cluster, service, "moved", &text)?;
    client.local("moved")?.ends(&["run", "w.yaml"], DONE)?;
    let before = service.accepted();
    client.ends(&["run", "w.yaml"], ACTION_NEEDED)?;
    expect(&service.accepted(), &before, "tasks of a run that stops")?;
    client.ends(&["run", "w.yaml", "--force", "--open"], DONE)?;
    expect(&service.accepted(), &(before + 2), "tasks with --force")?;
    client.ends(&["run", "w.yaml", "--attach", "01NOBODY"], INVALID_INPUT).map(drop)
}

impl<'c> Client<'c> {
    fn new(
        cluster: &'c Cluster,
        service: &'c CountingService,
        name: &str,
        workflow: &str,
    ) -> Result<Self, String> {
        let folder = cluster.folder().join(name);
        fs_err::create_dir_all(&folder).map_err(text)?;
        fs_err::write(folder.join("w.yaml"), workflow).map_err(text)?;
        Ok(Self { cluster, service, folder, is_local: false })
    }

    /// A client of the same service and the same workflow without the cluster, in another folder, or in the same one by its name.
    fn local(&self, name: &str) -> Result<Self, String> {
        let workflow = fs_err::read_to_string(self.folder.join("w.yaml")).map_err(text)?;
        Ok(Self { is_local: true, ..Self::new(self.cluster, self.service, name, &workflow)? })
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.cluster.command(args);
        command.current_dir(&self.folder);
        if self.is_local {
            command.env_remove("RUNNER_ENGINE").env_remove("RUNNER_STORE");
            command.env("RUNNER_BASE_URL", self.service.base_url()).env("RUNNER_API_KEY", KEY);
        }
        command
    }

    /// Runs a command, which has to end with this exit code.
    fn ends(&self, args: &[&str], exit: i32) -> Result<Output, String> {
        let output = self.command(args).output().map_err(text)?;
        if output.status.code() == Some(exit) {
            Ok(output)
        } else {
            Err(format!("{args:?} ended with {}: {}", output.status, stderr(&output)))
        }
    }

    fn json(&self, args: &[&str]) -> Result<Value, String> {
        self.json_with(args, DONE)
    }

    fn json_with(&self, args: &[&str], exit: i32) -> Result<Value, String> {
        let output = self.ends(args, exit)?;
        serde_json::from_slice(&output.stdout).map_err(|error| format!("{args:?} printed no JSON: {error}"))
    }
}

fn decisions(plan: &Value) -> Vec<&str> {
    plan["shots"].as_array().into_iter().flatten().filter_map(|shot| shot["decision"].as_str()).collect()
}

/// The lines of an event stream, without those whose number depends on time.
fn redacted_lines(output: &Output) -> Result<Vec<Value>, String> {
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let lines = lines.map(|line| serde_json::from_slice(line).map_err(text));
    let lines = lines.collect::<Result<Vec<Value>, String>>()?;
    if lines.is_empty() {
        return Err(format!("no events: {}", stderr(output)));
    }
    let is_timed = |line: &Value| matches!(line["kind"].as_str(), Some("progress" | "film-progress"));
    Ok(lines.into_iter().filter(|line| !is_timed(line)).map(redacted).collect())
}

fn same_lines(cluster: &Output, local: &Output) -> Result<(), String> {
    let (cluster, local) = (redacted_lines(cluster)?, redacted_lines(local)?);
    let none = Value::Null;
    for index in 0..cluster.len().max(local.len()) {
        let (cluster, local) = (cluster.get(index).unwrap_or(&none), local.get(index).unwrap_or(&none));
        if cluster != local {
            return Err(format!(
                "line {index} of the events\n  on the cluster:  {cluster}\n  on this machine: {local}"
            ));
        }
    }
    Ok(())
}

fn redacted(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| {
                let is_redacted = REDACTED.split(' ').any(|redacted| redacted == name) && !value.is_null();
                let value = if is_redacted { Value::from("…") } else { redacted(value) };
                (name, value)
            })
            .collect(),
        Value::Array(items) => items.into_iter().map(redacted).collect(),
        other => other,
    }
}

fn expect<A: PartialEq<B> + std::fmt::Debug, B: std::fmt::Debug>(
    actual: &A,
    expected: &B,
    label: &str,
) -> Result<(), String> {
    if actual == expected { Ok(()) } else { Err(format!("{label}: {actual:#?}\nexpected: {expected:#?}")) }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
