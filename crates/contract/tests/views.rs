//! The views against the document that they are generated from.

#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

use contract::{Contract, FieldKind, Severity};
use serde_json::{Map, Value, json};

/// Every object of the document with its properties, as `(component, property)`.
fn properties(schemas: &Map<String, Value>) -> Vec<(String, String)> {
    let property_names = |(component, schema): (&String, &Value)| {
        let names = schema.get("properties").and_then(Value::as_object).map(Map::keys);
        names.into_iter().flatten().map(|name| (component.clone(), name.clone())).collect::<Vec<_>>()
    };
    schemas.iter().flat_map(property_names).collect()
}

fn components(document: &Value) -> &Map<String, Value> {
    document.pointer("/components/schemas").and_then(Value::as_object).expect("a document has schemas")
}

/// Visits every key of a JSON value, but not the names under `properties`.
fn visit(value: &Value, pointer: &str, on_key: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let child = format!("{pointer}/{key}");
                if !pointer.ends_with("/properties") && !pointer.ends_with("/schemas") {
                    on_key(key, &child);
                }
                visit(value, &child, on_key);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| visit(item, &format!("{pointer}/{n}"), on_key));
        }
        _ => {}
    }
}

#[test]
fn views_keep_every_property() {
    let contract = Contract::embedded();
    let document = properties(components(contract.document()));
    assert!(document.len() > 50, "{}", document.len());
    assert_eq!(properties(components(&contract.codegen_view())), document);
    assert_eq!(properties(components(&contract.test_view())), document);
    assert_eq!(properties(&contract.definitions()), document);
}

#[test]
fn request_schema_is_self_contained_with_both_families() {
    let contract = Contract::embedded();
    let schema = contract.request_schema();
    let defined = properties(schema["$defs"].as_object().expect("it has definitions"));
    let all = properties(components(contract.document()));
    let answers = ["Task", "TaskError", "TaskMetadata", "ErrorBody", "ErrorDetail"];
    let requested: Vec<_> =
        all.into_iter().filter(|(component, _)| !answers.contains(&component.as_str())).collect();
    assert_eq!(defined.len(), requested.len());
    assert!(requested.iter().all(|property| defined.contains(property)));
    jsonschema::meta::validate(&schema).expect("it is a JSON Schema");
}

#[test]
fn codegen_view_has_no_keyword_that_the_generator_misreads() {
    let view = Contract::embedded().codegen_view();
    let schemas = view.pointer("/components/schemas").expect("schemas");
    let forbidden = [
        "default",
        "discriminator",
        "not",
        "pattern",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
    ];
    visit(schemas, "/schemas", &mut |key, pointer| {
        assert!(!forbidden.contains(&key) && !key.starts_with("x-"), "{pointer}");
    });
    for (name, schema) in components(&view) {
        if schema.get("properties").is_some() {
            for combinator in ["allOf", "anyOf", "oneOf"] {
                assert!(schema.get(combinator).is_none(), "{name}: {combinator}");
            }
        }
        assert_ne!(schema.get("additionalProperties"), Some(&json!(true)), "{name}");
    }
}

/// What is refused because of fields that exclude each other, or of a value among many, plain OpenAPI can say: other tools see no rules.
#[test]
fn schemas_say_what_rules_exclude() {
    fn is_plain(schema: &Value) -> bool {
        let schema = schema.as_object().expect("a schema");
        schema.iter().all(|(keyword, value)| match keyword.as_str() {
            "type" | "required" | "enum" => true,
            "properties" => value.as_object().expect("named schemas").values().all(is_plain),
            _ => false,
        })
    }
    let contract = Contract::embedded();
    let mut all = 0;
    for (component, rules) in contract.rules() {
        let schema = &components(contract.document())[component];
        let excluded: Vec<&Value> = schema["not"]["anyOf"].as_array().into_iter().flatten().collect();
        let mut reported = Vec::new();
        for rule in rules.iter().filter(|rule| rule.severity == Severity::Error && is_plain(&rule.reject)) {
            all += 1;
            reported.push(&rule.reject);
            let field = rule.reject["required"][0].as_str().expect("a field");
            let rejected = &rule.reject["properties"][field];
            let is_said = if rejected["enum"].is_array() {
                schema["properties"][field]["not"] == *rejected
            } else {
                excluded.contains(&&rule.reject)
            };
            assert!(is_said, "{component}, rule {}: add {} as a `not` of the schema", rule.id, rule.reject);
        }
        assert!(
            excluded.iter().all(|part| reported.contains(part)),
            "{component}: `not` has what no rule says"
        );
    }
    assert_eq!(all, 11);
}

#[test]
fn own_schemas_leave_exclusions_to_the_rules() {
    let contract = Contract::embedded();
    for component in ["VideoRequestA", "VideoRequestB"] {
        let schema = &contract.definitions()[component];
        assert_eq!((&schema["not"], &schema["properties"]["size"]["not"]), (&Value::Null, &Value::Null));
    }
    let mut document = contract.document().clone();
    let schema = &mut document["components"]["schemas"]["VideoRequestB"];
    schema["not"]["anyOf"].as_array_mut().expect("a list").push(json!({ "required": ["user", "size"] }));
    let edited = Contract::from_document(document).expect("a sound document");
    let request = json!({ "model": "modelb-video-480p", "prompt": "x", "user": "me", "size": "640x480" });
    assert_eq!((contract.check_request(&request).len(), edited.check_request(&request).len()), (0, 1));
}

#[test]
fn test_view_is_the_document_without_discriminator_and_extensions() {
    fn strip(value: &Value, named: bool) -> Value {
        match value {
            Value::Object(object) => object
                .iter()
                .filter(|(key, _)| named || !(key.starts_with("x-") || *key == "discriminator"))
                .map(|(key, value)| (key.clone(), strip(value, key == "properties" && !named)))
                .collect(),
            Value::Array(items) => items.iter().map(|item| strip(item, false)).collect(),
            value => value.clone(),
        }
    }
    let contract = Contract::embedded();
    assert_eq!(contract.test_view(), strip(contract.document(), false));
}

#[test]
fn definitions_use_json_schema_2020_12_only() {
    let all = Value::Object(Contract::embedded().definitions());
    visit(&all, "/schemas", &mut |key, pointer| {
        assert!(
            !["nullable", "discriminator", "example"].contains(&key) && !key.starts_with("x-"),
            "{pointer}"
        );
    });
    assert!(!all.to_string().contains("#/components/"));
    assert_eq!(all["ErrorDetail"]["properties"]["code"]["type"], json!(["string", "null"]));
    assert_eq!(all["Task"]["properties"]["created_at"]["maximum"], json!(i64::MAX));
}

#[test]
fn fields_all_have_descriptions() {
    let contract = Contract::embedded();
    for family in contract.families() {
        assert!(!contract.fields(family).is_empty());
        for field in contract.fields(family) {
            assert!(field.description.len() > 10, "{family}: {}", field.name);
        }
    }
}

/// The model of a family that is named in the test, and its seconds.
#[test]
fn seconds_range_equals_duration_range() {
    let contract = Contract::embedded();
    for model in contract.models() {
        let field = contract.field(&model.family, "seconds").expect("both families have it");
        assert!(field.is_digit_string && field.kind == FieldKind::String);
        let image = if model.needs_image { json!("AAAA") } else { Value::Null };
        for seconds in 0..100_u32 {
            let mut request = json!({ "model": model.id, "prompt": "x", "seconds": seconds.to_string() });
            if !image.is_null() {
                request["image"] = image.clone();
            }
            let accepted = contract.check_request(&request).is_empty();
            assert_eq!(accepted, model.durations.contains(&seconds), "{}: {seconds}", model.id);
        }
    }
}

#[test]
fn models_catalogue() {
    insta::assert_json_snapshot!(Contract::embedded().models());
}

#[test]
fn fields_by_family() {
    let contract = Contract::embedded();
    let line = |field: &contract::Field| {
        let note = |flag: bool, word: &str| if flag { format!(" {word}") } else { String::new() };
        let values: Vec<String> = field.values.iter().map(ToString::to_string).collect();
        let mut line = format!("  {}: {:?}", field.name, field.kind);
        line += &note(field.is_digit_string, "digits");
        line += &note(field.is_required, "required");
        line += &note(field.is_deprecated, "deprecated");
        line += &note(!values.is_empty(), &format!("[{}]", values.join(" ")));
        for (name, value) in [("min", field.minimum), ("max", field.maximum)] {
            line += &value.map(|value| format!(" {name}={value}")).unwrap_or_default();
        }
        line += &field.default.as_ref().map(|value| format!(" default={value}")).unwrap_or_default();
        line += &field.component.as_ref().map(|name| format!(" -> {name}")).unwrap_or_default();
        line
    };
    let families = contract.families().map(|family| {
        let lines: Vec<String> = contract.fields(family).iter().map(line).collect();
        format!("family {family}\n{}", lines.join("\n"))
    });
    insta::assert_snapshot!(families.collect::<Vec<_>>().join("\n"));
}
