//! Clips and transitions of films as JSON Schema, which rule out combinations of keys.

use serde_json::{Value, json};

use super::shapes::described;
use crate::syntax::keys::{KeySpec, film};

pub(super) fn clip() -> Value {
    let mut schema = described(&film::CLIP, "A clip of a film and how it is edited.");
    let both = |first: &KeySpec, second: &KeySpec| json!({ "required": [first.name, second.name] });
    schema["not"] = json!({ "anyOf": [
        both(&film::OUT, &film::LENGTH),
        both(&film::OUT, &film::SECONDS),
        both(&film::LENGTH, &film::SECONDS),
        both(&film::SHOT, &film::CLIP_FILE),
        both(&film::SHOT, &film::CLIP_GROUP),
        both(&film::CLIP_GROUP, &film::CLIP_FILE),
        both(&film::CLIP_GROUP, &film::IN),
        both(&film::CLIP_GROUP, &film::OUT),
        both(&film::CLIP_GROUP, &film::LENGTH),
        both(&film::CLIP_GROUP, &film::SECONDS),
        both(&film::CLIP_GROUP, &film::TITLE),
    ] });
    let any_of = |keys: &[&KeySpec]| -> Vec<Value> {
        keys.iter().map(|key| json!({ "required": [key.name] })).collect()
    };
    let shown = [&film::SHOT, &film::CLIP_GROUP, &film::CLIP_FILE];
    schema["if"] = json!({ "not": { "anyOf": any_of(&shown) } });
    schema["anyOf"] = any_of(&[&film::SHOT, &film::CLIP_GROUP, &film::CLIP_FILE, &film::TITLE]).into();
    schema["then"] = json!({
        "not": { "anyOf": any_of(&[&film::IN, &film::OUT, &film::SPEED, &film::GAIN, &film::MUTE]) }
    });
    schema["dependentRequired"] = json!({ film::STYLE.name: [film::TITLE.name] });
    schema
}

pub(super) fn transition() -> Value {
    let mut schema = described(&film::TRANSITION_KINDS, "How the next clip replaces this one.");
    schema["oneOf"] = json!([
        { "required": [film::DISSOLVE.name], "not": { "required": [film::TRANSITION_LENGTH.name] } },
        { "required": [film::FADE.name] },
        { "required": [film::WIPE.name] },
    ]);
    schema
}
