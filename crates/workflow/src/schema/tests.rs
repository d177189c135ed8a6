//! The schema accepts every file that `check` accepts, and rejects what a schema can reject.

use std::path::Path;

use contract::Contract;
use serde_json::Value;

use super::{workflow_schema, workflow_schema_of};
use crate::diagnostic::Problems;
use crate::source::Source;
use crate::syntax::keys::{film::FILM, shot::SHOT, workflow::WORKFLOW};

fn files(folder: &str) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut trees = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_table = path.file_name().is_some_and(|name| name == "prices.yaml");
        if is_table || path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut problems = Problems::default();
        let source = Source::new(name.as_str(), std::fs::read_to_string(&path).unwrap());
        if let Some(tree) = crate::advice::read(&source, &mut problems) {
            trees.push((name, tree.to_json()));
        }
    }
    trees
}

#[test]
fn schema_accepts_valid_files() {
    let validator = jsonschema::validator_for(&workflow_schema(Contract::embedded())).unwrap();
    for (name, file) in files("tests/valid").into_iter().chain(files("../../workflows")) {
        let errors: Vec<String> =
            validator.iter_errors(&file).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

#[test]
fn schema_refuses_what_it_can() {
    let validator = jsonschema::validator_for(&workflow_schema(Contract::embedded())).unwrap();
    let refusable = [
        "bad-id",
        "other-version",
        "a-list",
        "wrong-types",
        "matrix-wrong",
        "film-wrong",
        "shot-key-in-defaults",
        "content-item-wrong",
    ];
    let files = files("tests/invalid");
    for name in refusable {
        let (_, file) = files.iter().find(|(file, _)| file == name).unwrap();
        assert!(!validator.is_valid(file), "{name}");
    }
}

#[test]
fn schema_describes_every_key_and_field() {
    let contract = Contract::embedded();
    let schema = workflow_schema(contract);
    let shot = &schema["$defs"]["Shot"]["properties"];
    for key in SHOT.names() {
        assert!(shot[key]["description"].is_string(), "{key}");
    }
    for (properties, object) in
        [(&schema["properties"], &WORKFLOW), (&schema["$defs"]["Film"]["properties"], &FILM)]
    {
        let described: Vec<&String> = properties.as_object().unwrap().keys().collect();
        assert_eq!(described.len(), object.keys.len(), "{described:?}");
        for key in object.names() {
            assert!(properties[key]["description"].is_string(), "{key}");
        }
    }
    for field in contract.families().flat_map(|family| contract.fields(family)) {
        assert!(shot[&field.name]["description"].is_string(), "{}", field.name);
    }
    let is_field = |name: &str| {
        let is_word = contract::Word::ALL.iter().any(|word| word.as_str() == name);
        is_word || contract.families().any(|family| contract.field(family, name).is_some())
    };
    for name in shot.as_object().unwrap().keys() {
        assert!(SHOT.has(name) || is_field(name), "{name}");
    }
}

/// Fields follow from the model, whichever service has it; one that two services have may have the fields of either.
#[test]
fn schema_of_several_services_takes_the_fields_of_each() {
    let shipped: Vec<&Contract> =
        Contract::shipped_names().filter_map(Contract::shipped).map(|own| &**own).collect();
    let validator = jsonschema::validator_for(&workflow_schema_of(&shipped)).unwrap();
    let is_valid = |shot: &str| {
        let text = format!("version: 1\nservice: ark\nshots:\n  - {{ id: a, prompt: a pier, {shot} }}\n");
        let source = Source::new("film", text);
        let tree = crate::advice::read(&source, &mut Problems::default()).unwrap();
        validator.is_valid(&tree.to_json())
    };
    for shot in [
        "model: doubao-seedance-2-0-260128, resolution: 480p, ratio: \"16:9\", camera_fixed: true",
        "service: veo, model: veo-3.1-generate-preview, seconds: 8, negativePrompt: fog",
        "service: fal, model: bytedance/seedance-2.0/text-to-video, seconds: 4",
        "service: replicate, model: bytedance/seedance-2.0, generate_audio: true",
        "service: openrouter, model: bytedance/seedance-2.0, provider: { order: [a] }",
        "model: ep-20260101-x, resolution: 480p",
        "model: \"{{ m }}\"",
    ] {
        assert!(is_valid(shot), "{shot}");
    }
    for shot in [
        "model: doubao-seedance-2-0-260128, negativePrompt: fog",
        "service: veo, model: veo-3.1-generate-preview, camera_fixed: true",
        "model: doubao-seedance-2-0-260128, resolution: 999p",
        "model: doubao-seedance-2-0-260128, camera: true",
    ] {
        assert!(!is_valid(shot), "{shot}");
    }
}
