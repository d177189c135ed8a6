//! The cases of the walk, by section of docs/spec.md.

mod family_a;
mod family_b;
mod metadata;
mod modes;
mod protocol;
mod task_object;
mod untested;

use serde_json::Value;

use super::client::{Answer, Walker};
use super::report::Report;
use super::statements::Cite;

/// A create request, and what has to come of it.
pub(super) struct Case {
    cite: Cite,
    body: Value,
    expected: ExpectedResponse,
}

/// What has to come of a create request.
enum ExpectedResponse {
    /// 200 with a task object.
    Accepted,
    /// The same, and the task object has this value.
    AcceptedWith(&'static str, Value),
    /// 400 with an error body; with the parameter, unless it is empty.
    Refused(&'static str),
    /// 400 with `invalid_duration` for `seconds`, and this range in the message.
    WrongDuration(&'static str),
}

impl Case {
    fn accepted(cite: Cite, body: Value) -> Self {
        Self { cite, body, expected: ExpectedResponse::Accepted }
    }

    fn accepted_with(cite: Cite, body: Value, member: &'static str, value: impl Into<Value>) -> Self {
        Self { cite, body, expected: ExpectedResponse::AcceptedWith(member, value.into()) }
    }

    fn refused(cite: Cite, body: Value, param: &'static str) -> Self {
        Self { cite, body, expected: ExpectedResponse::Refused(param) }
    }

    fn wrong_duration(cite: Cite, body: Value, range: &'static str) -> Self {
        Self { cite, body, expected: ExpectedResponse::WrongDuration(range) }
    }

    fn judge(&self, answer: &Answer) -> Result<(), String> {
        let error = &answer.body["error"];
        let is_met = match &self.expected {
            ExpectedResponse::Accepted => is_new_task(answer),
            ExpectedResponse::AcceptedWith(member, value) => {
                is_new_task(answer) && answer.body[member] == *value
            }
            ExpectedResponse::Refused(param) => {
                let actual = error["param"].as_str().unwrap_or_default();
                answer.status == 400 && is_error(answer) && actual.starts_with(param)
            }
            ExpectedResponse::WrongDuration(range) => {
                let message = error["message"].as_str().unwrap_or_default();
                answer.status == 400
                    && is_error(answer)
                    && (&error["type"], &error["param"], &error["code"])
                        == (&"invalid_request_error".into(), &"seconds".into(), &"invalid_duration".into())
                    && message.contains(range)
            }
        };
        if is_met { Ok(()) } else { Err(format!("{} {}", answer.summary(), answer.body)) }
    }

    fn sent(&self) -> String {
        let expected = match &self.expected {
            ExpectedResponse::Accepted => "200".to_owned(),
            ExpectedResponse::AcceptedWith(member, value) => format!("200, {member} {value}"),
            ExpectedResponse::Refused(param) => format!("400 {param}").trim().to_owned(),
            ExpectedResponse::WrongDuration(range) => format!("400 invalid_duration, {range}"),
        };
        format!("POST {} -> {expected}", shortened(&self.body.to_string()))
    }
}

/// Long texts, such as data URIs, in few characters.
fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 260;
    let mut out = String::new();
    for (index, part) in text.split("base64,").enumerate() {
        if index == 0 {
            out.push_str(part);
            continue;
        }
        let end = part.find('"').unwrap_or(part.len());
        out.push_str("base64,…");
        out.push_str(&part[end..]);
    }
    match out.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &out[..end]),
        None => out,
    }
}

/// 200 with a task that is queued.
fn is_new_task(answer: &Answer) -> bool {
    let task = &answer.body;
    answer.status == 200 && task["status"] == "queued" && task["progress"] == 0 && task["id"].is_string()
}

/// The body of section 7.
fn is_error(answer: &Answer) -> bool {
    let is_text = |value: &Value| value.is_string() || value.is_null();
    answer.body.as_object().is_some_and(|body| body.len() == 1)
        && answer.body["error"].as_object().is_some_and(|error| {
            error.len() == 4
                && error
                    .get("message")
                    .is_some_and(|message| message.as_str().is_some_and(|text| !text.is_empty()))
                && error.get("type").is_some_and(Value::is_string)
                && error.get("param").is_some_and(is_text)
                && error.get("code").is_some_and(is_text)
        })
}

/// `Ok` if it holds.
fn holds(is_met: bool, actual: impl std::fmt::Display) -> Result<(), String> {
    if is_met { Ok(()) } else { Err(actual.to_string()) }
}

/// Walks all sections.
pub(super) async fn walk(walker: &Walker, report: &mut Report) -> Result<(), String> {
    let cases = modes::cases(walker)
        .into_iter()
        .chain(family_a::cases(walker))
        .chain(metadata::cases(walker))
        .chain(family_b::cases(walker));
    for case in cases {
        let answer = walker.post(&case.body).await?;
        report.record(case.cite, case.sent(), case.judge(&answer));
    }
    modes::walk(walker, report).await?;
    metadata::walk(walker, report).await?;
    family_a::walk(walker, report).await?;
    task_object::walk(walker, report).await?;
    protocol::walk(walker, report).await?;
    untested::record(report);
    Ok(())
}
