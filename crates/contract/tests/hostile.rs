//! Checks of hostile values never panic, hang or repeat long input.

use contract::Contract;
use proptest::{collection, prelude::*};
use serde_json::{Value, json};

const NAMES: [&str; 14] = [
    "model",
    "prompt",
    "seconds",
    "duration",
    "metadata",
    "content",
    "type",
    "role",
    "image_url",
    "url",
    "image",
    "images",
    "seed",
    "size",
];

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        Just(json!("modela-video-2-0-260128")),
        Just(json!("modelb-video-1.5-preview-480p")),
        Just(json!("first_frame")),
        Just(json!("image_url")),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let name = proptest::sample::select(NAMES.to_vec());
        prop_oneof![
            collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            collection::vec((name, inner), 0..6).prop_map(|pairs| Value::Object(
                pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn check_arbitrary_request_does_not_panic(value in values(), model in proptest::sample::select(vec![
        "modela-video-2-0-260128", "modelb-video-480p", "modelb-video-1.5-preview-720p",
    ])) {
        let contract = Contract::embedded();
        let _ = (contract.check_request(&value), contract.check_task(&value), contract.check_error(&value));
        let mut request = value;
        if let Some(object) = request.as_object_mut() {
            object.insert("model".into(), json!(model));
            for violation in contract.check_request(&request) {
                prop_assert!(violation.message.len() < 600, "{}", violation.message);
                prop_assert!(!violation.spec_section.is_empty());
                prop_assert!(!violation.message.chars().any(char::is_control), "{:?}", violation.message);
            }
        }
    }
}

#[test]
fn check_many_mistakes_are_bounded() {
    let item = json!({ "type": "image_url", "role": "first_frame" });
    let request = json!({
        "model": "modela-video-2-0-260128", "prompt": "x", "ref_images": vec![7; 50_000],
        "metadata": { "content": vec![item; 5_000] },
    });
    let violations = Contract::embedded().check_request(&request);
    assert!((1..=100).contains(&violations.len()), "{}", violations.len());
    assert!(violations.iter().all(|violation| violation.related.len() <= 200));
}

#[test]
fn check_long_values_are_truncated_in_messages() {
    let long = "x".repeat(5_000_000);
    for request in [
        json!({ "model": long, "prompt": "x" }),
        json!({ "model": "modelb-video-480p", "prompt": "x", "size": long }),
        json!({ "model": "modelb-video-480p", "prompt": "x", "seconds": long }),
    ] {
        let violations = Contract::embedded().check_request(&request);
        assert!(violations[0].message.len() < 600, "{}", violations[0].message.len());
    }
}
