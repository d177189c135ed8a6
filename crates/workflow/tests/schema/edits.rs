//! The contract moves, the code does not: a new field, a new model and a new value go through plan, and into the schema.

use contract::Contract;
use serde_json::{Value, json};
use workflow::plan::{MediaSource, Plan};
use workflow::{InMemory, Options, load, workflow_schema};

fn edited_document(edit: impl FnOnce(&mut Value)) -> Contract {
    let mut document = Contract::embedded().document().clone();
    edit(&mut document);
    Contract::from_document(document).expect("a sound document")
}

fn edited(edit: impl FnOnce(&mut Value)) -> Contract {
    edited_document(|document| edit(&mut document["components"]["schemas"]))
}

fn plan(text: &str, contract: &Contract) -> Result<Plan, Vec<&'static str>> {
    load(text.as_bytes(), "new.yaml", &InMemory::default(), &Options::default(), contract)
        .map_err(|report| report.diagnostics.iter().map(|diagnostic| diagnostic.code).collect())
}

/// The plan under the edited contract; the one of today refuses the workflow, and so do the schemas.
#[track_caller]
fn planned(text: &str, contract: &Contract, refused_today_as: &str) -> Plan {
    let codes = plan(text, Contract::embedded()).expect_err("today's contract does not know it");
    assert!(codes.contains(&refused_today_as), "{codes:?}");
    let file = super::as_an_editor_reads(text).expect("YAML");
    let accepts = |contract: &Contract| {
        jsonschema::validator_for(&workflow_schema(contract)).expect("a schema").is_valid(&file)
    };
    assert!(accepts(contract) && !accepts(Contract::embedded()));
    plan(text, contract).unwrap_or_else(|codes| panic!("{codes:?}"))
}

fn request(plan: &Plan, name: &str) -> Value {
    let (_, node) = plan.nodes().find(|(_, node)| node.name == name).expect("the shot is planned");
    Value::Object(node.request.to_map())
}

fn push(list: &mut Value, item: Value) {
    list.as_array_mut().expect("a list").push(item);
}

#[test]
fn new_optional_field_is_planned_and_in_schema() {
    let contract = edited(|schemas| {
        let fields = &mut schemas["VideoRequestA"]["properties"];
        fields["negative_prompt"] =
            json!({ "type": "string", "description": "What not to show.", "maxLength": 40 });
        fields["frames_per_second"] =
            json!({ "type": "string", "description": "Frames.", "pattern": "^(24|25|30)$" });
    });
    let text = |negative: &str| {
        format!(
            "version: 1\nname: new\nparams: {{ weather: rain }}\ndefaults: {{ frames_per_second: 25 }}\nshots:\n  \
             - {{ id: a, model: modela-video-2-0-260128, prompt: the sea, negative_prompt: \"{negative}\" }}\n  \
             - {{ id: b, model: modelb-video-480p, prompt: the sea }}\n"
        )
    };
    let plan_of = planned(&text("{{ weather }}, people"), &contract, "unknown-field");
    assert_eq!(
        request(&plan_of, "a"),
        json!({
            "model": "modela-video-2-0-260128", "prompt": "the sea", "negative_prompt": "rain, people",
            // Digits are written as a number and sent as text.
            "frames_per_second": "25",
        })
    );
    // The other family does not have it, so the default is left out there.
    assert_eq!(request(&plan_of, "b"), json!({ "model": "modelb-video-480p", "prompt": "the sea" }));
    assert!(plan(&text(&"x".repeat(41)), &contract).is_err(), "its bounds are checked too");
}

#[test]
fn new_model_is_planned_and_in_schema() {
    let id = "modelb-video-2.0-preview-1080p";
    let contract = edited_document(|document| {
        let entry = json!({
            "id": id, "schema": "VideoRequestB", "tier": "preview", "summary": "animates an image",
            "fixed": { "resolution": "1080p" }, "needs": ["first_frame"], "not": ["reference_image"],
            "capabilities": ["image_to_video"],
        });
        push(&mut document["x-models"], entry);
    });
    let text = |extra: &str| {
        format!(
            "version: 1\nname: new\nshots:\n  - {{ id: a, model: modelb-video-480p, prompt: dusk }}\n  \
             - {{ id: b, model: {id}, prompt: night, seconds: 8{extra} }}\n"
        )
    };
    let plan_of = planned(&text(", continues: a"), &contract, "unknown-model");
    assert_eq!(
        request(&plan_of, "b"),
        json!({ "model": id, "prompt": "night", "seconds": "8", "image": null })
    );
    let (_, node) = plan_of.nodes().nth(1).expect("two shots");
    assert_eq!(node.family.as_str(), "B");
    assert!(matches!(node.inputs.as_slice(), [input] if matches!(input.source, MediaSource::LastFrame(_))));
    // What the catalogue says of the new model is enforced: it animates an image, and takes no references.
    assert!(plan(&text(""), &contract).is_err());
    assert!(plan(&text(", references: [\"https://example.com/a.png\"]"), &contract).is_err());
}

#[test]
fn new_enum_value_is_planned_and_in_schema() {
    let contract = edited(|schemas| {
        push(&mut schemas["Resolution"]["enum"], json!("1440p"));
        push(&mut schemas["Ratio"]["enum"], json!("2:1"));
    });
    let text = "version: 1\nname: new\nshots:\n  - id: a\n    model: modela-video-2-0-260128\n    prompt: the sea\n    \
                resolution: 1440p\n    matrix: { shape: [\"2:1\", \"16:9\"] }\n    ratio: \"{{ shape }}\"\n";
    let plan_of = planned(text, &contract, "invalid-request");
    let sent: Vec<Value> = plan_of.nodes().map(|(_, node)| Value::Object(node.request.to_map())).collect();
    let expected = |ratio: &str| json!({ "model": "modela-video-2-0-260128", "prompt": "the sea", "resolution": "1440p", "ratio": ratio });
    assert_eq!(sent, [expected("2:1"), expected("16:9")]);
}
