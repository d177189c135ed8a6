//! Diffs of edited documents and their verdicts. Each edit is a small patch; the snapshots pin the verdicts.

#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

use contract::Contract;
use contract::diff::{Diff, check_document, diff, diff_documents};
use serde_json::{Value, json};

type Patch = fn(&mut Value);

/// The patches work on `components.schemas`; paths and other parts have a table of their own.
const EDITS: [(&str, Patch); 14] = [
    ("a new optional field", |s| {
        s["VideoRequestA"]["properties"]["negative_prompt"] = json!({ "type": "string" });
    }),
    ("a new required field", |s| {
        s["VideoRequestB"]["properties"]["consent"] = json!({ "type": "boolean" });
        push(&mut s["VideoRequestB"]["required"], json!("consent"));
    }),
    ("a field that is gone", |s| {
        remove(&mut s["VideoRequestA"]["properties"], "response_format");
    }),
    ("a field that answers lose, and one that they may lose", |s| {
        remove(&mut s["Task"]["properties"], "expires_at");
        s["Task"]["required"].as_array_mut().expect("a list").retain(|name| name != "progress");
    }),
    ("one value more and one less", |s| {
        s["Resolution"]["enum"] = json!(["480p", "720p", "1440p"]);
    }),
    ("longer videos of family A, shorter ones of family B", |s| {
        s["VideoRequestA"]["properties"]["seconds"]["pattern"] = json!("^([4-9]|1[0-9]|20)$");
        s["VideoRequestA"]["properties"]["duration"]["maximum"] = json!(20);
        s["VideoRequestB"]["properties"]["seconds"]["pattern"] = json!("^([1-9]|10)$");
        s["VideoRequestB"]["properties"]["duration"]["maximum"] = json!(10);
    }),
    ("progress in finer steps", |s| {
        s["Task"]["properties"]["progress"]["type"] = json!("number");
        s["Task"]["properties"]["progress"]["maximum"] = json!(1000);
    }),
    ("another default, and a field that is advised against", |s| {
        s["VideoRequestA"]["properties"]["watermark"]["default"] = json!(true);
        s["VideoRequestA"]["properties"]["size"]["deprecated"] = json!(true);
    }),
    ("other types", |s| {
        s["VideoRequestA"]["properties"]["seed"]["type"] = json!("string");
        s["VideoRequestA"]["properties"]["n"]["type"] = json!("number");
        s["Task"]["properties"]["created_at"]["type"] = json!("string");
        s["Task"]["properties"]["seconds"]["nullable"] = json!(true);
    }),
    ("another form of size", |s| {
        s["VideoRequestB"]["properties"]["size"]["pattern"] = json!("^[0-9]+[x*][0-9]+$");
    }),
    ("a rule more, a rule less, a rule that says something else", |s| {
        let rules = s["VideoRequestB"]["x-rules"].as_array_mut().expect("a list");
        rules.remove(0);
        rules[0]["reject"]["required"] = json!(["prompt"]);
        let rule = json!({
            "id": "size-with-image", "section": "2.4", "code": "conflicting_parameters", "at": ["/size"],
            "message": "`size` cannot be combined with `image`", "reject": { "required": ["size", "image"] },
        });
        rules.push(rule);
        s["VideoRequestB"]["not"]["anyOf"].as_array_mut().expect("a list").remove(0);
        remove(&mut s["Task"], "x-rules");
    }),
    ("warnings more, less, about something else, and as errors", |s| {
        remove(&mut s["VideoMetadataA"]["x-rules"][0], "severity");
        s["VideoMetadataA"]["x-rules"].as_array_mut().expect("a list").remove(2);
        s["ContentItem"]["x-rules"][0]["severity"] = json!("warning");
        s["ContentItem"]["x-rules"][1]["reject"]["required"] = json!(["type"]);
        let rule = json!({
            "id": "size-with-image", "section": "2.4", "code": "conflicting_parameters", "at": ["/size"], "severity": "warning",
            "message": "`size` may be refused with `image`", "reject": { "required": ["size", "image"] },
        });
        s["VideoRequestB"]["x-rules"].as_array_mut().expect("a list").push(rule);
    }),
    ("a component under another name, with one value less", |s| {
        s["Shape"] = s["Ratio"].clone();
        s["Shape"]["enum"].as_array_mut().expect("a list").retain(|ratio| ratio != "21:9");
        remove(s, "Ratio");
        for component in ["VideoRequestA", "VideoMetadataA"] {
            s[component]["properties"]["ratio"]["allOf"] = json!([{ "$ref": "#/components/schemas/Shape" }]);
        }
    }),
    ("words only", |s| {
        s["VideoRequestA"]["description"] = json!("in other words");
        s["VideoRequestA"]["properties"]["prompt"]["description"] = json!("in other words");
        s["VideoRequestA"]["properties"]["prompt"]["example"] = json!("another example");
        s["VideoRequestA"]["x-rules"][0]["message"] = json!("in other words");
    }),
];

const OTHER_EDITS: [(&str, Patch); 9] = [
    ("a status that readers have not seen", |d| {
        push(&mut d["components"]["schemas"]["TaskStatus"]["enum"], json!("cancelled"));
        d["x-tasks"]["state"]["cancelled"] = json!(["cancelled"]);
    }),
    ("a new model of a family", |d| {
        let mut entry = d["x-models"][2].clone();
        entry["id"] = json!("modelb-video-1080p");
        entry["fixed"]["resolution"] = json!("1080p");
        push(&mut d["x-models"], entry);
    }),
    ("a model that is gone", |d| drop(d["x-models"].as_array_mut().expect("a list").remove(1))),
    ("what models can do, and where it goes", |d| {
        let models = &mut d["x-models"];
        models[2]["needs"] = json!(["first_frame"]);
        models[2]["capabilities"] =
            json!(["image_to_video", "reference_image", "audio", "first_last_frames"]);
        models[4]["fixed"]["resolution"] = json!("540p");
        let b = &mut d["components"]["schemas"]["VideoRequestB"];
        b["x-inputs"]["first_frame"]["at"] = json!("/input_reference");
    }),
    ("an operation more, an operation less", |d| {
        let content = d["paths"]["/v1/videos/{task_id}/content"].clone();
        d["paths"]["/v1/videos/{task_id}/preview"] = content;
        remove(&mut d["paths"], "/v1/videos/{task_id}/content");
    }),
    ("parameters", |d| {
        d["components"]["parameters"]["TaskId"]["schema"]["minLength"] = json!(8);
        d["paths"]["/v1/videos/{task_id}"]["get"]["parameters"] = json!([
            { "name": "wait", "in": "query", "schema": { "type": "integer" } },
            { "name": "tenant", "in": "header", "required": true, "schema": { "type": "string" } },
        ]);
    }),
    ("statuses and content types", |d| {
        let answers = &mut d["paths"]["/v1/videos"]["post"]["responses"];
        answers["202"] = answers["200"].clone();
        remove(answers, "200");
        remove(answers, "429");
        let form = json!({ "schema": { "type": "object" } });
        d["paths"]["/v1/videos"]["post"]["requestBody"]["content"]["multipart/form-data"] = form;
    }),
    ("a key that is given otherwise", |d| {
        d["components"]["securitySchemes"]["bearer"] =
            json!({ "type": "apiKey", "in": "header", "name": "x-key", "x-prefix": "Key" });
    }),
    ("another key and another version", |d| {
        d["components"]["securitySchemes"]["header"] =
            json!({ "type": "apiKey", "in": "header", "name": "x-key" });
        d["security"] = json!([{ "header": [] }]);
        d["info"]["version"] = json!("2.0.0");
    }),
];

fn push(list: &mut Value, item: Value) {
    list.as_array_mut().expect("a list").push(item);
}

fn remove(object: &mut Value, key: &str) {
    object.as_object_mut().expect("an object").shift_remove(key).expect("it is there");
}

fn after(edit: impl FnOnce(&mut Value)) -> Contract {
    let mut document = Contract::embedded().document().clone();
    edit(&mut document);
    Contract::from_document(document).expect("a sound document")
}

fn edited() -> Vec<(&'static str, Contract)> {
    let in_schemas =
        EDITS.iter().map(|(name, patch)| (*name, after(|d| patch(&mut d["components"]["schemas"]))));
    let other_edits = OTHER_EDITS.iter().map(|(name, patch)| (*name, after(patch)));
    in_schemas.chain(other_edits).collect()
}

fn compared(old: &Contract, new: &Contract) -> Diff {
    diff(old, new).expect("the references end")
}

#[test]
fn diff_edit_gets_its_verdicts() {
    let messages = edited().into_iter().map(|(name, new)| {
        let diff = compared(Contract::embedded(), &new);
        let ends = if diff.breaks() { "callers break" } else { "callers go on" };
        format!("# {name}: {ends}\n{}", diff.to_text())
    });
    insta::assert_snapshot!(messages.collect::<Vec<_>>().join("\n"));
}

#[test]
fn diff_reversed_swaps_added_and_removed() {
    use contract::diff::Verdict::{Added, Changed, Narrowed, Removed, Widened};
    for (name, new) in edited() {
        let forward = compared(Contract::embedded(), &new).changes;
        let backward = compared(&new, Contract::embedded()).changes;
        assert_eq!(forward.len(), backward.len(), "{name}");
        let count = |changes: &[contract::diff::Change], verdicts: [contract::diff::Verdict; 2]| {
            changes.iter().filter(|change| verdicts.contains(&change.verdict)).count()
        };
        // A new required field is narrowed on the way there; on the way back it is gone.
        assert_eq!(count(&forward, [Added, Narrowed]), count(&backward, [Removed, Widened]), "{name}");
        assert_eq!(count(&forward, [Changed, Changed]), count(&backward, [Changed, Changed]), "{name}");
    }
}

#[test]
fn diff_of_equal_contracts_is_empty() {
    let unchanged = compared(Contract::embedded(), &after(|_| {}));
    assert_eq!((unchanged.changes.len(), unchanged.breaks()), (0, false));
    assert_eq!(unchanged.to_text(), "version 1.0.0 as before: nothing changed for callers\n");
}

/// What is left to do in the newer document.
#[test]
fn diff_names_what_the_document_has_to_change_too() {
    let renamed = after(|d| {
        let schema = &mut d["components"]["schemas"]["VideoRequestA"];
        let properties = schema["properties"].as_object_mut().expect("fields");
        let image = properties.shift_remove("image").expect("a field");
        properties.insert("picture".to_owned(), image);
        schema["x-inputs"]["first_frame"]["data_field"] = json!("picture");
    });
    let nameless = after(|d| {
        let object = json!({ "type": "object", "properties": { "zoom": { "type": "number" } } });
        let schemas = &mut d["components"]["schemas"];
        schemas["VideoRequestA"]["properties"]["camera"] = object.clone();
        schemas["VideoRequestB"]["properties"]["shots"] = json!({ "type": "array", "items": object });
    });
    let texts = [renamed, nameless].map(|new| compared(Contract::embedded(), &new).to_text());
    insta::assert_snapshot!(texts.join("\n"));
}

/// Documents of services as they publish them.
#[test]
fn diff_plain_documents_compares_operations_parameters_and_schemas() {
    let before = json!({
        "openapi": "3.0.3",
        "info": { "title": "t", "version": "1" },
        "paths": { "/clips": { "post": {
            "parameters": [{ "name": "wait", "in": "query", "schema": { "type": "integer" } }],
            "requestBody": { "content": { "application/json": { "schema": { "type": "object", "properties": {
                "image": { "oneOf": [{ "type": "string" }, { "type": "object" }] },
                "seed": { "type": "integer" },
            } } } } },
            "responses": { "200": { "description": "a task" } },
        } } },
    });
    let mut after = before.clone();
    let post = &mut after["paths"]["/clips"]["post"];
    post["parameters"] = json!([]);
    let properties = &mut post["requestBody"]["content"]["application/json"]["schema"]["properties"];
    properties["seed"]["maximum"] = json!(9);
    push(&mut properties["image"]["oneOf"], json!({ "type": "array" }));
    after["paths"]["/clips/{id}"] = json!({ "get": {}, "delete": "no operation" });
    insta::assert_snapshot!(diff_documents(&before, &after).expect("two documents").to_text());
    after["openapi"] = json!("2.0");
    let error = check_document(&after).expect_err("another format");
    assert_eq!(error.pointer, "/openapi");
    // Of the same kind as a description.
    let description = Contract::embedded().document();
    assert!(diff_documents(description, description).expect("a document").changes.is_empty());
}

#[test]
fn diff_recursive_schema_terminates() {
    let tree = |name: &'static str| {
        move |document: &mut Value| {
            let schemas = &mut document["components"]["schemas"];
            schemas[name] = json!({
                "type": "object",
                "properties": { "child": { "$ref": format!("#/components/schemas/{name}") } },
            });
            schemas["VideoRequestA"]["properties"]["scene"] =
                json!({ "$ref": format!("#/components/schemas/{name}") });
        }
    };
    let diff = compared(&after(tree("Tree")), &after(tree("Scene")));
    assert_eq!(diff.changes, []);
}
