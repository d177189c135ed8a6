//! Conformance of the service with openapi.yaml: schemathesis generates valid and invalid requests and checks every response. A pinned version
//! is installed into a virtual environment below `target`.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use contract::Contract;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::blank_service::{BlankService, KEY};
use crate::http::client_builder;
use crate::installed;

const TOOL: &str = "schemathesis==4.32.5";

/// How many requests are generated.
struct Extent {
    phases: &'static str,
    /// Random cases per operation, besides the systematic ones of the coverage phase.
    max_examples: &'static str,
    /// Fewer generated cases count as a failure.
    min_cases: u64,
}

const WHOLE: Extent =
    Extent { phases: "examples,coverage,fuzzing,stateful", max_examples: "700", min_cases: 2_000 };
const SAMPLE: Extent = Extent { phases: "examples,fuzzing,stateful", max_examples: "70", min_cases: 400 };
/// `positive_data_acceptance` demands that every request that fits the schema is accepted. OpenAPI cannot express cross-field rules, nor
/// whether a URL leads to an image, so the service rightly refuses some of them.
const EXCLUDED_CHECKS: &str = "positive_data_acceptance";

/// Runs the check. Without Python or its package index it passes with a message that nothing was checked.
pub(super) fn run(root: &Path, is_sample: bool) -> Result<String, String> {
    let extent = if is_sample { SAMPLE } else { WHOLE };
    let folder = root.join("target").join("conformance");
    fs_err::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let tool = match install(&folder) {
        Ok(tool) => tool,
        Err(reason) => return Ok(format!("conformance is NOT checked: {reason}")),
    };
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let output = runtime.block_on(drive(&tool, &folder, &extent))?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(format!("{text}\nthe service does not conform to openapi.yaml"));
    }
    let cases = cases(&text).ok_or_else(|| format!("{text}\nno number of cases in the output of {TOOL}"))?;
    if cases < extent.min_cases {
        return Err(format!("{text}\nonly {cases} cases were generated, fewer than {}", extent.min_cases));
    }
    Ok(format!("{cases} cases of {TOOL}: no failure, no undocumented response"))
}

/// The installed program, or why there is none.
fn install(folder: &Path) -> Result<PathBuf, String> {
    let environment = folder.join("venv");
    let stamp = folder.join("installed");
    if let Ok(text) = fs_err::read_to_string(&stamp)
        && let Some((TOOL, program)) = text.split_once('\n')
    {
        return Ok(program.into());
    }
    let programs = installed::python(&environment, &[TOOL])?;
    let program = programs.join("st");
    fs_err::write(&stamp, format!("{TOOL}\n{}", program.display())).map_err(|error| error.to_string())?;
    Ok(program)
}

async fn drive(tool: &Path, folder: &Path, extent: &Extent) -> Result<Output, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let service = BlankService::start(|_| {}).await?;
    let base = service.base_url();
    let task_id = completed_task(&base).await?;
    let document = folder.join("openapi.json");
    let view = with_task_id(Contract::embedded().test_view(), &task_id);
    fs_err::write(&document, view.to_string()).map_err(|error| text(&error))?;
    let mut command = tokio::process::Command::new(tool);
    command.arg("run").arg(&document).args(["--url", base.trim_end_matches('/')]);
    command.args(["--header", &format!("Authorization: Bearer {KEY}")]);
    command.args(["--phases", extent.phases, "--max-examples", extent.max_examples]);
    command.args([
        "--exclude-checks",
        EXCLUDED_CHECKS,
        "--request-timeout",
        "20",
        "--suppress-health-check",
        "all",
    ]);
    // Deterministic, so that a failure can be reproduced.
    command.args(["--generation-deterministic", "--no-color"]);
    command.current_dir(folder).env("PYTHONHASHSEED", "0").kill_on_drop(true);
    let output = command.output().await.map_err(|error| text(&error));
    service.shutdown().await;
    output
}

/// The id of a completed task, for the paths with a task id.
async fn completed_task(base: &str) -> Result<String, String> {
    let text = |error: reqwest::Error| error.to_string();
    let http = client_builder().build().map_err(text)?;
    let request = json!({"model": "modelb-video-480p", "prompt": "a lake", "seconds": "1"});
    let response =
        http.post(format!("{base}v1/videos")).bearer_auth(KEY).json(&request).send().await.map_err(text)?;
    let task: Value = response.json().await.map_err(text)?;
    let id = task["id"].as_str().ok_or_else(|| format!("not accepted: {task}"))?.to_owned();
    for _ in 0..500 {
        let poll = http.get(format!("{base}v1/videos/{id}")).bearer_auth(KEY).send().await.map_err(text)?;
        let task: Value = poll.json().await.map_err(text)?;
        if task["status"] == "completed" {
            return Ok(id);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Err(format!("task {id} does not complete"))
}

/// The document with `id` as the example of every `task_id` parameter.
fn with_task_id(mut document: Value, id: &str) -> Value {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_parses_the_summary() {
        assert_eq!(cases("Test cases:\n  2345 generated, 2345 passed\n"), Some(2_345));
        assert_eq!(cases("  12,345 generated\n"), Some(12_345));
        assert_eq!(cases("nothing was generated"), None);
    }

    #[test]
    fn with_task_id_sets_the_example_of_task_id_only() {
        let document = json!({"parameters": [{"name": "task_id", "in": "path", "schema": {"type": "string"}}, {"name": "x", "in": "path"}]});
        let changed = with_task_id(document, "task_1");
        assert_eq!(changed["parameters"][0]["example"], "task_1");
        assert_eq!(changed["parameters"][1].get("example"), None);
    }
}
