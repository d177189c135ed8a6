//! Sections 4, 5, 7, 8 and 9: endpoints, keys, errors, limits, versions.

use reqwest::{Method, header};
use serde_json::{Value, json};

use super::{holds, is_error, is_new_task};
use crate::conformance::walk::client::{A, B, PREVIEW, Walker, request, send};
use crate::conformance::walk::report::Report;

pub(super) async fn walk(walker: &Walker, report: &mut Report) -> Result<(), String> {
    let task = walker.final_task(&request(A, &json!({}))).await?;
    let path = format!("/v1/videos/{}", task["id"].as_str().unwrap_or_default());
    endpoints(walker, report, &path).await?;
    keys(walker, report, &path).await?;
    errors(walker, report, &path).await?;
    rate_limit(walker, report).await?;
    versions(walker, report, &task).await
}

async fn endpoints(walker: &Walker, report: &mut Report, path: &str) -> Result<(), String> {
    for model in [A, B] {
        let answer = walker.post(&request(model, &json!({}))).await?;
        let sent = format!("POST application/json with {model} -> 200, queued, 0");
        let is_json = answer.content_type.starts_with("application/json");
        report.record(
            ("4.1", "The body is `application/json`"),
            &sent,
            holds(is_new_task(&answer), answer.summary()),
        );
        report.record(
            ("4.1", "Success is HTTP 200"),
            &sent,
            holds(is_new_task(&answer) && is_json, answer.summary()),
        );
    }
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""] {
        let post = walker.request(Method::POST, "/v1/videos").bearer_auth(&walker.plain_key);
        let answer =
            send(post.header(header::CONTENT_TYPE, content_type).body(request(A, &json!({})).to_string()))
                .await?;
        let is_met = answer.status == 400 && is_error(&answer);
        report.record(
            ("4.1", "The body is `application/json`"),
            format!("POST with `{content_type}` -> 400"),
            holds(is_met, answer.summary()),
        );
    }
    for body in ["", "{", "[]", "null", "\"model\"", "{\"model\": }", "\u{feff}"] {
        let post = walker.request(Method::POST, "/v1/videos").bearer_auth(&walker.plain_key);
        let answer = send(post.header(header::CONTENT_TYPE, "application/json").body(body)).await?;
        let is_met = answer.status == 400 && is_error(&answer);
        report.record(
            ("4.1", "The body is `application/json`"),
            format!("POST the body {body:?} -> 400"),
            holds(is_met, answer.summary()),
        );
    }
    for query in ["", "?expand=all"] {
        let answer = walker.get(&format!("{path}{query}")).await?;
        let is_met = answer.status == 200
            && answer.body["object"] == "video"
            && answer.content_type.starts_with("application/json");
        report.record(
            ("4.2", "Returns the task object."),
            format!("GET {query} -> 200"),
            holds(is_met, answer.summary()),
        );
    }
    let video = walker.get(&format!("{path}/content")).await?;
    let is_mp4 =
        video.status == 200 && video.bytes.get(4..8) == Some(b"ftyp") && video.content_type == "video/mp4";
    report.record(
        ("4.3", "Streams the video."),
        "GET …/content -> 200, an MP4 file",
        holds(is_mp4, video.summary()),
    );
    Ok(())
}

/// Every way to send no valid key, at every endpoint.
async fn keys(walker: &Walker, report: &mut Report, path: &str) -> Result<(), String> {
    let key = walker.plain_key.clone();
    let wrong: Vec<Vec<String>> = vec![
        vec![],
        vec![String::new()],
        vec!["Bearer".to_owned()],
        vec!["Bearer ".to_owned()],
        vec!["Bearer sk-0".to_owned()],
        vec![format!("Bearer {key}x")],
        vec![format!("Bearer {}", &key[..key.len() - 1])],
        vec![format!("Bearer {}", key.to_uppercase())],
        vec![format!("Basic {key}")],
        vec![key.clone()],
        vec![format!("Bearer {key}"), "Bearer sk-0".to_owned()],
    ];
    let endpoints = [
        (Method::POST, "/v1/videos".to_owned()),
        (Method::GET, path.to_owned()),
        (Method::GET, format!("{path}/content")),
    ];
    for (method, endpoint) in endpoints {
        for headers in &wrong {
            let mut call = walker.request(method.clone(), &endpoint).json(&request(A, &json!({})));
            for value in headers {
                call = call.header(header::AUTHORIZATION, value);
            }
            let answer = send(call).await?;
            let redacted =
                format!("{headers:?}").replace(&key, "KEY").replace(&key.to_uppercase(), "KEY IN CAPITALS");
            let sent = format!("{method} {endpoint} with Authorization {redacted} -> 401");
            let is_met = answer.status == 401 && is_error(&answer);
            report.record(("5", "A missing or invalid key"), &sent, holds(is_met, answer.summary()));
            if headers.is_empty() {
                report.record(
                    ("4", "Every endpoint requires the header"),
                    &sent,
                    holds(is_met, answer.summary()),
                );
                report.record(("7", "| 401 |"), &sent, holds(is_met, answer.summary()));
            }
        }
    }
    for form in [format!("Bearer {key}"), format!("bearer {key}")] {
        let post = walker.request(Method::POST, "/v1/videos").json(&request(A, &json!({})));
        let answer = send(post.header(header::AUTHORIZATION, &form)).await?;
        let sent = format!("POST with Authorization {} -> 200", form.replace(&key, "KEY"));
        report.record(
            ("5", "Every request has the header"),
            sent,
            holds(answer.status == 200, answer.summary()),
        );
    }
    Ok(())
}

/// The body of section 7, of errors of every status that can be provoked.
async fn errors(walker: &Walker, report: &mut Report, path: &str) -> Result<(), String> {
    let mut failed_task = request(A, &json!({}));
    failed_task["prompt"] = "it fails".into();
    let failed = walker.final_task(&failed_task).await?;
    let failed_content = format!("/v1/videos/{}/content", failed["id"].as_str().unwrap_or_default());
    let answers = [
        (400, "POST seconds 99", walker.post(&request(A, &json!({"seconds": "99"}))).await?),
        (400, "POST an unknown model", walker.post(&request("x", &json!({}))).await?),
        (400, "POST a preview without an image", walker.post(&request(PREVIEW, &json!({}))).await?),
        (400, "POST an unreadable image", walker.post(&request(B, &json!({"image": "AAAA"}))).await?),
        (
            400,
            "GET …/content?variant=thumbnail",
            walker.get(&format!("{path}/content?variant=thumbnail")).await?,
        ),
        (401, "POST with a wrong key", walker.post_as("sk-0", &request(A, &json!({}))).await?),
        (404, "GET an unknown task", walker.get("/v1/videos/task_0").await?),
        (404, "GET the content of an unknown task", walker.get("/v1/videos/task_0/content").await?),
        (409, "GET the content of a failed task", walker.get(&failed_content).await?),
        (404, "GET an unknown path", walker.get("/v1/elsewhere").await?),
        (405, "GET /v1/videos", walker.get("/v1/videos").await?),
    ];
    for (status, sent, answer) in &answers {
        let error = &answer.body["error"];
        let sent = format!("{sent} -> {status}");
        let is_met = answer.status == *status && is_error(answer);
        let text = |name: &str| error[name].is_string();
        report.record(
            ("7", "| `error.message` |"),
            &sent,
            holds(is_met && text("message"), answer.summary()),
        );
        report.record(("7", "| `error.type` |"), &sent, holds(is_met && text("type"), answer.summary()));
        let is_known = |name: &str| error.get(name).is_some_and(|value| value.is_string() || value.is_null());
        report.record(
            ("7", "| `error.param` |"),
            &sent,
            holds(is_met && is_known("param"), answer.summary()),
        );
        report.record(("7", "| `error.code` |"), &sent, holds(is_met && is_known("code"), answer.summary()));
        if sent.starts_with("POST") {
            report.record(
                ("4.1", "Failures are HTTP 400, 401, 429 and 500"),
                &sent,
                holds(is_met, answer.summary()),
            );
        }
    }
    for (model, seconds, range) in
        [(A, "3", "4 to 15"), (A, "16", "4 to 15"), (B, "0", "1 to 15"), (B, "16", "1 to 15")]
    {
        let answer = walker.post(&request(model, &json!({"seconds": seconds}))).await?;
        let error = &answer.body["error"];
        let is_named = answer.status == 400
            && [&error["type"], &error["param"], &error["code"]]
                == [&json!("invalid_request_error"), &json!("seconds"), &json!("invalid_duration")];
        let sent = format!("POST {model} with seconds {seconds} -> 400 invalid_duration");
        report.record(("7", "| 400 |"), &sent, holds(is_named, answer.summary()));
        let is_in_message = error["message"].as_str().is_some_and(|message| message.contains(range));
        report.record(
            ("7", "The message of `invalid_duration`"),
            &sent,
            holds(is_in_message, answer.summary()),
        );
    }
    Ok(())
}

async fn rate_limit(walker: &Walker, report: &mut Report) -> Result<(), String> {
    let first = walker.post_as(&walker.limited_key, &request(A, &json!({}))).await?;
    let second = walker.post_as(&walker.limited_key, &request(A, &json!({}))).await?;
    let waits =
        second.retry_after.as_deref().is_some_and(|wait| wait.parse::<u64>().is_ok_and(|wait| wait >= 1));
    let is_met = first.status == 200 && second.status == 429 && is_error(&second) && waits;
    for cite in
        [("7", "| 429 |"), ("8", "There are rate limits"), ("4.1", "Failures are HTTP 400, 401, 429 and 500")]
    {
        let sent = "POST twice with a key for one -> 200, then 429 with Retry-After";
        report.record(cite, sent, holds(is_met, second.summary()));
    }
    Ok(())
}

async fn versions(walker: &Walker, report: &mut Report, task: &Value) -> Result<(), String> {
    for path in ["/videos", "/v2/videos", "/V1/videos"] {
        let post =
            walker.request(Method::POST, path).bearer_auth(&walker.plain_key).json(&request(A, &json!({})));
        let answer = send(post).await?;
        report.record(
            ("9", "Paths begin with `/v1`."),
            format!("POST {path} -> 404"),
            holds(answer.status == 404, answer.summary()),
        );
    }
    report.record(
        ("9", "Model ids carry a model's version"),
        "`model` of a task is the whole id",
        holds(task["model"] == A, task),
    );
    let document = walker.get("/openapi.json").await?;
    report.record(
        ("9", "This reference describes version 1.0.0"),
        "GET /openapi.json: info.version",
        holds(document.body["info"]["version"] == "1.0.0", &document.body["info"]),
    );
    Ok(())
}
