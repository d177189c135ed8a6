//! Drives the service with the newest OpenAI-style clients, from their registries: create with and without a file, retrieve, poll, download,
//! errors, models. Without a client's language or registry it says that the client was not checked.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use media::{RgbImage, encode_png};
use tokio::runtime::Runtime;

use crate::blank_service::{BlankService, KEY};

const PYTHON_SCRIPT: &str = include_str!("openai_client.py");
const NODE_SCRIPT: &str = include_str!("openai_client.mjs");
/// Time for the installation of a client, and for its script.
const TIMEOUT: Duration = Duration::from_mins(3);

/// A client that is installed.
struct Client {
    program: PathBuf,
    script: PathBuf,
}

/// Runs the script of each client against a service of its own.
pub(crate) fn run() -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let clients =
            [("openai-python", python(folder.path()).await), ("openai-node", node(folder.path()).await)];
        let mut report = Vec::new();
        for (name, client) in clients {
            report.push(match client {
                Ok(client) => format!("{}: no failure", drive(name, &client, folder.path()).await?),
                Err(reason) => format!("{name} is NOT checked: {reason}"),
            });
        }
        Ok(report.join("\n"))
    })
}

/// Installs openai-python into a virtual environment, or says why it is absent.
async fn python(folder: &Path) -> Result<Client, String> {
    let environment = folder.join("venv");
    let program = environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let script = folder.join("openai_client.py");
    fs_err::write(&script, PYTHON_SCRIPT).map_err(|error| error.to_string())?;
    install("python3 -m venv", Command::new("python3").args(["-m", "venv"]).arg(&environment)).await?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "openai"];
    install("pip install openai", Command::new(&program).args(pip)).await?;
    Ok(Client { program, script })
}

/// Installs openai-node, or says why it is absent.
async fn node(folder: &Path) -> Result<Client, String> {
    let folder = folder.join("node");
    fs_err::create_dir(&folder).map_err(|error| error.to_string())?;
    let script = folder.join("openai_client.mjs");
    fs_err::write(&script, NODE_SCRIPT).map_err(|error| error.to_string())?;
    let npm =
        ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1", "openai"];
    install("npm install openai", Command::new("npm").args(npm).current_dir(&folder)).await?;
    Ok(Client { program: "node".into(), script })
}

async fn install(step: &str, command: &mut Command) -> Result<(), String> {
    let output = output(std::mem::replace(command, Command::new("true"))).await;
    let output = output.map_err(|reason| format!("{step} cannot be run: {reason}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!("{step} failed: {}", text.trim().lines().last().unwrap_or_default()))
}

/// Runs a client's script; returns the name and version that it prints at its end.
async fn drive(name: &str, client: &Client, folder: &Path) -> Result<String, String> {
    let picture = folder.join("picture.png");
    fs_err::write(&picture, encode_png(&RgbImage::new(64, 36))).map_err(|error| error.to_string())?;
    let service = BlankService::start(|_| {}).await?;
    let mut command = Command::new(&client.program);
    command
        .arg(&client.script)
        .env("BASE_URL", service.base_url())
        .env("API_KEY", KEY)
        .env("PICTURE", &picture);
    // A proxy would be asked for loopback.
    command.env("NO_PROXY", "127.0.0.1").current_dir(client.script.parent().unwrap_or(folder));
    let output = output(command).await;
    service.shutdown().await;
    let output = output.map_err(|reason| format!("{name}: {reason}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("{name} fails:\n{}", String::from_utf8_lossy(&output.stderr)))
    }
}

/// The output of a program; the program is killed at the timeout.
async fn output(command: Command) -> Result<Output, String> {
    let mut command = tokio::process::Command::from(command);
    let output = tokio::time::timeout(TIMEOUT, command.kill_on_drop(true).output());
    match output.await {
        Ok(output) => output.map_err(|error| error.to_string()),
        Err(_) => Err(format!("it took longer than {} s", TIMEOUT.as_secs())),
    }
}
