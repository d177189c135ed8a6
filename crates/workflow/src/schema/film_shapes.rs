//! The keys of films as JSON Schema: film, clip, transition, subtitles, music, voice.

use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::shapes::{Definition, object};
use crate::plan::{Subtitles, Transition};
use crate::syntax::keys::{KeySpec, film, soundtrack};
use crate::syntax::{ClipSpec, FilmSpec, MusicSpec, VoiceSpec};

impl Definition for FilmSpec {
    const NAME: &'static str = "Film";

    fn schema(generator: &mut SchemaGenerator) -> Value {
        let mut schema = object(&film::FILM, generator);
        schema["description"] = json!("The film that the shots are joined into.");
        schema
    }
}

impl Definition for ClipSpec {
    const NAME: &'static str = "Clip";

    fn schema(generator: &mut SchemaGenerator) -> Value {
        let mut schema = object(&film::CLIP, generator);
        schema["description"] = json!("A clip of a film and how it is edited.");
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
}

impl Definition for Transition {
    const NAME: &'static str = "Transition";

    fn schema(generator: &mut SchemaGenerator) -> Value {
        let mut schema = object(&film::TRANSITION_KINDS, generator);
        schema["description"] = json!("How the next clip replaces this one.");
        schema["oneOf"] = json!([
            { "required": [film::DISSOLVE.name], "not": { "required": [film::TRANSITION_LENGTH.name] } },
            { "required": [film::FADE.name] },
            { "required": [film::WIPE.name] },
        ]);
        schema
    }
}

impl Definition for Subtitles {
    const NAME: &'static str = "Subtitles";

    fn schema(generator: &mut SchemaGenerator) -> Value {
        let mut schema = object(&film::SUBTITLE_KEYS, generator);
        schema["description"] = json!("Subtitles of a film.");
        schema
    }
}

impl Definition for MusicSpec {
    const NAME: &'static str = "Music";

    fn schema(generator: &mut SchemaGenerator) -> Value {
        let mut schema = object(&soundtrack::MUSIC, generator);
        schema["description"] = json!("Music under a film.");
        schema
    }
}

impl Definition for VoiceSpec {
    const NAME: &'static str = "Voice";

    fn schema(generator: &mut SchemaGenerator) -> Value {
        let mut schema = object(&soundtrack::VOICE, generator);
        schema["description"] = json!("A voice over a film.");
        schema
    }
}
