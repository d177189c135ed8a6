//! What the help suggests for values that people carry over from other tools, languages and units: it leads to the value that was meant, or
//! chooses none.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

use contract::Contract;
use workflow::{InMemory, Options, check, prices};

/// The workflow with this text below its defaults.
fn workflow(text: &str) -> String {
    format!("version: 1\nname: p\ndefaults: {{model: modela-video-2-0-260128, seconds: 5, seed: 7}}\n{text}")
}

/// The help of the diagnostics of a workflow, each in a line.
fn help_of(text: &str) -> String {
    let files = InMemory::default();
    let report = check(text.as_bytes(), "p.yaml", &files, &Options::default(), Contract::embedded()).report;
    let help = report.to_json().into_iter().filter_map(|record| record.help);
    help.collect::<Vec<_>>().join("\n")
}

/// The help for a field of a shot.
fn field_help(field: &str) -> String {
    help_of(&workflow(&format!("shots:\n  - id: a\n    prompt: p\n    {field}\n")))
}

#[test]
fn ratio_suggestions_keep_the_shape() {
    for (written, ratio) in [
        ("\"5:4\"", "4:3"),
        ("\"3:2\"", "4:3"),
        ("\"2:3\"", "3:4"),
        ("\"4:5\"", "3:4"),
        ("\"2:1\"", "16:9"),
        ("square", "1:1"),
        ("portrait", "9:16"),
        ("vertical", "9:16"),
        ("landscape", "16:9"),
        ("widescreen", "16:9"),
        ("wide", "16:9"),
        ("cinema", "21:9"),
        ("ultrawide", "21:9"),
        ("1.5", "4:3"),
        ("1.78", "16:9"),
        ("[16, 9]", "16:9"),
        ("{16: 9}", "16:9"),
        ("16/9", "16:9"),
        ("16x9", "16:9"),
        ("16.9", "16:9"),
        ("{16:9}", "16:9"),
    ] {
        assert_eq!(
            field_help(&format!("ratio: {written}")),
            format!("write `ratio: \"{ratio}\"`"),
            "{written}"
        );
    }
    assert_eq!(field_help("ratio: adaptve"), "write `ratio: adaptive`");
    assert_eq!(field_help("ratio: banana"), "write width and height, such as `ratio: \"16:9\"`");
}

#[test]
fn ratio_in_brackets_is_marked_at_the_value() {
    let text = workflow("shots:\n  - {id: a, prompt: p, ratio: [16, 9]}\n");
    let files = InMemory::default();
    let report = check(text.as_bytes(), "p.yaml", &files, &Options::default(), Contract::embedded()).report;
    insta::assert_snapshot!(report.render(false), @r#"
    error[invalid-request]: `ratio` must be one of `adaptive`, `auto`, `21:9`, `16:9`, `4:3`, `1:1`, `3:4`, `9:16`, not a list (spec 2.2)
     --> p.yaml:5:31
      |
    5 |   - {id: a, prompt: p, ratio: [16, 9]}
      |                               ^
      |
      = help: write `ratio: "16:9"`

    p.yaml: 1 error
    "#);
}

#[test]
fn negations_are_never_suggested_as_true() {
    for word in [
        "disabled", "none", "nein", "muted", "silent", "never", "nope", "false.", "remove", "without", "no.",
        "disable",
    ] {
        for field in ["generate_audio", "watermark"] {
            assert_eq!(
                field_help(&format!("{field}: {word}\n    ratio: \"16:9\"")),
                format!("write `{field}: false`; in YAML 1.2 only `true` and `false` are booleans"),
            );
        }
    }
    for word in ["stereo", "3", "[]"] {
        assert_eq!(
            field_help(&format!("generate_audio: {word}\n    ratio: \"16:9\"")),
            "write `generate_audio: true` or `generate_audio: false`",
            "{word}"
        );
    }
    let film = |flag: &str| {
        help_of(&workflow(&format!("shots: [{{id: a, prompt: p, ratio: \"16:9\"}}]\nfilm: {flag}\n")))
    };
    assert_eq!(film("{color_match: disabled}"), "write `color_match: false`: in YAML 1.2 `disabled` is text");
    assert_eq!(film("{color_match: strong}"), "write `color_match: true` or `color_match: false`");
    assert_eq!(film("{shots: [{shot: a, mute: muted}]}"), "write `mute: true`: in YAML 1.2 `muted` is text");
    let param = workflow(
        "params: {night: {type: boolean, default: never}}\nshots: [{id: a, prompt: \"{{ night }}\", ratio: \"16:9\"}]\n",
    );
    assert_eq!(help_of(&param), "write `false`");
}

#[test]
fn unknown_model_suggests_same_family_and_version() {
    for (written, model) in [
        ("modela-video-2.0", "modela-video-2-0-260128"),
        ("modelb-video-1.5-480p", "modelb-video-1.5-preview-480p"),
        ("modelb-video-1080p", "modelb-video-720p"),
        ("MODELB_VIDEO_480P", "modelb-video-480p"),
    ] {
        let text = format!(
            "version: 1\nname: p\ndefaults: {{model: {written}, seconds: 5}}\nshots: [{{id: a, prompt: p}}]\n"
        );
        assert_eq!(help_of(&text), format!("did you mean `{model}`?"), "{written}");
    }
}

/// The help of a price table with this value for a key, in a line of its own.
fn price_help(line: &str) -> String {
    let lines = ["version: 1", "currency: EUR", "as_of: 2026-01-31", "source: a test"];
    let key = line.split(':').next().unwrap();
    let mut table: Vec<&str> = lines.into_iter().filter(|other| !other.starts_with(key)).collect();
    if table.len() < lines.len() {
        table.extend([line, "prices: [{model: modelb-video-480p, per_second: 1}]"]);
    } else {
        table.extend(["prices:", line]);
    }
    let text = table.join("\n") + "\n";
    let report = prices::check(text.as_bytes(), "prices.yaml", Contract::embedded()).report;
    let help = report.to_json().into_iter().map(|record| record.help.unwrap_or_default());
    help.collect::<Vec<_>>().join("\n")
}

#[test]
fn price_table_suggests_values_that_were_meant() {
    for (line, help) in [
        ("currency: EURO", "write `currency: EUR`"),
        ("currency: eur", "write `currency: EUR`"),
        ("currency: €", "write `currency: EUR`"),
        ("currency: euros", "write `currency: EUR`"),
        ("currency: £", "write `currency: GBP`"),
        ("currency: $", "write `currency: USD`"),
        ("currency: credits", "write the code of the currency (ISO 4217)"),
        ("as_of: 15.03.2026", "write `as_of: 2026-03-15`"),
        ("as_of: 2026-3-5", "write `as_of: 2026-03-05`"),
        ("as_of: 03/15/2026", "write `as_of: 2026-03-15`"),
        ("as_of: 20260315", "write `as_of: 2026-03-15`"),
        ("as_of: 03/04/2026", "write the year, the month and the day: `as_of: YYYY-MM-DD`"),
        ("as_of: 2026", "write the year, the month and the day: `as_of: YYYY-MM-DD`"),
        ("  - {model: modelb-video-480p, per_second: $0.12}", "write `per_second: 0.12`"),
        ("  - {model: modelb-video-480p, per_second: \"0,12\"}", "write `per_second: 0.12`"),
        (
            "  - {model: modelb-video-480p, per_second: 1,50}",
            "write `per_second: 1.50`: a decimal number has a point",
        ),
        (
            "  - {model: modelb-video-480p, per_second: \"1,250\"}",
            "an amount is written with digits and a point, such as 0.05",
        ),
        ("  - {model: modelb-video-720p, resolution: 720, per_task: 1}", "write `resolution: 720p`"),
        ("  - {model: modelb-video-720p, resolution: \"720\", per_task: 1}", "did you mean `720p`?"),
    ] {
        assert_eq!(price_help(line), help, "{line}");
    }
}

/// The help for a matrix of a shot whose axis is `look`.
fn matrix_help(matrix: &str) -> String {
    let shot =
        format!("  - id: a\n    prompt: \"x {{{{ look }}}}\"\n    ratio: \"16:9\"\n    matrix: {matrix}\n");
    help_of(&workflow(&format!("shots:\n{shot}")))
}

#[test]
fn axes_of_other_tools_are_translated() {
    const FORMS: &str = "; an axis is a list, a range `{from: 1, to: 5}`, a table `{csv: cast.csv}` or files `{files: \"stills/*.png\"}`";
    for (axis, meant) in [
        ("{start: 1, end: 5}", "{from: 1, to: 5}"),
        ("{min: 1, max: 5}", "{from: 1, to: 5}"),
        ("{from: 1, end: 5, by: 2}", "{from: 1, to: 5, step: 2}"),
        ("{glob: \"*.png\"}", "{files: \"*.png\"}"),
        ("{file: looks.csv}", "{csv: looks.csv}"),
    ] {
        assert_eq!(matrix_help(&format!("{{look: {axis}}}")), format!("write `look: {meant}`"), "{axis}");
    }
    for (axis, meant) in [
        ("range(5)", "{from: 0, to: 4}`"),
        ("range(1, 6)", "{from: 1, to: 5}`"),
        ("\"1:5\"", "{from: 1, to: 5}`"),
        ("1..5", "{from: 1, to: 5}`"),
        ("1-5", "{from: 1, to: 5}`"),
        ("\"9:16\"", "[9:16]`"),
        ("noir|pastel", "[noir, pastel]`"),
        ("\"noir, pastel\"", "[noir, pastel]`, without quotes"),
        ("looks.csv", "{csv: looks.csv}`"),
        ("stills/*.png", "{files: \"stills/*.png\"}`"),
        ("noir", "[noir]`"),
    ] {
        let text = format!("\n      look: {axis}");
        assert_eq!(matrix_help(&text), format!("write `look: {meant}{FORMS}"), "{axis}");
    }
    assert!(matrix_help("{csv: looks.csv}").contains("give the axis a name: `row: {csv: \"looks.csv\"}`"));
    assert_eq!(
        matrix_help("\n      look: noir, pastel"),
        format!("write `look: [noir, pastel]`{FORMS}"),
        "there are no quotes to remove"
    );
}

#[test]
fn matrices_of_other_tools_are_translated() {
    for (matrix, help) in [
        ("[{look: noir}, {look: pastel}]", "write `matrix: {look: [noir, pastel]}`"),
        (
            "[{look: [noir, pastel]}, {lens: [24, 50]}]",
            "write `matrix: {look: [noir, pastel], lens: [24, 50]}`",
        ),
        (
            "[{look: noir, lens: 24}]",
            "a list of combinations goes under `include`: `matrix: {include: [{look: noir, seed: 3}]}`",
        ),
        (
            "{look: [noir, pastel], max-parallel: 2}",
            "remove it: `runner run --jobs N` limits how many run at a time",
        ),
        (
            "{look: [noir, pastel], fail-fast: false}",
            "remove it: `runner run --fail-fast` stops after the first failure",
        ),
        ("{look: [noir, pastel], excludes: [{look: noir}]}", "did you mean `exclude`?"),
        ("{look: [noir, pastel], includes: [{look: noir}]}", "did you mean `include`?"),
        ("{look: [1, 2, ..., 5]}", "write `look: {from: 1, to: 5}`"),
        ("{look: [1, 3, ..., 9]}", "write `look: {from: 1, to: 9, step: 2}`"),
        ("{look: [1-5]}", "write `look: {from: 1, to: 5}`"),
        ("{look: [1..3, 5]}", "write `look: [1, 2, 3, 5]`"),
        (
            "{look: [[noir, pastel]]}",
            "write what stands between its items: `{{ look | join(', ') }}`\nwrite `look: [noir, pastel]`",
        ),
        ("{look: [24-70, 70-200]}", ""),
    ] {
        assert_eq!(matrix_help(matrix), help, "{matrix}");
    }
}

#[test]
fn pick_suggestions_name_what_the_shot_has() {
    let help = |shot: &str| field_help(&format!("ratio: \"16:9\"\n    {}", shot.replace("; ", "\n    ")));
    let by_look = |pick: &str| {
        help(&format!("image: \"{{{{ look }}}}\"; matrix: {{look: [noir, pastel]}}; pick: {pick}"))
    };
    for (pick, expected) in [
        ("noir", "write `pick: {look: noir}`"),
        ("Noir", "write `pick: {look: noir}`"),
        ("look=noir", "write `pick: {look: noir}`"),
        ("a@look=noir", "write `pick: {look: noir}`"),
        ("[noir]", "write `pick: {look: noir}`"),
        ("Open", "write `pick: open`"),
        ("best", "name an instance by its axes, such as `pick: {look: noir}`"),
        ("2", "name an instance by its axes, such as `pick: {look: noir}`, or add `takes:`"),
    ] {
        assert!(by_look(pick).lines().any(|line| line == expected), "{pick}: {}", by_look(pick));
    }
    let of_takes = |pick: &str| help(&format!("takes: 3; pick: {pick}"));
    for (pick, expected) in [
        ("first", "write `pick: 1`"),
        ("last", "write `pick: 3`"),
        ("a#2", "write `pick: 2`"),
        ("best", "write the number of a take, from 1 to 3"),
    ] {
        assert_eq!(of_takes(pick), expected, "{pick}");
    }
    for pick in ["[2]", "{take: 2}"] {
        assert_eq!(of_takes(pick), "write `pick: 2`", "{pick}");
    }
    for pick in ["last", "Open", "2"] {
        assert_eq!(help(&format!("pick: {pick}")), "add `takes:` or remove `pick`", "{pick}");
    }
}

/// The help for a film of one shot, `a`.
fn film_help(film: &str) -> String {
    help_of(&workflow(&format!("shots: [{{id: a, prompt: p, ratio: \"16:9\"}}]\nfilm: {film}\n")))
}

#[test]
fn film_suggestions_convert_units() {
    for (edit, help) in [
        ("gain: 50%", "write `gain: -6dB`"),
        ("gain: 0.5", "write `gain: -6dB`"),
        ("speed: 200", "write `speed: 200%`"),
        ("in: 12F", "write `in: 12f`"),
        ("in: \"0,5s\"", ""),
        ("in: 0,5s", "write `in: 0.5s`: a decimal number has a point"),
        (
            "in: 00:00:01:12",
            "the last part of a timecode counts frames: write all of it in frames (`f`) or in seconds (`s`)",
        ),
    ] {
        assert_eq!(film_help(&format!("{{shots: [{{shot: a, {edit}}}]}}")), help, "{edit}");
    }
    for (fit, meant) in [
        ("pad", "letterbox"),
        ("contain", "letterbox"),
        ("cover", "crop"),
        ("fill", "crop"),
        ("Crop", "crop"),
    ] {
        assert_eq!(film_help(&format!("{{fit: {fit}}}")), format!("write `fit: {meant}`"), "{fit}");
    }
    assert_eq!(film_help("{fit: stretch}"), "write `fit: letterbox` or `fit: crop` or `fit: blur`");
    assert_eq!(film_help("{shots: [{id: a}]}"), "did you mean `shot`?");
}

#[test]
fn keys_of_other_levels_are_explained() {
    let help = |field: &str| field_help(&format!("ratio: \"16:9\"\n    {field}"));
    assert_eq!(
        help("speed: 2"),
        "`speed` belongs to a clip of the film: `film: {shots: [{shot: a, speed: 2}]}`"
    );
    assert!(help("on: true").starts_with("the keys of a shot are `note`"), "{}", help("on: true"));
    assert_eq!(help("group: g"), "add it: `groups: {g: {}}`");
}

#[test]
fn added_group_leaves_the_requests_alone() {
    let shot = "shots: [{id: a, prompt: p, ratio: \"16:9\", group: g}]\n";
    assert_eq!(help_of(&workflow(&format!("groups: {{g: {{}}}}\n{shot}"))), "");
}

#[test]
fn numbers_and_quotes_are_suggested_as_meant() {
    let help = |field: &str| field_help(&format!("ratio: \"16:9\"\n    {field}"));
    for seed in ["1,000", "1 000", "\"1_000\""] {
        assert_eq!(help(&format!("seed: {seed}")), "write `seed: 1000`", "{seed}");
    }
    assert_eq!(help("seed: 1_000"), "", "this is a number");
    assert_eq!(help("timeout: \"90\""), "write it without quotes: `timeout: 90`");
    let prompt = |written: &str| help_of(&workflow(&format!("shots:\n  - id: a\n    prompt: {written}\n")));
    for (written, meant) in [
        (r#""the keeper\'s coat""#, r#"write `prompt: "the keeper's coat"`"#),
        (r#""costs \$5""#, r#"write `prompt: "costs $5"`"#),
        (r"'it\'s dark'", r#"write `prompt: "it's dark"`"#),
        ("'it's dark'", r#"write `prompt: "it's dark"`"#),
    ] {
        assert!(prompt(written).starts_with(meant), "{written}: {}", prompt(written));
    }
    let in_brackets = workflow("shots:\n  - {id: a, prompt: 'it's dark'}\n");
    assert_eq!(help_of(&in_brackets), r#"write `prompt: "it's dark"`"#);
    let in_brackets = workflow("shots:\n  - {id: a, prompt: p, ratio: \"16:9\", seed: 1,000}\n");
    assert_eq!(help_of(&in_brackets), "write `seed: 1000`");
}
