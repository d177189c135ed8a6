//! Section 2.2: the request of family A.

use serde_json::{Value, json};

use super::{Case, holds, is_error};
use crate::conformance::walk::client::{A, A_FAST, B, Walker, base64, data_uri, item, request};
use crate::conformance::walk::media_host::picture;
use crate::conformance::walk::report::Report;
use crate::conformance::walk::statements::Cite;

const RANGE: &str = "4 to 15";
const RATIOS: [(&str, f64); 6] = [
    ("21:9", 21.0 / 9.0),
    ("16:9", 16.0 / 9.0),
    ("4:3", 4.0 / 3.0),
    ("1:1", 1.0),
    ("3:4", 0.75),
    ("9:16", 0.5625),
];

/// The row of a field of section 2.2.
fn row(name: &str) -> Cite {
    let rows = [
        "| `model` |",
        "| `prompt` |",
        "| `seconds` |",
        "| `duration` |",
        "| `resolution` |",
        "| `ratio` |",
        "| `size` |",
        "| `image` |",
        "| `ref_images` |",
        "| `generate_audio` |",
        "| `watermark` |",
        "| `camera_fixed` |",
        "| `return_last_frame` |",
        "| `seed` |",
        "| `n` |",
        "| `response_format` |",
        "| `user` |",
        "| `metadata` |",
    ];
    let cell = format!("| `{name}` |");
    ("2.2", rows.into_iter().find(|row| *row == cell).unwrap_or("?"))
}

pub(super) fn cases(walker: &Walker) -> Vec<Case> {
    let mut cases = Vec::new();
    let with = |fields: Value| request(A, &fields);
    let uri = data_uri("image/png", &picture());
    let png = walker.media("a.png");

    let is_object = ("2.2", "A JSON object.");
    for body in [json!([]), json!("text"), json!(7), Value::Null] {
        cases.push(Case::refused(is_object, body, ""));
    }
    let required = ("2.2", "`model` and `prompt` are required.");
    for name in ["model", "prompt"] {
        cases.push(Case::refused(required, with(json!({name: null})), name));
    }
    cases.push(Case::accepted(required, with(json!({}))));
    cases.push(Case::refused(required, json!({}), "model"));

    for model in [A, A_FAST] {
        cases.push(Case::accepted_with(row("model"), request(model, &json!({})), "model", model));
    }
    for model in [json!("modela-video-2-0"), json!(""), json!(2), json!([A])] {
        cases.push(Case::refused(row("model"), with(json!({"model": model})), "model"));
    }
    for prompt in ["", " ", "灯塔 🌊 \u{7}\n\"quoted\" {{braces}}", "as in image 1, to the sound of audio 1"]
    {
        cases.push(Case::accepted(row("prompt"), with(json!({"prompt": prompt}))));
    }
    for prompt in [json!(7), json!(["a"]), json!({"text": "a"}), json!(true)] {
        cases.push(Case::refused(row("prompt"), with(json!({"prompt": prompt})), "prompt"));
    }

    for seconds in 4..=15 {
        let text = seconds.to_string();
        for model in [A, A_FAST] {
            let body = request(model, &json!({"seconds": text}));
            cases.push(Case::accepted_with(row("seconds"), body, "seconds", text.as_str()));
        }
        let body = with(json!({"duration": seconds}));
        cases.push(Case::accepted_with(row("duration"), body, "seconds", text.as_str()));
        cases.push(Case::accepted(("8", "| length, family A |"), with(json!({"seconds": text}))));
    }
    cases.push(Case::accepted_with(row("duration"), with(json!({"duration": 4.5})), "seconds", "4.5"));
    for seconds in ["3", "16", "0", "-5", "100", "04", "5.0", " 5", "5s", "five", "", "٥"] {
        cases.push(Case::wrong_duration(row("seconds"), with(json!({"seconds": seconds})), RANGE));
    }
    for seconds in [json!(5), json!(true), json!(["5"]), json!({})] {
        cases.push(Case::refused(row("seconds"), with(json!({"seconds": seconds})), "seconds"));
    }
    for duration in [json!(3), json!(3.999), json!(15.001), json!(16), json!(0), json!(-5), json!(1e300)] {
        cases.push(Case::wrong_duration(row("duration"), with(json!({"duration": duration})), RANGE));
        cases.push(Case::wrong_duration(
            ("8", "| length, family A |"),
            with(json!({"duration": duration})),
            RANGE,
        ));
    }
    for duration in [json!("5"), json!(false), json!([5])] {
        cases.push(Case::refused(row("duration"), with(json!({"duration": duration})), "duration"));
    }

    for resolution in ["480p", "720p", "1080p"] {
        cases.push(Case::accepted(row("resolution"), with(json!({"resolution": resolution}))));
    }
    for resolution in [json!("4k"), json!("720P"), json!("720"), json!(""), json!(720), json!(["720p"])] {
        cases.push(Case::refused(row("resolution"), with(json!({"resolution": resolution})), "resolution"));
    }
    for ratio in ["adaptive", "auto", "21:9", "16:9", "4:3", "1:1", "3:4", "9:16"] {
        cases.push(Case::accepted(row("ratio"), with(json!({"ratio": ratio}))));
    }
    for ratio in [json!("2:1"), json!("16/9"), json!("Auto"), json!(""), json!(1.5), json!([16, 9])] {
        cases.push(Case::refused(row("ratio"), with(json!({"ratio": ratio})), "ratio"));
    }
    for size in ["1280x720", "720x1280", "640x640"] {
        cases.push(Case::accepted(row("size"), with(json!({"size": size}))));
    }
    for size in [
        json!("1280*720"),
        json!("1280"),
        json!("x720"),
        json!("1280x"),
        json!("wide"),
        json!(1280),
        json!("1280 x 720"),
    ] {
        cases.push(Case::refused(row("size"), with(json!({"size": size})), "size"));
    }

    for image in [&png, &uri, &base64(&picture())] {
        cases.push(Case::accepted(row("image"), with(json!({"image": image}))));
        cases.push(Case::accepted(row("ref_images"), with(json!({"ref_images": [image]}))));
    }
    cases.push(Case::accepted(row("ref_images"), with(json!({"ref_images": []}))));
    cases.push(Case::accepted(row("ref_images"), with(json!({"ref_images": [png, uri, png]}))));
    cases.push(Case::accepted(row("ref_images"), with(json!({"image": png, "ref_images": [uri]}))));
    for image in
        [json!({"url": png}), json!([png]), json!(1), json!("no Base64!"), json!("ftp://example.com/a.png")]
    {
        cases.push(Case::refused(row("image"), with(json!({"image": image})), "image"));
    }
    for images in [json!(png), json!({"url": png}), json!([7]), json!([{"url": png}]), json!([png, "?"])] {
        cases.push(Case::refused(row("ref_images"), with(json!({"ref_images": images})), "ref_images"));
    }

    for name in ["generate_audio", "watermark", "camera_fixed", "return_last_frame"] {
        for value in [true, false] {
            cases.push(Case::accepted(row(name), with(json!({name: value}))));
        }
        for value in [json!("true"), json!(1), json!([true]), json!({})] {
            cases.push(Case::refused(row(name), with(json!({name: value})), name));
        }
    }
    for seed in [0, 1, -1, 7_i64, 1 << 53, i64::MAX, i64::MIN] {
        cases.push(Case::accepted(row("seed"), with(json!({"seed": seed}))));
    }
    for seed in [json!(1.5), json!("7"), json!(true), json!(u64::MAX), json!(1e30)] {
        cases.push(Case::refused(row("seed"), with(json!({"seed": seed})), "seed"));
    }
    cases.push(Case::accepted(row("n"), with(json!({"n": 1}))));
    for n in [json!(0), json!(2), json!(-1), json!(1.5), json!("1"), json!(true)] {
        cases.push(Case::refused(row("n"), with(json!({"n": n})), "n"));
        cases.push(Case::refused(("8", "| videos per task |"), with(json!({"n": n})), "n"));
    }
    cases.push(Case::accepted(row("response_format"), with(json!({"response_format": "url"}))));
    for format in [json!("b64_json"), json!(""), json!(1)] {
        cases.push(Case::refused(
            row("response_format"),
            with(json!({"response_format": format})),
            "response_format",
        ));
    }
    for user in ["u-1", "", "Ünïcode"] {
        cases.push(Case::accepted(row("user"), with(json!({"user": user}))));
    }
    for user in [json!(7), json!({"id": "u"})] {
        cases.push(Case::refused(row("user"), with(json!({"user": user})), "user"));
    }
    for metadata in [json!({}), json!({"mood": "calm"}), json!({"trace": {"id": [1, null, true]}})] {
        cases.push(Case::accepted(row("metadata"), with(json!({"metadata": metadata}))));
    }
    for metadata in [json!("x"), json!([]), json!(1)] {
        cases.push(Case::refused(row("metadata"), with(json!({"metadata": metadata})), "metadata"));
    }
    rules(walker, &mut cases);
    cases
}

fn rules(walker: &Walker, cases: &mut Vec<Case>) {
    let with = |fields: Value| request(A, &fields);
    let lengths: Cite = ("2.2", "1. Specify at most one of");
    for fields in [
        json!({"seconds": "5", "duration": 5}),
        json!({"seconds": "5", "metadata": {"duration": 5}}),
        json!({"duration": 5, "metadata": {"duration": 5}}),
        json!({"seconds": "5", "duration": 5, "metadata": {"duration": 5}}),
    ] {
        cases.push(Case::refused(lengths, with(fields), ""));
    }
    for fields in [json!({"seconds": "5"}), json!({"duration": 5}), json!({"metadata": {"duration": 5}})] {
        cases.push(Case::accepted_with(lengths, with(fields), "seconds", "5"));
    }
    let forms: Cite = ("2.2", "The top-level form is recommended; the forms in `metadata`");
    for (name, value) in [
        ("resolution", json!("480p")),
        ("ratio", json!("1:1")),
        ("generate_audio", json!(true)),
        ("watermark", json!(true)),
        ("camera_fixed", json!(true)),
        ("return_last_frame", json!(true)),
        ("seed", json!(7)),
    ] {
        cases.push(Case::accepted(forms, with(json!({name: value}))));
        cases.push(Case::accepted(forms, with(json!({"metadata": {name: value}}))));
        // The server's choice is a refusal, so that no mistake is rendered (docs/service.md).
        let both = with(json!({name: value, "metadata": {name: value}}));
        cases.push(Case::refused(("2.2", "2. For a parameter given both at top level"), both, "metadata."));
    }
    let charged: Cite = ("2.2", "4. A task with a `video_url` item");
    let content = json!({"content": [item("video_url", None, &walker.media("a.mp4"))]});
    cases.push(Case::accepted(charged, with(json!({"metadata": content}))));
}

/// Sizes, permissions, equal seeds, and the effect of `return_last_frame`.
pub(super) async fn walk(walker: &Walker, report: &mut Report) -> Result<(), String> {
    for resolution in ["480p", "720p", "1080p"] {
        for (name, ratio) in RATIOS {
            let body = request(A, &json!({"resolution": resolution, "ratio": name}));
            let task = walker.post(&body).await?.body;
            report.record(row("ratio"), format!("{resolution} {name}: size"), has_ratio(&task, ratio));
        }
    }
    for (name, ratio) in [("adaptive", 4.0 / 3.0), ("auto", 4.0 / 3.0)] {
        for fields in [
            json!({"ratio": name, "image": walker.media("a.png")}),
            json!({"ratio": name, "ref_images": [walker.media("a.png")]}),
        ] {
            let task = walker.post(&request(A, &fields)).await?.body;
            report.record(
                row("ratio"),
                format!("POST {fields} with a picture of 4:3: size"),
                has_ratio(&task, ratio),
            );
        }
    }
    for key in [("with", None), ("without", Some(walker.plain_key.as_str()))] {
        let (word, key) = key;
        for (resolution, status) in [("720p", 200), ("1080p", if key.is_none() { 200 } else { 400 })] {
            let body = request(A, &json!({"resolution": resolution}));
            let answer = match key {
                None => walker.post(&body).await?,
                Some(key) => walker.post_as(key, &body).await?,
            };
            let sent = format!("POST {resolution} with a key {word} permission for 1080p -> {status}");
            let is_met = answer.status == status && (status == 200 || is_error(&answer));
            report.record(("2.2", "3. Whether `1080p` is available"), &sent, holds(is_met, answer.summary()));
            report.record(
                ("5", "An account's permissions may limit"),
                &sent,
                holds(is_met, answer.summary()),
            );
        }
    }
    for requested in [true, false] {
        let task = walker.final_task(&request(A, &json!({"return_last_frame": requested}))).await?;
        let url = task["metadata"]["last_frame_url"].as_str();
        let is_met = match url {
            Some(url) => requested && walker.get_url(url).await?.bytes.starts_with(b"\x89PNG"),
            None => !requested,
        };
        report.record(
            row("return_last_frame"),
            format!("{requested}: a PNG at metadata.last_frame_url"),
            holds(is_met, &task),
        );
    }
    let mut files = Vec::new();
    for _ in 0..2 {
        let task = walker.final_task(&request(A, &json!({"seed": 7}))).await?;
        files.push(walker.get_url(task["metadata"]["url"].as_str().unwrap_or_default()).await?.bytes);
    }
    report.record(
        row("seed"),
        "the same request with the same seed, twice: similar videos",
        holds(files[0] == files[1], "other bytes"),
    );
    // `user` has no influence.
    let task = walker.final_task(&request(B, &json!({"user": "someone"}))).await?;
    report.record(("2.4", "| `user` |"), "a task with a user", holds(task["status"] == "completed", &task));
    Ok(())
}

/// Whether the size of a task has this ratio, within 2 %.
fn has_ratio(task: &Value, ratio: f64) -> Result<(), String> {
    let size = task["size"].as_str().and_then(|size| size.split_once('x'));
    let sides =
        size.and_then(|(width, height)| Some((width.parse::<f64>().ok()?, height.parse::<f64>().ok()?)));
    holds(sides.is_some_and(|(width, height)| (width / height / ratio - 1.0).abs() < 0.02), task)
}
