//! The tools, installed by name and version, and the command of each.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::workloads::Workload;
use crate::bench::stub::{self, KEY};
use crate::installed;
use crate::release::release_runner;

/// The name of this project's own row.
pub(super) const RUNNER: &str = "runner";

/// A tool that is installed.
pub(super) struct Tool {
    pub(super) name: &'static str,
    kind: ToolKind,
    /// The folder of the scripts.
    scripts: PathBuf,
}

enum ToolKind {
    Runner(PathBuf),
    XargsCurl,
    /// The interpreter of a virtual environment, and its script.
    Python(PathBuf, &'static str),
    Snakemake(PathBuf),
    Promptfoo(PathBuf),
}

/// Installs all tools below `folder`; for each its name, and the tool or why it cannot be measured.
pub(super) fn prepare(root: &Path, folder: &Path) -> Vec<(&'static str, Result<Tool, String>)> {
    let scripts = root.join("xtask/peers");
    let tool = |name, kind: Result<ToolKind, String>| {
        (name, kind.map(|kind| Tool { name, kind, scripts: scripts.clone() }))
    };
    let python = python(&scripts, folder);
    let with_python = |kind: &dyn Fn(PathBuf) -> ToolKind| python.clone().map(kind);
    vec![
        tool(RUNNER, release_runner(root).map(ToolKind::Runner)),
        tool(
            "xargs and curl",
            installed::succeed(Command::new("curl").arg("--version")).map(|()| ToolKind::XargsCurl),
        ),
        tool("httpx", with_python(&|python| ToolKind::Python(python, "httpx_client.py"))),
        tool("openai", with_python(&|python| ToolKind::Python(python, "openai_client.py"))),
        tool("luigi", with_python(&|python| ToolKind::Python(python, "luigi_tasks.py"))),
        tool("Snakemake", with_python(&|python| ToolKind::Snakemake(python.with_file_name("snakemake")))),
        tool("promptfoo", promptfoo(&scripts, folder).map(ToolKind::Promptfoo)),
    ]
}

impl Tool {
    /// Whether the tool can do this work at all.
    pub(super) fn can(&self, workload: &Workload) -> bool {
        // Its tests do not depend on each other.
        !(workload.service.chained && matches!(self.kind, ToolKind::Promptfoo(_)))
    }

    /// The command, in the folder `directory`; its videos go below `out`.
    pub(super) fn command(
        &self,
        workload: &Workload,
        base_url: &str,
        directory: &Path,
        out: &Path,
    ) -> Result<Command, String> {
        let jobs = workload.service.parallel.to_string();
        let mut command = match &self.kind {
            ToolKind::Runner(program) => {
                let file = directory.join("load.yaml");
                if !file.exists() {
                    fs_err::write(&file, stub::workflow(&workload.service))
                        .map_err(|error| error.to_string())?;
                }
                let mut command = Command::new(program);
                command.args(["run", "load.yaml", "--jobs", &jobs, "--format", "json", "-o"]).arg(out);
                command.env("RUNNER_BASE_URL", base_url).env("RUNNER_API_KEY", KEY);
                command
            }
            ToolKind::XargsCurl => {
                let mut command = Command::new("sh");
                command.arg(self.scripts.join("xargs_curl.sh"));
                command
            }
            ToolKind::Python(python, script) => {
                let mut command = Command::new(python);
                command.arg(self.scripts.join(script));
                command
            }
            ToolKind::Snakemake(program) => {
                let mut command = Command::new(program);
                command
                    .arg("--snakefile")
                    .arg(self.scripts.join("Snakefile"))
                    .arg("--directory")
                    .arg(directory);
                // A lock that a killed process leaves would refuse the same command.
                command.args(["--cores", &jobs, "--jobs", &jobs, "--retries", "3", "--keep-going"]);
                command.args(["--rerun-incomplete", "--nolock", "--quiet", "all"]);
                command
            }
            ToolKind::Promptfoo(program) => {
                let mut command = Command::new(program);
                command.args(["eval", "--config"]).arg(self.scripts.join("promptfooconfig.mjs"));
                command.args([
                    "--max-concurrency",
                    &jobs,
                    "--no-cache",
                    "--no-progress-bar",
                    "--no-table",
                    "--no-write",
                ]);
                command.env("PROMPTFOO_DISABLE_TELEMETRY", "1").env("PROMPTFOO_DISABLE_UPDATE", "1");
                command.env("PROMPTFOO_CONFIG_DIR", directory);
                command
            }
        };
        command
            .current_dir(directory)
            .env("PYTHONPATH", &self.scripts)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("NO_PROXY", "127.0.0.1")
            .stderr(Stdio::null())
            // Without a slash at its end.
            .env("PEER_BASE_URL", base_url.trim_end_matches('/'))
            .env("PEER_API_KEY", KEY)
            .env("PEER_TASKS", workload.service.tasks.to_string())
            .env("PEER_JOBS", &jobs)
            .env("PEER_CHAIN", if workload.service.chained { "1" } else { "0" })
            .env("PEER_OUT", out);
        Ok(command)
    }
}

/// The interpreter of a virtual environment with the packages of requirements.txt.
fn python(scripts: &Path, folder: &Path) -> Result<PathBuf, String> {
    let requirements = scripts.join("requirements.txt").display().to_string();
    let programs = installed::python(&folder.join("venv"), &["--requirement", &requirements])?;
    Ok(programs.join("python"))
}

/// promptfoo with the packages of package.json.
fn promptfoo(scripts: &Path, folder: &Path) -> Result<PathBuf, String> {
    let packages = folder.join("node");
    fs_err::create_dir_all(&packages)
        .and_then(|()| fs_err::copy(scripts.join("package.json"), packages.join("package.json")))
        .map_err(|error| error.to_string())?;
    installed::node(&packages, &[])?;
    Ok(packages.join("node_modules/.bin/promptfoo"))
}
