//! Drives the service with the newest OpenAI-style clients, from their registries: create with and without a file, retrieve, poll, download,
//! errors, models. Without a client's language or registry it says that the client was not checked.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use media::{RgbImage, encode_png};
use tokio::runtime::Runtime;

use crate::blank_service::{BlankService, KEY};
use crate::installed;

const PYTHON_SCRIPT: &str = include_str!("openai_client.py");
const NODE_SCRIPT: &str = include_str!("openai_client.mjs");
/// Time for the script of a client.
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
        let clients = [("openai-python", python(folder.path())), ("openai-node", node(folder.path()))];
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
fn python(folder: &Path) -> Result<Client, String> {
    let script = folder.join("openai_client.py");
    fs_err::write(&script, PYTHON_SCRIPT).map_err(|error| error.to_string())?;
    Ok(Client { program: installed::python(&folder.join("venv"), &["openai"])?.join("python"), script })
}

/// Installs openai-node, or says why it is absent.
fn node(folder: &Path) -> Result<Client, String> {
    let folder = folder.join("node");
    installed::node(&folder, &["openai"])?;
    let script = folder.join("openai_client.mjs");
    fs_err::write(&script, NODE_SCRIPT).map_err(|error| error.to_string())?;
    Ok(Client { program: "node".into(), script })
}

/// Runs a client's script; returns the name and version that it prints at its end.
async fn drive(name: &str, client: &Client, folder: &Path) -> Result<String, String> {
    let image = folder.join("image.png");
    fs_err::write(&image, encode_png(&RgbImage::new(64, 36))).map_err(|error| error.to_string())?;
    let service = BlankService::start(|_| {}).await?;
    let mut command = Command::new(&client.program);
    command.arg(&client.script).env("BASE_URL", service.base_url()).env("API_KEY", KEY).env("IMAGE", &image);
    // A proxy would be asked for loopback.
    command.env("NO_PROXY", "127.0.0.1").current_dir(client.script.parent().unwrap_or(folder));
    let mut command = tokio::process::Command::from(command);
    let output = tokio::time::timeout(TIMEOUT, command.kill_on_drop(true).output()).await;
    service.shutdown().await;
    let output = output.map_err(|_| format!("{name} took longer than {} s", TIMEOUT.as_secs()))?;
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("{name} fails:\n{}", String::from_utf8_lossy(&output.stderr)))
    }
}
