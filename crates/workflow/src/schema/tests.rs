//! The schema takes what `check` takes, and refuses what a schema can refuse.

use std::path::Path;

use contract::Contract;
use serde_json::Value;

use super::workflow_schema;
use crate::diagnostic::Problems;
use crate::source::Source;
use crate::syntax::{FILM_KEYS, KEYS, WORKFLOW_KEYS};

fn files(folder: &str) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_table = path.file_name().is_some_and(|name| name == "prices.yaml");
        if is_table || path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut problems = Problems::default();
        let source = Source::new(name.as_str(), std::fs::read_to_string(&path).unwrap());
        if let Some(tree) = crate::yaml::read(&source, &mut problems) {
            found.push((name, tree.to_json()));
        }
    }
    found
}

#[test]
fn every_valid_file_is_valid() {
    let validator = jsonschema::validator_for(&workflow_schema(Contract::embedded())).unwrap();
    for (name, file) in files("tests/valid").into_iter().chain(files("../../workflows")) {
        let errors: Vec<String> =
            validator.iter_errors(&file).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

#[test]
fn what_a_schema_can_refuse_is_refused() {
    let validator = jsonschema::validator_for(&workflow_schema(Contract::embedded())).unwrap();
    let refusable = [
        "typo-in-field",
        "typo-in-word",
        "typo-in-top-word",
        "typo-in-default",
        "sixteen-seconds",
        "sixteen-seconds-by-default",
        "seconds-as-words",
        "no-id",
        "bad-id",
        "no-version",
        "other-version",
        "shots-as-map",
        "shot-as-text",
        "a-list",
        "wrong-types",
        "matrix-wrong",
        "words-wrong",
        "film-wrong",
        "word-in-defaults",
        "params-as-list",
        "content-item-wrong",
        "unknown-model",
    ];
    let files = files("tests/invalid");
    for name in refusable {
        let (_, file) = files.iter().find(|(file, _)| file == name).unwrap();
        assert!(!validator.is_valid(file), "{name}");
    }
}

#[test]
fn every_word_and_every_field_is_described() {
    let contract = Contract::embedded();
    let schema = workflow_schema(contract);
    let shot = &schema["$defs"]["Shot"]["properties"];
    for word in KEYS {
        assert!(shot[word]["description"].is_string(), "{word}");
    }
    for (of, words) in [
        (&schema["properties"], WORKFLOW_KEYS.as_slice()),
        (&schema["$defs"]["Film"]["properties"], &FILM_KEYS),
    ] {
        let described: Vec<&String> = of.as_object().unwrap().keys().collect();
        assert_eq!(described.len(), words.len(), "{described:?}");
        for word in words {
            assert!(of[*word]["description"].is_string(), "{word}");
        }
    }
    for field in contract.families().flat_map(|family| contract.fields(family)) {
        assert!(shot[&field.name]["description"].is_string(), "{}", field.name);
    }
    let is_field = |name: &str| contract.families().any(|family| contract.field(family, name).is_some());
    for name in shot.as_object().unwrap().keys() {
        assert!(KEYS.contains(&name.as_str()) || is_field(name), "{name}");
    }
}
