//! What tests ask Restate's admin API and its ingress, over plain HTTP on loopback.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

/// Whether this ingress reaches a worker. Nodes learn of a registration one after the other.
pub(super) fn reaches_workers(ingress: u16) -> bool {
    ask(ingress, "POST", "/Engine/describe", None).is_ok_and(|(status, _)| status == 200)
}

/// The id of the deployment at this URL.
pub(super) fn deployment(port: u16, url: &str) -> Result<Option<String>, String> {
    let (_, answer) = ask(port, "GET", "/deployments", None)?;
    let deployments = answer["deployments"].as_array().cloned().unwrap_or_default();
    let deployment = deployments.iter().find(|deployment| deployment["uri"] == url);
    Ok(deployment.and_then(|deployment| Some(deployment["id"].as_str()?.to_owned())))
}

/// How many invocations a deployment has begun that are not over.
pub(super) fn open_invocations(port: u16, deployment: &str) -> Result<u64, String> {
    let query = format!(
        "SELECT COUNT(*) AS open FROM sys_invocation WHERE pinned_deployment_id = '{deployment}' AND status <> 'completed'"
    );
    let (status, answer) = ask(port, "POST", "/query", Some(&json!({ "query": query })))?;
    answer["rows"][0]["open"].as_u64().ok_or_else(|| format!("Restate answered {status}: {answer}"))
}

/// The status and the JSON of an answer; null if it has none.
fn ask(port: u16, method: &str, path: &str, body: Option<&Value>) -> Result<(u16, Value), String> {
    let content_type = if body.is_some() { "Content-Type: application/json\r\n" } else { "" };
    let body = body.map(Value::to_string).unwrap_or_default();
    // Without HTTP/1.1 there are no chunks to be read.
    let request = format!(
        "{method} {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n{content_type}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let exchange = || {
        let mut connection = TcpStream::connect(("127.0.0.1", port))?;
        connection.write_all(request.as_bytes())?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).map(|_| answer)
    };
    let answer = exchange().map_err(|error: std::io::Error| error.to_string())?;
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    let text = answer.split_once("\r\n\r\n").map(|(_, text)| text).unwrap_or_default();
    Ok((status, serde_json::from_str(text).unwrap_or(Value::Null)))
}
