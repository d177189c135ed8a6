//! Section 2.3: `metadata` of family A and its content items.

use serde_json::{Value, json};

use super::{Case, holds};
use crate::conformance::walk::client::{A, Walker, data_uri, item, request};
use crate::conformance::walk::media_host::{picture, sound};
use crate::conformance::walk::report::Report;
use crate::conformance::walk::statements::Cite;

const TYPE: Cite = ("2.3", "| `type` |");
const ROLE: Cite = ("2.3", "| `role` |");
const MEDIA: Cite = ("2.3", "`audio_url` | media URL object |");
const CONTENT: Cite = ("2.3", "| `content` |");
const URL: Cite = ("2.3", "A media URL object has one required member");
const REACHABLE: Cite = ("2.3", "The service has to be able to fetch it");

fn with(metadata: &Value) -> Value {
    request(A, &json!({"metadata": metadata}))
}

fn content(items: &[Value]) -> Value {
    with(&json!({"content": items}))
}

pub(super) fn cases(walker: &Walker) -> Vec<Case> {
    let mut cases = Vec::new();
    let row: Cite = ("2.3", "| `duration` |");
    for seconds in 4..=15 {
        cases.push(Case::accepted_with(
            row,
            with(&json!({"duration": seconds})),
            "seconds",
            seconds.to_string(),
        ));
        cases.push(Case::accepted(("8", "| length, family A |"), with(&json!({"duration": seconds}))));
    }
    for duration in [3, 16, 0, -4] {
        cases.push(Case::wrong_duration(row, with(&json!({"duration": duration})), "4 to 15"));
        cases.push(Case::wrong_duration(
            ("8", "| length, family A |"),
            with(&json!({"duration": duration})),
            "4 to 15",
        ));
    }
    for duration in [json!(4.5), json!("5"), json!(true)] {
        cases.push(Case::refused(row, with(&json!({"duration": duration})), "metadata.duration"));
    }
    let row: Cite = ("2.3", "| `resolution` |");
    for (resolution, size) in [("480p", "854x480"), ("720p", "1280x720"), ("1080p", "1920x1080")] {
        let body = with(&json!({"resolution": resolution, "ratio": "16:9"}));
        cases.push(Case::accepted_with(row, body, "size", size));
    }
    for resolution in [json!("4k"), json!(720)] {
        cases.push(Case::refused(row, with(&json!({"resolution": resolution})), "metadata.resolution"));
    }
    let row: Cite = ("2.3", "| `ratio` |");
    for ratio in ["adaptive", "auto", "21:9", "16:9", "4:3", "1:1", "3:4", "9:16"] {
        cases.push(Case::accepted(row, with(&json!({"ratio": ratio}))));
    }
    for ratio in [json!("2:1"), json!(1.5)] {
        cases.push(Case::refused(row, with(&json!({"ratio": ratio})), "metadata.ratio"));
    }
    let row: Cite = ("2.3", "| `generate_audio`, `watermark`");
    for name in ["generate_audio", "watermark", "camera_fixed", "return_last_frame"] {
        for value in [true, false] {
            cases.push(Case::accepted(row, with(&json!({name: value}))));
        }
        for value in [json!("on"), json!(1)] {
            cases.push(Case::refused(row, with(&json!({name: value})), "metadata."));
        }
    }
    let row: Cite = ("2.3", "| `seed` |");
    for seed in [0, -5, i64::MAX] {
        cases.push(Case::accepted(row, with(&json!({"seed": seed}))));
    }
    for seed in [json!(0.5), json!("7")] {
        cases.push(Case::refused(row, with(&json!({"seed": seed})), "metadata.seed"));
    }
    items(walker, &mut cases);
    combinations(walker, &mut cases);
    cases
}

fn items(walker: &Walker, cases: &mut Vec<Case>) {
    let (png, mp4, wav) = (walker.media("a.png"), walker.media("a.mp4"), walker.media("a.wav"));
    cases.push(Case::accepted(CONTENT, with(&json!({"content": []}))));
    for invalid in [json!({}), json!("x"), json!(["x"]), json!([7])] {
        cases.push(Case::refused(CONTENT, with(&json!({"content": invalid})), "metadata.content"));
    }
    let kinds = [("image_url", &png), ("video_url", &mp4), ("audio_url", &wav)];
    for (kind, url) in kinds {
        cases.push(Case::accepted(TYPE, content(&[item(kind, None, url)])));
        cases.push(Case::accepted(MEDIA, content(&[item(kind, None, url)])));
        cases.push(Case::accepted(URL, content(&[item(kind, None, url)])));
        cases.push(Case::refused(MEDIA, content(&[json!({"type": kind})]), "metadata.content[0]"));
        cases.push(Case::refused(MEDIA, content(&[json!({"type": kind, kind: url})]), "metadata.content[0]"));
        cases.push(Case::refused(URL, content(&[json!({"type": kind, kind: {}})]), "metadata.content[0]"));
        for invalid in [json!(7), json!(["u"]), json!("not a URI")] {
            cases.push(Case::refused(
                URL,
                content(&[json!({"type": kind, kind: {"url": invalid}})]),
                "metadata.content[0]",
            ));
        }
        let media = json!({kind: {"url": url}});
        cases.push(Case::refused(TYPE, content(&[media]), "metadata.content[0].type"));
    }
    for kind in [json!("text"), json!(""), json!(1)] {
        cases.push(Case::refused(
            TYPE,
            content(&[json!({"type": kind, "image_url": {"url": png}})]),
            "metadata.content[0].type",
        ));
    }
    for (role, kind, url) in [
        ("first_frame", "image_url", &png),
        ("last_frame", "image_url", &png),
        ("reference_image", "image_url", &png),
        ("reference_video", "video_url", &mp4),
        ("reference_audio", "audio_url", &wav),
    ] {
        cases.push(Case::accepted(ROLE, content(&[item(kind, Some(role), url)])));
        // A role of another type has no meaning.
        for (other, url) in kinds.into_iter().filter(|(other, _)| *other != kind) {
            cases.push(Case::refused(ROLE, content(&[item(other, Some(role), url)]), "metadata.content[0]"));
        }
    }
    for role in [json!("firstframe"), json!(""), json!(1)] {
        let mut item = item("image_url", None, &png);
        item["role"] = role;
        cases.push(Case::refused(ROLE, content(&[item]), "metadata.content[0].role"));
    }
    for kind in ["image/png", "text/plain", "application/octet-stream"] {
        let uri = data_uri(kind, &picture());
        cases.push(Case::accepted(URL, content(&[item("image_url", None, &uri)])));
    }
    cases.push(Case::accepted(URL, content(&[item("audio_url", None, &data_uri("audio/wav", &sound()))])));
    for name in ["login", "cookie", "forbidden", "challenge", "absent.png"] {
        let url = walker.media(name);
        cases.push(Case::refused(
            REACHABLE,
            content(&[item("image_url", None, &url)]),
            "metadata.content[0]",
        ));
        cases.push(Case::refused(REACHABLE, request(A, &json!({"image": url})), "image"));
    }
}

/// Frames together with references: with roles, without, and at the top level.
fn combinations(walker: &Walker, cases: &mut Vec<Case>) {
    let (png, mp4, wav) = (walker.media("a.png"), walker.media("a.mp4"), walker.media("a.wav"));
    let references = [
        ("reference_image", "image_url", &png),
        ("reference_video", "video_url", &mp4),
        ("reference_audio", "audio_url", &wav),
    ];
    for (role, kind, url) in references {
        for frame in [Some("first_frame"), Some("last_frame"), None] {
            for reference in [Some(role), None] {
                let items = [item("image_url", frame, &png), item(kind, reference, url)];
                cases.push(Case::accepted(CONTENT, content(&items)));
            }
        }
        for reference in [Some(role), None] {
            let fields = json!({"image": png, "metadata": {"content": [item(kind, reference, url)]}});
            cases.push(Case::accepted(CONTENT, request(A, &fields)));
        }
        let items = [
            item("image_url", Some("first_frame"), &png),
            item("image_url", Some("last_frame"), &png),
            item(kind, Some(role), url),
        ];
        cases.push(Case::accepted(CONTENT, content(&items)));
    }
    let all: Vec<Value> = references.iter().map(|(role, kind, url)| item(kind, Some(role), url)).collect();
    cases.push(Case::accepted(CONTENT, content(&all)));
    for frame in ["first_frame", "last_frame"] {
        // One of them would be ignored.
        let twice = [item("image_url", Some(frame), &png), item("image_url", Some(frame), &png)];
        cases.push(Case::refused(ROLE, content(&twice), "metadata.content[1]"));
        let fields =
            json!({"ref_images": [png], "metadata": {"content": [item("image_url", Some(frame), &png)]}});
        cases.push(Case::accepted(CONTENT, request(A, &fields)));
    }
}

/// Addresses of a local network, at a service that serves others.
pub(super) async fn walk(walker: &Walker, report: &mut Report) -> Result<(), String> {
    for url in [
        walker.media("a.png"),
        "http://localhost/a.png".to_owned(),
        "http://127.1/a.png".to_owned(),
        "http://2130706433/a.png".to_owned(),
        "http://[::1]/a.png".to_owned(),
        "http://[::ffff:10.0.0.1]/a.png".to_owned(),
        "http://10.0.0.1/a.png".to_owned(),
        "http://172.16.0.1/a.png".to_owned(),
        "http://192.168.1.1/a.png".to_owned(),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "http://[fd00::1]/a.png".to_owned(),
        "https://me:secret@example.com/a.png".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        for body in [content(&[item("image_url", None, &url)]), request(A, &json!({"image": url}))] {
            let answer = walker.post_public(&body).await?;
            let sent = format!("POST {body} -> 400");
            report.record(REACHABLE, sent, holds(answer.status == 400, answer.summary()));
        }
    }
    Ok(())
}
