//! [`contract::IncrementalValidator`] against its reference: it finds in every request of a random sequence what
//! [`Contract::check_request`] and [`Contract::check_request_warnings`] find.

#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

use std::sync::Arc;

use contract::{Contract, Family};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

/// Values that some field takes and others refuse.
fn values() -> Vec<Value> {
    vec![
        json!("5"),
        json!("16"),
        json!(5),
        json!(99),
        json!(1.5),
        json!(true),
        json!("480p"),
        json!("16:9"),
        json!("854x480"),
        json!("https://x.example/a.png"),
        json!(["https://x.example/a.png"]),
        json!(null),
        json!("modela-video-2-0-260128"),
        json!("modelb-video-480p"),
        json!("modelb-video-1.5-preview-480p"),
        json!({}),
        json!({"duration": 5}),
        json!({"seed": 1, "resolution": "480p"}),
        json!({"content": [{"type": "image_url", "role": "first_frame", "image_url": {"url": "https://x.example/a.png"}}]}),
        json!({"content": [{"type": "image_url", "role": "reference_image", "image_url": {"url": "https://x.example/a.png"}}]}),
        json!({"content": [
            {"type": "image_url", "role": "first_frame", "image_url": {"url": "https://x.example/a.png"}},
            {"type": "image_url", "role": "reference_image", "image_url": {"url": "https://x.example/b.png"}},
        ]}),
        json!({"content": [{"type": "image_url"}]}),
    ]
}

fn names(contract: &Contract, family: &Family) -> Vec<String> {
    let fields = contract.fields(family).iter().map(|field| field.name.clone());
    fields.chain(["a_field_that_nobody_knows".to_owned()]).collect()
}

/// Checks the requests one after another; the number of valid ones.
fn assert_agreement(contract: &Contract, family: &Family, requests: &[Map<String, Value>]) -> usize {
    let mut validator = contract.incremental_validator();
    let mut accepted = 0;
    for request in requests {
        let names: Vec<Arc<str>> = request.keys().map(|name| name.as_str().into()).collect();
        let values: Vec<Arc<Value>> = request.values().cloned().map(Arc::new).collect();
        let request_value = Value::Object(request.clone());
        let expected = contract.check_request_of(family, &request_value);
        let names: Arc<[Arc<str>]> = names.into();
        assert_eq!(validator.check(family, &names, &values), expected, "{request_value}\nafter {requests:?}");
        let id = request.get("model").and_then(Value::as_str);
        if id.and_then(|id| contract.model(id)).is_some_and(|model| model.family == *family) {
            let warnings = contract.check_request_warnings(&request_value);
            let seen = validator.warnings(family, &names, &values);
            assert_eq!(seen, warnings, "{request_value}\nafter {requests:?}");
        }
        accepted += usize::from(expected.is_empty());
    }
    accepted
}

/// A document with an object that is constrained by more than its fields, so that only the whole can be validated.
fn with_rules_on_the_object() -> Contract {
    let mut document = Contract::embedded().document().clone();
    let schemas = &mut document["components"]["schemas"];
    schemas["VideoRequestA"]["maxProperties"] = json!(4);
    schemas["VideoRequestB"]["x-rules"]
        .as_array_mut()
        .expect("family B has rules")
        .push(json!({
            "id": "odd", "section": "9", "code": "odd", "message": "odd", "at": ["/seed"],
            "reject": { "anyOf": [{ "patternProperties": { "^se": { "const": 99 } }, "required": ["seed"], "not": { "properties": { "seed": { "not": { "const": 99 } } } } }] },
        }));
    Contract::from_document(document).expect("a sound document")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn incremental_validator_agrees_with_check_request(
        in_a in any::<bool>(),
        edited in any::<bool>(),
        changes in prop::collection::vec((any::<Index>(), select(values()), 0..5_u8), 1..40),
    ) {
        let edited_contract;
        let contract = if edited { edited_contract = with_rules_on_the_object(); &edited_contract } else { Contract::embedded() };
        let id = if in_a { "modela-video-2-0-260128" } else { "modelb-video-480p" };
        let family = &contract.model(id).expect("known").family;
        let names = names(contract, family);
        let mut request = Map::from_iter([("model".to_owned(), json!(id)), ("prompt".to_owned(), json!("x"))]);
        let mut requests = vec![request.clone()];
        for (name, value, kind) in changes {
            let name = name.get(&names);
            match kind {
                // Mostly small steps; now and then back to the start.
                0 => { request.shift_remove(name); }
                1 => request = requests[0].clone(),
                _ => { request.insert(name.clone(), value); }
            }
            requests.push(request.clone());
        }
        prop_assert!(assert_agreement(contract, family, &requests) > 0, "the first is valid");
    }
}

#[test]
fn unchanged_field_is_checked_with_changed_ones() {
    let contract = Contract::embedded();
    let family = &contract.model("modela-video-2-0-260128").expect("known").family;
    let base = json!({"model": "modela-video-2-0-260128", "prompt": "x", "duration": 5, "metadata": {}});
    let with = |metadata: Value| {
        let mut request = base.as_object().expect("an object").clone();
        request["metadata"] = metadata;
        request
    };
    let sequence =
        [with(json!({})), with(json!({"duration": 6})), with(json!({})), with(json!({"ratio": "1:1"}))];
    assert_eq!(assert_agreement(contract, family, &sequence), 3);
}
