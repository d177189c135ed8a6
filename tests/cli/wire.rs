//! The HTTP requests of the families example, as they arrive at the service.

use serde_json::Value;

use crate::support::Project;
use crate::support::proxy::{KEY, RecordedPost, RecordingProxy};

#[test]
fn families_example_http_requests() {
    let proxy = RecordingProxy::faithful();
    let project = Project::from_example("families.yaml").against(&proxy.url, KEY);
    project.runner(&["run", "families.yaml", "--jobs", "1"]).expect(0);
    let mut transcripts: Vec<String> = proxy.posts().iter().map(record_text).collect();
    // A shot is sent as soon as its first frame is there, and another one meanwhile: the order depends on how fast videos are rendered.
    transcripts.sort();
    insta::assert_snapshot!(transcripts.join("\n\n"));
}

/// A request as text: ports, lengths and images by name, because they change with every run, and the key never.
fn record_text(record: &RecordedPost) -> String {
    let mut lines = vec![format!("{} {}", record.method, record.path)];
    for (name, value) in &record.headers {
        let value = match name.as_str() {
            "authorization" => {
                assert_eq!(value.as_bytes(), format!("Bearer {KEY}").as_bytes());
                "Bearer <the key>"
            }
            "host" => "<the service>",
            "content-length" => "<length>",
            _ => value.to_str().expect("a header of text"),
        };
        lines.push(format!("{name}: {value}"));
    }
    let mut body: Value = serde_json::from_slice(&record.body).expect("a body of JSON");
    name_media(&mut body);
    lines.push(format!("{body:#}"));
    lines.join("\n")
}

fn name_media(value: &mut Value) {
    match value {
        Value::String(text) if text.starts_with("data:image/png;base64,") => {
            assert!(text.len() > 100, "an image is larger than {text}");
            "data:image/png;base64,<image>".clone_into(text);
        }
        Value::String(text) if text.starts_with("http://127.0.0.1") => {
            assert_eq!(text.rsplit('.').next(), Some("png"), "{text}");
            "<the service's address of a last frame>".clone_into(text);
        }
        Value::Object(members) => members.values_mut().for_each(name_media),
        Value::Array(items) => items.iter_mut().for_each(name_media),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
