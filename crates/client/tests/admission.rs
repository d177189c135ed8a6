//! What the contract accepts, the client can send: random requests against the contract's check and the generated types.
#![expect(clippy::expect_used, reason = "tests may stop at the first surprise")]

use client::PreparedRequest;
use contract::{Contract, Field, FieldKind, Model, canonical_json};
use proptest::{collection, prelude::*, sample::select, strategy::ValueTree};
use serde_json::{Value, json};

/// Values of every type, most of them wrong for most fields.
fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-20..20_i32).prop_map(|integer| Value::from(f64::from(integer))),
        any::<f64>().prop_map(Value::from),
        select(vec![1e3, 1e18, -0.0, 9.3e18, 0.5]).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!(["https://a.test/x.png", 1])),
        Just(json!({ "url": "https://a.test/x.png", "detail": "high" })),
    ]
}

/// A value that the field probably takes.
fn fitting_value(field: &Field) -> BoxedStrategy<Value> {
    if !field.values.is_empty() {
        return select(field.values.clone()).boxed();
    }
    match field.kind {
        FieldKind::Integer => prop_oneof![
            any::<i64>().prop_map(Value::from),
            (0..20_i32).prop_map(|integer| Value::from(f64::from(integer))),
            (0..20_i64).prop_map(Value::from),
        ]
        .boxed(),
        FieldKind::Number => {
            prop_oneof![(1..16_i64).prop_map(Value::from), (1.0..15.0).prop_map(Value::from)].boxed()
        }
        FieldKind::Boolean => any::<bool>().prop_map(Value::from).boxed(),
        FieldKind::String if field.is_digit_string => {
            (1..17_u32).prop_map(|digits| json!(digits.to_string())).boxed()
        }
        FieldKind::String => {
            select(vec![json!("https://a.test/x.png"), json!("1280x720"), json!("")]).boxed()
        }
        FieldKind::Array => match &field.component {
            Some(component) => collection::vec(object(component), 0..3).prop_map(Value::from).boxed(),
            None => collection::vec(select(vec![json!("https://a.test/x.png")]), 0..3)
                .prop_map(Value::from)
                .boxed(),
        },
        FieldKind::Object => field.component.as_deref().map_or(Just(json!({})).boxed(), object),
    }
}

/// An object of a component, with few of its members, and sometimes one that it does not have.
fn object(component: &str) -> BoxedStrategy<Value> {
    members(&Contract::embedded().component_fields(component).expect("it is in the contract"))
}

fn members(fields: &[Field]) -> BoxedStrategy<Value> {
    let member = |field: &Field| {
        let value = prop_oneof![12 => fitting_value(field), 1 => any_value()];
        let name = field.name.clone();
        prop::option::weighted(if field.is_required { 0.97 } else { 0.2 }, value)
            .prop_map(move |value| value.map(|value| (name.clone(), value)))
            .boxed()
    };
    let fields: Vec<_> = fields.iter().map(member).collect();
    // The types leave an empty list out, whatever its name.
    let filled = any_value().prop_map(|value| if value == json!([]) { json!([1]) } else { value });
    let unknown = prop::option::weighted(0.03, ("[a-z]{1,6}", filled));
    (fields, unknown)
        .prop_map(|(fields, unknown)| Value::Object(fields.into_iter().flatten().chain(unknown).collect()))
        .boxed()
}

fn request() -> impl Strategy<Value = (&'static Model, Value)> {
    let contract = Contract::embedded();
    select(contract.models().iter().collect::<Vec<_>>()).prop_flat_map(move |model| {
        members(contract.fields(&model.family)).prop_map(move |mut request| {
            request["model"] = json!(model.id);
            (&**model, request)
        })
    })
}

/// The request as `check` builds it, and whether `check` finds a member that the document does not define.
fn built(model: &Model, request: Value) -> (Value, bool) {
    let contract = Contract::embedded();
    let Value::Object(mut fields) = request else { unreachable!("requests are objects") };
    let mut unknown = fields.keys().any(|name| contract.field(&model.family, name).is_none());
    for (name, value) in &mut fields {
        if let Some(shape) = contract.field_shape(&model.family, name) {
            shape.normalize(value);
            unknown |= !shape.unknown_members(value, 1).is_empty();
        }
    }
    (Value::Object(fields), unknown)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn request_is_accepted_by_contract_iff_types_take_it((model, request) in request()) {
        let (request, unknown) = built(model, request);
        let violations = Contract::embedded().check_request(&request);
        // What only the contract refuses: cross-field rules, and bounds and forms of values. The types know neither.
        let types_agree = violations.iter().all(|violation| {
            violation.rule.is_some()
                || ["invalid_duration", "invalid_format", "out_of_range"].contains(&violation.code.as_str())
        });
        match PreparedRequest::new(&request) {
            Ok(prepared) => {
                prop_assert!(!unknown && types_agree, "{request} {violations:?}");
                // What was checked is what is sent: the type would drop empty lists.
                prop_assert!(prepared.body() == canonical_json(&request).as_bytes(), "{}", request);
            }
            Err(error) => prop_assert!(unknown || !violations.is_empty(), "{request}: {error}"),
        }
    }
}

/// Random requests are seldom accepted: as many as this says something about.
#[test]
fn random_requests_are_accepted_often_enough() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let accepted = (0..600)
        .filter(|_| {
            let (model, request) = request().new_tree(&mut runner).expect("no filter").current();
            let (request, unknown) = built(model, request);
            !unknown && Contract::embedded().check_request(&request).is_empty()
        })
        .count();
    assert!(accepted > 60, "{accepted} of 600");
}
