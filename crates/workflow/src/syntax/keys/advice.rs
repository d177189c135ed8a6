//! Help for keys of other levels and of other tools that no other spelling makes right: the key belongs elsewhere, or its value changes with
//! its name.

use super::{ObjectSpec, dialogue, film, group, is_field, shot, soundtrack, workflow};
use crate::diagnostic::nearest;
use crate::truth_words::suggested_truth;
use crate::yaml::{Key, Yaml, YamlValue};

/// Words in the object with this noun, and where to write what they mean.
const MISPLACED: [(&str, &[&str], &str); 12] = [
    (
        film::FILM.noun,
        &["transition", "transitions", "crossfade", "dissolve", "fade"],
        "a transition belongs to a clip: `shots: [{shot: harbor, transition: {dissolve: 12f}}, lamp]`",
    ),
    (
        film::FILM.noun,
        &["title", "titles", "intro", "outro", "credits"],
        "a title is a clip of the film: `shots: [{title: THE LAMP}, harbor]`",
    ),
    (
        shot::SHOT.noun,
        &["num_frames", "frames", "frame_count"],
        "the length is in seconds: write `seconds: 5`",
    ),
    (
        shot::SHOT.noun,
        &["fps", "framerate", "frames_per_second"],
        "the film has a frame rate: `film: {frame_rate: 24}`",
    ),
    (
        shot::SHOT.noun,
        &["width", "height"],
        "the shape is `ratio: \"16:9\"`, the number of lines `resolution: 720p`; a model that has `size` takes `size: 1280x720`",
    ),
    (
        shot::SHOT.noun,
        &["negative_prompt", "negative"],
        "no model has one: say in the `prompt` what is not to be seen",
    ),
    (
        shot::SHOT.noun,
        &["keyframes", "key_frames"],
        "write the image at the beginning as `first_frame:`, the one at the end as `last_frame:`",
    ),
    (
        shot::SHOT.noun,
        &["output", "filename", "output_file"],
        "videos of shots are named by their ids; `output` belongs to the film: write it below `film:`",
    ),
    (
        shot::SHOT.noun,
        &["params", "parameters", "variables", "vars"],
        "parameters stand at the top level of the file, below `params:`, or in a group of shots",
    ),
    (
        shot::SHOT.noun,
        &["defaults"],
        "`defaults` stands at the top level of the file; write the fields of this shot beside its `id`",
    ),
    (shot::SHOT.noun, &["film", "films"], "the film stands at the top level of the file, beside `shots:`"),
    (
        shot::SHOT.noun,
        &["type", "kind"],
        "a shot has no type: what it renders follows from its `model` and its media",
    ),
];

/// The help for a key that the object does not have, by its value and the keys beside it.
pub(crate) fn advice(
    object: &ObjectSpec,
    key: &str,
    value: &Yaml,
    has_sibling: impl Fn(&str) -> bool,
) -> Option<String> {
    let folded = key.to_lowercase().replace('-', "_");
    let name = folded.as_str();
    let misplaced = MISPLACED.iter().find(|(noun, words, _)| *noun == object.noun && words.contains(&name));
    if let Some((_, _, help)) = misplaced {
        return Some((*help).to_owned());
    }
    match object.noun {
        noun if noun == shot::SHOT.noun => of_shot(name, value, has_sibling),
        noun if noun == shot::DEFAULTS.noun => of_defaults(name),
        noun if noun == group::GROUP.noun => {
            let is_default = is_field(name) || shot::DEFAULTS.has(name);
            is_default.then(|| format!("write it below `defaults`: `defaults: {{{}}}`", pair(name, value)))
        }
        noun if noun == film::FILM.noun => of_film(name),
        noun if noun == film::CLIP.noun => of_clip(name, value),
        noun if noun == soundtrack::VOICE.noun => {
            let file = value
                .text()
                .filter(|text| text.contains('.') && !has_sibling(soundtrack::VOICE_FILE.name))?;
            (!object.keys.iter().any(|known| nearest(key, [known.name]).is_some()))
                .then(|| format!("write `{{file: {file}, at: {key}}}`"))
        }
        noun if noun == dialogue::LINE.noun && !has_sibling(dialogue::TEXT.name) => {
            let line = value.text().filter(|text| !text.contains(['"', '\\', '\n']))?;
            nearest(key, object.names())
                .is_none()
                .then(|| format!("write `{{speaker: {key}, text: \"{line}\"}}`"))
        }
        noun if noun == film::TRANSITION_KINDS.noun => of_transition(name, value),
        noun if noun == soundtrack::MUSIC.noun && name == film::LOUDNESS.name => {
            Some("`loudness` belongs to the film: write it beside `music`".to_owned())
        }
        _ => None,
    }
}

fn of_shot(name: &str, value: &Yaml, has_sibling: impl Fn(&str) -> bool) -> Option<String> {
    match name {
        "description" | "text" if !has_sibling(super::PROMPT) => {
            Some(format!("did you mean `{}`?", super::PROMPT))
        }
        "timeout_minutes" => match &value.value {
            YamlValue::Number(minutes) => Some(format!("write `timeout: {minutes}m`")),
            _ => None,
        },
        _ => workflow::flag_for(name).map(|flag| format!("a run takes it as a flag: `runner run --{flag}`")),
    }
}

fn of_defaults(name: &str) -> Option<String> {
    if workflow::WORKFLOW.has(name) {
        return Some(format!("`{name}` stands at the top level of the file: indent it less"));
    }
    key_of_film(name)
}

/// The help for a key of the film outside of it.
pub(crate) fn key_of_film(name: &str) -> Option<String> {
    let is_of_film = film::FILM.has(name) && !workflow::WORKFLOW.has(name) && !is_field(name);
    is_of_film.then(|| format!("`{name}` belongs to the film: write it below `film:`"))
}

fn of_film(name: &str) -> Option<String> {
    if [&film::IN, &film::OUT, &film::SPEED, &film::GAIN, &film::MUTE].iter().any(|key| key.name == name) {
        let key = film::CLIP.key(name)?;
        return Some(format!("`{name}` belongs to a clip: `shots: [{{shot: harbor, {}}}]`", key.example));
    }
    let is_of_shot = ["model", "prompt", "seconds", "seed"].contains(&name);
    is_of_shot.then(|| format!("`{name}` belongs to a shot, or to the `defaults` of all"))
}

fn of_clip(name: &str, value: &Yaml) -> Option<String> {
    match (name, &value.value) {
        ("take", YamlValue::Number(take)) => {
            Some(format!("write it behind the name of the shot: `shot: harbor#{take}`"))
        }
        (shot, YamlValue::Map(entries)) if nearest(shot, film::CLIP.names()).is_none() => {
            let edits = entries.iter().map(|(key, value)| format!(", {}", pair(&key.value, value)));
            Some(format!("write `{{shot: {shot}{}}}`", edits.collect::<String>()))
        }
        ("duration", YamlValue::Number(seconds)) => Some(format!("write `seconds: {seconds}`")),
        ("sound" | "audio" | "with_audio", YamlValue::Text(text))
            if suggested_truth(name, text) == Some(false) =>
        {
            Some("write `mute: true`".to_owned())
        }
        _ => None,
    }
}

fn of_transition(name: &str, value: &Yaml) -> Option<String> {
    let text = value.text().filter(|_| ["type", "kind", "name", "style"].contains(&name))?;
    Some(match text.to_lowercase().replace('-', "_").as_str() {
        "wipe" => "write `{wipe: left}`".to_owned(),
        "fade" | "fade_out" | "fade_in" | "fade_to_black" | "black" => "write `{fade: black}`".to_owned(),
        "fade_to_white" | "white" => "write `{fade: white}`".to_owned(),
        "cut" | "none" => "write `transition: cut`".to_owned(),
        _ => "write `{dissolve: 12f}`".to_owned(),
    })
}

/// A key and its value on one line; an example of the value where it takes several lines.
fn pair(name: &str, value: &Yaml) -> String {
    match &value.value {
        YamlValue::Number(_) | YamlValue::Bool(_) => format!("{name}: {}", value.to_json()),
        YamlValue::Text(text) if !text.contains([':', '#', '\n', '{', '[', ',', '"', '\'']) => {
            format!("{name}: {text}")
        }
        _ => format!("{name}: …"),
    }
}

/// Whether one of these entries has a key.
pub(crate) fn has_key(entries: &[(Key, Yaml)], name: &str) -> bool {
    entries.iter().any(|(key, _)| key.value == name)
}

/// Words for a value that is not there.
const NOTHING: [&str; 10] =
    ["none", "off", "no", "false", "never", "null", "nil", "disabled", "infinite", "unlimited"];

/// The help for a value that says that there is none, of a key that is left out for that.
pub(crate) fn nothing(key: &str, value: &Yaml) -> Option<String> {
    let is_nothing = match &value.value {
        YamlValue::Bool(truth) => !truth,
        YamlValue::Text(text) => NOTHING.contains(&text.trim().to_lowercase().as_str()),
        YamlValue::Number(number) => key == shot::TIMEOUT.name && number.as_f64() == Some(0.0),
        _ => false,
    };
    if !is_nothing {
        return None;
    }
    if key == film::TRANSITION.name {
        return Some("remove it, or write `transition: cut`: both are a cut".to_owned());
    }
    let removed = [
        &film::SUBTITLES,
        &film::LOUDNESS,
        &film::MUSIC,
        &film::VOICE,
        &film::POSTER,
        &workflow::FILM,
        &shot::TIMEOUT,
        &shot::RETRY,
    ];
    removed.iter().any(|removed| removed.name == key).then(|| match key {
        "timeout" => {
            "remove it: without `timeout` it is an hour; or write a longer one, such as `timeout: 6h`"
                .to_owned()
        }
        "retry" => "remove it: without `retry` there is one attempt".to_owned(),
        _ => format!("remove it: without `{key}` there is none"),
    })
}
