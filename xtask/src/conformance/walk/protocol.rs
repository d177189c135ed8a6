//! Sections 4, 5, 7, 8 and 9: endpoints, keys, errors, limits, versions.

use reqwest::{Method, header};
use serde_json::{Value, json};

use super::client::{A, B, Client, Walker, path_of, request, send};
use super::report::Report;

pub(super) async fn walk(walker: &Walker, report: &mut Report) -> Result<(), String> {
    let task = walker.final_task(&request(A, &json!({}))).await?;
    let path = path_of(&task);
    endpoints(walker, report, &path).await?;
    keys(walker, report, &path).await?;
    errors(walker, report, &path).await?;
    rate_limit(walker, report).await?;
    versions(walker, report, &task).await
}

async fn endpoints(walker: &Walker, report: &mut Report, path: &str) -> Result<(), String> {
    for model in [A, B] {
        let answer = walker.post(&request(model, &json!({}))).await?;
        let is_json = answer.header("content-type").starts_with("application/json");
        let sent = format!("POST application/json with {model} -> 200, queued, 0");
        report.check(("4.1", "Success is HTTP 200"), sent, answer.is_new_task() && is_json, &answer);
    }
    let valid = request(A, &json!({})).to_string();
    let types = ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""];
    let bodies = ["", "{", "[]", "null", "\"model\"", "{\"model\": }", "\u{feff}"];
    let types = types.map(|content_type| (content_type, valid.as_str()));
    for (content_type, body) in types.into_iter().chain(bodies.map(|body| ("application/json", body))) {
        let post = walker.request(Method::POST, "/v1/videos").bearer_auth(walker.key(Client::Plain));
        let answer = send(post.header(header::CONTENT_TYPE, content_type).body(body.to_owned())).await?;
        let sent = format!("POST the body {body:?} as `{content_type}` -> 400");
        report.check(("4.1", "The body is `application/json`"), sent, answer.is_error(400), &answer);
    }
    for query in ["", "?expand=all"] {
        let answer = walker.get(&format!("{path}{query}")).await?;
        let is_json = answer.header("content-type").starts_with("application/json");
        let is_met = answer.status == 200 && answer.body["object"] == "video" && is_json;
        report.check(("4.2", "Returns the task object."), format!("GET {query} -> 200"), is_met, &answer);
    }
    let video = walker.get(&format!("{path}/content")).await?;
    let is_mp4 = video.bytes.get(4..8) == Some(b"ftyp") && video.header("content-type") == "video/mp4";
    let sent = "GET …/content -> 200, an MP4 file";
    report.check(("4.3", "Streams the video."), sent, video.status == 200 && is_mp4, &video);
    Ok(())
}

/// Every way to send no valid key, at every endpoint.
async fn keys(walker: &Walker, report: &mut Report, path: &str) -> Result<(), String> {
    let key = walker.key(Client::Plain);
    let wrong: [&[String]; 11] = [
        &[],
        &[String::new()],
        &["Bearer".to_owned()],
        &["Bearer ".to_owned()],
        &["Bearer sk-0".to_owned()],
        &[format!("Bearer {key}x")],
        &[format!("Bearer {}", &key[..key.len() - 1])],
        &[format!("Bearer {}", key.to_uppercase())],
        &[format!("Basic {key}")],
        &[key.to_owned()],
        &[format!("Bearer {key}"), "Bearer sk-0".to_owned()],
    ];
    let create = || walker.request(Method::POST, "/v1/videos").json(&request(A, &json!({})));
    for (endpoint, headers) in ["POST /v1/videos", "GET …", "GET …/content"]
        .into_iter()
        .flat_map(|endpoint| wrong.map(|headers| (endpoint, headers)))
    {
        let call = match endpoint.strip_prefix("GET …") {
            Some(rest) => walker.request(Method::GET, &format!("{path}{rest}")),
            None => create(),
        };
        let call = headers.iter().fold(call, |call, value| call.header(header::AUTHORIZATION, value));
        let answer = send(call).await?;
        let redacted =
            format!("{headers:?}").replace(key, "KEY").replace(&key.to_uppercase(), "KEY IN CAPITALS");
        let sent = format!("{endpoint} with Authorization {redacted} -> 401");
        report.check(("5", "A missing or invalid key"), &sent, answer.is_error(401), &answer);
        if headers.is_empty() {
            report.check(("4", "Every endpoint requires the header"), &sent, answer.is_error(401), &answer);
            report.check(("7", "| 401 |"), &sent, answer.is_error(401), &answer);
        }
    }
    for scheme in ["Bearer", "bearer"] {
        let answer = send(create().header(header::AUTHORIZATION, format!("{scheme} {key}"))).await?;
        let sent = format!("POST with Authorization {scheme} KEY -> 200");
        report.check(("5", "Every request has the header"), sent, answer.status == 200, &answer);
    }
    Ok(())
}

/// The body of section 7, of errors of every status that can be provoked.
async fn errors(walker: &Walker, report: &mut Report, path: &str) -> Result<(), String> {
    let failed = walker.final_task(&request(A, &json!({"prompt": "it fails"}))).await?;
    let get = async |path: &str| walker.get(path).await;
    let post = async |model, fields: Value| walker.post(&request(model, &fields)).await;
    let wrong_key = walker.request(Method::POST, "/v1/videos").bearer_auth("sk-0");
    let answers = [
        (400, "POST seconds 99", post(A, json!({"seconds": "99"})).await?),
        (400, "POST an unknown model", post("x", json!({})).await?),
        (400, "POST a preview without an image", post("modelb-video-1.5-preview-480p", json!({})).await?),
        (400, "POST an unreadable image", post(B, json!({"image": "AAAA"})).await?),
        (400, "GET …/content?variant=thumbnail", get(&format!("{path}/content?variant=thumbnail")).await?),
        (401, "POST with a wrong key", send(wrong_key.json(&request(A, &json!({})))).await?),
        (404, "GET an unknown task", get("/v1/videos/task_0").await?),
        (404, "GET the content of an unknown task", get("/v1/videos/task_0/content").await?),
        (409, "GET the content of a failed task", get(&format!("{}/content", path_of(&failed))).await?),
        (404, "GET an unknown path", get("/v1/elsewhere").await?),
        (405, "GET /v1/videos", get("/v1/videos").await?),
    ];
    for (status, sent, answer) in &answers {
        let sent = format!("{sent} -> {status}");
        for member in ["message", "type", "param", "code"] {
            let row = format!("| `error.{member}` |");
            report.check(("7", &row), &sent, answer.is_error(*status), answer);
        }
        if sent.starts_with("POST") {
            let failures = ("4.1", "Failures are HTTP 400, 401, 429 and 500");
            report.check(failures, &sent, answer.is_error(*status), answer);
        }
    }
    Ok(())
}

async fn rate_limit(walker: &Walker, report: &mut Report) -> Result<(), String> {
    let first = walker.post_as(Client::Limited, &request(A, &json!({}))).await?;
    let second = walker.post_as(Client::Limited, &request(A, &json!({}))).await?;
    let waits = second.header("retry-after").parse::<u64>().is_ok_and(|wait| wait >= 1);
    let is_met = first.status == 200 && second.is_error(429) && waits;
    for cite in
        [("7", "| 429 |"), ("8", "There are rate limits"), ("4.1", "Failures are HTTP 400, 401, 429 and 500")]
    {
        let sent = "POST twice with a key for one -> 200, then 429 with Retry-After";
        report.check(cite, sent, is_met, &second);
    }
    Ok(())
}

async fn versions(walker: &Walker, report: &mut Report, task: &Value) -> Result<(), String> {
    for path in ["/videos", "/v2/videos", "/V1/videos"] {
        let post = walker.request(Method::POST, path).bearer_auth(walker.key(Client::Plain));
        let answer = send(post.json(&request(A, &json!({})))).await?;
        let sent = format!("POST {path} -> 404");
        report.check(("9", "Paths begin with `/v1`."), sent, answer.status == 404, &answer);
    }
    let sent = "`model` of a task is the whole id";
    report.check(("9", "Model ids carry a model's version"), sent, task["model"] == A, task);
    let document = walker.get("/openapi.json").await?;
    let is_met = document.body["info"]["version"] == "1.0.0";
    let sent = "GET /openapi.json: info.version";
    report.check(("9", "This reference describes version 1.0.0"), sent, is_met, &document);
    Ok(())
}
