//! The build-time guard against what the generator makes of documents that it misreads.

#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

#[path = "../build/guard.rs"]
mod guard;

use contract::Contract;
use progenitor::{GenerationSettings, Generator, InterfaceStyle};
use serde_json::{Value, json};

fn generate(view: Value) -> syn::File {
    let spec: openapiv3::OpenAPI = serde_json::from_value(view).expect("the view is OpenAPI 3.0");
    let tokens = Generator::new(GenerationSettings::default().with_interface(InterfaceStyle::Builder))
        .generate_tokens(&spec)
        .expect("the generator takes it");
    syn::parse2(tokens).expect("the generator writes Rust")
}

#[test]
fn guard_accepts_the_contract() {
    let contract = Contract::embedded();
    guard::check(contract.document(), &generate(contract.codegen_view())).expect("no property is dropped");
}

#[test]
fn guard_dropped_field_is_named() {
    let contract = Contract::embedded();
    let mut view = contract.codegen_view();
    // What the view takes out, put back: the generator then drops the fields that the `not` names.
    view["components"]["schemas"]["VideoRequestB"]["not"] = json!({ "required": ["seconds", "duration"] });
    let error = guard::check(contract.document(), &generate(view)).expect_err("fields are dropped");
    assert!(error.contains("/components/schemas/VideoRequestB"), "{error}");
}

#[test]
fn guard_struct_without_a_property_is_named() {
    let document = json!({ "components": { "schemas": {
        "Task": { "properties": { "id": { "type": "string" }, "type": {}, "status": {} } }
    } } });
    let file = |fields: &str| -> syn::File {
        syn::parse_str(&format!("mod types {{ struct Task {{ {fields} }} }}")).expect("Rust")
    };
    let fields = r#"id: String, #[serde(default, rename = "type")] type_: String, status: String"#;
    guard::check(&document, &file(fields)).expect("all are there");
    let renamed_away = r#"id: String, #[serde(rename = "kind")] r#type: String, status: String"#;
    let error = guard::check(&document, &file(renamed_away)).expect_err("`type` is not there");
    assert!(error.contains("/components/schemas/Task/properties/type"), "{error}");
}

#[test]
fn guard_inline_object_is_refused() {
    let document = json!({ "components": { "schemas": {
        "Task": { "properties": { "list": { "items": { "properties": { "a": {} } } } } }
    } } });
    let file = syn::parse_str("mod types { struct Task { list: Vec<Item> } }").expect("Rust");
    let refused = guard::check(&document, &file).expect_err("the inner object has no name");
    assert!(refused.contains("make it a component"), "{refused}");
}
