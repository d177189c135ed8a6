//! An outside tool drives the service from openapi.yaml: schemathesis makes requests of all manners, good and bad, and looks at every
//! answer. It is installed here, pinned, into a folder of its own below `target`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use contract::Contract;
use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};
use renderer::{Job, Progress, RenderError, Renderer, Rendering};
use reqwest::Client;
use secrecy::SecretString;
use serde_json::{Value, json};
use service::{Config, Service, Sources};
use tokio::runtime::Runtime;

const TOOL: &str = "schemathesis==4.32.5";
const KEY: &str = "sk-conformance";
/// Fewer cases are no check.
const LEAST_CASES: u64 = 2_000;
/// Made for each of the three operations, besides those that go through the schema field by field.
const EXAMPLES: &str = "700";
/// What OpenAPI cannot express. `positive_data_acceptance` takes a request that fits the schema for one that must be accepted; the
/// rules between fields, and whether a URL leads to a picture, are in no schema.
const LEFT_OUT: &str = "positive_data_acceptance";

/// Runs the check; without Python or its registry it says so and passes.
pub(crate) fn check(root: &Path) -> Result<String, String> {
    let folder = root.join("target").join("conformance");
    fs_err::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let tool = match install(&folder) {
        Ok(tool) => tool,
        Err(why) => return Ok(format!("conformance is NOT checked: {why}")),
    };
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let output = runtime.block_on(drive(&tool, &folder))?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(format!("{text}\nthe service does not do what openapi.yaml says"));
    }
    let cases =
        cases(&text).ok_or_else(|| format!("{text}\nthe number of cases is not where it was in {TOOL}"))?;
    if cases < LEAST_CASES {
        return Err(format!("{text}\nonly {cases} cases were tried, {LEAST_CASES} are wanted"));
    }
    Ok(format!("{cases} cases of {TOOL}: no failure of the service, no undocumented answer"))
}

/// The installed tool, or why there is none.
fn install(folder: &Path) -> Result<PathBuf, String> {
    let environment = folder.join("venv");
    let programs = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let stamp = environment.join("installed");
    if fs_err::read_to_string(&stamp).is_ok_and(|installed| installed == TOOL) {
        return Ok(programs.join("st"));
    }
    let run = |what: &str, command: &mut Command| match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let told =
                String::from_utf8_lossy(&output.stderr).trim().lines().last().unwrap_or_default().to_owned();
            Err(format!("{what} failed: {told}"))
        }
        Err(error) => Err(format!("{what} cannot be run: {error}")),
    };
    run("python3 -m venv", Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", TOOL];
    run("pip install", Command::new(programs.join("python")).args(pip))?;
    fs_err::write(&stamp, TOOL).map_err(|error| error.to_string())?;
    Ok(programs.join("st"))
}

async fn drive(tool: &Path, folder: &Path) -> Result<Output, String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let data = tempfile::tempdir().map_err(|error| told(&error))?;
    let config = Config::embedded(data.path().join("service"), SecretString::from(KEY));
    let service =
        Service::start(config, Arc::new(Blank), Sources::system()).await.map_err(|error| told(&error))?;
    let base = service.base_url();
    let done = finished_task(base.as_str()).await?;
    let document = folder.join("openapi.json");
    let view = with_example(Contract::embedded().test_view(), &done);
    fs_err::write(&document, view.to_string()).map_err(|error| told(&error))?;
    let mut command = tokio::process::Command::new(tool);
    command.arg("run").arg(&document).args(["--url", base.as_str().trim_end_matches('/')]);
    command.args(["--header", &format!("Authorization: Bearer {KEY}")]);
    command.args(["--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES]);
    command.args(["--exclude-checks", LEFT_OUT, "--request-timeout", "20", "--suppress-health-check", "all"]);
    // The same cases each time: a check that fails now and then is soon ignored.
    command.args(["--generation-deterministic", "--no-color"]);
    command.current_dir(folder).env("PYTHONHASHSEED", "0").kill_on_drop(true);
    let output = command.output().await.map_err(|error| told(&error));
    service.shutdown().await;
    output
}

/// A task with a video, so that the paths with an id lead somewhere.
async fn finished_task(base: &str) -> Result<String, String> {
    let told = |error: reqwest::Error| error.to_string();
    let http = Client::builder().no_proxy().build().map_err(told)?;
    let request = json!({"model": "modelb-video-480p", "prompt": "a lake", "seconds": "1"});
    let answer =
        http.post(format!("{base}v1/videos")).bearer_auth(KEY).json(&request).send().await.map_err(told)?;
    let task: Value = answer.json().await.map_err(told)?;
    let id = task["id"].as_str().ok_or_else(|| format!("not accepted: {task}"))?.to_owned();
    for _ in 0..500 {
        let poll = http.get(format!("{base}v1/videos/{id}")).bearer_auth(KEY).send().await.map_err(told)?;
        let task: Value = poll.json().await.map_err(told)?;
        if task["status"] == "completed" {
            return Ok(id);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Err(format!("task {id} does not complete"))
}

/// The document with `id` as the example of every parameter that is a task's id.
fn with_example(mut document: Value, id: &str) -> Value {
    fn visit(value: &mut Value, id: &str) {
        match value {
            Value::Object(fields) => {
                if fields.get("name").is_some_and(|name| name == "task_id") && fields.contains_key("in") {
                    fields.remove("examples");
                    fields.insert("example".to_owned(), id.into());
                }
                for value in fields.values_mut() {
                    visit(value, id);
                }
            }
            Value::Array(values) => {
                for value in values {
                    visit(value, id);
                }
            }
            _ => {}
        }
    }
    visit(&mut document, id);
    document
}

/// The number before `generated` in the summary.
fn cases(text: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (before, _) = line.split_once(" generated")?;
        before.rsplit(' ').next()?.replace(',', "").parse().ok()
    })
}

/// A small black clip, whatever is asked for: what is looked at here is the answers.
struct Blank;

impl Renderer for Blank {
    fn render(
        &self,
        job: &Job,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rendering, RenderError> {
        if progress(Progress { frames_done: 1, frames_total: 1 }).is_break() {
            return Err(RenderError::Cancelled);
        }
        let rate = FrameRate::new(job.frame_rate, 1)
            .ok_or_else(|| RenderError::Job { what: "no frame rate".to_owned() })?;
        let frame = RgbImage::new(64, 36);
        let mut writer = ClipWriter::new(ClipSpec::new(64, 36, rate))?;
        writer.push_frame(&frame)?;
        Ok(Rendering { mp4: writer.finish()?, last_frame: frame })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_cases_is_read() {
        assert_eq!(cases("Test cases:\n  2345 generated, 2345 passed\n"), Some(2_345));
        assert_eq!(cases("  12,345 generated\n"), Some(12_345));
        assert_eq!(cases("nothing was generated"), None);
    }

    #[test]
    fn the_id_becomes_the_example() {
        let document = json!({"parameters": [{"name": "task_id", "in": "path", "schema": {"type": "string"}}, {"name": "x", "in": "path"}]});
        let changed = with_example(document, "task_1");
        assert_eq!(changed["parameters"][0]["example"], "task_1");
        assert_eq!(changed["parameters"][1].get("example"), None);
    }
}
