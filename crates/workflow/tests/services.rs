//! The requests that shots make of the runner's words, for each service that the program knows.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

use std::fmt::Write as _;

use contract::Contract;
use serde_json::{Map, Value};
use workflow::{DirFiles, Options, load};

/// An image of 16 × 16.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mNwaDhAEmIY1TCqYfhqAACldYAQpric7gAAAABJRU5ErkJggg==";

/// A workflow with one shot that says these words. Local files are URLs here.
fn workflow(service: &str, model: &str, words: &Map<String, Value>, own: &Map<String, Value>) -> String {
    let address = |value: &Value| match value.as_str().unwrap() {
        text if text.starts_with("http") => value.clone(),
        // It reads nothing from the internet.
        _ if service == "veo" => format!("data:image/png;base64,{PNG}").into(),
        text => format!("https://files.example/{text}").into(),
    };
    let mut shot = Map::from_iter([("id".to_owned(), "a".into()), ("model".to_owned(), model.into())]);
    let mut references = Vec::new();
    for (word, value) in words {
        match word.as_str() {
            "first_frame" | "last_frame" => _ = shot.insert(word.clone(), address(value)),
            "reference_image" | "reference_video" | "reference_audio" => {
                references.extend(value.as_array().unwrap().iter().map(address));
            }
            _ => _ = shot.insert(word.clone(), value.clone()),
        }
    }
    if !references.is_empty() {
        shot.insert("references".to_owned(), references.into());
    }
    shot.extend(own.clone());
    format!("version: 1\nshots:\n  - {}\n", Value::Object(shot))
}

/// Each case of `requests` in the answers of the services, and its outcome: the request, or the codes of what is wrong.
#[test]
fn words_become_the_requests_of_each_service() {
    let mut table = String::new();
    let files = DirFiles::new(std::path::Path::new("."), crate::gate::media_gate());
    for name in Contract::shipped_names().filter(|name| *name != "videos-v1") {
        let contract = Contract::shipped(name).unwrap();
        let file = format!("{}/../contract/tests/services/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let cases: Value = serde_saphyr::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        for case in cases["requests"].as_array().unwrap() {
            let none = Map::new();
            let own = case["own"].as_object().unwrap_or(&none);
            let text =
                workflow(name, case["model"].as_str().unwrap(), case["words"].as_object().unwrap(), own);
            let loaded = load(text.as_bytes(), "a.yaml", &files, &Options::default(), contract);
            let _ = writeln!(table, "{name}: {}", case["words"]);
            match loaded {
                Ok(plan) => {
                    let request = plan.nodes().next().unwrap().1.request.to_map();
                    let _ = writeln!(table, "  {}", Value::Object(request));
                }
                Err(report) => {
                    for diagnostic in &report.diagnostics {
                        let _ = writeln!(table, "  {}: {}", diagnostic.code, diagnostic.message);
                    }
                }
            }
        }
    }
    insta::assert_snapshot!(table);
}

/// What is wrong with a shot of a service, as code and message.
fn problems(service: &str, shot: &str) -> Vec<String> {
    let text = format!("version: 1\nshots:\n  - {{id: a, prompt: x, {shot}}}\n");
    let files = DirFiles::new(std::path::Path::new("."), crate::gate::media_gate());
    let contract = Contract::shipped(service).unwrap();
    let loaded = load(text.as_bytes(), "a.yaml", &files, &Options::default(), contract);
    let report = loaded.map(drop).unwrap_err();
    report.diagnostics.iter().map(|found| format!("{}: {}", found.code, found.message)).collect()
}

#[test]
fn local_path_in_a_field_below_the_top_is_refused() {
    let found = problems("replicate", "model: bytedance/seedance-2.0, image: still.png");
    assert_eq!(found, ["local-file: `image` is sent as it is, and `still.png` is a local file"]);
}

#[test]
fn references_beyond_what_a_model_takes_are_refused() {
    let images: Vec<String> = (0..10).map(|index| format!("\"https://x.example/{index}.png\"")).collect();
    let shot = format!("model: doubao-seedance-2-0-260128, references: [{}]", images.join(", "));
    let found = problems("ark", &shot);
    assert_eq!(
        found,
        ["frame-unsupported: `doubao-seedance-2-0-260128` takes at most 9 of these, and this is number 10"]
    );
}
