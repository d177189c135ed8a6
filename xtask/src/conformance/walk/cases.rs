//! Create requests and what has to come of them, from `cases.yaml`, whose head explains its form.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::client::{Answer, Client, PROMPT, Walker};
use super::media_host::{image, sound};
use super::report::Report;

const TEXT: &str = include_str!("cases.yaml");

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    #[serde(rename = "names")]
    _names: Value,
    sections: Vec<Group>,
    /// Section and part of a statement, with the reason why there is no case.
    untested: Vec<(String, String, String)>,
}

/// The statements of a section.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    section: String,
    model: String,
    statements: BTreeMap<String, Vec<Entry>>,
}

/// Requests from which the same is expected.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    client: Client,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    with: Map<String, Value>,
    #[serde(default)]
    set: String,
    #[serde(default)]
    to: Vec<Value>,
    #[serde(default)]
    requests: Vec<Map<String, Value>>,
    #[serde(default)]
    bodies: Vec<Value>,
    expect: Expected,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Expected {
    Accepted,
    Returns(Map<String, Value>),
    Ratio(f64, f64),
    Refused(String),
    WrongDuration(String),
}

impl Cases {
    /// Reads the file; `host` is the URL of a server of media.
    fn read(text: &str, host: &str) -> Result<Self, String> {
        let text = text
            .replace("$host", host)
            .replace("$image", &STANDARD.encode(image()))
            .replace("$sound", &STANDARD.encode(sound()));
        // `serde_yaml::Value` rejects duplicate keys.
        let tree: serde_yaml::Value = serde_yaml::from_str(&text).map_err(|error| error.to_string())?;
        serde_json::to_value(tree).and_then(serde_json::from_value).map_err(|error| error.to_string())
    }
}

impl Entry {
    /// The bodies, each with the value that it was made for.
    fn bodies(&self, model: &str) -> Vec<(Value, &Value)> {
        let mut bodies: Vec<(Value, &Value)> =
            self.bodies.iter().map(|body| (body.clone(), &Value::Null)).collect();
        let own = [model.to_owned()];
        for model in if self.models.is_empty() { &own } else { self.models.as_slice() } {
            let mut base =
                Map::from_iter([("model".to_owned(), json!(model)), ("prompt".to_owned(), json!(PROMPT))]);
            base.extend(self.with.clone());
            let base = Value::Object(base);
            for place in self.set.split_whitespace() {
                for value in &self.to {
                    let mut body = base.clone();
                    *place.split('.').fold(&mut body, |parent, part| match part.parse::<usize>() {
                        Ok(index) => &mut parent[index],
                        Err(_) => &mut parent[part],
                    }) = value.clone();
                    bodies.push((body, value));
                }
            }
            for request in &self.requests {
                let mut body = base.clone();
                body.as_object_mut().into_iter().for_each(|body| body.extend(request.clone()));
                bodies.push((body, &Value::Null));
            }
            if self.set.is_empty() && self.requests.is_empty() && self.bodies.is_empty() {
                bodies.push((base, &Value::Null));
            }
        }
        for (body, _) in &mut bodies {
            body.as_object_mut().into_iter().for_each(|body| body.retain(|_, value| !value.is_null()));
        }
        bodies
    }
}

impl Expected {
    /// Whether an answer is what is expected of a request that was made for `value`.
    fn is_met(&self, answer: &Answer, value: &Value) -> bool {
        let (task, error) = (&answer.body, &answer.body["error"]);
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match self {
            Self::Accepted => answer.is_new_task(),
            Self::Returns(members) => {
                let expected =
                    |member: &Value| if member == "$value" { json!(text(value)) } else { member.clone() };
                answer.is_new_task() && members.iter().all(|(name, member)| task[name] == expected(member))
            }
            Self::Ratio(width, height) => {
                let size = task["size"].as_str().and_then(|size| size.split_once('x'));
                let sides = size.and_then(|(x, y)| Some((x.parse::<f64>().ok()?, y.parse::<f64>().ok()?)));
                sides.is_some_and(|(x, y)| (x / y / (width / height) - 1.0).abs() < 0.02)
            }
            Self::Refused(param) => answer.is_error(400) && text(&error["param"]).starts_with(param),
            Self::WrongDuration(range) => {
                answer.is_invalid_duration() && text(&error["message"]).contains(range.as_str())
            }
        }
    }
}

/// Sends all requests.
pub(super) async fn walk(walker: &Walker, report: &mut Report) -> Result<(), String> {
    let cases = Cases::read(TEXT, &walker.host).map_err(|error| format!("cases.yaml: {error}"))?;
    for Group { section, model, statements } in &cases.sections {
        for (statement, entries) in statements {
            for entry in entries {
                let expected = serde_json::to_string(&entry.expect).map_err(|error| error.to_string())?;
                for (body, value) in entry.bodies(model) {
                    let answer = walker.post_as(entry.client, &body).await?;
                    let sent = format!("POST {} -> {expected}", shortened(&body.to_string()));
                    let found = format!("{answer} {}", answer.body);
                    report.check((section, statement), sent, entry.expect.is_met(&answer, value), found);
                }
            }
        }
    }
    for (section, statement, reason) in &cases.untested {
        report.untested((section, statement), reason);
    }
    Ok(())
}

/// The beginning of a text, without what is in Base64.
fn shortened(text: &str) -> String {
    let mut parts = text.split("base64,");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("base64,…");
        out.push_str(part.find('"').map_or("", |end| &part[end..]));
    }
    out.chars().take(260).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_become_requests() {
        let text = "names: [&no_urls [7, null]]\nsections:\n- section: '1'\n  model: m\n  statements:\n    s:\n    \
                    - {models: [a, b], with: {metadata: {content: [{}]}}, set: n metadata.content.0.url, to: *no_urls, expect: accepted}\n    \
                    - {bodies: [[]], requests: [{seconds: $host}], expect: {refused: n}}\n    - {expect: accepted}\nuntested: []\n";
        let cases = Cases::read(text, "h").unwrap();
        let entries = &cases.sections[0].statements["s"];
        let bodies: Vec<Vec<Value>> = entries
            .iter()
            .map(|entry| entry.bodies("m").into_iter().map(|(body, _)| body).collect())
            .collect();
        assert_eq!(bodies.iter().map(Vec::len).collect::<Vec<_>>(), [8, 2, 1]);
        assert_eq!(bodies[0][1], json!({"model": "a", "prompt": PROMPT, "metadata": {"content": [{}]}}));
        assert_eq!(bodies[0][2]["metadata"]["content"][0]["url"], 7);
        assert_eq!(bodies[1], [json!([]), json!({"model": "m", "prompt": PROMPT, "seconds": "h"})]);
        let unknown = text.replace("requests", "reqests");
        assert!(Cases::read(&unknown, "h").unwrap_err().contains("unknown field"));
    }
}
