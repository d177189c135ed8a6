//! Keys of other levels and of other tools that no other spelling makes right: what they mean belongs elsewhere.

use super::{ObjectSpec, dialogue, film, is_field, shot, workflow};

/// Words in the object with this noun, and where to write what they mean.
const MISPLACED: [(&str, &[&str], &str); 17] = [
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
        &["transition", "title", "in", "out", "speed", "gain", "mute"],
        "it belongs to a clip of the film: `film: {shots: [{shot: harbor, in: 1s}]}`",
    ),
    (shot::SHOT.noun, &["description", "text"], "did you mean `prompt`?"),
    (shot::SHOT.noun, &["loop"], "did you mean `repeat`?"),
    (
        shot::SHOT.noun,
        &["camera", "camera_motion", "camera_movement", "camera_control"],
        "say it in the `prompt`: `the camera pushes in`",
    ),
    (shot::SHOT.noun, &["mode"], "there are no modes: choose another `model`, or its `resolution`"),
    (dialogue::LINE.noun, &["line", "words", "says"], "did you mean `text`?"),
    (dialogue::LINE.noun, &["character", "name", "who"], "did you mean `speaker`?"),
    (shot::SHOT.noun, &["film", "films"], "the film stands at the top level of the file, beside `shots:`"),
    (
        shot::SHOT.noun,
        &["type", "kind"],
        "a shot has no type: what it renders follows from its `model` and its media",
    ),
];

/// The help for a key that an object does not have.
pub(crate) fn misplaced(object: &ObjectSpec, key: &str) -> Option<String> {
    let folded = key.to_lowercase().replace('-', "_");
    let name = folded.as_str();
    let row = MISPLACED.iter().find(|(noun, words, _)| *noun == object.noun && words.contains(&name));
    if let Some((_, _, help)) = row {
        return Some((*help).to_owned());
    }
    match object.noun {
        noun if noun == shot::SHOT.noun => {
            workflow::flag_for(name).map(|flag| format!("a run takes it as a flag: `runner run --{flag}`"))
        }
        noun if noun == shot::DEFAULTS.noun && workflow::WORKFLOW.has(name) => {
            Some(format!("`{name}` stands at the top level of the file: indent it less"))
        }
        noun if noun == film::FILM.noun && is_field(name) => {
            Some(format!("`{name}` belongs to a shot, or to the `defaults` of all"))
        }
        _ => None,
    }
}
