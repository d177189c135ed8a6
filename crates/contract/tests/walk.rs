//! Accepted and rejected requests for every table row and numbered rule of the API reference (docs/spec.md). The cases are data, in `walk/*.yaml`.

#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use contract::{Contract, Violation};
use serde_json::{Map, Value, json};

struct Case {
    row: String,
    body: Value,
    verdict: Result<(), Rejection>,
    /// It is accepted, with a warning.
    is_warning: bool,
}

struct Rejection {
    pointer: String,
    related: Vec<String>,
    code: String,
    param: Option<String>,
    /// Other violations come with it.
    has_others: bool,
}

fn base(name: &str) -> Map<String, Value> {
    let task = json!({
        "id": "task_1", "object": "video", "model": "modelb-video-480p", "status": "queued",
        "progress": 0, "created_at": 1_795_225_551_000_i64, "seconds": "5",
    });
    let value = match name {
        "A" => json!({ "model": "modela-video-2-0-260128", "prompt": "the lamp turns on" }),
        "B" => json!({ "model": "modelb-video-480p", "prompt": "the lamp turns on" }),
        "P" => json!({ "model": "modelb-video-1.5-preview-480p", "prompt": "the lamp turns on" }),
        "task" => task,
        "done" => merged(
            task,
            &json!({
                "status": "completed", "progress": 100, "completed_at": 1_795_225_559_000_i64,
                "metadata": { "url": "https://example.com/a.mp4" },
            }),
        ),
        "failed" => merged(task, &json!({ "status": "failed", "error": { "message": "no", "code": "c" } })),
        "refusal" => json!({ "error": { "message": "m", "type": "t", "param": "p", "code": "c" } }),
        name => panic!("`{name}` is not a base"),
    };
    value.as_object().expect("bases are objects").clone()
}

fn merged(mut base: Value, change: &Value) -> Value {
    for (key, value) in change.as_object().expect("a change is an object") {
        base[key] = value.clone();
    }
    base
}

/// The base with a change: `null` removes a key, and the text `null_value` stands for a real null.
fn body(base_name: &str, change: &Value) -> Value {
    let mut body = base(base_name);
    for (key, value) in change.as_object().expect("a case is a mapping") {
        if value.is_null() {
            body.remove(key);
        } else {
            body.insert(key.clone(), with_nulls(value));
        }
    }
    Value::Object(body)
}

fn with_nulls(value: &Value) -> Value {
    match value {
        Value::String(text) if text == "null_value" => Value::Null,
        value => value.clone(),
    }
}

fn cases(yaml: &str) -> Vec<Case> {
    let rows: Vec<Value> = serde_yaml::from_str(yaml).expect("the table is YAML");
    let mut cases = Vec::new();
    for row in rows {
        let text = |value: &Value, key: &str| value[key].as_str().map(str::to_owned);
        let name = text(&row, "row").expect("a row has a name");
        let base = text(&row, "base").expect("a row has a base");
        for accepted in row["accept"].as_array().into_iter().flatten() {
            cases.push(Case {
                row: name.clone(),
                body: body(&base, accepted),
                verdict: Ok(()),
                is_warning: false,
            });
        }
        let rejected = row["reject"].as_array().into_iter().flatten().map(|case| (case, false));
        let doubtful = row["warn"].as_array().into_iter().flatten().map(|case| (case, true));
        for (rejected, is_warning) in rejected.chain(doubtful) {
            let rejection = Rejection {
                pointer: text(rejected, "at").expect("a rejection says where"),
                related: serde_json::from_value(rejected["others"].clone()).unwrap_or_default(),
                code: text(rejected, "code").expect("a rejection has a code"),
                param: text(rejected, "param"),
                has_others: rejected["more"] == true,
            };
            let body = body(&base, &rejected["with"]);
            cases.push(Case { row: name.clone(), body, verdict: Err(rejection), is_warning });
        }
    }
    cases
}

fn requests() -> Vec<Case> {
    cases(include_str!("walk/requests.yaml"))
}

fn answers() -> Vec<Case> {
    cases(include_str!("walk/answers.yaml"))
}

fn check_case(case: &Case) -> Vec<Violation> {
    let contract = Contract::embedded();
    match case.row.split(' ').next() {
        Some("Task" | "TaskError" | "TaskMetadata") => contract.check_task(&case.body),
        Some("ErrorBody" | "ErrorDetail") => contract.check_error(&case.body),
        _ if case.is_warning => {
            let errors = contract.check_request(&case.body);
            assert!(errors.is_empty(), "{}: {} is refused: {errors:?}", case.row, case.body);
            contract.check_request_warnings(&case.body)
        }
        _ => {
            let warnings = contract.check_request_warnings(&case.body);
            assert!(warnings.is_empty(), "{}: {} is doubtful: {warnings:?}", case.row, case.body);
            contract.check_request(&case.body)
        }
    }
}

#[test]
fn check_request_cases_match_the_specification() {
    let mut listing = String::new();
    for case in requests().into_iter().chain(answers()) {
        let violations = check_case(&case);
        let body = case.body.to_string();
        match &case.verdict {
            Ok(()) => {
                assert!(violations.is_empty(), "{}: {body} is refused: {violations:?}", case.row);
                writeln!(listing, "{}: accepts {body}", case.row).unwrap();
            }
            Err(expected) => {
                let first = violations.first().unwrap_or_else(|| panic!("{}: {body} is accepted", case.row));
                let context = format!("{}: {body}: {violations:#?}", case.row);
                assert_eq!(first.pointer, expected.pointer, "{context}");
                assert_eq!(first.code, expected.code, "{context}");
                assert_eq!(first.related, expected.related, "{context}");
                assert!(!first.spec_section.is_empty(), "{context}");
                if let Some(param) = &expected.param {
                    assert_eq!(first.param.as_ref(), Some(param), "{context}");
                }
                assert!(violations.len() == 1 || expected.has_others, "{context}");
                let verb = if case.is_warning { "warns of" } else { "refuses" };
                writeln!(
                    listing,
                    "{}: {verb} {body}\n    {} [{} {}; section {}]",
                    case.row,
                    first.message,
                    first.code,
                    first.param.as_deref().unwrap_or("-"),
                    first.spec_section,
                )
                .unwrap();
            }
        }
    }
    insta::assert_snapshot!("walk", listing);
}

#[test]
fn request_schema_agrees_with_check_request() {
    let schema = Contract::embedded().request_schema();
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .expect("the published schema is a schema");
    for case in requests() {
        assert_eq!(
            validator.is_valid(&case.body),
            case.verdict.is_ok() || case.is_warning,
            "{}: {}: {:?}",
            case.row,
            case.body,
            validator.iter_errors(&case.body).map(|error| error.to_string()).collect::<Vec<_>>(),
        );
    }
}

#[test]
fn request_schema_error_names_the_field() {
    let schema = Contract::embedded().request_schema();
    let validator = jsonschema::validator_for(&schema).expect("the published schema is a schema");
    let request = body("A", &json!({ "seconds": "16" }));
    let pointers: Vec<String> =
        validator.iter_errors(&request).map(|error| error.instance_path().to_string()).collect();
    assert_eq!(pointers, ["/seconds"]);
}

#[test]
fn cases_cover_every_table_row_and_rule() {
    let contract = Contract::embedded();
    let mut verdicts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut rules = BTreeSet::new();
    for case in requests().into_iter().chain(answers()) {
        let count = verdicts.entry(case.row.clone()).or_default();
        *if case.verdict.is_ok() { &mut count.0 } else { &mut count.1 } += 1;
        rules.extend(check_case(&case).into_iter().filter_map(|violation| violation.rule));
    }
    let components = [
        "VideoRequestA",
        "VideoMetadataA",
        "ContentItem",
        "MediaUrl",
        "VideoRequestB",
        "Task",
        "TaskError",
        "TaskMetadata",
        "ErrorBody",
        "ErrorDetail",
    ];
    for component in components {
        for field in contract.component_fields(component).expect("the component is an object") {
            let row = format!("{component} {}", field.name);
            let (accepted, refused) = verdicts.get(&row).copied().unwrap_or_default();
            assert!(accepted > 0 && refused > 0, "{row}: {accepted} accepted, {refused} refused");
        }
    }
    for numbered in ["2.2 rule 1", "2.2 rule 2", "2.4 rule 2", "2.4 rule 3", "2.4 rule 4", "2.4 rule 5"] {
        let (accepted, refused) = verdicts.get(numbered).copied().unwrap_or_default();
        assert!(accepted > 0 && refused > 0, "{numbered}: {accepted} accepted, {refused} refused");
    }
    for permissive in ["2.2 rule 3", "2.2 rule 4", "2.4 rule 1"] {
        assert!(verdicts.contains_key(permissive), "{permissive} has no case");
    }
    for (component, all) in contract.rules() {
        for rule in all {
            let name = format!("{component}/{}", rule.id);
            assert!(rules.contains(&name), "no case breaks the rule {name}");
        }
    }
}
