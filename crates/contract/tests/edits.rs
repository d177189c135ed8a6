//! Edits of the document: those that need no code, and those that are rejected.

#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

use contract::{Contract, ResolutionSource, SpecError, TaskState, Word};
use serde_json::{Value, json};

fn edited(edit: impl FnOnce(&mut Value)) -> Result<Contract, SpecError> {
    edited_document(|document| edit(&mut document["components"]["schemas"]))
}

fn edited_document(edit: impl FnOnce(&mut Value)) -> Result<Contract, SpecError> {
    let mut document = Contract::embedded().document().clone();
    edit(&mut document);
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
    let contract = edited_document(|document| {
        push(
            &mut document["x-models"],
            json!({ "id": id, "schema": "VideoRequestB", "fixed": { "resolution": "1080p" }, "needs": ["first_frame"],
                "not": ["reference_image"], "capabilities": ["image_to_video"] }),
        );
    })
    .expect("a sound document");
    let model = contract.model(id).expect("in the catalogue");
    assert_eq!(model.family.as_str(), "B");
    assert_eq!(model.resolutions(), ["1080p"]);
    assert_eq!(model.inputs.get(Word::FirstFrame).map(|place| place.at.as_str()), Some("/image"));
    assert_eq!(model.inputs.get(Word::ReferenceImage), None);
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
    let edits: [(&str, Edit); 37] = [
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
        ("a model without a request", |d| d["x-models"][0]["schema"] = json!("VideoRequestC")),
        ("an id twice in the catalogue", |d| {
            let first = d["x-models"][0].clone();
            push(&mut d["x-models"], first);
        }),
        ("an id and a pattern", |d| d["x-models"][0]["match"] = json!("modela-*")),
        ("a model that needs what its request has no place for", |d| {
            d["x-models"][2]["needs"] = json!(["last_frame"]);
        }),
        ("a required field that is no property", |d| {
            push(&mut d["components"]["schemas"]["VideoRequestA"]["required"], json!("title"));
        }),
        ("a type of 3.1", |d| {
            d["components"]["schemas"]["VideoRequestA"]["properties"]["user"]["type"] = json!("null");
        }),
        ("a word without a place in the schema", |d| {
            d["components"]["schemas"]["VideoRequestB"]["x-inputs"]["first_frame"]["at"] = json!("/picture");
        }),
        ("two words at one place", |d| {
            d["components"]["schemas"]["VideoRequestA"]["x-inputs"]["seed"] = json!("/prompt");
        }),
        ("an unknown word", |d| {
            d["components"]["schemas"]["VideoRequestB"]["x-inputs"]["smell"] = json!("/image");
        }),
        ("a medium in no form", |d| {
            d["components"]["schemas"]["VideoRequestB"]["x-inputs"]["first_frame"] = json!("/image");
        }),
        ("an item without the value", |d| {
            d["components"]["schemas"]["VideoRequestA"]["x-inputs"]["last_frame"]["item"] =
                json!({ "type": "image_url" });
        }),
        ("no way to follow a task", |d| drop(d.as_object_mut().expect("an object").remove("x-tasks"))),
        ("no place for the id", |d| d["x-tasks"]["id"] = json!([])),
        ("an id in a URL below no server", |d| {
            d["x-tasks"]["id"] = json!([{ "poll_url": "/status_url" }]);
            drop(d.as_object_mut().expect("an object").remove("servers"));
        }),
        ("an id in the URL of a poll that names no task", |d| {
            d["x-tasks"]["id"] = json!([{ "poll_url": "/status_url" }]);
            d["x-tasks"]["poll"]["operation"] = json!("create_video");
        }),
        ("a place for the id that is none", |d| d["x-tasks"]["id"] = json!([{ "url": "/status_url" }])),
        ("no word for the end", |d| {
            drop(d["x-tasks"]["state"].as_object_mut().expect("an object").remove("completed"));
        }),
        ("no way to the video", |d| {
            let tasks = d["x-tasks"].as_object_mut().expect("an object");
            tasks.remove("video");
            tasks.remove("content");
        }),
        ("an operation that is not there", |d| d["x-tasks"]["poll"]["operation"] = json!("get_task")),
        ("a poll without a request", |d| d["x-tasks"]["poll"] = json!({})),
        ("a place that is no pointer", |d| d["x-tasks"]["video"] = json!(["metadata.url"])),
        ("a condition of nothing", |d| d["x-tasks"]["refusals"][0]["when"][0] = json!({})),
        ("a condition of something unknown", |d| {
            d["x-tasks"]["refusals"][0]["when"][0] = json!({ "status": [400] });
        }),
        ("a state of the schema without a meaning", |d| {
            push(&mut d["components"]["schemas"]["TaskStatus"]["enum"], json!("withdrawn"));
        }),
        ("a word of two states", |d| d["x-tasks"]["state"]["expired"] = json!(["gone", "Completed"])),
        ("an unknown state", |d| d["x-tasks"]["state"]["finished"] = json!(["done"])),
        ("a rule without a place", |d| {
            d["components"]["schemas"]["VideoRequestB"]["x-rules"][0]["at"] = json!([]);
        }),
        ("a rule that is no schema", |d| {
            d["components"]["schemas"]["VideoRequestB"]["x-rules"][0]["reject"] = json!({ "type": "text" });
        }),
        ("a field of several types", |d| {
            d["components"]["schemas"]["VideoRequestB"]["properties"]["image"] =
                json!({ "oneOf": [{ "type": "string" }, { "type": "object" }] });
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

/// A new state needs words that say how it ends, and no code.
#[test]
fn edit_new_state_needs_no_code() {
    let contract = edited_document(|document| {
        document["x-tasks"]["state"]["cancelled"] = json!(["withdrawn"]);
        push(&mut document["components"]["schemas"]["TaskStatus"]["enum"], json!("withdrawn"));
    })
    .expect("a sound document");
    let task = contract.read_task(200, r#"{"id":"t","status":"withdrawn"}"#, "t").expect("a task");
    assert_eq!(task.state, TaskState::Cancelled);
}
