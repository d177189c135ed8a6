//! What a service calls its fields, states and paths is data: no code but that of this crate, and of the service that openapi.yaml describes, has such a
//! word.

use std::collections::BTreeSet;
use std::path::Path;

use contract::{Contract, Word};
use serde_json::Value;

/// The runner's own words where they stand: in its events, codes, keys and records; and what the generated client is told apart by.
const OWN: [(&str, &str); 12] = [
    ("in_progress", "engine/src/provider/classify.rs"),
    ("in_progress", "scheduler/src/response.rs"),
    ("in_progress", "cluster/src/run/active_world.rs"),
    ("missing_parameter", "workflow/src/expand/check.rs"),
    ("missing_parameter", "workflow/src/advice/fields.rs"),
    ("base_url", "workflow/src/syntax/keys/services.rs"),
    ("needs_image", "runner/src/commands/services.rs"),
    ("/v1/videos", "client/src/client.rs"),
    ("/content", "client/src/client.rs"),
    ("create_video", "client/src/hooks.rs"),
    ("get_video", "client/src/hooks.rs"),
    // A field of its logs.
    ("task_id", "client/src/client.rs"),
];

/// Crates that are about no service: they draw, cut and hand over.
const EXEMPT: [&str; 7] = ["contract", "service", "renderer", "media", "text", "timeline", "viewer"];

#[test]
fn words_of_services_stand_in_their_descriptions_only() {
    let mut words = BTreeSet::new();
    for contract in Contract::shipped_names().filter_map(Contract::shipped) {
        collect(contract.document(), &mut words);
    }
    // Words that others might use for something else say nothing.
    let own: BTreeSet<&str> = Word::ALL.into_iter().map(Word::as_str).collect();
    words.retain(|word| word.contains(['_', '/']) && !own.contains(word.as_str()));
    assert!(words.contains("status_url") && words.contains("camera_fixed") && words.len() > 50);
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for unit in std::fs::read_dir(&crates).expect("a folder") {
        let unit = unit.expect("an entry").file_name().into_string().expect("UTF-8");
        if !EXEMPT.contains(&unit.as_str()) {
            search(&crates.join(&unit).join("src"), &format!("{unit}/src"), &words, &mut found);
        }
    }
    found.retain(|(word, file)| !OWN.contains(&(word.as_str(), file.as_str())));
    assert_eq!(found, [], "say it in the description");
}

/// The names of fields, the tokens of pointers, the words of states and the paths of a document.
fn collect(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if let ("properties", Value::Object(fields)) = (name.as_str(), member) {
                    words.extend(fields.keys().cloned());
                }
                collect(&Value::from(name.as_str()), words);
                collect(member, words);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
        Value::String(text) if text.starts_with('/') && !text.contains(' ') => {
            words.insert(text.clone());
            words.extend(text.split('/').filter(|token| !token.is_empty()).map(str::to_owned));
        }
        Value::String(text) if text.contains('_') && !text.contains([' ', '.']) => {
            words.insert(text.clone());
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Quoted words in the code of a folder, without its unit tests.
fn search(folder: &Path, shown: &str, words: &BTreeSet<String>, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let shown = format!("{shown}/{name}");
        if path.is_dir() {
            search(&path, &shown, words, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !name.contains("tests") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let quoted = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
            let own = quoted.filter(|text| words.contains(*text));
            found.extend(own.map(|word| (word.to_owned(), shown.clone())));
        }
    }
}
