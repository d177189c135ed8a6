//! Edits of the document: those that need no code, and those that are rejected.

#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

use contract::{Contract, InputForm, ResolutionSource, SpecError};
use serde_json::{Value, json};

fn edited(edit: impl FnOnce(&mut Value)) -> Result<Contract, SpecError> {
    let mut document = Contract::embedded().document().clone();
    edit(&mut document["components"]["schemas"]);
    Contract::from_document(document)
}

fn push(list: &mut Value, item: Value) {
    list.as_array_mut().expect("a list").push(item);
}

/// The one that is built in compiles its schemas only when they are asked; here all of them have to.
#[test]
fn embedded_document_compiles() {
    edited(|_| {}).expect("openapi.yaml is sound");
}

#[test]
fn edit_new_optional_field_needs_no_code() {
    let contract = edited(|schemas| {
        schemas["VideoRequestA"]["properties"]["negative_prompt"] =
            json!({ "type": "string", "description": "what not to show" });
        schemas["VideoRequestA"]["properties"]["guidance"] =
            json!({ "type": "number", "minimum": 0, "maximum": 1 });
    })
    .expect("a sound document");
    let family = &contract.model("modela-video-2-0-260128").expect("known").family;
    assert!(contract.field(family, "negative_prompt").is_some_and(|field| !field.is_required));
    let request = |guidance: f64| json!({ "model": "modela-video-2-0-260128", "prompt": "x", "negative_prompt": "rain", "guidance": guidance });
    assert_eq!(contract.check_request(&request(0.5)), []);
    let violations = contract.check_request(&request(2.0));
    assert_eq!((violations[0].pointer.as_str(), violations[0].spec_section.as_str()), ("/guidance", "2.2"));
    for (view, pointer) in [
        (contract.codegen_view(), "/components/schemas/VideoRequestA/properties/negative_prompt"),
        (contract.test_view(), "/components/schemas/VideoRequestA/properties/negative_prompt"),
        (contract.request_schema(), "/$defs/VideoRequestA/properties/negative_prompt"),
    ] {
        assert_eq!(view.pointer(pointer).map(|field| &field["type"]), Some(&json!("string")), "{pointer}");
    }
}

#[test]
fn edit_new_model_needs_no_code() {
    let id = "modelb-video-2.0-preview-1080p";
    let contract = edited(|schemas| {
        let request = &mut schemas["CreateVideoRequest"];
        request["discriminator"]["mapping"][id] = json!("#/components/schemas/VideoRequestB");
        push(
            &mut request["x-models"],
            json!({
                "id": id, "tier": "preview", "summary": "s", "resolution": { "fixed": "1080p" }, "needs_image": true,
                "capabilities": ["image_to_video"],
            }),
        );
        push(&mut schemas["VideoRequestB"]["properties"]["model"]["enum"], json!(id));
        push(&mut schemas["ModelId"]["enum"], json!(id));
    })
    .expect("a sound document");
    let model = contract.model(id).expect("in the catalogue");
    assert_eq!(model.family.as_str(), "B");
    assert_eq!(model.resolutions(), ["1080p"]);
    assert_eq!(contract.inputs(model).first_frame, Some(InputForm::Field("image".into())));
    assert_eq!(contract.inputs(model).reference_image, None);
    assert_eq!(contract.check_request(&json!({ "model": id, "prompt": "x", "image": "AAAA" })), []);
    // The rules of the family are the new model's too.
    let violations = contract.check_request(&json!({ "model": id, "prompt": "x" }));
    assert_eq!(violations[0].rule.as_deref(), Some("VideoRequestB/image-required"));
    let ids = contract.request_schema()["properties"]["model"]["enum"].clone();
    assert!(ids.as_array().is_some_and(|ids| ids.contains(&json!(id))));
}

#[test]
fn edit_new_enum_value_needs_no_code() {
    let contract =
        edited(|schemas| push(&mut schemas["Resolution"]["enum"], json!("1440p"))).expect("a sound document");
    let model = contract.model("modela-video-2-0-260128").expect("known");
    let ResolutionSource::Request { values, .. } = &model.resolution else {
        panic!("family A chooses by request")
    };
    assert!(values.contains(&"1440p".to_owned()));
    for request in [
        json!({ "model": model.id, "prompt": "x", "resolution": "1440p" }),
        json!({ "model": model.id, "prompt": "x", "metadata": { "resolution": "1440p" } }),
    ] {
        assert_eq!(contract.check_request(&request), []);
    }
    assert_eq!(contract.codegen_view()["components"]["schemas"]["Resolution"]["enum"][3], "1440p");
}

#[test]
fn edit_inconsistent_document_is_refused_with_its_pointer() {
    type Edit = fn(&mut Value);
    let edits: [(&str, Edit); 23] = [
        ("OpenAPI 3.1", |d| d["openapi"] = json!("3.1.0")),
        ("not an OpenAPI document", |d| *d = json!({ "swagger": "2.0" })),
        ("a list instead of a document", |d| *d = json!([])),
        ("no version", |d| d["info"]["version"] = json!(1.0)),
        ("a reference to nothing", |d| {
            d["paths"]["/v1/videos"]["post"]["responses"]["400"]["$ref"] =
                json!("#/components/responses/Nothing");
        }),
        ("a reference out of the document", |d| {
            d["components"]["schemas"]["Task"]["properties"]["status"] =
                json!({ "$ref": "other.yaml#/Status" });
        }),
        ("references in a ring", |d| {
            d["components"]["schemas"]["Ratio"] = json!({ "$ref": "#/components/schemas/Resolution" });
            d["components"]["schemas"]["Resolution"] = json!({ "$ref": "#/components/schemas/Ratio" });
        }),
        ("a discriminator to nothing", |d| {
            request(d)["discriminator"]["mapping"]["modelb-video-480p"] =
                json!("#/components/schemas/FamilyC");
        }),
        ("a discriminator to what is no alternative", |d| {
            request(d)["discriminator"]["mapping"]["modelb-video-480p"] = json!("#/components/schemas/Task");
        }),
        ("an alternative that nothing maps to", |d| {
            push(&mut request(d)["oneOf"], json!({ "$ref": "#/components/schemas/Task" }));
        }),
        ("a mapped id that the family does not list", |d| {
            request(d)["discriminator"]["mapping"]["modelc"] = json!("#/components/schemas/VideoRequestB");
        }),
        ("a listed id that is not mapped", |d| {
            push(
                &mut d["components"]["schemas"]["VideoRequestB"]["properties"]["model"]["enum"],
                json!("modelc"),
            );
        }),
        ("an id that is not in the catalogue", |d| {
            request(d)["x-models"].as_array_mut().expect("a list").remove(0);
        }),
        ("an id twice in the catalogue", |d| {
            let first = request(d)["x-models"][0].clone();
            push(&mut request(d)["x-models"], first);
        }),
        ("an id that tasks do not know", |d| {
            d["components"]["schemas"]["ModelId"]["enum"].as_array_mut().expect("a list").remove(2);
        }),
        ("a required field that is no property", |d| {
            push(&mut d["components"]["schemas"]["VideoRequestA"]["required"], json!("title"));
        }),
        ("a type of 3.1", |d| {
            d["components"]["schemas"]["VideoRequestA"]["properties"]["user"]["type"] = json!("null");
        }),
        ("durations without bounds", |d| {
            d["components"]["schemas"]["VideoRequestB"]["properties"]["duration"] =
                json!({ "type": "number" });
        }),
        ("a frame in a field that is not there", |d| {
            d["components"]["schemas"]["VideoRequestB"]["x-inputs"]["first_frame"] =
                json!({ "field": "picture" });
        }),
        ("an unknown kind of input", |d| {
            d["components"]["schemas"]["VideoRequestB"]["x-inputs"]["smell"] = json!({ "field": "image" });
        }),
        ("a rule without a place", |d| {
            d["components"]["schemas"]["VideoRequestB"]["x-rules"][0]["at"] = json!([]);
        }),
        ("a rule that is no schema", |d| {
            d["components"]["schemas"]["VideoRequestB"]["x-rules"][0]["reject"] = json!({ "type": "text" });
        }),
        ("a pattern that is none", |d| {
            d["components"]["schemas"]["VideoRequestB"]["properties"]["size"]["pattern"] = json!("^(");
        }),
    ];
    let messages: Vec<String> = edits
        .iter()
        .map(|(name, edit)| {
            let mut document = Contract::embedded().document().clone();
            edit(&mut document);
            let error = Contract::from_document(document).expect_err(name);
            format!("{name}\n  {error}")
        })
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}

fn request(document: &mut Value) -> &mut Value {
    &mut document["components"]["schemas"]["CreateVideoRequest"]
}
