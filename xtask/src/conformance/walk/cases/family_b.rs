//! Section 2.4: the request of family B.

use serde_json::{Value, json};

use super::Case;
use crate::conformance::walk::client::{B, B_720, PREVIEW, PREVIEW_720, Walker, base64, data_uri, request};
use crate::conformance::walk::media_host::picture;
use crate::conformance::walk::statements::Cite;

const RANGE: &str = "1 to 15";
const MODEL: Cite = ("2.4", "| `model` |");
const PROMPT: Cite = ("2.4", "| `prompt` |");
const SIZE: Cite = ("2.4", "| `size` |");
const SECONDS: Cite = ("2.4", "| `seconds` |");
const DURATION: Cite = ("2.4", "| `duration` |");
const IMAGE: Cite = ("2.4", "| `image` |");
const INPUT_REFERENCE: Cite = ("2.4", "| `input_reference` |");
const IMAGES: Cite = ("2.4", "| `images` |");
const REF_IMAGES: Cite = ("2.4", "| `ref_images` |");
const USER: Cite = ("2.4", "| `user` |");
const LENGTH: Cite = ("8", "| length, family B |");

pub(super) fn cases(walker: &Walker) -> Vec<Case> {
    let mut cases = Vec::new();
    let with = |fields: Value| request(B, &fields);
    let (png, uri) = (walker.media("a.png"), data_uri("image/png", &picture()));
    let required: Cite = ("2.4", "`model` and `prompt` are required.");
    for name in ["model", "prompt"] {
        cases.push(Case::refused(required, with(json!({name: null})), name));
    }
    cases.push(Case::accepted(("2.4", "A JSON object."), with(json!({}))));
    cases.push(Case::refused(("2.4", "A JSON object."), json!([with(json!({}))]), ""));
    for (model, size) in
        [(B, "854x480"), (B_720, "1280x720"), (PREVIEW, "854x480"), (PREVIEW_720, "1280x720")]
    {
        let body = request(model, &json!({"image": png, "size": "1920x1080"}));
        cases.push(Case::accepted_with(MODEL, body, "size", size));
    }
    for model in [json!("modelb-video"), json!("modelb-video-1080p"), json!(480)] {
        cases.push(Case::refused(MODEL, with(json!({"model": model})), "model"));
    }
    cases.push(Case::accepted(PROMPT, with(json!({"prompt": "the tide 🌊 runs out"}))));
    cases.push(Case::refused(PROMPT, with(json!({"prompt": 7})), "prompt"));
    for (size, expected) in [
        ("1280x720", "854x480"),
        ("3840x2160", "854x480"),
        ("720x1280", "480x854"),
        ("1080x1920", "480x854"),
        ("512x512", "640x640"),
    ] {
        cases.push(Case::accepted_with(SIZE, with(json!({"size": size})), "size", expected));
    }
    for size in [json!("1792x1024"), json!("1024x1792")] {
        cases.push(Case::refused(SIZE, with(json!({"size": size})), "size"));
        cases.push(Case::refused(("2.4", "5. `size` `1792x1024`"), with(json!({"size": size})), "size"));
        cases.push(Case::refused(("8", "| rejected sizes |"), with(json!({"size": size})), "size"));
    }
    for size in [json!("large"), json!("1280×720"), json!(720)] {
        cases.push(Case::refused(SIZE, with(json!({"size": size})), "size"));
    }
    for seconds in 1..=15 {
        let text = seconds.to_string();
        for model in [B, B_720] {
            let body = request(model, &json!({"seconds": text}));
            cases.push(Case::accepted_with(SECONDS, body, "seconds", text.as_str()));
        }
        let body = with(json!({"duration": seconds}));
        cases.push(Case::accepted_with(DURATION, body, "seconds", text.as_str()));
        cases.push(Case::accepted(LENGTH, with(json!({"seconds": text}))));
    }
    cases.push(Case::accepted_with(DURATION, with(json!({"duration": 1.5})), "seconds", "1.5"));
    for seconds in ["0", "16", "-1", "1.5", "01", "", "one"] {
        cases.push(Case::wrong_duration(SECONDS, with(json!({"seconds": seconds})), RANGE));
        cases.push(Case::wrong_duration(LENGTH, with(json!({"seconds": seconds})), RANGE));
    }
    for seconds in [json!(5), json!(["5"])] {
        cases.push(Case::refused(SECONDS, with(json!({"seconds": seconds})), "seconds"));
    }
    for duration in [json!(0), json!(0.999), json!(15.001), json!(16), json!(-1)] {
        cases.push(Case::wrong_duration(DURATION, with(json!({"duration": duration})), RANGE));
    }
    cases.push(Case::refused(DURATION, with(json!({"duration": "5"})), "duration"));

    for (row, name) in [(IMAGE, "image"), (INPUT_REFERENCE, "input_reference")] {
        for image in [&png, &uri, &base64(&picture())] {
            cases.push(Case::accepted(row, with(json!({name: image}))));
            cases.push(Case::accepted(row, request(PREVIEW, &json!({name: image}))));
        }
        for invalid in [json!({"url": png}), json!([png]), json!(1), json!("no Base64!")] {
            cases.push(Case::refused(row, with(json!({name: invalid})), name));
        }
    }
    for (row, name) in [(IMAGES, "images"), (REF_IMAGES, "ref_images")] {
        cases.push(Case::accepted(row, with(json!({name: [png]}))));
        cases.push(Case::accepted(row, request(B_720, &json!({name: [png, uri, base64(&picture())]}))));
        for invalid in [json!(png), json!([1]), json!([png, "?"])] {
            cases.push(Case::refused(row, with(json!({name: invalid})), name));
        }
        for preview in [PREVIEW, PREVIEW_720] {
            let rule: Cite = ("2.4", "3. Reference images");
            cases.push(Case::refused(rule, request(preview, &json!({name: [png], "image": png})), ""));
            cases.push(Case::refused(row, request(preview, &json!({name: [png]})), ""));
        }
        for single in ["image", "input_reference"] {
            let rule: Cite = ("2.4", "4. `image` and `images` exclude");
            cases.push(Case::refused(rule, with(json!({name: [png], single: png})), ""));
        }
    }
    cases.push(Case::accepted(USER, with(json!({"user": "u-1"}))));
    cases.push(Case::refused(USER, with(json!({"user": 1})), "user"));

    let pairs: Cite = ("2.4", "`seconds` and `duration` exclude each other");
    for fields in [
        json!({"seconds": "5", "duration": 5}),
        json!({"image": png, "input_reference": png}),
        json!({"images": [png], "ref_images": [png]}),
    ] {
        cases.push(Case::refused(pairs, with(fields), ""));
    }
    let rule: Cite = ("2.4", "1. `resolution` has no effect.");
    for resolution in [json!("1080p"), json!("4k"), json!(720), Value::Bool(true)] {
        cases.push(Case::accepted_with(rule, with(json!({"resolution": resolution})), "size", "854x480"));
    }
    let suffix: Cite = ("2.4", "The model id's suffix sets the resolution");
    cases.push(Case::accepted_with(suffix, request(B, &json!({"size": "1280x720"})), "size", "854x480"));
    cases.push(Case::accepted_with(suffix, request(B_720, &json!({"size": "854x480"})), "size", "1280x720"));
    let rule: Cite = ("2.4", "2. The preview models require");
    for preview in [PREVIEW, PREVIEW_720] {
        cases.push(Case::refused(rule, request(preview, &json!({})), "image"));
        for name in ["image", "input_reference"] {
            cases.push(Case::accepted(rule, request(preview, &json!({name: uri}))));
        }
    }
    cases
}
