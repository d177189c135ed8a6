//! The published schema takes every workflow that `check` takes, and refuses every invalid one that JSON Schema can refuse.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use contract::Contract;
use jsonschema::Validator;
use serde_json::Value;
use workflow::{DirFiles, Options};

/// What `check` refuses and a JSON Schema cannot: the code, the fixtures that it is about (all, where none is named),
/// and the reason. Whatever else `check` refuses, the schema has to refuse.
const BEYOND: &[(&str, &[&str], &str)] = &[
    (
        "bad-file",
        &["axis-from-table-encoding"],
        "which files there are, and what is in them, is not in the text",
    ),
    (
        "bad-film",
        &["film-edit-outside", "film-edit-too-short", "film-groups-outside", "film-speed-outside"],
        "the lengths of videos are set by other shots",
    ),
    (
        "bad-film",
        &["film-titles-outside"],
        "what files are, how long videos are, and what templates come to is not in the text",
    ),
    ("bad-file", &["film-titles-outside"], "which files there are, and what is in them, is not in the text"),
    ("bad-film", &["film-sound-missing"], "which shots a film shows is written elsewhere"),
    ("bad-film", &["music-after-its-end"], "how long a sound is, is in its file"),
    ("bad-file", &["film-sound-missing"], "which files there are, and what is in them, is not in the text"),
    ("bad-dialogue", &["dialogue-outside"], "the length of the video is in another field"),
    ("cycle", &[], "a cycle runs through the values of several shots"),
    ("duplicate-id", &[], "ids are values in several items of a list"),
    ("bad-file", &["media"], "whether a file can be sent is decided by its contents"),
    (
        "bad-medium",
        &["media", "media-in-fields"],
        "whether a data URI can be sent is decided by its contents",
    ),
    ("service-may-refuse", &["media", "media-in-fields"], "it is no error"),
    (
        "invalid-request",
        &["numbers-outside"],
        "a number below those of 64 bits is rounded to the least of them",
    ),
    ("no-shots", &["included-nothing"], "whether included files have shots stands in them"),
    ("wrong-type", &["structure"], "what a template comes to is known when it is rendered"),
    ("bad-matrix", &["dependent-axes-wrong"], "the values of an axis are in those of another"),
    ("media-too-large", &[], "it is the sizes of files"),
    ("unknown-shot", &[], "which shots there are depends on the values of others"),
    ("unknown-group", &[], "which groups there are is written elsewhere in the file"),
    ("unknown-character", &[], "which characters there are is written elsewhere in the file"),
    ("no-matching-instance", &[], "which instances there are follows from matrices"),
    ("ambiguous-instance", &[], "how many instances there are follows from matrices"),
    ("missing-param", &[], "the value is given when the workflow is run"),
    ("bad-include", &[], "whether an included file is there, and where it lies, is no part of the text"),
    ("include-cycle", &[], "it runs through other files"),
    ("include-limit", &[], "it runs through other files"),
    ("included-twice", &[], "it stands in other files"),
    ("bad-name", &["include-wrong-inside"], "it stands in an included file"),
    ("unknown-field", &["include-wrong-inside"], "it stands in an included file"),
    ("unknown-key", &["include-wrong-inside"], "it stands in an included file"),
    ("wrong-type", &["include-wrong-inside"], "it stands in an included file"),
    (
        "invalid-request",
        &["prompt-of-an-empty-param"],
        "what a template comes to is known when it is rendered",
    ),
    ("bad-param", &["params-bounds-reversed"], "a schema compares no value with another one"),
    ("yaml-syntax", &["tags"], "a schema sees values without their tags"),
    ("yaml-syntax", &["include-wrong-inside"], "it stands in an included file"),
    (
        "unknown-field",
        &["unknown-member-in-content"],
        "openapi.yaml leaves the objects inside `metadata` open",
    ),
    ("excluded", &[], "whether a shot is excluded comes out of a template"),
    ("undefined-name", &[], "which names there are depends on `params` and on the matrix"),
    ("template-syntax", &[], "the language of templates has no regular grammar"),
    ("template-error", &[], "what a template comes to is known when it is rendered"),
    ("template-limit", &[], "what a template comes to is known when it is rendered"),
    ("matrix-too-large", &[], "the cells are the product of the axes"),
    ("local-file", &["local-file-in-request"], "a text that is no address may be Base64"),
    ("frame-unsupported", &["last-frame-on-family-b"], "the model may come from `defaults`"),
    (
        "frame-unsupported",
        &["cast-unsupported", "references-on-preview"],
        "where frames go is decided by model, and the schema knows families",
    ),
    ("unknown-field", &["field-of-the-other-family"], "the model may come from `defaults`"),
    ("unknown-field", &["matrix-model-refused"], "the model comes out of a template"),
    ("unknown-model", &["matrix-model-refused"], "the model comes out of a template"),
    (
        "invalid-request",
        &["matrix-model-refused", "matrix-value-refused"],
        "the value comes out of a template",
    ),
    (
        "invalid-request",
        &[
            "cast-unsupported",
            "continues-with-images",
            "duration-against-default-seconds",
            "image-with-images",
            "local-file-in-request",
            "preview-without-image",
            "seconds-with-duration",
            "seconds-with-metadata-duration",
        ],
        "a rule over several fields, each of which may come from `defaults` or be dropped by `null`",
    ),
    (
        "invalid-request",
        &["rejected-size", "size-without-pixels"],
        "the model, which decides the family, may come from `defaults`",
    ),
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The workflow files of a folder by name: as an editor's parser reads them, or nothing where it refuses them itself.
fn files(name: &str) -> BTreeMap<String, (PathBuf, Option<Value>)> {
    let entries = std::fs::read_dir(folder(name)).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let yaml = paths.filter(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    let yaml = yaml.filter(|path| path.file_name().is_some_and(|name| name != "prices.yaml"));
    yaml.filter_map(|path| {
        let text = std::fs::read_to_string(&path).expect("text");
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        // An editor cannot see what is wrong only with command-line overrides.
        let has_arguments = text.starts_with("#! ");
        (!has_arguments).then(|| (stem, (path, super::as_an_editor_reads(&text))))
    })
    .collect()
}

/// The schema as it is published, not as it would be generated: this is what editors have.
fn published() -> Validator {
    let text = std::fs::read_to_string(folder("../../workflows/workflow.schema.json"))
        .expect("the schema is published: `cargo xtask generate`");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    jsonschema::meta::validate(&schema).expect("it is a JSON Schema");
    jsonschema::validator_for(&schema).expect("it can be used")
}

/// The codes that `check` refuses a file with.
fn codes(path: &Path) -> Vec<&'static str> {
    let bytes = std::fs::read(path).expect("it can be read");
    let files = DirFiles::new(path.parent().expect("it is in a folder"), crate::gate::media_gate());
    let report = workflow::load(&bytes, "file.yaml", &files, &Options::default(), Contract::embedded())
        .expect_err("every file under tests/invalid is invalid");
    let mut codes: Vec<&str> = report.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn schema_accepts_valid_workflows() {
    let validator = published();
    for (name, (_, file)) in files("tests/valid").into_iter().chain(files("../../workflows")) {
        let file = file.expect("YAML");
        let errors: Vec<String> =
            validator.iter_errors(&file).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

#[test]
fn schema_rejects_invalid_workflows() {
    let validator = published();
    let mut table = String::new();
    let mut accepted = Vec::new();
    let mut used = Vec::new();
    for (name, (path, file)) in files("tests/invalid") {
        let codes = codes(&path);
        let verdict = match &file {
            None => "not YAML",
            Some(file) if !validator.is_valid(file) => "refused",
            Some(_) => "check only",
        };
        let _ = writeln!(table, "{verdict:<11} {name}: {}", codes.join(", "));
        if verdict == "check only" {
            for code in codes {
                let excuse = BEYOND.iter().position(|(beyond, fixtures, _)| {
                    *beyond == code && (fixtures.is_empty() || fixtures.contains(&name.as_str()))
                });
                match excuse {
                    Some(excuse) => used.push((excuse, name.clone())),
                    None => accepted.push(format!("{name}: {code}")),
                }
            }
        }
    }
    assert!(accepted.is_empty(), "the schema lets these through:\n{}", accepted.join("\n"));
    for (index, (code, fixtures, reason)) in BEYOND.iter().enumerate() {
        let is_used = |fixture: &str| used.iter().any(|(excuse, name)| *excuse == index && name == fixture);
        assert!(
            used.iter().any(|(excuse, _)| *excuse == index),
            "`{code}` ({reason}) needs no exception any more"
        );
        for fixture in *fixtures {
            assert!(is_used(fixture), "`{code}` needs no exception in {fixture} any more");
        }
    }
    insta::assert_snapshot!(table);
}
