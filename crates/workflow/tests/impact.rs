//! Edits of a description and their reported impact on a workflow.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

use std::sync::Arc;

use contract::{Contract, diff};
use serde_json::{Value, json};
use workflow::{InMemory, Options, impact};

const WORKFLOW: &str = r#"version: 1
name: pier
defaults: { seconds: 12, watermark: false }
shots:
  - { id: dawn, model: modela-video-2-0-260128, prompt: the pier, resolution: 1080p, ratio: "16:9" }
  - { id: noon, model: modela-video-2-0-260128, prompt: the pier at noon, continues: dawn, ratio: "16:9" }
  - { id: dusk, model: modelb-video-480p, prompt: the pier again, continues: noon, size: 854x480 }
"#;

fn impact_of(old: &Arc<Contract>, edit: impl FnOnce(&mut Value), workflow: &str) -> String {
    let mut document = old.document().clone();
    edit(&mut document["components"]["schemas"]);
    let new = Arc::new(Contract::from_document(document).unwrap());
    let (files, options) = (InMemory::default(), Options::default());
    let diff = diff::diff(old, &new).unwrap();
    impact(workflow.as_bytes(), "pier.yaml", &files, &options, [old, &new], &diff).to_string()
}

fn edited(edit: impl FnOnce(&mut Value)) -> String {
    impact_of(Contract::embedded(), edit, WORKFLOW)
}

#[test]
fn unchanged_contract_has_no_impact() {
    assert_eq!(edited(|_| {}), "  pier.yaml: unchanged requests\n");
}

#[test]
fn removed_enum_value_invalidates_workflow() {
    let text = edited(|s| s["Resolution"]["enum"] = json!(["480p", "720p"]));
    assert!(text.starts_with("  pier.yaml: now invalid\n    pier.yaml:5:"), "{text}");
    assert!(text.contains("sent by 1 shot: Resolution: the value \"1080p\" is gone"), "{text}");
}

#[test]
fn changed_default_is_relevant_where_field_is_omitted() {
    let text = edited(|s| {
        s["VideoRequestA"]["properties"]["camera_fixed"]["default"] = json!(true);
        s["VideoRequestA"]["properties"]["watermark"]["default"] = json!(true);
    });
    assert_eq!(
        text,
        "  pier.yaml: unchanged requests\n    omitted by 2 shots: VideoRequestA.camera_fixed: default false becomes true\n"
    );
}

#[test]
fn changed_frame_field_changes_requests() {
    let text = edited(|s| {
        s["VideoRequestB"]["x-inputs"]["first_frame"] =
            json!({ "at": "/input_reference", "accepts": ["url"] });
    });
    assert!(text.contains("pier.yaml: changed requests\n    dusk: `/image` null is removed; `/input_reference` null is added"), "{text}");
}

#[test]
fn narrowed_duration_invalidates_workflow() {
    let text = edited(|s| {
        s["VideoRequestB"]["properties"]["seconds"]["pattern"] = json!("^([1-9]|10)$");
        s["VideoRequestB"]["properties"]["duration"]["maximum"] = json!(10);
    });
    assert!(text.contains("pier.yaml: now invalid"), "{text}");
    assert!(text.contains("sent by 1 shot: VideoRequestB.seconds: 1 to 15 becomes 1 to 10"), "{text}");
    assert!(!text.contains("VideoRequestB.duration"), "{text}");
}

#[test]
fn change_of_nested_field_is_relevant() {
    let text = edited(|s| {
        s["ContentItem"]["properties"]["role"]["enum"]
            .as_array_mut()
            .unwrap()
            .retain(|role| role != "reference_audio");
        s["MediaUrl"]["properties"]["url"]["maxLength"] = json!(2000);
    });
    assert!(text.contains("sent by 1 shot: ContentItem.role"), "{text}");
    assert!(text.contains("sent by 1 shot: MediaUrl.url"), "{text}");
}

/// The shots of a service that the workflow names are compiled under its descriptions, those of others under their own.
#[test]
fn shots_of_the_service_are_concerned() {
    let workflow = "version: 1\ndefaults: { seconds: 4, ratio: \"16:9\", resolution: 720p }\nshots:
  - { id: pier, service: xai, model: grok-imagine-video, prompt: a pier }
  - { id: sea, service: ark, model: doubao-seedance-2-0-260128, prompt: the sea }\n";
    let text = impact_of(
        Contract::shipped("xai").unwrap(),
        |s| s["Request"]["properties"]["resolution"]["enum"] = json!(["480p", "1080p"]),
        workflow,
    );
    assert!(text.starts_with("  pier.yaml: now invalid\n    pier.yaml:2:52: "), "{text}");
    assert!(text.contains("sent by 1 shot: Request.resolution: the value \"720p\" is gone"), "{text}");
}
