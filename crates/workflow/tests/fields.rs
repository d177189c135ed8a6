//! Made from the contract: every field that any family has can be written in a workflow, and arrives in the request as it was written.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

use contract::{Contract, Field, FieldKind, Model};
use serde_json::{Value, json};
use workflow::{InMemory, Options, Report, load};

const ADDRESS: &str = "https://media.example/a.png";

/// A value that the contract allows.
fn allowed(field: &Field, model: &Model) -> Value {
    if let Some(value) = field.values.last() {
        return value.clone();
    }
    if let Some(number) = field.numbers().and_then(|numbers| numbers.last().copied()) {
        return json!(number.to_string());
    }
    match field.kind {
        FieldKind::String if field.pattern.as_deref().is_some_and(|pattern| pattern.contains('x')) => {
            json!("854x480")
        }
        FieldKind::String if field.pattern.is_some() => panic!("no text for the pattern of `{}`", field.name),
        FieldKind::String => json!(ADDRESS),
        FieldKind::Integer | FieldKind::Number => json!(field.maximum.map_or(7, |maximum| maximum as i64)),
        FieldKind::Boolean => json!(true),
        FieldKind::Array if field.component.is_some() => json!([item(model)]),
        FieldKind::Array => json!([ADDRESS]),
        FieldKind::Object => json!({ "anything": { "goes": [1, 2.5, true] } }),
    }
}

/// An item of a list of media that the model takes.
fn item(model: &Model) -> Value {
    let placement = model.inputs.get(contract::Word::FirstFrame).unwrap();
    let mut request = serde_json::Map::new();
    let at = placement.insert(&mut request, json!(ADDRESS)).unwrap();
    let in_item = placement.value_in_item().unwrap();
    let item = at.strip_suffix(&in_item).unwrap();
    Value::Object(request).pointer(item).unwrap().clone()
}

/// The request that comes of a shot with one field, and with an image where the model makes nothing without one.
fn request(name: &str, value: &Value, model: &Model) -> Result<Value, Report> {
    let shot = |more: &str| {
        let prompt = if name == "prompt" { "" } else { "    prompt: x\n" };
        format!("version: 1\nshots:\n  - id: a\n    model: {}\n{prompt}    {name}: {value}\n{more}", model.id)
    };
    let load = |text: String| {
        load(text.as_bytes(), "f.yaml", &InMemory::default(), &Options::default(), Contract::embedded())
            .map(|plan| Value::Object(plan.nodes().next().unwrap().1.request.to_map()))
    };
    let image = format!("    image: {ADDRESS}\n");
    let is_image = ["image", "input_reference"].contains(&name);
    load(shot(if model.needs_image && !is_image { &image } else { "" }))
}

/// A field of a family arrives with at least one of its models: some models take less than their family.
#[test]
fn field_reaches_request_unchanged() {
    let contract = Contract::embedded();
    let mut arrived = 0;
    for family in contract.families() {
        let models = || contract.models().iter().filter(|model| model.family == *family);
        for field in contract.fields(family) {
            if field.name == "model" {
                for model in models() {
                    let request = request("user", &json!("x"), model).expect("every model is taken");
                    assert_eq!(request["model"], json!(model.id));
                }
            } else {
                let sent: Vec<(Value, Value)> = models()
                    .filter_map(|model| {
                        let value = allowed(field, model);
                        Some((request(&field.name, &value, model).ok()?, value))
                    })
                    .collect();
                assert!(!sent.is_empty(), "no model of family {family} takes `{}`", field.name);
                for (request, value) in sent {
                    assert_eq!(request[&field.name], value, "family {family}, `{}`", field.name);
                }
            }
            arrived += 1;
        }
    }
    let fields: usize = contract.families().map(|family| contract.fields(family).len()).sum();
    assert_eq!((arrived, fields > 25), (fields, true), "{fields}");
}

/// The same for members of objects: `metadata` of the families that have it.
#[test]
fn nested_field_reaches_request_unchanged() {
    let contract = Contract::embedded();
    let mut arrived = 0;
    for model in contract.models() {
        for outer in contract.fields(&model.family).iter().filter(|field| field.kind == FieldKind::Object) {
            let Some(component) = &outer.component else { continue };
            for field in contract.component_fields(component).expect("a component of the contract") {
                let value = json!({ field.name.as_str(): allowed(&field, model) });
                let request = request(&outer.name, &value, model).unwrap_or_else(|report| {
                    panic!("{}, `{}.{}`: {report}", model.id, outer.name, field.name)
                });
                assert_eq!(request[&outer.name], value, "{}", model.id);
                arrived += 1;
            }
        }
    }
    assert!(arrived > 0);
}

/// And for every value that a field lists, and every number of digits.
#[test]
fn enum_value_reaches_request_unchanged() {
    let contract = Contract::embedded();
    for model in contract.models() {
        for field in contract.fields(&model.family).iter().filter(|field| field.name != "model") {
            let numbers = field
                .numbers()
                .unwrap_or_default()
                .into_iter()
                .map(|number| (json!(number), json!(number.to_string())));
            let listed = field.values.iter().map(|value| (value.clone(), value.clone()));
            for (written, expected) in numbers.chain(listed) {
                let request = request(&field.name, &written, model)
                    .unwrap_or_else(|report| panic!("{}, `{}: {written}`: {report}", model.id, field.name));
                assert_eq!(request[&field.name], expected, "{}, `{}: {written}`", model.id, field.name);
            }
        }
    }
}
