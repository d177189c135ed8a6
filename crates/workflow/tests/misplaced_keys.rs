//! The help for keys and values that belong elsewhere, are of other tools or mean that there is nothing: it says what to write.

use contract::Contract;
use workflow::{InMemory, Options, check};

/// The help of the first diagnostic of a workflow with these lines below its defaults.
fn help_of(body: &str) -> String {
    let text = format!(
        "version: 1\nname: p\ndefaults: {{model: modela-video-2-0-260128, ratio: \"16:9\", seconds: 5, seed: 7}}\n{body}"
    );
    let files = InMemory::default();
    let report = check(text.as_bytes(), "p.yaml", &files, &Options::default(), Contract::embedded()).report;
    let record = report.to_json().into_iter().next();
    record.map(|record| record.help.unwrap_or_default()).unwrap_or_default()
}

/// The help for a key of a shot.
fn shot_help(field: &str) -> String {
    help_of(&format!("shots:\n  - {{id: sea, prompt: p}}\n  - {{id: pier, prompt: p, {field}}}\n"))
}

/// The help for a key of the film of a shot.
fn film_help(film: &str) -> String {
    help_of(&format!("shots: [{{id: pier, prompt: p}}]\nfilm: {{{film}}}\n"))
}

#[track_caller]
fn check_all(help: fn(&str) -> String, expected: &[(&str, &str)]) {
    for (written, expected) in expected {
        assert_eq!(help(written), *expected, "{written}");
    }
}

#[test]
fn keys_of_films_in_other_words() {
    for (written, key) in [
        ("fps: 24", "frame_rate"),
        ("order: [pier]", "shots"),
        ("captions: dialogue", "subtitles"),
        ("audio: a.wav", "music"),
        ("soundtrack: a.wav", "music"),
        ("bgm: a.wav", "music"),
        ("voiceover: a.wav", "voice"),
        ("narration: a.wav", "voice"),
        ("resolution: 1280x720", "size"),
        ("ratio: \"16:9\"", "size"),
        ("width: 1280", "size"),
        ("normalize: true", "loudness"),
        ("name: a.mp4", "output"),
        ("filename: a.mp4", "output"),
        ("file: a.mp4", "output"),
        ("music: {path: a.wav}", "file"),
        ("music: {src: a.wav}", "file"),
        ("shots: [{shot: pier, start: 1s}]", "in"),
        ("shots: [{shot: pier, from: 1s}]", "in"),
        ("shots: [{shot: pier, to: 1s}]", "out"),
        ("shots: [{shot: pier, crossfade: 1s}]", "transition"),
        ("shots: [{shot: pier, fade_out: 1s}]", "transition"),
        ("shots: [{shot: pier, volume: 50%}]", "gain"),
        ("shots: [{text: A}]", "title"),
        ("shots: [{shot: pier, caption: A}]", "title"),
        ("shots: [{image: a.png}]", "file"),
        ("shots: [{url: a.png}]", "file"),
        ("shots: [{shot: pier, duration: 2s}]", "length"),
        ("shots: [{shot: pier, transition: {duration: 1s}}]", "length"),
    ] {
        assert_eq!(film_help(written), format!("did you mean `{key}`?"), "{written}");
    }
    // A sound that is missing would be reported first.
    let sound = |key: &str, keys: &[&str], meant: &str| {
        assert_eq!(contract::nearest_name(key, keys.iter().copied()), Some(meant), "{key}");
    };
    let music = ["file", "gain", "in", "repeat", "fade_in", "fade_out", "duck"];
    for (key, meant) in [("loop", "repeat"), ("volume", "gain"), ("ducking", "duck"), ("start", "in")] {
        sound(key, &music, meant);
    }
    for (key, meant) in [("shot", "at"), ("offset", "delay"), ("volume", "gain")] {
        sound(key, &["file", "at", "delay", "gain"], meant);
    }
}

#[test]
fn keys_of_films_at_the_wrong_level() {
    let transition =
        "a transition belongs to a clip: `shots: [{shot: harbor, transition: {dissolve: 12f}}, lamp]`";
    check_all(
        film_help,
        &[
            ("transition: {dissolve: 1s}", transition),
            ("transitions: cut", transition),
            ("titles: [a]", "a title is a clip of the film: `shots: [{title: THE LAMP}, harbor]`"),
            ("speed: 2", "`speed` belongs to a clip: `shots: [{shot: harbor, speed: 0.5}]`"),
            ("model: a", "`model` belongs to a shot, or to the `defaults` of all"),
            ("shots: [{shot: pier, sound: off}]", "write `mute: true`"),
            ("shots: [{shot: pier, take: 2}]", "write it behind the name of the shot: `shot: harbor#2`"),
            ("shots: [{shot: pier, duration: 2}]", "write `seconds: 2`"),
            (
                "shots: [{shot: pier, xyz: 2}]",
                "the keys here are `shot`, `group`, `file`, `title`, `style`, `in`, `out`, `length`, `seconds`, `speed`, `transition`, `gain` and `mute`",
            ),
            ("shots: [{shot: pier, transition: {type: dissolve}}]", "write `{dissolve: 12f}`"),
            ("shots: [{shot: pier, transition: {type: fade_out}}]", "write `{fade: black}`"),
            ("shots: [{shot: pier, transition: 0.5s}]", "write `transition: {dissolve: 0.5s}`"),
        ],
    );
    let shots = "shots: [{id: pier, prompt: p}]\n";
    for (key, value) in
        [("music", "a.wav"), ("voice", "a.wav"), ("subtitles", "dialogue"), ("output", "a.mp4")]
    {
        let expected = format!("`{key}` belongs to the film: write it below `film:`");
        assert_eq!(help_of(&format!("{key}: {value}\n{shots}")), expected);
    }
    assert_eq!(
        help_of(&format!("aspect_ratio: \"16:9\"\n{shots}")),
        "put it into `defaults` as `ratio`, or into a shot"
    );
    assert_eq!(
        help_of("groups: {a: {seed: 3}}\nshots: [{id: pier, prompt: p, group: a}]\n"),
        "write it below `defaults`: `defaults: {seed: 3}`"
    );
}

#[test]
fn values_that_mean_nothing_are_removed() {
    let cut = "remove it, or write `transition: cut`: both are a cut";
    check_all(
        film_help,
        &[
            ("subtitles: false", "remove it: without `subtitles` there is none"),
            ("subtitles: none", "remove it: without `subtitles` there is none"),
            ("loudness: off", "remove it: without `loudness` there is none"),
            ("music: none", "remove it: without `music` there is none"),
            ("music: false", "remove it: without `music` there is none"),
            ("voice: none", "remove it: without `voice` there is none"),
            ("shots: [{shot: pier, transition: none}]", cut),
            ("shots: [{shot: pier, transition: false}]", cut),
        ],
    );
    let timeout = "remove it: without `timeout` it is an hour; or write a longer one, such as `timeout: 6h`";
    let seed = "remove it: without `seed` the service chooses one";
    check_all(
        shot_help,
        &[
            ("timeout: none", timeout),
            ("timeout: 0", timeout),
            ("timeout: infinite", timeout),
            ("seed: random", seed),
            ("seed: auto", seed),
        ],
    );
    for value in ["false", "none"] {
        assert_eq!(
            help_of(&format!("shots: [{{id: pier, prompt: p}}]\nfilm: {value}\n")),
            "remove it: without `film` there is none"
        );
    }
}

#[test]
fn keys_of_shots_in_other_words() {
    for (written, key) in [
        ("time: 5", "seconds"),
        ("prompt_image: a.png", "first_frame"),
        ("first_frame_image: a.png", "first_frame"),
        ("refs: a.png", "references"),
        ("follows: sea", "continues"),
        ("from: sea", "continues"),
        ("model_id: x", "model"),
        ("variations: 3", "takes"),
    ] {
        assert_eq!(shot_help(written), format!("did you mean `{key}`?"), "{written}");
    }
    let size = "the shape is `ratio: \"16:9\"`, the number of lines `resolution: 720p`; a model that has `size` takes `size: 1280x720`";
    check_all(
        shot_help,
        &[
            ("n: 3", "write `takes: 3`"),
            ("negative_prompt: x", "no model has one: say in the `prompt` what is not to be seen"),
            ("num_frames: 3", "the length is in seconds: write `seconds: 5`"),
            ("fps: 24", "the film has a frame rate: `film: {frame_rate: 24}`"),
            ("width: 3", size),
            ("height: 3", size),
            (
                "keyframes: [a]",
                "write the image at the beginning as `first_frame:`, the one at the end as `last_frame:`",
            ),
            ("budget: 5", "a run takes it as a flag: `runner run --max-cost`"),
            ("timeout-minutes: 20", "write `timeout: 20m`"),
            (
                "output: a.mp4",
                "videos of shots are named by their ids; `output` belongs to the film: write it below `film:`",
            ),
            ("film: {}", "the film stands at the top level of the file, beside `shots:`"),
            (
                "params: {a: b}",
                "parameters stand at the top level of the file, below `params:`, or in a group of shots",
            ),
            ("first_frame: {shot: sea, frame: -1}", "write `frame: last`"),
            ("first_frame: {shot: sea, frame: end}", "write `frame: last`"),
            ("first_frame: {shot: sea, frame: 0}", "write `frame: first`"),
            ("first_frame: {shot: sea, frame: 12}", "write `frame: first` or `frame: last`"),
        ],
    );
}

#[test]
fn axes_of_matrices_are_written_directly_below_it() {
    let directly = "write the axes directly below `matrix:`: `matrix: {look: [a, b]}`";
    check_all(
        shot_help,
        &[
            ("matrix: {matrix: {look: [a, b]}}", directly),
            ("matrix: {axes: {look: [a, b]}}", directly),
            ("matrix: {strategy: {matrix: {look: [a, b]}}}", directly),
        ],
    );
    let filter = "leave combinations out with `exclude: [{look: pastel}]`, or write `when: look != 'pastel'` in the shot";
    for written in ["filter: \"look != 'a'\"", "where: [{look: a}]", "only: [a]"] {
        let matrix = format!("{{look: [a, b], {written}}}");
        let shot = format!("shots: [{{id: pier, prompt: \"{{{{ look }}}}\", matrix: {matrix}}}]\n");
        assert_eq!(help_of(&shot), filter, "{written}");
    }
    let used = "shots: [{id: pier, prompt: \"{{ filter }}\", matrix: {filter: [red, blue]}}]\n";
    assert_eq!(help_of(used), "", "this is an axis");
}

#[test]
fn names_in_templates_are_suggested_whole() {
    let who = |prompt: &str| {
        help_of(&format!(
            "params: {{who: {{name: Mara, eye color: grey}}}}\nshots: [{{id: pier, prompt: \"{prompt}\"}}]\n"
        ))
    };
    assert_eq!(who("{{ who.nam }}"), "did you mean `who.name`?");
    assert_eq!(who("{{ name }}"), "`name` belongs to `who`: write `who.name`", "not `shot`");
    assert_eq!(who("{{ who.eye_color }}"), "did you mean `who['eye color']`?");
    assert_eq!(who("{{ who['eye color'] }}"), "");
    let mara = |prompt: &str| {
        help_of(&format!("cast: {{mara: an old woman}}\nshots: [{{id: pier, prompt: \"{prompt}\"}}]\n"))
    };
    assert_eq!(mara("{{ cast.Mara }}"), "did you mean `cast.mara`?");
    assert_eq!(mara("{{ mara }}"), "a character of the `cast` is `{{ cast.mara }}`");
}

#[test]
fn references_to_shots_in_other_forms() {
    check_all(
        shot_help,
        &[
            ("continues: {shot: sea, frame: last}", "write `continues: sea`"),
            ("continues: a.png", "an image that the video starts with is `first_frame: a.png`"),
            ("continues: sea.mp4", "name the shot alone: `continues: sea`"),
            ("continues: sea.last", "name the shot alone: `continues: sea`"),
            ("continues: previous", "the shot above is `sea`: write `continues: sea`"),
            ("continues: pier", "name another shot, or remove it"),
        ],
    );
    let steps = "shots: [{id: b, prompt: p, repeat: 3}, {id: pier, prompt: p, continues: b-4}]\n";
    assert_eq!(help_of(steps), "`b` has 3 steps: write `b` or `b-3`");
    check_all(
        film_help,
        &[
            ("shots: [a.png]", "a file is shown by `{file: a.png}`"),
            ("shots: [{pier: {speed: 2}}]", "write `{shot: pier, speed: 2}`"),
            ("voice: [{pier: score.wav}]", "write `{file: score.wav, at: pier}`"),
            ("shots: [{shot: pier, transition: {fade: 0.5s}}]", "write `{fade: black, length: 0.5s}`"),
        ],
    );
}

#[test]
fn values_of_shots_in_other_forms() {
    check_all(
        shot_help,
        &[
            ("seed: [1, 2]", "for a video of each write `matrix: {seed: [1, 2]}` and `seed: \"{{ seed }}\"`"),
            (
                "matrix: {zip: [look, lens], look: [a, b], lens: [c, d]}",
                "`zip` holds the axes themselves: `zip: {look: [a, b], lens: [c, d]}`",
            ),
            ("dialogue: [{Keeper: Who?}]", "write `{speaker: Keeper, text: \"Who?\"}`"),
        ],
    );
    for key in ["description", "text"] {
        let help = help_of(&format!("shots:\n  - id: pier\n    {key}: x\n"));
        assert_eq!(help, format!("write `prompt` instead of `{key}`"));
    }
    assert_eq!(help_of("shots:\n  - a pier in rain\n"), "write `- {id: a-pier-in, prompt: a pier in rain}`");
    assert_eq!(
        help_of("groups: {a: [pier, sea]}\nshots: [{id: pier, prompt: p}]\n"),
        "write `group: a` in `pier` and `sea`, and `a: {}` here"
    );
    let merged = "foo: &foo {seed: 1}\nshots:\n  - id: pier\n    <<: foo\n    prompt: p\n";
    assert_eq!(help_of(merged), "write `<<: *foo`, and `&foo` above, before the mapping that it merges");
}

#[test]
fn declarations_of_parameters_in_other_words() {
    let help = |declaration: &str| {
        help_of(&format!("params: {{a: {declaration}}}\nshots: [{{id: pier, prompt: \"{{{{ a }}}}\"}}]\n"))
    };
    for (written, kind) in [
        ("string", "text"),
        ("str", "text"),
        ("int", "integer"),
        ("float", "number"),
        ("bool", "boolean"),
        ("array", "list"),
        ("object", "map"),
    ] {
        assert_eq!(help(&format!("{{type: {written}, default: x}}")), format!("did you mean `{kind}`?"));
    }
    assert_eq!(help("{type: integer, default: 3.5}"), "write `4`");
    assert_eq!(help("{type: list, default: \"a, b\"}"), "write `[a, b]`");
    assert_eq!(help("{default: 9, max: 5}"), "give 5, or change `max`");
    assert_eq!(help("{type: text, default: a, min: 1}"), "`min` is for numbers: remove it, or give a number");
    assert_eq!(help("{type: text, defualt: a}"), "did you mean `default`?");
    let report = "params: {a: {type: text}}\nshots: [{id: pier, prompt: \"{{ a }}\"}]\n";
    assert_eq!(help_of(report), "add a `default`, or `required: true`: then the caller must give a value");
}
